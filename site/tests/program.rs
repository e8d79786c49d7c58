//! The program `site` writes what the pages lead to, and says what is wrong with its arguments.
//! `cargo xtask site --check` opens the pages in a browser.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Output};

fn site(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_site")).args(arguments).output().expect("the program runs")
}

#[test]
fn every_link_of_a_page_leads_to_a_page() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = site(&[folder.path().to_str().expect("a path of plain text")]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let files = fs::read_dir(folder.path()).expect("the folder").map(|entry| entry.expect("an entry").file_name());
    let files: BTreeSet<String> = files.map(|name| name.into_string().expect("a name of plain text")).collect();
    for lab in host::labs::ALL {
        assert!(files.contains(&format!("{}.html", lab.name)), "{}", lab.name);
        assert!(folder.path().join(format!("labs/{}.json", lab.name)).is_file(), "{}", lab.name);
    }
    let mut links = 0;
    for page in files.iter().filter(|name| name.ends_with(".html")) {
        let text = fs::read_to_string(folder.path().join(page)).expect("the page");
        for link in text.split("href=\"").skip(1).filter_map(|rest| rest.split(['"', '#', '?']).next()) {
            if link.ends_with(".html") && !link.contains("://") {
                assert!(folder.path().join(link).is_file(), "{page}: {link}");
                links += 1;
            }
        }
    }
    assert!(links > 100, "only {links} links");
}

#[test]
fn labs_and_exercises_name_each_other() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let read = |file: &str| fs::read_to_string(root.join(file)).expect("a file of the repository");
    let folder = tempfile::tempdir().expect("a folder");
    assert!(site(&[folder.path().to_str().expect("a path of plain text")]).status.success());
    let chapters = exercise::files::chapters(&root.join("exercises/course.toml")).expect("a course");
    let table = read("docs/lectures/README.md");
    for name in chapters.iter().flat_map(|chapter| &chapter.exercises) {
        let goals = exercise::Exercise::read(&root.join("exercises").join(name)).expect("an exercise").goals;
        let lab = goals.lab.as_deref();
        let row = lab.map_or("| none |".to_owned(), |lab| format!("| `{lab}` |"));
        let named = table.lines().find(|line| line.starts_with(&row)).expect("a row of the table");
        assert!(named.contains(&format!("`{name}`")), "{name} is not beside {row} in docs/lectures/README.md");
        if let Some(lab) = lab {
            let page = fs::read_to_string(folder.path().join(format!("{lab}.html"))).expect("the lab's page");
            assert!(page.contains(&goals.title), "{lab}.html does not name {name}");
        }
    }
}

#[test]
fn without_a_folder_it_says_what_it_takes() {
    let output = site(&[]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "error: give the folder to write the site into: site FOLDER\n");
}

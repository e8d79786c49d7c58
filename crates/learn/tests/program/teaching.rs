//! Tests that `docs/WRITING_EXERCISES.md` names every key and value of `goals.toml`, which the
//! program itself lists.

use super::*;

fn page() -> String {
    fs::read_to_string(root().join("docs/WRITING_EXERCISES.md")).unwrap()
}

/// The names that are missing on the page.
fn missing(page: &str, names: &[String]) -> Vec<String> {
    names.iter().filter(|name| !page.contains(&format!("`{name}`"))).cloned().collect()
}

/// The accepted names in the program's message about a wrong one.
fn known(course: &Course, goals: &str, after: &str) -> Vec<String> {
    course.write("copy/goals.toml", goals);
    let message = course.learn(&["run", "copy"]).refuses(&[after]);
    let (_, list) = message.split_once(after).unwrap();
    let words = list.lines().next().unwrap().split([',', ' ']).map(|name| name.trim().trim_matches('`'));
    words.filter(|word| !word.is_empty() && *word != "or").map(str::to_owned).collect()
}

#[test]
fn the_page_has_every_metric_and_model() {
    let course = Course::new(&["copy"]);
    let good = course.read("copy/goals.toml");
    let metrics =
        known(&course, &good.replace("loads.sectors_per_request", "nothing"), "unknown metric 'nothing'; there are ");
    assert!(metrics.len() > 30, "{metrics:?}");
    let models = known(&course, &good.replace("that = \"", "that = \"intel: "), "unknown model 'intel'; there are ");
    assert!(models.len() > 8, "{models:?}");
    let page = page();
    assert_eq!(missing(&page, &metrics), [""; 0], "metrics that docs/WRITING_EXERCISES.md lacks");
    assert_eq!(missing(&page, &models), [""; 0], "models that docs/WRITING_EXERCISES.md lacks");
}

#[test]
fn the_page_has_every_key() {
    let course = Course::new(&["copy"]);
    let good = course.read("copy/goals.toml");
    let page = page();
    for (from, to) in [
        ("title =", "nothing = 1\ntitle ="),
        ("from = 2,", "nothing = 1, from = 2,"),
        ("[data.input]", "[data.input]\nnothing = 1"),
        ("[data.input]", "[data.input]\ntexture = { nothing = 1 }"),
        ("[[launch]]", "[[launch]]\nnothing = 1"),
        ("[answer]", "[answer]\nnothing = 1"),
        ("[[goal]]", "[[goal]]\nnothing = 1"),
        ("[[goal]]", "[[question]]\nnothing = 1\n[[goal]]"),
    ] {
        assert!(good.contains(from), "{from}");
        let keys = known(&course, &good.replacen(from, to, 1), "unknown field `nothing`, expected ");
        let keys: Vec<String> = keys.into_iter().filter(|key| !["one", "of"].contains(&key.as_str())).collect();
        assert!(keys.len() > 1, "{keys:?}");
        assert_eq!(missing(&page, &keys), [""; 0], "keys that docs/WRITING_EXERCISES.md lacks");
    }
}

#[test]
fn its_lines_fit_and_its_examples_of_goals_are_read() {
    let page = page();
    for (at, line) in page.lines().enumerate() {
        assert!(line.chars().count() <= 100, "docs/WRITING_EXERCISES.md:{}: {line}", at + 1);
    }
    let course = Course::new(&["copy"]);
    let mut examples = 0;
    for block in page.split("```toml\n").skip(1) {
        let (block, _) = block.split_once("```").unwrap();
        if block.contains("minutes =") {
            course.write("copy/goals.toml", block);
            course.learn(&["hint", "copy"]).succeeds();
            examples += 1;
        }
    }
    assert!(examples >= 1);
}

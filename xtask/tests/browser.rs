//! `cargo xtask browser` on machines that lack what it needs. `.ci/run` runs it where all is there.

use assert_cmd::Command;

fn without(path: &std::path::Path, arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    let run = command.env("PATH", path).arg("browser").args(arguments).assert().code(1).stdout("");
    String::from_utf8(run.get_output().stderr.clone()).unwrap()
}

#[test]
fn what_is_missing_is_named_with_its_package() {
    let folder = tempfile::tempdir().unwrap();
    let said = without(folder.path(), &[]);
    assert_eq!(said, "error: there is no node in the PATH: install it, on Debian with `apt-get install nodejs`\n");
    std::fs::write(folder.path().join("node"), "").unwrap();
    let said = without(folder.path(), &[]);
    assert_eq!(
        said,
        "error: there is no Chromium in the PATH: install it, on Debian with `apt-get install chromium`\n"
    );
    let said = without(folder.path(), &["--browser", "nowhere/chromium"]);
    assert_eq!(said, "error: nowhere/chromium: there is no such browser\n");
}

#[test]
fn slides_need_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    let run = command.env("PATH", folder.path()).arg("lectures").assert().code(1).stdout("");
    let said = String::from_utf8(run.get_output().stderr.clone()).unwrap();
    assert_eq!(said, "error: there is no node in the PATH: install it, on Debian with `apt-get install nodejs`\n");
}

#[test]
fn the_lock_files_have_hashes_and_name_no_host() {
    for lock in
        [include_str!("../../tests/browser/package-lock.json"), include_str!("../../docs/lectures/package-lock.json")]
    {
        assert!(!lock.contains("resolved") && !lock.contains("://"), "{lock}");
        let packages: serde_json::Value = serde_json::from_str(lock).unwrap();
        let packages = packages["packages"].as_object().unwrap();
        let installed: Vec<_> = packages.iter().filter(|(name, _)| !name.is_empty()).collect();
        assert!(!installed.is_empty());
        for (name, package) in installed {
            assert!(package["integrity"].as_str().unwrap().starts_with("sha512-"), "{name}");
        }
    }
}

//! Tests of a crate of kernels outside this repository: what `new-kernels` makes and refuses, and
//! `build-ptx --crate`. `.ci/run` also builds the program of such a crate and runs its tests, which
//! takes minutes.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command as Process;

use assert_cmd::Command;
use assert_cmd::assert::Assert;
use cuda_builder::digest_of_crate;
use cuda_builder::toolchain::DeviceCompiler;

/// Runs the chore as cargo does, with this package's folder in the environment.
fn xtask(folder: &Path, arguments: &[&str]) -> Assert {
    let mut command = Command::cargo_bin("xtask").unwrap();
    command.args(arguments).current_dir(folder).env("CARGO_MANIFEST_DIR", env!("CARGO_MANIFEST_DIR"));
    // A note says if the compiler for GPU kernels is missing.
    command.env("CUDA_BUILDER_RUSTC", "").assert()
}

/// The chore's only line on stderr.
#[track_caller]
fn refusal(folder: &Path, arguments: &[&str], code: i32) -> String {
    let assert = xtask(folder, arguments).code(code).stdout("");
    let stderr = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
    let line =
        stderr.strip_prefix("error: ").and_then(|rest| rest.strip_suffix('\n')).unwrap_or_else(|| panic!("{stderr}"));
    assert!(!line.contains('\n'), "{stderr}");
    line.to_owned()
}

fn root() -> PathBuf {
    fs::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).unwrap()
}

/// A folder with a space in its path, without symbolic links, as messages show it.
struct Elsewhere {
    _temporary: tempfile::TempDir,
    path: PathBuf,
}

impl Elsewhere {
    fn new() -> Self {
        let temporary = tempfile::Builder::new().prefix("own kernels ").tempdir().unwrap();
        let path = fs::canonicalize(temporary.path()).unwrap();
        Self { _temporary: temporary, path }
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// All files and folders in it.
    fn all(&self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let mut open = vec![self.path.clone()];
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                found.insert(path.strip_prefix(&self.path).unwrap().to_str().unwrap().to_owned());
                if path.is_dir() && !path.is_symlink() {
                    open.push(path);
                }
            }
        }
        found
    }
}

const FILES: [&str; 12] = [
    ".cargo/config.toml",
    ".github/workflows/test.yml",
    ".gitignore",
    "Cargo.lock",
    "Cargo.toml",
    "README.md",
    "host/Cargo.toml",
    "host/build.rs",
    "host/src/main.rs",
    "kernels/Cargo.toml",
    "kernels/src/lib.rs",
    "rust-toolchain.toml",
];

#[test]
fn a_new_crate_is_whole_and_cargo_resolves_it_without_the_network() {
    let elsewhere = Elsewhere::new();
    let made = xtask(&elsewhere.path, &["new-kernels", "my-axpy"]).success();
    let folder = elsewhere.path.join("my-axpy");
    let stdout = String::from_utf8_lossy(&made.get_output().stdout).into_owned();
    assert_eq!(
        stdout,
        format!(
            "made {0}: the kernels are in kernels/src/lib.rs, the program in host/src/main.rs\n\
             next: cd '{0}' && cargo test && cargo run\n",
            folder.display()
        )
    );
    let files = elsewhere.all();
    let is_file = |name: &&String| elsewhere.path.join(name).is_file();
    let files: Vec<_> = files.iter().filter(is_file).map(|name| name.strip_prefix("my-axpy/").unwrap()).collect();
    assert_eq!(files, FILES);
    for file in FILES {
        let text = fs::read_to_string(folder.join(file)).unwrap();
        let marked = text
            .split('@')
            .skip(1)
            .step_by(2)
            .find(|word| word.len() > 2 && word.chars().all(|c| c.is_ascii_uppercase() || c == '_'));
        assert_eq!(marked, None, "{file}");
        let is_copy = file == "Cargo.lock" || file == "rust-toolchain.toml";
        // The path of the clone does not count: it may be of any length.
        let text = text.replace(root().to_str().unwrap(), ".");
        assert!(is_copy || text.lines().all(|line| line.chars().count() <= 100), "{file} has a long line");
    }

    let cargo = |arguments: &[&str]| {
        let output = Process::new(env!("CARGO")).args(arguments).current_dir(&folder).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let tree = cargo(&["tree", "--offline", "--package", "my-axpy-host", "--prefix", "none", "--format", "{p}"]);
    for package in [
        "my-axpy-kernels v0.1.0",
        "coalesce-cuda-std v0.1.0",
        "coalesce-device v0.1.0",
        "coalesce-simt v0.1.0",
        "cust_raw v0.11.3",
    ] {
        assert!(tree.lines().any(|line| line.starts_with(package)), "{package}: {tree}");
    }
    let here = |package: &str| {
        tree.lines().any(|line| line.starts_with(&format!("{package} v")) && line.contains(root().to_str().unwrap()))
    };
    assert!(here("cust_raw") && here("find_cuda_helper"), "the driver is loaded at run time: {tree}");
    // The versions are those of the clone.
    let locked = |lock: &str| -> BTreeSet<String> {
        let packages = lock.split("[[package]]").filter(|package| package.contains("registry+"));
        packages.map(|package| package.lines().take(3).collect::<Vec<_>>().join(" ")).collect()
    };
    let lock = fs::read_to_string(folder.join("Cargo.lock")).unwrap();
    let of_clone = fs::read_to_string(root().join("Cargo.lock")).unwrap();
    assert!(locked(&lock).is_subset(&locked(&of_clone)), "{lock}");
}

#[test]
fn a_new_crate_can_take_the_library_from_elsewhere() {
    let elsewhere = Elsewhere::new();
    for (folder, flags, dependency) in [
        ("git", ["--git", "https://a.example/coalesce"], "git = \"https://a.example/coalesce\""),
        ("published", ["--published", "0.1"], "version = \"0.1\""),
    ] {
        xtask(&elsewhere.path, &[&["new-kernels", folder][..], &flags].concat()).success();
        let read = |file: &str| fs::read_to_string(elsewhere.path.join(folder).join(file)).unwrap();
        let manifest = read("Cargo.toml");
        assert!(manifest.contains(&format!("simt = {{ package = \"coalesce-simt\", {dependency} }}")), "{manifest}");
        assert_eq!(manifest.contains("[patch.crates-io]"), folder == "git");
        assert_eq!(read("host/Cargo.toml").contains("default = [\"gpu\"]"), folder == "git");
        assert!(read(".github/workflows/test.yml").contains("cargo test"));
        // There is no clone whose chores it could run.
        assert!(!elsewhere.path.join(folder).join(".cargo").exists());
        for file in elsewhere.all().iter().filter(|name| elsewhere.path.join(name).is_file()) {
            let text = fs::read_to_string(elsewhere.path.join(file)).unwrap();
            assert!(!text.contains(root().to_str().unwrap()), "{file} names the clone");
        }
    }
    for (flags, message) in [
        (["--git", ""], "--git: give the URL of a git repository"),
        (["--published", "latest"], "--published: give a version, such as 0.1"),
    ] {
        assert_eq!(refusal(&elsewhere.path, &[&["new-kernels", "new"][..], &flags].concat(), 2), message);
        assert!(!elsewhere.path.join("new").exists());
    }
}

#[test]
fn an_empty_folder_will_do_and_a_name_may_be_given() {
    let elsewhere = Elsewhere::new();
    fs::create_dir(elsewhere.path.join("Lab 3")).unwrap();
    xtask(&elsewhere.path.join("Lab 3"), &["new-kernels", ".", "--name", "lab_3"]).success();
    let manifest = fs::read_to_string(elsewhere.path.join("Lab 3/kernels/Cargo.toml")).unwrap();
    assert!(manifest.contains("name = \"lab_3-kernels\""), "{manifest}");
    assert_eq!(fs::read_dir(&elsewhere.path).unwrap().count(), 1);
}

#[test]
fn a_folder_that_will_not_do_is_refused_and_nothing_is_written() {
    let elsewhere = Elsewhere::new();
    elsewhere.write("full/notes.txt", "");
    elsewhere.write("file", "");
    let root = root();
    let shown = root.display();
    let inside = root.join("docs/own");
    let inside = inside.to_str().unwrap();
    let here = elsewhere.path.display();
    let before = elsewhere.all();
    let cases = [
        ("full", "full: is not empty; name a new or an empty folder".to_owned()),
        (".", ".: is not empty; name a new or an empty folder".to_owned()),
        ("file", "file: is not a folder; name a new or an empty folder".to_owned()),
        ("file/new", format!("file/new: there is no folder {here}/file; make it first")),
        ("no/new", format!("no/new: there is no folder {here}/no; make it first")),
        ("no/..", "no/..: has no name; name the folder to make".to_owned()),
        (inside, format!("{inside}: is inside this repository, {shown}; name a folder outside of it")),
        (root.to_str().unwrap(), format!("{shown}: is inside this repository, {shown}; name a folder outside of it")),
    ];
    for (folder, message) in cases {
        assert_eq!(refusal(&elsewhere.path, &["new-kernels", folder], 2), message);
    }
    assert_eq!(elsewhere.all(), before);
    assert!(!Path::new(inside).exists());
}

#[cfg(unix)]
#[test]
fn a_link_leads_where_it_leads() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::symlink;

    let elsewhere = Elsewhere::new();
    symlink(root(), elsewhere.path.join("clone")).unwrap();
    symlink("nowhere", elsewhere.path.join("dangling")).unwrap();
    let before = elsewhere.all();
    let message = refusal(&elsewhere.path, &["new-kernels", "clone/mine"], 2);
    assert!(message.starts_with("clone/mine: is inside this repository, "), "{message}");
    let message = refusal(&elsewhere.path, &["new-kernels", "dangling"], 2);
    assert!(message.starts_with("dangling: cannot be used: "), "{message}");

    for name in [OsStr::from_bytes(b"a\nb"), OsStr::from_bytes(b"\xff")] {
        let mut command = Command::cargo_bin("xtask").unwrap();
        let command = command.arg("new-kernels").arg(name).args(["--name", "a"]).current_dir(&elsewhere.path);
        let output =
            command.env("CARGO_MANIFEST_DIR", env!("CARGO_MANIFEST_DIR")).assert().code(2).get_output().clone();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(stderr.contains("this path cannot stand in a Cargo.toml") && stderr.lines().count() == 1, "{stderr}");
    }
    assert_eq!(elsewhere.all(), before);
}

#[test]
fn a_name_that_cannot_name_a_crate_is_refused() {
    let elsewhere = Elsewhere::new();
    for arguments in [&["new-kernels", "My Kernels"][..], &["new-kernels", "a", "--name", "My Kernels"]] {
        assert_eq!(
            refusal(&elsewhere.path, arguments, 2),
            "`My Kernels` cannot name a crate: use lowercase words of letters and digits, joined by - or _, with a letter first; \
             --name gives another name than the folder's"
        );
    }
    assert_eq!(elsewhere.all(), BTreeSet::new());
}

#[test]
fn what_is_no_crate_of_kernels_is_refused() {
    let elsewhere = Elsewhere::new();
    xtask(&elsewhere.path, &["new-kernels", "own"]).success();
    elsewhere.write("program/Cargo.toml", "[package]\nname = \"program\"\n[workspace]\n");
    elsewhere.write("program/src/main.rs", "");
    elsewhere.write("wrong/Cargo.toml", "[package]\nname = 1\n");
    elsewhere.write("empty/Cargo.toml", "[workspace]\n");
    let cases = [
        ("none", "none: there is no crate here (no Cargo.toml): name the folder of a crate of kernels"),
        ("own", "own: this is a workspace, not a crate: name own/kernels"),
        ("empty", "empty: this is a workspace, not a crate: name the folder of a crate of kernels"),
        ("program", "program: this crate has no library: kernels are functions of a library, src/lib.rs"),
    ];
    for check in [&[][..], &["--check"]] {
        for (folder, message) in cases {
            assert_eq!(refusal(&elsewhere.path, &[&["build-ptx", "--crate", folder], check].concat(), 2), message);
        }
        let message = refusal(&elsewhere.path, &[&["build-ptx", "--crate", "wrong"], check].concat(), 2);
        assert!(message.starts_with("wrong/Cargo.toml: cargo cannot read it: "), "{message}");
    }
}

#[test]
fn ptx_of_any_crate_can_be_checked() {
    let elsewhere = Elsewhere::new();
    xtask(&elsewhere.path, &["new-kernels", "own"]).success();
    let check = ["build-ptx", "--check", "--crate", "own/kernels"];
    assert_eq!(
        refusal(&elsewhere.path, &check, 1),
        "own/kernels/ptx/own_kernels.sm_75.ptx is stale: it is missing or not text; rebuild it with `cargo xtask build-ptx \
         --crate own/kernels --arch sm_75`"
    );
    let digest = digest_of_crate(elsewhere.path.join("own/kernels")).unwrap();
    elsewhere
        .write("own/kernels/ptx/own_kernels.sm_75.ptx", &format!("// coalesce: sources xxh3 {digest}\n.version 6.3\n"));
    xtask(&elsewhere.path, &check).success().stdout("").stderr("");

    elsewhere.write("own/kernels/src/new.rs", "");
    let full = elsewhere.path.join("own/kernels");
    let full = full.to_str().unwrap();
    assert_eq!(
        refusal(&elsewhere.path, &["build-ptx", "--check", "--crate", full], 1),
        format!(
            "{full}/ptx/own_kernels.sm_75.ptx is stale: the sources of the kernels have changed since it was made; rebuild it \
             with `cargo xtask build-ptx --crate '{full}' --arch sm_75`"
        )
    );
}

/// Like all tests that compile kernels, this one is skipped without the compiler unless
/// `COALESCE_REQUIRE_DEVICE_COMPILER` is 1.
#[test]
#[ignore = "long: `.ci/run` runs it"]
fn the_kernels_of_a_new_crate_compile() {
    if let Err(error) = DeviceCompiler::find() {
        let required = std::env::var_os("COALESCE_REQUIRE_DEVICE_COMPILER").is_some_and(|value| value == "1");
        assert!(!required, "the compiler for devices is required here: {error}");
        return;
    }
    let elsewhere = Elsewhere::new();
    xtask(&elsewhere.path, &["new-kernels", "own"]).success();
    let build = ["build-ptx", "--crate", "own/kernels", "--arch", "sm_80", "--out", "ptx", "--emit-llvm", "llvm"];
    xtask(&elsewhere.path, &build).success().stdout("ptx/own_kernels.sm_80.ptx\n");
    let ptx = fs::read_to_string(elsewhere.path.join("ptx/own_kernels.sm_80.ptx")).unwrap();
    assert!(ptx.contains(".entry axpy(") && ptx.contains(".entry block_sums(") && ptx.contains("st.shared"), "{ptx}");
    assert!(!ptx.contains(elsewhere.path.to_str().unwrap()), "{ptx}");
    assert!(elsewhere.path.join("llvm/own_kernels.sm_80.3-optimised.ll").is_file());

    elsewhere.write("own/kernels/src/lib.rs", "#![no_std]\npub fn wrong( {}\n");
    let failed = xtask(&elsewhere.path, &build).code(1);
    let stderr = String::from_utf8_lossy(&failed.get_output().stderr).into_owned();
    assert!(
        stderr.contains("error: the kernels of `own-kernels` do not compile for sm_80; correct this:\n"),
        "{stderr}"
    );
    assert_eq!(fs::read_to_string(elsewhere.path.join("ptx/own_kernels.sm_80.ptx")).unwrap(), ptx);
}

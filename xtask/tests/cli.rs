//! Tests of the chores' command line, in a made-up workspace. No compiler for GPU kernels is
//! needed.

use std::fs;

use assert_cmd::Command;
use cuda_builder::digest_of_crate;
use predicates::prelude::predicate;

/// A workspace with a crate of kernels and PTX that matches it.
struct Workspace {
    root: tempfile::TempDir,
}

impl Workspace {
    fn new() -> Self {
        let workspace = Workspace { root: tempfile::tempdir().unwrap() };
        workspace.write(
            "Cargo.toml",
            "[workspace]\nmembers = [\"kernels\", \"kernels/best\", \"xtask\"]\nresolver = \"3\"\n",
        );
        for (folder, package) in [("kernels", "kernels"), ("kernels/best", "best_kernels"), ("xtask", "xtask")] {
            let manifest = format!("[package]\nname = \"{package}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
            workspace.write(&format!("{folder}/Cargo.toml"), &manifest);
            workspace.write(&format!("{folder}/src/lib.rs"), "");
        }
        for (folder, library) in [("kernels", "kernels"), ("kernels/best", "best_kernels")] {
            let digest = digest_of_crate(workspace.root.path().join(folder)).unwrap();
            let text = format!("// coalesce: sources xxh3 {digest}\n.version 6.3\n");
            workspace.write(&format!("{folder}/ptx/{library}.sm_75.ptx"), &text);
        }
        workspace
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.root.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn xtask(&self, arguments: &[&str]) -> Command {
        let mut command = Command::cargo_bin("xtask").unwrap();
        command.args(arguments).current_dir(self.root.path().join("kernels")).env_remove("CARGO_MANIFEST_DIR");
        command
    }
}

#[test]
fn fresh_ptx_passes_in_silence() {
    Workspace::new().xtask(&["build-ptx", "--check"]).assert().success().stdout("").stderr("");
}

#[test]
fn changed_sources_make_ptx_stale() {
    let workspace = Workspace::new();
    for (folder, library) in [("kernels/best", "best_kernels"), ("kernels", "kernels")] {
        workspace.write(&format!("{folder}/src/new.rs"), "");
        workspace.xtask(&["build-ptx", "--check"]).assert().code(1).stdout("").stderr(format!(
            "error: {folder}/ptx/{library}.sm_75.ptx is stale: the sources of the kernels have changed since it was made; rebuild it \
             with `cargo xtask build-ptx --arch sm_75`\n",
        ));
    }
}

#[test]
fn missing_and_foreign_ptx_is_stale_too() {
    let workspace = Workspace::new();
    workspace.xtask(&["build-ptx", "--check", "--arch", "sm_75", "--arch", "sm_90"]).assert().code(1).stderr(
        "error: kernels/ptx/kernels.sm_90.ptx is stale: it is missing or not text; rebuild it with `cargo xtask build-ptx \
         --arch sm_90`\n",
    );
    workspace.write("kernels/ptx/kernels.sm_75.ptx", ".version 6.3\n");
    workspace.xtask(&["build-ptx", "--check"]).assert().code(1).stderr(
        "error: kernels/ptx/kernels.sm_75.ptx is stale: it has no digest of its sources; rebuild it with `cargo xtask \
         build-ptx --arch sm_75`\n",
    );
}

#[test]
fn wrong_arguments_are_refused() {
    let workspace = Workspace::new();
    for arguments in [
        &["build-ptx", "--arch", "sm_74"][..],
        &["build-ptx", "--check", "--emit-llvm", "x"],
        &["build-ptx", "--unknown"],
        &["unknown"],
        &[],
    ] {
        workspace.xtask(arguments).assert().code(2).stdout("");
    }
    workspace
        .xtask(&["build-ptx", "--arch", "sm_74"])
        .assert()
        .stderr(predicate::str::contains("unknown architecture `sm_74`: choose one of sm_50,"));
}

#[test]
fn a_compiler_that_is_named_wrongly_is_refused_before_anything_is_written() {
    let workspace = Workspace::new();
    let before = fs::read(workspace.root.path().join("kernels/ptx/kernels.sm_75.ptx")).unwrap();
    for chore in ["build-ptx", "setup"] {
        workspace.xtask(&[chore]).env("CUDA_BUILDER_RUSTC", "/no/such/rustc").assert().code(1).stdout("").stderr(
            predicate::str::ends_with(
                "error: /no/such/rustc: does not run; correct CUDA_BUILDER_RUSTC, or remove it to search for a compiler\n",
            ),
        );
    }
    assert_eq!(fs::read(workspace.root.path().join("kernels/ptx/kernels.sm_75.ptx")).unwrap(), before);
}

#[test]
fn outside_a_workspace_the_error_says_so() {
    let elsewhere = tempfile::tempdir().unwrap();
    Command::cargo_bin("xtask")
        .unwrap()
        .args(["build-ptx", "--check"])
        .current_dir(elsewhere.path())
        .env_remove("CARGO_MANIFEST_DIR")
        .assert()
        .code(1)
        .stderr("error: this is not the kernels' workspace: run `cargo xtask` in one of its folders\n");
}

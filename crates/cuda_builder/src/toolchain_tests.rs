//! Tests of the search for a compiler, in made-up folders whose programs are scripts that print a
//! version.

use std::os::unix::fs::PermissionsExt as _;

use super::*;

/// A folder with fake toolchains, which only report their versions.
struct Machine {
    folder: tempfile::TempDir,
}

impl Machine {
    fn new() -> Self {
        Machine { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn script(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// A rustc in `root`, built with this LLVM.
    fn rustc(&self, root: &str, llvm: &str) -> PathBuf {
        let sysroot = self.path(root);
        self.script(
            &format!("{root}/bin/rustc"),
            &format!(
                "case \"$1\" in\n-vV) printf 'rustc 1.96.0\\nhost: x-y-z\\nrelease: 1.96.0\\nLLVM version: {llvm}\\n' ;;\n\
                 *) echo '{}' ;;\nesac",
                sysroot.display()
            ),
        )
    }

    fn sources(&self, root: &str) {
        let file = self.path(root).join("lib/rustlib/src/rust/library/core/src/lib.rs");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, "").unwrap();
    }

    /// `opt` and `llc` in `folder`, of this LLVM.
    fn tools(&self, folder: &str, llvm: &str) -> PathBuf {
        for tool in ["opt", "llc"] {
            self.script(
                &format!("{folder}/{tool}"),
                &format!("printf 'Some LLVM version {llvm}\\n  Optimized build.\\n'"),
            );
        }
        self.path(folder)
    }

    /// A complete rustup toolchain.
    fn complete(&self, root: &str, llvm: &str) {
        self.rustc(root, llvm);
        self.sources(root);
        self.tools(&format!("{root}/lib/rustlib/x-y-z/bin"), llvm);
    }

    fn search(&self) -> Search {
        Search {
            rustc: None,
            llvm_bin: None,
            active_toolchain: Some(self.path("toolchains/stable")),
            toolchains: Some(self.path("toolchains")),
            system: Some(self.path("usr")),
            cargo: Some(PathBuf::from("/some/cargo")),
        }
    }

    /// An error's text, without the folder's name.
    fn text(&self, error: &CudaBuilderError) -> String {
        error.to_string().replace(&self.folder.path().display().to_string(), "")
    }
}

#[test]
fn the_active_toolchain_comes_first() {
    let machine = Machine::new();
    machine.complete("toolchains/aaa", "22.1.4");
    machine.complete("toolchains/stable", "22.1.2");
    let found = machine.search().find().unwrap();
    assert_eq!(found.origin, Origin::ActiveToolchain);
    assert_eq!(found.rustc, machine.path("toolchains/stable/bin/rustc"));
    assert_eq!(found.tools, machine.path("toolchains/stable/lib/rustlib/x-y-z/bin"));
    assert_eq!(found.sources, machine.path("toolchains/stable/lib/rustlib/src/rust/library"));
    assert_eq!(found.to_string(), "rustc 1.96.0, LLVM 22.1.2");
    assert_eq!(found.cargo, PathBuf::from("/some/cargo"));
}

#[test]
fn another_toolchain_comes_next_and_brings_its_cargo() {
    let machine = Machine::new();
    machine.rustc("toolchains/stable", "22.1.2");
    machine.complete("toolchains/nightly", "22.1.4");
    machine.rustc("usr", "22.1.8");
    let cargo = machine.script("toolchains/nightly/bin/cargo", "");
    let found = machine.search().find().unwrap();
    assert_eq!((found.origin, found.cargo), (Origin::Toolchain, cargo));
    assert_eq!(found.llvm, "22.1.4");
}

#[test]
fn debians_packages_come_last_and_lend_their_tools() {
    let machine = Machine::new();
    machine.rustc("toolchains/stable", "22.1.2");
    machine.rustc("usr", "22.1.8");
    machine.sources("usr");
    let tools = machine.tools("usr/lib/llvm-22/bin", "22.1.8");
    let found = machine.search().find().unwrap();
    assert_eq!((found.origin, &found.tools), (Origin::Debian, &tools));

    // A toolchain with sources but without llvm-tools may use these, which are of the same LLVM.
    machine.sources("toolchains/stable");
    let found = machine.search().find().unwrap();
    assert_eq!((found.origin, &found.tools), (Origin::ActiveToolchain, &tools));
}

#[test]
fn what_the_caller_names_is_used_or_refused() {
    let machine = Machine::new();
    machine.complete("toolchains/stable", "22.1.2");
    let named = machine.rustc("mine", "22.1.8");
    let mut search = machine.search();
    search.rustc = Some((named, RUSTC_VARIABLE));
    let error = search.find().unwrap_err();
    assert_eq!(
        machine.text(&error),
        "/mine/bin/rustc: lacks rust-src and llvm-tools; correct CUDA_BUILDER_RUSTC, or remove it to search for a compiler"
    );

    machine.sources("mine");
    search.llvm_bin = Some((machine.tools("llvm", "22.1.0"), LLVM_VARIABLE));
    let found = search.find().unwrap();
    assert_eq!((found.origin, found.tools), (Origin::Named, machine.path("llvm")));
}

#[test]
fn another_llvm_is_refused() {
    let machine = Machine::new();
    let rustc = machine.rustc("mine", "22.1.8");
    machine.sources("mine");
    let mut search = machine.search();
    search.rustc = Some((rustc, RUSTC_VARIABLE));
    search.llvm_bin = Some((machine.tools("llvm", "19.1.7"), LLVM_VARIABLE));
    assert_eq!(
        machine.text(&search.find().unwrap_err()),
        "/llvm is LLVM 19.1.7, and /mine/bin/rustc was built with LLVM 22.1.8: install LLVM 22, or name a folder \
         with its `opt` and `llc` in CUDA_BUILDER_LLVM_BIN"
    );
}

#[test]
fn without_a_compiler_the_error_says_what_each_place_lacks_and_what_to_type() {
    let machine = Machine::new();
    machine.rustc("toolchains/stable", "22.1.2");
    machine.rustc("toolchains/with-sources", "22.1.4");
    machine.sources("toolchains/with-sources");
    machine.rustc("toolchains/with-tools", "22.1.4");
    machine.tools("toolchains/with-tools/lib/rustlib/x-y-z/bin", "22.1.4");
    machine.complete("toolchains/old", "20.1.0");
    machine.script("toolchains/broken/bin/rustc", "exit 1");
    machine.complete("usr", "22.1.8");
    machine.tools("usr/lib/rustlib/x-y-z/bin", "21.1.0");
    assert_eq!(
        machine.text(&machine.search().find().unwrap_err()),
        "no compiler for GPU kernels was found: /toolchains/stable/bin/rustc: lacks rust-src and llvm-tools; \
         /toolchains/broken/bin/rustc: does not run; \
         /toolchains/old/bin/rustc: is built with LLVM 20.1.0, but LLVM 21 or newer is needed; \
         /toolchains/with-sources/bin/rustc: lacks llvm-tools (opt and llc of LLVM 22.1.4); \
         /toolchains/with-tools/bin/rustc: lacks rust-src; \
         /usr/bin/rustc: needs LLVM 22.1.8, and /usr/lib/rustlib/x-y-z/bin is 21.1.0; \
         to install one, type: rustup component add rust-src llvm-tools; or on Debian: apt-get install rustc-web \
         rust-web-src llvm-22"
    );
}

#[test]
fn a_bare_machine_has_none() {
    let error = Search::default().find().unwrap_err().to_string();
    assert!(error.starts_with("no compiler for GPU kernels was found: there is no rustc; "), "{error}");
}

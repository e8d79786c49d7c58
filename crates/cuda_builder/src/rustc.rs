//! Runs cargo and rustc: a crate of kernels in, one file of textual LLVM IR out.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::builder::Runner;
use crate::messages::with_library_name;
use crate::toolchain::DeviceCompiler;
use crate::workspace::Workspace;
use crate::{CudaBuilder, CudaBuilderError, DebugInfo};

/// rustc's name of the target.
pub(crate) const TARGET: &str = "nvptx64-nvidia-cuda";

/// Separates the flags in `CARGO_ENCODED_RUSTFLAGS`.
const SEPARATOR: &str = "\x1f";

/// Environment variables that would change the compilation.
const FOREIGN: [&str; 10] = [
    "RUSTFLAGS",
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTUP_TOOLCHAIN",
    "RUSTDOCFLAGS",
    "CARGO_BUILD_TARGET",
    "CARGO_BUILD_RUSTFLAGS",
    "CARGO_BUILD_RUSTC_WRAPPER",
    "CARGO_INCREMENTAL",
    "CARGO_TARGET_DIR",
];

/// Compiles the crate together with `core`, and returns the path of the IR.
///
/// The profile is set by environment variables, so the kernels' workspace needs none. rustc runs no
/// LLVM pass; `opt` runs them all, after the rewrite.
pub(crate) fn emit_ir(
    builder: &CudaBuilder,
    compiler: &DeviceCompiler,
    workspace: &Workspace,
    target_dir: &Path,
) -> Result<PathBuf, CudaBuilderError> {
    let ir = target_dir.join(format!("{}.{}.rustc.ll", workspace.library, builder.arch));
    // Cargo keeps one `core` in a folder, and would compile it anew for each other architecture.
    let of_arch = target_dir.join(builder.arch.target());
    forget_previous(&of_arch, &workspace.package);
    let _ = fs::remove_file(&ir);

    let mut emit = OsString::from("--emit=llvm-ir=");
    emit.push(&ir);
    let mut cargo = cargo(builder, compiler, workspace, &of_arch);
    cargo.args(&builder.build_args).arg("--").arg(emit).args(own_flags(workspace));
    let messages = output(builder, compiler, workspace, cargo, &|cargo| cargo.output())?.1;
    if !messages.is_empty() {
        eprintln!("{messages}");
    }
    if !ir.is_file() {
        let source = std::io::Error::new(std::io::ErrorKind::NotFound, "cargo succeeded and rustc wrote none");
        return Err(CudaBuilderError::Io { path: ir, action: "read the LLVM IR", source });
    }
    Ok(ir)
}

/// `cargo rustc` for the crate and `core`, up to the arguments for rustc.
pub(crate) fn cargo(
    builder: &CudaBuilder,
    compiler: &DeviceCompiler,
    workspace: &Workspace,
    target_dir: &Path,
) -> Command {
    let mut cargo = Command::new(&compiler.cargo);
    for variable in FOREIGN {
        cargo.env_remove(variable);
    }
    cargo
        .current_dir(&workspace.root)
        .args(["rustc", "--quiet", "--release", "--lib", "--crate-type", "cdylib", "-Zbuild-std=core"])
        .args(["--target", TARGET, "--package", &workspace.package])
        .arg("--target-dir")
        .arg(target_dir)
        .env("RUSTC", &compiler.rustc)
        .envs(environment(builder))
        .env("CARGO_ENCODED_RUSTFLAGS", rust_flags(builder, compiler, workspace).join(SEPARATOR))
        .envs(profile(builder));
    cargo
}

/// What rustc finds in its environment.
pub(crate) fn environment(builder: &CudaBuilder) -> [(&'static str, String); 2] {
    let arch = builder.arch.target().trim_start_matches("sm_").trim_end_matches(['a', 'f']);
    // The first allows -Zbuild-std and other -Z flags on a stable compiler. The second is
    // Rust-CUDA's name of the architecture, for kernels that check it: 750.
    [("RUSTC_BOOTSTRAP", "1".to_owned()), ("CUDA_ARCH", format!("{arch}0"))]
}

/// Runs cargo: its output and its messages.
pub(crate) fn output(
    builder: &CudaBuilder,
    compiler: &DeviceCompiler,
    workspace: &Workspace,
    mut cargo: Command,
    runner: Runner<'_>,
) -> Result<(String, String), CudaBuilderError> {
    let output = runner(&mut cargo).map_err(CudaBuilderError::io("run", &compiler.cargo))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    let messages = with_library_name(&text(&output.stderr)).into_owned();
    match output.status.success() {
        true => Ok((text(&output.stdout), messages)),
        false => Err(failure(builder, workspace, messages)),
    }
}

/// Distinguishes kernels that do not compile from a build that failed before.
fn failure(builder: &CudaBuilder, workspace: &Workspace, messages: String) -> CudaBuilderError {
    if messages.contains("could not compile") {
        let messages = crate::ir::with_kernels_name(&messages).into_owned();
        return CudaBuilderError::BuildFailed { package: workspace.package.clone(), arch: builder.arch, messages };
    }
    CudaBuilderError::Tool {
        tool: "cargo".to_owned(),
        message: messages.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; "),
        advice: "correct what it says (a first build needs the network, for the crates that `core` is built with)",
    }
}

/// Makes cargo recompile the crate itself; otherwise it would write no IR.
fn forget_previous(target_dir: &Path, package: &str) {
    let folder = target_dir.join(TARGET).join("release/.fingerprint");
    let prefix = format!("{package}-");
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(&prefix) {
            // If it cannot be removed, cargo rebuilds or the missing IR is reported.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// The flags of rustc, for every crate in the build.
pub(crate) fn rust_flags(builder: &CudaBuilder, compiler: &DeviceCompiler, workspace: &Workspace) -> Vec<String> {
    let mut flags: Vec<String> = vec![
        format!("-Ctarget-cpu={}", builder.arch),
        // Only the IR is needed; nothing is linked.
        "-Clinker=true".to_owned(),
        "-Cno-prepopulate-passes".to_owned(),
        "-Zunstable-options".to_owned(),
        "-Cpanic=immediate-abort".to_owned(),
        // This pass copies code between two branches on one condition into both. A barrier would
        // then become two.
        "-Zmir-enable-passes=-JumpThreading".to_owned(),
        // Names and sections of symbols are how the attributes of kernels speak to this crate, and
        // what would deceive it. Before edition 2024, they may be written without `unsafe`.
        "-Funsafe_attr_outside_unsafe".to_owned(),
    ];
    // So that the same sources make the same PTX in any folder. If several match, rustc uses the
    // last. Crates of other workspaces are named by their folders.
    for folder in workspace.source_folders.iter().filter(|folder| !folder.starts_with(&workspace.root)) {
        flags.push(remap(folder, &folder.file_name().unwrap_or_default().to_string_lossy()));
    }
    if !is_alone(workspace) {
        flags.push(remap(&workspace.root, ""));
    }
    for folder in registries() {
        flags.push(remap(&folder, "registry"));
    }
    flags.push(remap(&compiler.sources, "rust"));
    if let Ok(real) = fs::canonicalize(&compiler.sources) {
        flags.push(remap(&real, "rust"));
    }
    flags
}

/// The flags of rustc for the crate itself alone. Others are compiled anew when their flags change:
/// without the folder of a workspace in which no other crate is, several workspaces that build in
/// one folder share `core` and the device library.
pub(crate) fn own_flags(workspace: &Workspace) -> Option<String> {
    is_alone(workspace).then(|| remap(&workspace.root, ""))
}

/// Whether the crate needs no other crate of its workspace.
fn is_alone(workspace: &Workspace) -> bool {
    !workspace.source_folders.iter().any(|folder| *folder != workspace.folder && folder.starts_with(&workspace.root))
}

pub(crate) fn remap(from: &Path, to: &str) -> String {
    format!("--remap-path-prefix={}={to}", from.display())
}

/// The folders in which cargo unpacks crates of registries.
fn registries() -> Vec<PathBuf> {
    let home = std::env::var_os("HOME").or_else(|| std::env::var_os("USERPROFILE")).map(PathBuf::from);
    let cargo = std::env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| home.map(|home| home.join(".cargo")));
    let Some(cargo) = cargo else { return Vec::new() };
    let entries = fs::read_dir(cargo.join("registry/src")).into_iter().flatten().flatten();
    let mut folders: Vec<_> = entries.map(|entry| entry.path()).collect();
    // A different order of flags would make cargo recompile everything.
    folders.sort();
    folders
}

/// cargo's release profile for kernels, as variables of the environment.
pub(crate) fn profile(builder: &CudaBuilder) -> Vec<(&'static str, &'static str)> {
    let debug = match builder.debug {
        DebugInfo::None => "none",
        DebugInfo::LineTables => "line-directives-only",
    };
    let checks = if builder.release { "false" } else { "true" };
    vec![
        ("CARGO_PROFILE_RELEASE_OPT_LEVEL", "3"),
        ("CARGO_PROFILE_RELEASE_LTO", "fat"),
        ("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "1"),
        ("CARGO_PROFILE_RELEASE_PANIC", "abort"),
        ("CARGO_PROFILE_RELEASE_INCREMENTAL", "false"),
        ("CARGO_PROFILE_RELEASE_STRIP", "none"),
        ("CARGO_PROFILE_RELEASE_DEBUG", debug),
        ("CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS", checks),
        ("CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS", checks),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_crate_that_needs_others_of_its_workspace_tells_them_its_folder() {
        let workspace = |folders: &[&str]| Workspace {
            root: "/w".into(),
            target: "/w/target".into(),
            package: "mine".to_owned(),
            library: "mine".to_owned(),
            edition: "2024".to_owned(),
            dependencies: Vec::new(),
            folder: "/w/mine".into(),
            source_folders: folders.iter().map(PathBuf::from).collect(),
        };
        let own = |folders| own_flags(&workspace(folders));
        assert_eq!(own(&["/w/mine"]).as_deref(), Some("--remap-path-prefix=/w="));
        assert_eq!(own(&["/elsewhere/cuda_std", "/w/mine"]).as_deref(), Some("--remap-path-prefix=/w="));
        assert_eq!(own(&["/w/cuda_std", "/w/mine"]), None);
    }
}

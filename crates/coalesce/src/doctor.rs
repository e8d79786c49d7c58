//! `coalesce doctor PROGRAM ARGS`: what a program will meet when it runs with the simulator's
//! driver, and the remedy. It only looks at files: those that the command names and, of a command
//! of cargo, the manifest in the current folder.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use coalesce_driver::image::contents;
use toml::{Table, Value};

use crate::library;

/// Say what a program will meet on the simulator's driver, and the remedy
#[derive(Args, Debug)]
pub struct Options {
    /// A program, library, Python script or Cargo.toml; or a command, as `coalesce run` takes it
    #[arg(required = true, trailing_var_arg = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

/// Something to know about the program.
#[derive(Debug, PartialEq, Eq)]
enum Finding {
    Fine(String),
    Note(String),
    /// The file has nothing to do with CUDA.
    Nothing(String),
    /// The program will not run.
    Blocks(String),
}

const MANIFEST: &str = "Cargo.toml";

impl Finding {
    /// The finding, with the file.
    fn of(self, file: &Path) -> Self {
        let with = |say: String| format!("{}: {say}", file.display());
        match self {
            Self::Fine(say) => Self::Fine(with(say)),
            Self::Note(say) => Self::Note(with(say)),
            Self::Nothing(say) => Self::Nothing(with(say)),
            Self::Blocks(say) => Self::Blocks(with(say)),
        }
    }
}

/// Prints the findings. Returns 1 if the program will not run.
pub fn main(options: &Options) -> Result<u8, String> {
    let mut findings = match library::find() {
        Ok(library) => {
            let lacks = |what: &str| Finding::Note(format!("there is no {what}; `cargo build -p coalesce` makes it"));
            let ptxas = "`coalesce-ptxas` beside this program, which Triton needs";
            let runtime = "`libcoalesce_cudart.so` beside this program, which programs of nvcc need";
            let missing = [(library.has_ptxas(), ptxas), (library.has_runtime(), runtime)];
            missing.into_iter().filter(|(has, _)| !has).map(|(_, what)| lacks(what)).collect()
        }
        Err(error) => vec![Finding::Blocks(error)],
    };
    let files = files(&options.program)?;
    for path in &files {
        let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let about = match bytes.starts_with(b"\x7fELF") {
            _ if path.ends_with(MANIFEST) => of_manifest(path, &String::from_utf8_lossy(&bytes))?,
            true => of_binary(&bytes),
            false => of_script(&bytes),
        };
        // Of a command, what has nothing to do with CUDA is left out.
        let about = about.into_iter().filter(|finding| files.len() == 1 || !matches!(finding, Finding::Nothing(_)));
        findings.extend(about.map(|finding| finding.of(path)));
    }
    if findings.is_empty() {
        findings.push(Finding::Nothing("the command names no file that uses CUDA".to_owned()));
    }
    let mut text = String::new();
    for finding in &findings {
        let (what, say) = match finding {
            Finding::Fine(say) => ("ok", say),
            Finding::Note(say) | Finding::Nothing(say) => ("note", say),
            Finding::Blocks(say) => ("problem", say),
        };
        let _ = writeln!(text, "{}", wording::wrapped(say, wording::WIDTH, &format!("{what}: "), "  "));
    }
    if findings.iter().all(|finding| matches!(finding, Finding::Fine(_)))
        && let Some(command) = runnable(&options.program)
    {
        text += &format!("Run it: coalesce run -- {command}\n");
    }
    crate::run::print(&text)?;
    Ok(findings.iter().any(|finding| matches!(finding, Finding::Blocks(_))).into())
}

/// The command, or what runs the script or the package that stands in its place, as a shell takes
/// it; nothing runs a library.
fn runnable(command: &[OsString]) -> Option<String> {
    let mut words: Vec<String> = command.iter().map(|part| wording::shell_word(&part.to_string_lossy())).collect();
    let path = Path::new(command.first()?);
    let is_here = path.components().count() == 1 && path.is_file();
    if let [word] = &words[..] {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.ends_with(".so") || name.contains(".so.") {
            return None;
        }
        if name == MANIFEST {
            let elsewhere = if is_here { String::new() } else { format!(" --manifest-path {word}") };
            return Some(format!("cargo run{elsewhere}"));
        }
        if name.ends_with(".py") {
            return Some(format!("python {word}"));
        }
    }
    if is_here {
        words[0] = format!("./{}", words[0]);
    }
    Some(words.join(" "))
}

/// The files that a command names: the program, and those of its arguments that are files.
fn files(command: &[OsString]) -> Result<Vec<PathBuf>, String> {
    let Some((program, arguments)) = command.split_first() else { return Ok(Vec::new()) };
    let mut files = match program == "cargo" && Path::new(MANIFEST).is_file() {
        true => vec![PathBuf::from(MANIFEST)],
        false => vec![found(Path::new(program))?],
    };
    files.extend(arguments.iter().map(PathBuf::from).filter(|file| file.is_file()));
    Ok(files)
}

/// The file, looked for as a shell does.
fn found(program: &Path) -> Result<PathBuf, String> {
    if program.is_file() {
        return Ok(program.to_owned());
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let in_path = std::env::split_paths(&folders).map(|folder| folder.join(program));
    let found = in_path.into_iter().find(|file| program.components().count() == 1 && file.is_file());
    found.ok_or_else(|| format!("{}: there is no such file", program.display()))
}

fn has(bytes: &[u8], what: &str) -> bool {
    bytes.windows(what.len()).any(|window| window == what.as_bytes())
}

/// A program or library.
fn of_binary(bytes: &[u8]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let contents = contents(bytes);
    let targets = |targets: &std::collections::BTreeSet<u64>| {
        targets.iter().map(|target| format!("sm_{target}")).collect::<Vec<_>>().join(", ")
    };
    if !contents.ptx.is_empty() {
        findings.push(Finding::Fine(format!("it has PTX for {}", targets(&contents.ptx))));
    } else if !contents.machine_code.is_empty() {
        findings.push(Finding::Blocks(format!(
            "its kernels are machine code (SASS) for {} alone, which the simulator cannot run; compile it with PTX, too: nvcc \
             -gencode arch=compute_75,code=compute_75",
            targets(&contents.machine_code)
        )));
    }
    // The runtime library looks for the driver itself, so a program that has it inside names the
    // driver.
    let registers = has(bytes, "__cudaRegisterFatBinary");
    if registers && has(bytes, "libcudart.so") {
        findings.push(Finding::Fine(
            "it links the runtime library (libcudart) dynamically; `coalesce run` puts one of its own in its place"
                .to_owned(),
        ));
    } else if registers && has(bytes, "libcuda.so.1") {
        findings.push(Finding::Blocks(
            "NVIDIA's runtime library (cudart) is linked into it. It asks the driver to prove by a keyed hash that it is \
             NVIDIA's; this driver does not answer, ever. Compile with `nvcc -cudart shared`, which links it \
             dynamically, and with PTX; or run the kernels' PTX with `host run`"
                .to_owned(),
        ));
    } else if has(bytes, "libcuda.so") || has(bytes, "cuInit") {
        findings.push(Finding::Fine(
            "it loads the driver (libcuda); `coalesce run` puts the simulator's in its place".to_owned(),
        ));
    }
    if findings.is_empty() {
        findings.push(Finding::Nothing(
            "it names no part of CUDA; if it runs a script or loads a library that does, name that file, too"
                .to_owned(),
        ));
    }
    findings
}

/// What is known of Python's packages.
const PACKAGES: [(&str, bool, &str); 8] = [
    ("numba", true, "numba-cuda runs; `coalesce run` puts a stand-in for nvJitLink into its place"),
    ("triton", true, "Triton runs; `coalesce run` puts a stand-in for ptxas into its place"),
    (
        "tinygrad",
        true,
        "tinygrad runs with DEV=CUDA:PTX, or with DEV=CUDA and NVRTC; NVRTC needs CUDA_PATH for kernels that include \
         cuda_fp16.h",
    ),
    (
        "cuda.core",
        true,
        "cuda.core runs; `coalesce run` puts stand-ins for NVRTC's machine code and nvJitLink into place",
    ),
    ("pycuda", false, "PyCUDA compiles with nvcc to machine code (SASS); give SourceModule PTX"),
    ("cupy", false, CUDART),
    ("torch", false, CUDART),
    ("jax", false, CUDART),
];

const CUDART: &str = "has NVIDIA's runtime library (cudart) linked into it, which asks the driver to prove by a keyed hash \
                      that it is NVIDIA's; this driver does not answer, ever";

/// A script.
fn of_script(bytes: &[u8]) -> Vec<Finding> {
    let text = String::from_utf8_lossy(bytes);
    let imports = |package: &str| {
        text.lines().map(str::trim_start).any(|line| {
            let rest = line.strip_prefix("import ").or_else(|| line.strip_prefix("from "));
            let of = |name: &str| {
                name.strip_prefix(package)
                    .is_some_and(|more| !more.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
            };
            rest.is_some_and(|rest| rest.split(',').any(|name| of(name.trim_start())))
        })
    };
    let mut findings: Vec<Finding> = PACKAGES
        .iter()
        .filter(|(package, ..)| imports(package))
        .map(|&(package, runs, say)| match (runs, say) {
            (true, _) => Finding::Fine(say.to_owned()),
            (false, CUDART) => Finding::Blocks(format!("{package} {say}")),
            (false, _) => Finding::Blocks(say.to_owned()),
        })
        .collect();
    if findings.is_empty() {
        findings.push(Finding::Nothing(
            "it imports no package that is known to use CUDA; if it imports a file that does, name that file, too"
                .to_owned(),
        ));
    }
    findings
}

/// The manifest of a Rust package.
fn of_manifest(path: &Path, text: &str) -> Result<Vec<Finding>, String> {
    let manifest = table(path, text)?;
    let root = match manifest.contains_key("workspace") {
        true => manifest.clone(),
        false => workspace_of(path, &manifest)?.unwrap_or_default(),
    };
    Ok(of_package(&manifest, &root))
}

fn table(path: &Path, text: &str) -> Result<Table, String> {
    text.parse().map_err(|error: toml::de::Error| format!("{}: {}", path.display(), error.message()))
}

/// The manifest of the workspace that a package is in: the one that it names, or the nearest above.
fn workspace_of(path: &Path, manifest: &Table) -> Result<Option<Table>, String> {
    let folder = std::path::absolute(path).ok().and_then(|path| path.parent().map(Path::to_owned)).unwrap_or_default();
    let named = manifest.get("package").and_then(|package| package.get("workspace")?.as_str());
    let candidates: Vec<PathBuf> = match named {
        Some(named) => vec![folder.join(named)],
        None => folder.ancestors().skip(1).map(Path::to_owned).collect(),
    };
    for file in candidates.into_iter().map(|folder| folder.join(MANIFEST)) {
        let Ok(text) = std::fs::read_to_string(&file) else { continue };
        let found = table(&file, &text)?;
        let at = file.parent().unwrap_or(&folder);
        if found.contains_key("workspace") && !(named.is_none() && excludes(&found, at, &folder)) {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Whether a workspace excludes a folder, as cargo has it: one that `members` names is a member.
fn excludes(root: &Table, at: &Path, folder: &Path) -> bool {
    let names = |list: &str| {
        let list = root["workspace"].get(list).and_then(Value::as_array);
        list.into_iter().flatten().filter_map(Value::as_str).any(|name| folder.starts_with(at.join(name)))
    };
    names("exclude") && !names("members")
}

/// What a manifest, and that of its workspace, say of a package's dependencies.
fn of_package(manifest: &Table, root: &Table) -> Vec<Finding> {
    let all = dependencies(manifest, root);
    // Cargo ignores the patches of a workspace's members.
    let patched = if root.contains_key("workspace") { root } else { manifest };
    let is_patched = |name: &str| inner(patched, &["patch", "crates-io", name]).is_some();
    let mut findings = Vec::new();
    if all.contains_key("cust") {
        findings.push(match ["cust_raw", "find_cuda_helper"].into_iter().all(is_patched) {
            true => Finding::Fine("cust runs, if the program calls `cust_raw::load()` before all else".to_owned()),
            false => Finding::Blocks(
                "cust asks for the CUDA toolkit when it is built: add `cust_raw` and the section [patch.crates-io] that \
                 docs/DRIVER.md shows, and call `cust_raw::load()` before all else"
                    .to_owned(),
            ),
        });
    }
    if let Some(cudarc) = all.get("cudarc") {
        let has = |feature: &str| cudarc.iter().flat_map(|value| features(value)).any(|it| it == feature);
        let dynamic = has("dynamic-loading") || has("fallback-dynamic-loading");
        findings.push(match dynamic {
            true => Finding::Fine("cudarc looks for the driver when the program runs".to_owned()),
            false => Finding::Note(
                "cudarc links the driver and other libraries of CUDA unless it has the feature `dynamic-loading`; the driver \
                 is found if `coalesce run` builds the program, too"
                    .to_owned(),
            ),
        });
    }
    for name in ["rustacuda", "baracuda-driver", "cuda-async"].into_iter().filter(|name| all.contains_key(*name)) {
        findings.push(Finding::Fine(format!("{name} runs; measurements/clients.md says what it needs")));
    }
    if findings.is_empty() {
        findings.push(Finding::Nothing("it depends on no package that is known to use CUDA's driver".to_owned()));
    }
    findings
}

fn inner<'t>(table: &'t Table, names: &[&str]) -> Option<&'t Table> {
    names.iter().try_fold(table, |table, name| table.get(*name)?.as_table())
}

fn features(dependency: &Value) -> impl Iterator<Item = &str> {
    dependency.get("features").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// What is said of each package that a manifest depends on, on some system, by the package's name:
/// with what the workspace says of it. A workspace alone depends on what it lists.
fn dependencies<'t>(manifest: &'t Table, root: &'t Table) -> BTreeMap<&'t str, Vec<&'t Value>> {
    let targets = inner(manifest, &["target"]).into_iter().flat_map(Table::values).filter_map(Value::as_table);
    let kinds = ["dependencies", "dev-dependencies", "build-dependencies"];
    let mut lists: Vec<&Table> = [manifest]
        .into_iter()
        .chain(targets)
        .flat_map(|table| kinds.map(|kind| inner(table, &[kind])))
        .flatten()
        .collect();
    let shared = inner(root, &["workspace", "dependencies"]);
    if manifest.contains_key("workspace") && !manifest.contains_key("package") {
        lists.extend(shared);
    }
    let mut all: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for (name, value) in lists.into_iter().flatten() {
        let inherits = value.get("workspace").and_then(Value::as_bool) == Some(true);
        let inherited = shared.filter(|_| inherits).and_then(|shared| shared.get(name));
        let renamed = [Some(value), inherited].into_iter().flatten().find_map(|value| value.get("package")?.as_str());
        all.entry(renamed.unwrap_or(name)).or_default().extend([Some(value), inherited].into_iter().flatten());
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_judged_by_their_imports() {
        let said = |text: &str| of_script(text.as_bytes());
        assert!(
            matches!(&said("import numpy as np\nfrom numba import cuda\n")[..], [Finding::Fine(say)] if say.contains("nvJitLink"))
        );
        assert!(matches!(&said("  import os, torch")[..], [Finding::Blocks(say)] if say.contains("keyed hash")));
        assert!(matches!(&said("import torchless\n# import cupy")[..], [Finding::Nothing(_)]));
    }

    #[test]
    fn manifests_are_judged_by_their_dependencies() {
        // In no workspace.
        let said = |text: &str| of_manifest(Path::new("/Cargo.toml"), text);
        let cust = "[dependencies]\ncust = { version = \"0.3.2\" }\ncust_raw = \"*\"\n";
        assert!(matches!(&said(cust).unwrap()[..], [Finding::Blocks(say)] if say.contains("[patch.crates-io]")));
        let patch = "[patch.crates-io]\ncust_raw = { path = \"a\" }\nfind_cuda_helper = { path = \"b\" }\n";
        assert!(matches!(&said(&format!("{cust}{patch}")).unwrap()[..], [Finding::Fine(_)]));
        let cudarc = |features: &str| said(&format!("[dependencies]\ncudarc = {{ version = \"0.19\"{features} }}\n"));
        assert!(matches!(&cudarc(", features = [\"dynamic-loading\"]").unwrap()[..], [Finding::Fine(_)]));
        assert!(matches!(&cudarc("").unwrap()[..], [Finding::Note(_)]));
        assert!(matches!(&said("[package]\n").unwrap()[..], [Finding::Nothing(_)]));
        assert!(said("[package").unwrap_err().starts_with("/Cargo.toml: "));
    }

    #[test]
    fn dependencies_are_found_wherever_a_manifest_has_them() {
        let said = |manifest: &str, root: &str| of_package(&manifest.parse().unwrap(), &root.parse().unwrap());
        let cust = "cust = \"0.3.2\"\n";
        for list in [
            "target.'cfg(unix)'.dependencies",
            "target.x86_64-unknown-linux-gnu.dev-dependencies",
            "build-dependencies",
        ] {
            assert!(matches!(&said(&format!("[package]\n[{list}]\n{cust}"), "")[..], [Finding::Blocks(_)]), "{list}");
        }
        // The workspace has the version, the features and the patch; a package its own features.
        let inherits = "[package]\n[dependencies]\ngpu = { workspace = true }\n";
        let root = "[workspace.dependencies]\ngpu = { package = \"cudarc\", version = \"0.19\", features = [\"dynamic-loading\"] }\n";
        assert!(matches!(&said(inherits, root)[..], [Finding::Fine(say)] if say.contains("cudarc")));
        assert!(matches!(&said("[package]\n", root)[..], [Finding::Nothing(_)]));
        let features = "[package]\n[dependencies]\ncudarc = { workspace = true, features = [\"dynamic-loading\"] }\n";
        assert!(matches!(&said(features, "[workspace.dependencies]\ncudarc = \"0.19\"\n")[..], [Finding::Fine(_)]));
        let patch =
            "[workspace]\n[patch.crates-io]\ncust_raw = { path = \"a\" }\nfind_cuda_helper = { path = \"b\" }\n";
        assert!(matches!(&said(&format!("[package]\n[dependencies]\n{cust}"), patch)[..], [Finding::Fine(_)]));
        // Cargo ignores a member's own patch.
        let member = format!("[package]\n[dependencies]\n{cust}{}", patch.trim_start_matches("[workspace]\n"));
        assert!(matches!(&said(&member, "[workspace]\n")[..], [Finding::Blocks(_)]));
        assert!(matches!(&said(&member, "")[..], [Finding::Fine(_)]));
        // A workspace without a package.
        assert!(matches!(&said(root, root)[..], [Finding::Fine(_)]));
    }

    #[test]
    fn a_workspace_may_exclude_a_package() {
        let folder = tempfile::tempdir().unwrap();
        let root = |text: &str| std::fs::write(folder.path().join(MANIFEST), text).unwrap();
        let finds = || workspace_of(&folder.path().join("demo/a").join(MANIFEST), &Table::new()).unwrap().is_some();
        for (text, is_found) in [
            ("[package]\n", false),
            ("[workspace]\n", true),
            ("[workspace]\nexclude = ['other', 'demo']\n", false),
            ("[workspace]\nexclude = ['dem']\n", true),
            ("[workspace]\nexclude = ['demo']\nmembers = ['demo/a']\n", true),
        ] {
            root(text);
            assert_eq!(finds(), is_found, "{text}");
        }
    }

    #[test]
    fn what_is_well_can_be_run() {
        let of = |command: &[&str]| runnable(&command.iter().map(OsString::from).collect::<Vec<_>>());
        assert_eq!(of(&["python", "a.py", "3"]).as_deref(), Some("python a.py 3"));
        assert_eq!(of(&["b/a.py"]).as_deref(), Some("python b/a.py"));
        assert_eq!(of(&["python", "my file.py", "it's", ""]).as_deref(), Some("python 'my file.py' 'it'\\''s' ''"));
        assert_eq!(of(&["b c/a.py"]).as_deref(), Some("python 'b c/a.py'"));
        // This package's own manifest.
        assert_eq!(of(&["Cargo.toml"]).as_deref(), Some("cargo run"));
        assert_eq!(of(&["b/Cargo.toml"]).as_deref(), Some("cargo run --manifest-path b/Cargo.toml"));
        assert_eq!(of(&["build.rs", "a b"]).as_deref(), Some("./build.rs 'a b'"));
        assert_eq!([of(&["./program"]).as_deref(), of(&["libk.so.1"]).as_deref()], [Some("./program"), None]);
    }

    #[test]
    fn programs_are_judged_by_what_is_in_them() {
        let fixed = of_binary(b"\x7fELF libcuda.so.1 __cudaRegisterFatBinary");
        assert!(matches!(&fixed[..], [Finding::Blocks(say)] if say.contains("keyed hash")));
        let shared = of_binary(b"\x7fELF libcudart.so.12 __cudaRegisterFatBinary");
        assert!(matches!(&shared[..], [Finding::Fine(say)] if say.contains("one of its own")));
        assert!(matches!(&of_binary(b"\x7fELF libcuda.so.1")[..], [Finding::Fine(_)]));
        assert!(matches!(&of_binary(b"\x7fELF")[..], [Finding::Nothing(_)]));
        // Machine code alone: a fat binary with one file of it.
        let mut machine = b"\x7fELF\x50\xed\x55\xba\x01\0\x10\0".to_vec();
        let mut file = [0u8; 68];
        (file[0], file[4], file[8], file[28]) = (2, 64, 4, 90);
        machine.extend(68u64.to_le_bytes());
        machine.extend(file);
        assert!(matches!(&of_binary(&machine)[..], [Finding::Blocks(say)] if say.contains("sm_90")));
    }
}

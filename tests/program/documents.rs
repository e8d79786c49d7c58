//! Tests of the README and `docs/`: every command in them runs, and prints the output below it.
//!
//! A block that begins with `$ COMMAND` has the command's output below it; `...` stands for omitted
//! lines. In an indented block each line is a command, which must succeed. [`ELSEWHERE`] lists the
//! commands that this test cannot run.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::host;

/// The least number of the program's commands in a document. With fewer, this test no longer
/// recognises them.
const AT_LEAST: [(&str, usize); 3] = [("README.md", 8), ("docs/RUNNING.md", 6), ("docs/TIMING.md", 1)];

/// Commands that do not run here, and who runs them.
const ELSEWHERE: [(&str, &str); 24] = [
    (".ci/run", "runs this test"),
    ("cargo xtask setup", ".ci/run does"),
    ("cargo xtask build-ptx", ".ci/run does"),
    ("cargo xtask new-kernels", ".ci/run does"),
    ("cargo xtask browser", ".ci/run does"),
    ("cargo xtask site", ".ci/run does"),
    ("cargo xtask lectures", ".ci/run does"),
    ("cargo build -p coalesce", "the tests of `coalesce` do"),
    ("coalesce ", "the tests of `coalesce` do"),
    ("COALESCE_FAIL=", "the tests of the driver do"),
    ("target/debug/coalesce ", "the same"),
    ("cargo learn", "the tests of `learn` do"),
    ("cargo test", ".ci/run does"),
    ("COALESCE_BLESS=1 cargo test", "makes anew what the tests compare with"),
    ("cargo xtask compute-sanitizer", "needs a GPU and NVIDIA's tool"),
    ("cargo xtask compare", "needs a GPU: `xtask/tests/compare.rs` runs it with a program that pretends"),
    ("cargo run", "in a crate of one's own: .ci/run does"),
    ("docker run", "needs an image with the course"),
    ("cargo +nightly miri", "the workflow `checks` does"),
    ("cargo deny", "the same"),
    ("host litmus sb-relaxed --device gpu", "needs a GPU: `litmus.rs` runs one on the driver that executes"),
    ("host matmul --best --peer", "needs a GPU: `peers.rs` runs it on a fake one"),
    ("host reduce --best --peer", "the same"),
    ("nvcc ", "needs NVIDIA's compiler"),
];

/// A command, and the pieces of its output below it.
#[derive(Debug, Default)]
struct Example {
    command: String,
    pieces: Vec<String>,
}

#[test]
#[ignore = "long: `.ci/run` runs it"]
fn commands_in_the_documents_run_and_print_what_stands_there() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("the repository");
    for part in ["crates", "docs", "kernels", "tests"] {
        symlink(root.join(part), folder.path().join(part)).expect("a link");
    }
    for own in ["mine.ptx", "transpose.ptx"] {
        symlink(root.join("kernels/ptx/kernels.sm_75.ptx"), folder.path().join(own)).expect("a link");
    }
    let matrix = "transpose --block16 --rows 40 --cols 30 --device sim --output m.npy";
    host(matrix).current_dir(&folder).assert().success();

    let mut problems = Vec::new();
    // What only has to succeed runs once, however many documents name it.
    let mut succeeded = BTreeSet::new();
    for document in documents(&root) {
        let text = fs::read_to_string(root.join(&document)).unwrap_or_else(|error| panic!("{document}: {error}"));
        let examples = examples(&text);
        let mut ran = 0;
        for example in &examples {
            match arguments(&example.command) {
                Some(arguments) => {
                    ran += 1;
                    if example.pieces.is_empty() && !succeeded.insert(arguments.clone()) {
                        continue;
                    }
                    problems
                        .extend(run(example, &arguments, folder.path()).err().map(|why| format!("{document}: {why}")));
                }
                None if ELSEWHERE.iter().any(|(begin, _)| example.command.starts_with(begin)) => {}
                None => problems.push(format!("{document}: who runs `{}`?", example.command)),
            }
        }
        let at_least = AT_LEAST.iter().find(|(name, _)| *name == document).map_or(0, |&(_, count)| count);
        assert!(ran >= at_least, "{document} has only {ran} commands of the program: {examples:?}");
    }
    assert!(problems.is_empty(), "{}", problems.join("\n\n"));
}

/// Examples are typed on machines with a GPU, too, where counts by line, pictures and checks need
/// `--device sim` or `--counters`.
#[cfg(target_os = "linux")]
#[test]
#[ignore = "long: `.ci/run` runs it"]
fn commands_in_the_documents_also_run_on_a_gpu() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("the repository");
    let folder = tempfile::tempdir().expect("a folder");
    for part in ["crates", "docs", "kernels", "tests"] {
        symlink(root.join(part), folder.path().join(part)).expect("a link");
    }
    for own in ["mine.ptx", "transpose.ptx"] {
        symlink(root.join("kernels/ptx/kernels.sm_75.ptx"), folder.path().join(own)).expect("a link");
    }
    let matrix = "transpose --block16 --rows 40 --cols 30 --device sim --output m.npy";
    host(matrix).current_dir(&folder).assert().success();
    let mut problems = Vec::new();
    let mut ran = 0;
    let mut known = BTreeSet::new();
    for document in documents(&root) {
        let text = fs::read_to_string(root.join(&document)).expect("the document");
        for Example { command, .. } in examples(&text) {
            let Some(arguments) = arguments(&command).filter(|arguments| known.insert(arguments.clone())) else {
                continue;
            };
            // Where the command names no device, a GPU is taken if there is one.
            let Some(arguments) = arguments.strip_suffix(" --device sim").filter(|_| !command.contains("--device"))
            else {
                continue;
            };
            ran += 1;
            let mut run = crate::gpu::on_gpu(arguments, "");
            run.current_dir(&folder).env("COALESCE_MEMORY", (24 << 20).to_string()).env("COALESCE_DEVICE", "turing");
            let output = run.output().expect("the program runs");
            // It has too little memory for the sizes of a real one, as its driver says.
            let said = String::from_utf8_lossy(&output.stderr);
            let errors: String =
                said.lines().filter(|line| !line.starts_with("coalesce: out of device memory: ")).collect();
            let fits = output.status.code() == Some(0) && errors.is_empty();
            let is_large = match output.status.code() {
                Some(2) => errors.contains("but device Coalesce simulator of "),
                // Its table names the labs.
                Some(1) => arguments.starts_with("course") && errors.is_empty(),
                _ => false,
            };
            if !fits && !is_large {
                problems.push(format!("{document}: `{command}` on a GPU: {:?}, {errors}", output.status.code()));
            }
        }
    }
    assert!(ran >= 10, "only {ran} commands");
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn links_and_paths_in_the_documents_lead_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("the repository");
    let folders = ["crates/", "docs/", "exercises/", "host/", "kernels/", "tests/", "xtask/"];
    let mut problems = Vec::new();
    let mut found = 0;
    for document in documents(&root) {
        let text = fs::read_to_string(root.join(&document)).expect("the document");
        let folder = root.join(&document).parent().expect("a folder").to_owned();
        let links = text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
        // The figures of the lectures are drawn when their pages are made.
        let elsewhere = |link: &str| link.is_empty() || link.contains("://") || link.starts_with("figures/");
        let links = links.filter(|link| !elsewhere(link)).map(|link| folder.join(link));
        // Every second piece between backticks is code; a path in it is one word. Files that users
        // create do not exist here.
        let code =
            text.split('`').skip(1).step_by(2).filter(|code| folders.iter().any(|begin| code.starts_with(begin)));
        let paths = code.filter(|code| !code.contains(|c: char| c.is_whitespace() || "*{<".contains(c)));
        let made = |path: &str| ["NAME", "my_", "progress.toml"].iter().any(|part| path.contains(part));
        let paths = paths.filter(|path| !made(path)).map(|path| root.join(path));
        for path in links.chain(paths) {
            found += 1;
            if !path.exists() {
                problems.push(format!("{document}: there is no {}", path.display()));
            }
        }
    }
    assert!(found > 50, "only {found} links and paths");
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn lines_of_the_documents_have_at_most_100_columns() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("the repository");
    for document in documents(&root) {
        let text = fs::read_to_string(root.join(&document)).expect("the document");
        for (index, line) in text.lines().enumerate() {
            // Rows of tables cannot be wrapped, nor can what the program prints or a command that
            // is copied from a page.
            let as_it_is = ["|", "    ", "$ ", "cargo run ", "<!--"].iter().any(|begin| line.starts_with(begin));
            assert!(as_it_is || line.chars().count() <= 100, "{document}:{}: {line}", index + 1);
        }
    }
}

/// Reading takes time: a new paragraph replaces an old one. Chores write the pages that are left out.
#[test]
fn documents_are_short() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("the repository");
    let words = |document: &String| {
        let text = fs::read_to_string(root.join(document)).expect("the document");
        text.split_whitespace().count()
    };
    let all = documents(&root);
    let in_docs = |document: &&String| document.strip_prefix("docs/").is_some_and(|name| !name.contains('/'));
    let written = |document: &&String| !["docs/RESULTS.md", "docs/PEERS.md"].contains(&document.as_str());
    let readme = words(&"README.md".to_owned());
    let docs: usize = all.iter().filter(in_docs).filter(written).map(words).sum();
    assert!(readme <= 900, "README.md has {readme} words");
    assert!(readme + docs <= 21_500, "README.md and docs have {} words", readme + docs);
}

#[test]
fn the_program_is_installed_with_the_versions_that_were_tested() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("the repository");
    let mut found = 0;
    for document in documents(&root) {
        let text = fs::read_to_string(root.join(&document)).expect("the document");
        // Without the flag, `cargo install` ignores Cargo.lock.
        for command in text.split('`').filter(|code| code.starts_with("cargo install") && code.contains("--path")) {
            found += 1;
            assert!(command.contains("--locked"), "{document}: {command}");
        }
    }
    assert!(found > 0, "no document says how to install it");
}

/// The README, and every page of `docs/`, `docs/lectures/` and `measurements/`.
fn documents(root: &Path) -> Vec<String> {
    let pages = ["docs", "docs/lectures", "measurements"].into_iter().flat_map(|folder| {
        let entries = fs::read_dir(root.join(folder)).expect("the folder");
        let names = entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"));
        names.filter(|name| name.ends_with(".md")).map(move |name| format!("{folder}/{name}"))
    });
    let entries = fs::read_dir(root).expect("the repository");
    let names = entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"));
    let documents: Vec<String> = names.filter(|name| name.ends_with(".md")).chain(pages).collect();
    assert!(AT_LEAST.iter().all(|(name, _)| documents.iter().any(|document| document == name)), "{documents:?}");
    documents
}

/// The commands of a document with the output below them.
fn examples(text: &str) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    let mut block = None;
    let mut before_is_blank = true;
    for line in text.lines() {
        if let Some(kind) = line.strip_prefix("```") {
            block = if block.is_some() { None } else { Some(kind) };
        } else if block == Some("console") {
            match (line.strip_prefix("$ "), examples.last_mut()) {
                (Some(command), _) => {
                    examples.push(Example { command: command.to_owned(), pieces: vec![String::new()] });
                }
                (None, Some(example)) if line == "..." => example.pieces.push(String::new()),
                (None, Some(example)) => {
                    let piece = example.pieces.last_mut().expect("a command begins one");
                    piece.push_str(line);
                    piece.push('\n');
                }
                (None, None) => panic!("a console block begins with `$ COMMAND`: {line}"),
            }
        } else if block.is_none()
            && let Some(command) = line.strip_prefix("    ")
            && (before_is_blank || examples.last().is_some_and(|example| example.pieces.is_empty()))
        {
            let command = command.split(" # ").next().unwrap_or(command).trim();
            match examples.last_mut().filter(|example| example.command.ends_with('\\')) {
                Some(example) => {
                    example.command.pop();
                    example.command.push_str(command);
                }
                None => examples.push(Example { command: command.to_owned(), pieces: Vec::new() }),
            }
        }
        before_is_blank = line.is_empty();
    }
    examples
}

/// The program's arguments, if the command runs the program.
fn arguments(command: &str) -> Option<String> {
    let with_cargo = command.strip_prefix("cargo run -p host -- ");
    if with_cargo.is_none() && ELSEWHERE.iter().any(|(begin, _)| command.starts_with(begin)) {
        return None;
    }
    let arguments = with_cargo.or_else(|| command.strip_prefix("host "))?;
    // The same on every machine: a GPU would print other numbers.
    let none = ["check ", "compare ", "list"].iter().any(|command| arguments.starts_with(command));
    let device =
        if none || ["--device", "--help"].iter().any(|flag| arguments.contains(flag)) { "" } else { " --device sim" };
    Some(format!("{arguments}{device}"))
}

/// Runs an example, and compares its output.
fn run(example: &Example, arguments: &str, folder: &Path) -> Result<(), String> {
    let output = host(arguments).current_dir(folder).output().map_err(|error| error.to_string())?;
    let (printed, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let everything = format!("`{}` printed\n{printed}{errors}", example.command);
    let expects_errors = example.pieces.iter().any(|piece| piece.contains("error: "));
    if output.status.code() != Some(i32::from(expects_errors)) {
        return Err(format!("exit code {:?}: {everything}", output.status.code()));
    }
    for piece in &example.pieces {
        // With `--device sim`, there is no note about the choice of the simulator.
        let piece: String = piece
            .lines()
            .filter(|line| !line.starts_with("note: running on the simulator"))
            .map(|line| format!("{line}\n"))
            .collect();
        let piece = piece.trim_matches('\n');
        if !printed.contains(piece) && !errors.contains(piece) {
            return Err(format!("not printed:\n{piece}\n\n{everything}"));
        }
    }
    Ok(())
}

//! Tests that a hostile submission learns nothing: neither what is in a file of the teacher, the
//! course or another student, nor whether there is one. Each attack is tried as a class is graded,
//! with a sandbox, and the report is all that the student gets.

use std::fmt::Write as _;

use serde_json::Value;

use super::*;

/// Numbers of jobs that no other test has.
const JUDGES: &str = "27";

/// What no report may contain.
const SECRET: &str = "7h3-s3cr37";

/// Attacks on a file, which `@` stands for, in the order of issue 28 and then of rustc's lexer,
/// parser and macros.
#[expect(clippy::too_many_lines, reason = "one table, or one story")]
fn attacks() -> Vec<(&'static str, String)> {
    let after = |text: &str| format!("{}\n{text}\n", with(""));
    let before = |text: &str| format!("{text}\n{}", with(""));
    let passed = |name: &str, shape: &str, argument: &str| {
        (name.to_owned(), format!("macro_rules! m {{ {shape} }}\nm!({argument});"))
    };
    let mut all: Vec<(&'static str, String)> = vec![
        // Two lexers.
        ("shebang", format!("#!x r####\"\n{}\n//\"####", after("const X: &str = include_str!(\"@\");"))),
        ("shebang_marked", format!("\u{feff}#!x r####\"\n{}\n//\"####", after("const X: &str = include_str!(\"@\");"))),
        ("shebang_doc", format!("#!//! x\n[allow(unused)]\n{}", after("mod s;"))),
        (
            "lifetime",
            after(
                "macro_rules! z { ($($t:tt)*) => {} }\nz!{ 'r\"\\\" r####\" }\nconst X: &str = include_str!(\"@\");\nz!{ //\"####;\n}",
            ),
        ),
        ("escape", after("const A: &str = \"\\q\";\n#[path=\"@\"] mod x;")),
        (
            "escape_macro",
            after(
                "const A: &str = \"\\q\";\nmacro_rules! m { ($p:ident $e:tt) => { #[$p = \"@\"] mod x $e } }\nm!(path ;);",
            ),
        ),
        ("frontmatter", before("---\n#[path=\"@\"] mod x;\n---")),
        ("raw_prefix", after("z\"\" ; include_str!(\"@\"); \"\"")),
        ("guarded", after("#\"\"# include_str!(\"@\"); \"#")),
        ("nul", after("const A: &str = \"\u{0}\"; const X: &str = include_str!(\"@\");")),
        ("carriage_return", after("// \r include_str!(\"@\")\rconst X: &str = r#env!(\"HOME\");")),
        ("nested_comment", after("/* /* \" */ */ const X: &str = include_str!(\"@\"); // \"")),
        ("unclosed", after("mod a { #[path = \"@\"] mod x;")),
        // Names from pieces.
        (
            "concat",
            after(
                "macro_rules! m { ($a:ident $b:ident) => { ${concat($a, $b)}!(\"@\") } }\nconst X: &str = m!(include _str);",
            ),
        ),
        (
            "concat_hidden",
            after(
                "macro_rules! outer { ($d:tt $c:ident) => { macro_rules! inner { ($d a:ident $d b:ident) => { $d { $c($d a, $d b) }!(\"@\") } } } }\nouter!($ concat);\nconst X: &str = inner!(include _str);",
            ),
        ),
        (
            "concat_hidden_error",
            after(
                "macro_rules! outer { ($d:tt $c:ident) => { macro_rules! inner { ($d a:ident $d b:ident) => { compile_error!($d { $c($d a, $d b) }!(\"@\")); } } } }\nouter!($ concat);\ninner!(include _str);",
            ),
        ),
        ("visualizer", before("#![debugger_visualizer(gdb_script_file = \"@\")]")),
        ("visualizer_zero", before("#![debugger_visualizer(gdb_script_file = \"/dev/zero\")]")),
        (
            "visualizer_macro",
            after(
                "macro_rules! m { ($d:ident) => { #[$d(gdb_script_file = \"/dev/zero\")] mod y {} #[$d(natvis_file = \"@\")] mod z {} } }\nm!(debugger_visualizer);",
            ),
        ),
        (
            "visualizer_passed",
            after(
                "macro_rules! m { ($(#[$a:meta])*) => { $(#[$a])* mod y {} } }\nm!(#[debugger_visualizer(gdb_script_file = \"/dev/zero\")]);",
            ),
        ),
        // Cut in pieces by what an attribute, a doc comment or a format takes.
        (
            "doc",
            after(
                "macro_rules! m { ($i:ident) => { #[doc = $i!(\"@\")] pub struct S; const X: u32 = S; } }\nm!(include);",
            ),
        ),
        (
            "deprecated",
            after("macro_rules! m { ($i:ident) => { #[deprecated(note = $i!(\"@\"))] pub fn s() {} } }\nm!(include);"),
        ),
        (
            "format",
            after(
                "macro_rules! m { ($i:ident) => { const X: core::fmt::Arguments = format_args!($i!(\"@\")); } }\nm!(include);",
            ),
        ),
        (
            "panics",
            after("macro_rules! m { ($i:ident) => { const X: () = panic!(\"{}\", $i!(\"@\")); } }\nm!(include);"),
        ),
        ("imported", after("use core::{include as quiet};\nquiet!(\"@\");")),
        (
            "imported_all",
            after("pub use core::*;\nmacro_rules! m { ($i:ident) => { core::$i!(\"@\"); } }\nm!(include);"),
        ),
        ("environment", after("macro_rules! m { ($i:ident) => { const X: &str = $i!(\"@\"); } }\nm!(env);")),
        (
            "extern_crate",
            after(
                "macro_rules! m { ($($t:tt)*) => { $($t)* } }\nm!(extern crate std; const X: usize = std::fs::read(\"@\").len(););",
            ),
        ),
        (
            "extern_hidden",
            after(
                "macro_rules! m { ($c:tt) => { extern $c std; extern $c cuda_std_macros as c; extern $c libm; } }\nm!(crate);",
            ),
        ),
        (
            "link",
            after(
                "macro_rules! m { ($l:ident) => { #[$l(name = \"@\", kind = \"static\", modifiers = \"+verbatim,+whole-archive\")] unsafe extern \"C\" { fn q(); } } }\nm!(link);",
            ),
        ),
        (
            "assembly",
            after("macro_rules! m { ($a:ident) => { core::arch::$a!(\".include \\\"@\\\"\"); } }\nm!(global_asm);"),
        ),
        // Messages like those of a compiler that the system has ended, whose own are then shown as
        // they are.
        (
            "killed",
            after(
                "compile_error!(\"memory allocation of signal: 9\");\nmacro_rules! m { ($p:ident $e:tt) => { #[$p = \"@\"] mod x $e } }\nm!(path ;);",
            ),
        ),
        (
            "crashed",
            after(
                "compile_error!(\"interrupted by SIGSEGV\\nLLVM ERROR: out of memory\");\nmacro_rules! m { ($i:ident) => { compile_error!($i!(\"@\")); } }\nm!(include);",
            ),
        ),
        (
            "panicked",
            after(
                "macro_rules! m { ($i:ident) => { #[kernel($i!(\"@\"))] pub unsafe fn k($i: u32) {} #[kernel(launch_bounds($i!(\"@\")))] pub unsafe fn l() {} } }\nm!(include);",
            ),
        ),
        // Text that a macro of the library takes, and what it makes of it.
        (
            "shared",
            after(
                "macro_rules! m { ($i:ident) => { pub fn f() { let _ = shared_array![u32; $i!(\"@\")]; let _ = shared_array![$i!(\"@\"); 4]; } } }\nm!(include);",
            ),
        ),
        (
            "stringified",
            after(
                "macro_rules! m { ($i:ident) => { compile_error!(concat!(stringify!($i), $i!(\"@\"), file!(), module_path!())); } }\nm!(include_str);",
            ),
        ),
        (
            "constant",
            after(
                "macro_rules! m { ($i:ident) => { const X: &[u8] = $i!(\"@\"); const _: () = assert!(X.len() == 12345); } }\nm!(include);",
            ),
        ),
        (
            "generic",
            after(
                "macro_rules! m { ($i:ident) => { const fn f(x: &str) -> usize { x.len() } pub struct N<const S: usize>; const X: N<0> = N::<{ f($i!(\"@\")) }>; } }\nm!(include);",
            ),
        ),
        (
            "nested_attributes",
            after(
                "macro_rules! m { ($($p:tt)*) => { #[cfg_attr(all(), cfg_attr(all(), $($p)*))] mod x {} #[cfg_attr(all(), cfg_attr(all(), $($p)*))] mod y; } }\nm!(path = \"@\");",
            ),
        ),
        (
            "path_in_path",
            after(
                "macro_rules! m { ($p:ident $e:tt) => { #[$p = \"/\"] mod a { #[$p = \"@\"] mod b $e #[$p = \"proc/self/fd/1\"] mod c $e } } }\nm!(path ;);",
            ),
        ),
        // The lexer's blanks, signs and literals.
        ("blanks", after("const X: &str = include_str\u{200e}\u{b}\u{85}\u{2028}!\u{200f}(\u{c}\"@\"\u{2029});")),
        (
            "shebang_blank",
            format!("#!\u{200e}\u{2028}x r####\"\n{}\n//\"####", after("const X: &str = include_str!(\"@\");")),
        ),
        (
            "two_marks",
            format!("\u{feff}\u{feff}#!x r####\"\n{}\n//\"####", after("const X: &str = include_str!(\"@\");")),
        ),
        ("full_width", after("use core::\u{ff49}nclude as i; i!(\"@\");\nconst X: &str = \u{ff49}nclude_str!(\"@\");")),
        ("c_strings", after("const A: &core::ffi::CStr = c\"\\\"\"; const X: &str = include_str!(\"@\"); // \"")),
        ("c_raw", after("const A: &core::ffi::CStr = cr#\"\"\"#; const X: &str = include_str!(\"@\"); // \"#")),
        ("raw_lifetime", after("fn f<'r#x>(x: &'r#x str) {}\nz!{ 'r#\"# include_str!(\"@\") }")),
        ("characters", after("const A: [char; 3] = ['\"', '\\'', '/']; const X: &str = include_str!(\"@\"); // '\"'")),
        ("returns", after("const A: &str = \"\\\r\n\"; /*\r\r\n*/ const X: &str = include_str!(\"@\");\r\r\n// \"")),
        (
            "hashes",
            after(&format!("const A: &str = r{0}\"\"{0}; const X: &str = include_str!(\"@\");", "#".repeat(256))),
        ),
        ("frontmatter_late", format!("\r\n \n---x.y -\n---\n{}", after("const X: &str = include_str!(\"@\");"))),
        // What is beside the file when it is compiled.
        ("itself", after("macro_rules! m { ($i:ident) => { $i!(\"kernel.rs\"); } }\nm!(include);")),
        (
            "bitcode",
            after("macro_rules! m { ($i:ident) => { compile_error!($i!(\"../exercise.ll\")); } }\nm!(include);"),
        ),
        (
            "handed_over",
            after("macro_rules! m { ($i:ident) => { compile_error!($i!(\"../../compiler.json\")); } }\nm!(include);"),
        ),
        ("kept", after("macro_rules! m { ($p:ident $e:tt) => { #[$p = \"../../../ptx\"] mod x $e } }\nm!(path ;);")),
        (
            "descriptor",
            after(
                "macro_rules! m { ($i:ident) => { compile_error!($i!(\"/proc/self/fd/0\")); compile_error!($i!(\"/dev/stdin\")); } }\nm!(include);",
            ),
        ),
        (
            "variables",
            after(
                "macro_rules! m { ($i:ident) => { compile_error!($i!(\"/proc/self/environ\")); compile_error!($i!(\"/proc/self/cmdline\")); } }\nm!(include);",
            ),
        ),
        (
            "root",
            after(
                "macro_rules! m { ($i:ident) => { compile_error!($i!(\"/proc/self/root@\")); compile_error!($i!(\"/proc/self/cwd/../../../../../../../../../../..@\")); } }\nm!(include);",
            ),
        ),
        // Folders, in which a module looks for others.
        (
            "folder",
            after("macro_rules! m { ($p:ident $e:tt) => { #[$p = \"/etc\"] mod a { mod passwd $e } } }\nm!(path ;);"),
        ),
        (
            "folder_secret",
            after("macro_rules! m { ($p:ident $e:tt) => { #[$p = \"@/..\"] mod a { mod secret $e } } }\nm!(path ;);"),
        ),
        (
            "oracle",
            after(
                "macro_rules! m { ($p:ident $n:ident $e:tt) => { #[$p = \"<\"] mod a { mod $n $e } } }\nm!(path > ;);",
            ),
        ),
        // What rustc finds after it: that there is nothing in a module, if there is no file for it.
        (
            "oracle_uses",
            after(
                "macro_rules! m { ($p:ident $n:ident $e:tt) => { #[$p = \"<\"] mod a { pub mod $n $e } use a::$n as q; } }\nm!(path > ;);\nfn f() -> u8 { q::r::s!() }\nfn g() -> u8 { \"\" }",
            ),
        ),
        ("module", after("macro_rules! m { ($e:tt) => { mod lib $e mod kernel $e } }\nm!(;);")),
        // Messages that look like the compiler's own.
        (
            "messages",
            after(
                "compile_error!(\"x\\n{\\\"level\\\":\\\"error\\\",\\\"message\\\":\\\"x\\\"}\\n\\u{1b}]0;x\\u{7}\");",
            ),
        ),
    ];
    let includes = "($i:ident) => { compile_error!($i!(\"@\")); }";
    let paths = "($p:ident $e:tt) => { #[$p = \"@\"] mod x $e }";
    for (name, (_, text)) in [
        ("include_passed", passed("", includes, "include")),
        ("include_raw", passed("", includes, "r#include")),
        ("path_passed", passed("", paths, "path ;")),
        ("path_conditional", passed("", "($p:ident $e:tt) => { #[cfg_attr(all(), $p = \"@\")] mod x $e }", "path ;")),
        ("path_literal", passed("", "($p:ident $l:literal $e:tt) => { #[$p = $l] mod x $e }", "path \"@\" ;")),
        ("path_tokens", passed("", "($($t:tt)*) => { #[$($t)*] mod x {} }", "path = \"@\"")),
    ] {
        all.push((name, after(&text)));
    }
    all
}

#[test]
#[ignore = "long: `.ci/run` runs it"]
fn a_hostile_class_learns_nothing() {
    if !has_compiler() {
        return;
    }
    let course = Course::new(&["copy"]);
    course.change("copy/goals.toml", "from = 60_000, to = 66_000", "from = 6_000, to = 6_600");
    // The model's solution and another student's are right, and would make a file that includes
    // them right, too.
    let secret = format!("{}\npub const SECRET: &str = \"{SECRET}\";\n", with(""));
    course.write("class/anna/copy/kernel.rs", &secret);
    course.write("copy/solution.rs", &secret);
    course.write("secret.rs", &secret);
    course.write("no_rust", &format!("{SECRET}:x:0:0\n"));
    let files = ["secret.rs", "no_rust", "missing", "class/anna/copy/kernel.rs", "copy/solution.rs"];
    let files: Vec<String> =
        files.iter().map(|file| course.path(file).display().to_string()).chain(["/etc/passwd".to_owned()]).collect();
    for (name, text) in attacks() {
        for (index, file) in files.iter().enumerate() {
            let path = Path::new(file);
            let [folder, stem] = [path.parent().unwrap(), Path::new(path.file_stem().unwrap())];
            let text = match name {
                "oracle" | "oracle_uses" => text
                    .replace("\"<\"", &format!("{folder:?}"))
                    .replace("path > ;", &format!("path {} ;", stem.display())),
                _ => text.replace('@', file),
            };
            course.write(&format!("class/{name}_{index}/copy/kernel.rs"), &text);
        }
    }
    // Submissions that consist of another's, and of nothing else.
    for (index, file) in files.iter().enumerate() {
        for (name, text) in [
            ("only_include", "macro_rules! m { ($i:ident) => { $i!(\"@\"); } }\nm!(include);"),
            (
                "only_path",
                "macro_rules! m { ($p:ident $e:tt) => { #[$p = \"@\"] mod x $e pub use x::*; } }\nm!(path ;);",
            ),
        ] {
            course.write(&format!("class/{name}_{index}/copy/kernel.rs"), &text.replace('@', file));
        }
    }
    let out = course.path("marks.json");
    let class = course.path("class");
    let mut command = course.command(&["grade", "--jobs", "2", "--seed", "7", "--time-limit", "60"]);
    command.arg("--json").arg(&out).arg(&class).env("LEARN_JOB", JUDGES).env("SECRET", SECRET);
    let table = Outcome::of(&mut command).succeeds();
    let marks: Value = serde_json::from_str(&course.read("marks.json")).unwrap();
    let mut failures = String::new();
    let mut by_attack: std::collections::BTreeMap<String, Vec<(String, String)>> = std::collections::BTreeMap::new();
    for student in marks["students"].as_array().unwrap() {
        let name = student["name"].as_str().unwrap();
        let [status, report] = ["status", "report"].map(|key| student["marks"][0][key].as_str().unwrap().to_owned());
        if name == "anna" {
            assert_eq!(status, "solved", "{report}");
            continue;
        }
        let leaks =
            [SECRET, "root:", "/bin/sh", "HOME=", "os error", "# Safety"].iter().any(|secret| report.contains(secret));
        let controls = report.chars().any(|c| c.is_control() && c != '\n');
        let bad = ["timed_out", "failed", "missing"].contains(&status.as_str());
        // Reading nothing, a right kernel may stay right.
        let stolen = status == "solved" && name.starts_with("only_");
        if leaks || controls || bad || stolen {
            let _ = writeln!(failures, "{name}: {status}\n{report}");
        }
        let (attack, file) = name.rsplit_once('_').unwrap();
        let text = report.replace(&files[file.parse::<usize>().unwrap()], "@");
        by_attack.entry(attack.to_owned()).or_default().push((status, text));
    }
    assert_eq!(failures, "");
    // The marks are the same whether the file is there or not.
    for (attack, marks) in by_attack {
        assert_eq!(marks.len(), files.len(), "{attack}");
        // Without the lines of source, which rustc cuts, and without columns: names of files are
        // not equally long.
        let shown = |(status, text): &(String, String)| {
            let lines = text.lines().filter(|line| !line.contains('|')).map(|line| line.replace(char::is_numeric, ""));
            (status.clone(), lines.collect::<Vec<_>>())
        };
        for mark in &marks {
            assert_eq!(shown(mark), shown(&marks[2]), "{attack}");
        }
    }
    assert!(!table.contains(SECRET), "{table}");
}

/// Runs a command on a kernel that seems to lack Landlock.
#[cfg(target_os = "linux")]
fn without_landlock(command: &mut Command) -> Outcome {
    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};
    let rules = [(libc::SYS_landlock_create_ruleset, Vec::new())].into_iter().collect();
    let missing = SeccompAction::Errno(libc::ENOSYS.cast_unsigned());
    let arch = std::env::consts::ARCH.try_into().unwrap();
    let filter: BpfProgram =
        SeccompFilter::new(rules, SeccompAction::Allow, missing, arch).unwrap().try_into().unwrap();
    std::thread::scope(|scope| {
        let confined = scope.spawn(|| {
            seccompiler::apply_filter(&filter).unwrap();
            Outcome::of(command)
        });
        confined.join().unwrap()
    })
}

#[cfg(target_os = "linux")]
#[test]
fn without_a_sandbox_nothing_is_graded_unless_asked_to() {
    if !has_compiler() {
        return;
    }
    let course = Course::new(&["copy"]);
    course.write("class/anna/copy/kernel.rs", &kernel(RIGHT));
    let class = course.path("class").display().to_string();
    let mut command = course.command(&["grade", "--seed", "7", "--jobs", "1", &class]);
    let message = without_landlock(command.env("LEARN_JOB", JUDGES))
        .refuses(&["no sandbox: the kernel's Landlock is missing", "--no-sandbox"]);
    assert_eq!(message.lines().count(), 1, "{message}");
    let mut command = course.command(&["grade", "--seed", "7", "--jobs", "1", "--no-sandbox", &class]);
    assert!(without_landlock(command.env("LEARN_JOB", JUDGES)).succeeds().contains("anna     solved"));
    // A student's own file needs none.
    course.write("copy/kernel.rs", &kernel(RIGHT));
    assert!(without_landlock(&mut course.command(&["run", "copy"])).succeeds().contains("Solved."));
}

//! Tests of PTX that names files which are none of its sources, and of text that would do something
//! to a terminal: from a stranger's file nothing else of the machine is shown, and nothing is done.

use std::fs;

use crate::{fails, host};

/// What no output may contain.
const SECRET: &str = "7h3-s3cr37";

/// A kernel whose lines are in this file; with `beyond`, it writes beyond its buffer.
fn located(file: &str, beyond: bool) -> String {
    let offset = if beyond { "+4096" } else { "" };
    format!(
        ".version 7.0\n.target sm_70\n.address_size 64\n.file 1 \"{file}\"\n.visible .entry k(.param .u64 p)\n{{\n\
         .reg .b64 %rd<4>;\n.reg .b32 %r<4>;\n.loc 1 1 1\nld.param.u64 %rd1, [p];\ncvta.to.global.u64 %rd2, %rd1;\n\
         mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd2, %rd2, %rd3;\n\
         st.global.u32 [%rd2{offset}], %r1;\nret;\n}}\n"
    )
}

/// What the program shows of the kernel, in all ways, run in `folder/here`.
fn shown(folder: &tempfile::TempDir, file: &str, flags: &str) -> String {
    let here = folder.path().join("here");
    let mut all = String::new();
    for (beyond, how) in [
        (false, "--lines"),
        (false, "--report page.html"),
        (true, "--check all"),
        // It traps.
        (true, "--check none"),
        (false, "--lines --format json"),
    ] {
        fs::write(here.join("k.ptx"), located(file, beyond)).expect("the file is written");
        let arguments = format!("run k.ptx k --grid 1 --block 32 u32[32] --device sim {how} {flags}");
        let output = host(&arguments).current_dir(&here).output().expect("it runs");
        assert_eq!(output.status.code(), Some(i32::from(beyond)), "{}", String::from_utf8_lossy(&output.stderr));
        all += &String::from_utf8_lossy(&output.stdout);
        all += &String::from_utf8_lossy(&output.stderr);
    }
    all + &fs::read_to_string(here.join("page.html")).expect("there is a page")
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in
        [("here/own.cu", "int own;\n"), ("secret.txt", SECRET), ("here/.env", SECRET), ("others/far.cu", "int far;\n")]
    {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("it is in a folder")).expect("a folder");
        fs::write(path, text).expect("the file is written");
    }
    folder
}

#[test]
fn ptx_does_not_show_files_that_are_none_of_its_sources() {
    let folder = folder();
    assert!(shown(&folder, "own.cu", "").matches("int own;").count() >= 5);
    let secret = folder.path().join("secret.txt").display().to_string();
    for file in [secret.as_str(), "../secret.txt", ".env", "./../here/.env"] {
        let text = shown(&folder, file, "");
        assert!(!text.contains(SECRET), "{file}: {text}");
    }
    // Neither what the system makes up: the environment has a variable that is there in each run.
    for file in ["/proc/self/environ", "/proc/self/cmdline", "proc/self/environ"] {
        let text = shown(&folder, file, "");
        assert!(!text.contains("HOME=") && !text.contains("PATH=") && !text.contains("k.ptx\0"), "{file}: {text}");
    }
    let text = shown(&folder, "/etc/passwd", "");
    assert!(!text.contains("root:"), "{text}");
}

#[test]
fn pipes_among_the_sources_are_not_waited_for() {
    let folder = folder();
    let pipe = folder.path().join("here/pipe.cu");
    if std::process::Command::new("mkfifo").arg(&pipe).status().is_ok_and(|status| status.success()) {
        assert!(shown(&folder, "pipe.cu", "").contains("was not found"));
    }
}

#[test]
fn folders_of_sources_are_named_by_a_flag() {
    let folder = folder();
    assert!(!shown(&folder, "/build/7/far.cu", "").contains("int far;"));
    let text = shown(&folder, "/build/7/far.cu", "--sources .. --sources ../others");
    assert!(text.matches("int far;").count() >= 5, "{text}");
    fs::write(folder.path().join("here/k.ptx"), located("x", false)).expect("the file is written");
    let mut command = host("run k.ptx k --grid 1 --block 1 u32[1] --device sim --sources nowhere");
    command.current_dir(folder.path().join("here"));
    fails(command, 2, &["--sources", "nowhere: there is no such folder"]);
}

/// Prints a text that clears the screen, names the window and turns what follows.
const PRINTS: &str = ".version 7.0
.target sm_70
.address_size 64
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
.global .align 1 .b8 s[26] = {27,91,50,74,27,93,48,59,120,7,226,128,174,13,194,155,49,109,9,111,118,101,114,10,0};
.visible .entry k()
{
.reg .b64 %rd<4>;
mov.u64 %rd1, s;
cvta.global.u64 %rd2, %rd1;
mov.u64 %rd3, 0;
{
.param .b64 p0; st.param.b64 [p0], %rd2;
.param .b64 p1; st.param.b64 [p1], %rd3;
.param .b32 rv;
call (rv), vprintf, (p0, p1);
}
ret;
}
";

#[test]
fn what_a_kernel_prints_does_nothing_to_a_terminal() {
    let folder = folder();
    fs::write(folder.path().join("k.ptx"), PRINTS).expect("the file is written");
    let run = |format: &str| {
        let mut command = host(&format!("run k.ptx k --grid 1 --block 1 --device sim {format}"));
        let run = command.current_dir(folder.path()).assert().success();
        String::from_utf8_lossy(&run.get_output().stdout).into_owned()
    };
    let text = run("");
    assert!(text.starts_with("\\u{1b}[2J\\u{1b}]0;x\\u{7}\\u{202e}\\r\\u{9b}1m\tover\n\n"), "{text}");
    assert!(!text.contains(|c: char| c.is_control() && c != '\n' && c != '\t'), "{text:?}");
    // Programs get what was printed.
    let json: serde_json::Value = serde_json::from_str(&run("--format json")).expect("JSON");
    assert_eq!(json["output"], "\u{1b}[2J\u{1b}]0;x\u{7}\u{202e}\r\u{9b}1m\tover\n");
}

#[test]
fn sources_and_messages_do_nothing_to_a_terminal() {
    let folder = folder();
    fs::write(folder.path().join("here/own.cu"), "int own; // \u{1b}[2J\u{202e}\u{9b}1m\n").expect("it is written");
    let text = shown(&folder, "own.cu", "");
    let unseen = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
    // JSON, which is for programs, has the line as it is.
    let json = text.lines().find(|line| line.contains("\"source\": \"int own;")).expect("it is in the JSON");
    assert!(!text.replace(json, "").contains(unseen), "{text:?}");
    let broken =
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\n \u{1b}bad\u{202e}x;\nret;\n}\n";
    fs::write(folder.path().join("here/k.ptx"), broken).expect("the file is written");
    for arguments in ["check k.ptx", "run k.ptx k --grid 1 --block 1 --device sim"] {
        let output = host(arguments).current_dir(folder.path().join("here")).output().expect("it runs");
        let text = [output.stdout, output.stderr].concat();
        assert!(!String::from_utf8_lossy(&text).contains(unseen), "{}", String::from_utf8_lossy(&text));
    }
}

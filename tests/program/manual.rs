//! Shell completions and manual pages.

use std::process::{Command, Stdio};

use crate::{fails, host, output};

#[test]
fn every_shell_completes_labs_and_flags() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let text = output(&format!("completions {shell}"));
        for word in ["transpose", "padded", "report", "plot", "completions"] {
            assert!(text.contains(word), "{shell} does not complete {word}");
        }
    }
    fails(host("completions tcsh"), 2, &["'tcsh' for '<SHELL>'", "bash"]);
    fails(host("completions"), 2, &["<SHELL>"]);
    for flags in ["--device sim", "--format json", "--ptx x.ptx", "--step-limit 5"] {
        let flag = flags.split(' ').next().expect("a flag");
        fails(host(&format!("completions bash {flags}")), 2, &["unexpected argument", flag]);
    }
}

/// What bash offers for a command line, if there is a bash.
fn bash_offers(words: &[&str]) -> Option<Vec<String>> {
    let script = format!(
        "source <({} completions bash); COMP_WORDS=({}); COMP_CWORD={}; _host host '{}' ''; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        env!("CARGO_BIN_EXE_host"),
        words.join(" "),
        words.len() - 1,
        words.last()?
    );
    let run = Command::new("bash").args(["-c", &script]).stderr(Stdio::inherit()).output().ok()?;
    Some(String::from_utf8_lossy(&run.stdout).lines().map(str::to_owned).collect())
}

#[test]
fn bash_offers_what_can_follow() {
    let Some(labs) = bash_offers(&["host", "transp"]) else { return };
    assert_eq!(labs, ["transpose"]);
    let flags = bash_offers(&["host", "offset", "--re"]).expect("there is a bash");
    assert_eq!(flags, ["--read", "--report"]);
}

#[test]
fn manual_pages_are_of_the_program_and_of_each_command() {
    let whole = output("man");
    assert!(whole.contains(".TH host 1") && whole.contains("transpose") && whole.contains(".SH OPTIONS"), "{whole}");
    for lab in host::labs::ALL {
        let page = output(&format!("man {}", lab.name));
        let title = format!(".TH host\\-{0} 1", lab.name);
        assert!(page.contains(&title) || page.contains(&title.replace('\\', "")), "{page}");
        assert!(page.contains("device") && page.contains("report"), "{page}");
    }
    assert!(output("man run").contains("tensor_at"));
    fails(host("man multiply"), 2, &["there is no command 'multiply'", "host --help"]);
    fails(host("man --device sim"), 2, &["unexpected argument", "--device"]);
}

//! Refuses student's files that would be unsafe to compile: those that read the machine's files or environment at compile time, or
//! bypass the device library. [`crate::judge`] calls it before it compiles anything.
//!
//! rustc compiles a student's file as a module of a crate without a build script and without procedural macros. Anything else that
//! could reach the machine has a name that must appear in the text, because a macro by example cannot assemble names. So these
//! names are refused anywhere but in comments and strings. If the text cannot be split into tokens here, they are refused there,
//! too, and the text is also refused if rustc compiles it nevertheless: see [`Checked`].

use proc_macro2::{TokenStream, TokenTree};

/// The refused names, and why.
const REFUSED: &[(&[&str], &str)] = &[
    (&["include", "include_str", "include_bytes"], "a kernel may not read files"),
    (&["env", "option_env"], "a kernel may not read the environment"),
    (&["asm", "global_asm", "naked_asm"], "inline assembly is not needed here: use what cuda_std has"),
    (
        &["link", "link_name", "link_section", "link_args", "export_name", "no_mangle"],
        "a kernel needs no names for a linker",
    ),
    (&["feature", "allow_internal_unstable", "rustc_const_unstable"], "unstable features are not needed here"),
    (&["proc_macro", "concat_idents"], "a kernel brings no macros that run code"),
];

/// The deepest nesting of brackets, below rustc's own limit.
const DEEPEST: usize = 200;

/// The maximum length of a file in bytes.
pub const LONGEST: usize = 1 << 18;

/// A text that may be compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checked {
    /// The whole text was checked.
    Whole,
    /// It cannot be split into tokens. So rustc should reject it with a message. If rustc compiles it, it contains something that
    /// was not checked here.
    NotRust,
}

/// The message for a text that compiles although it is [`Checked::NotRust`].
pub const UNREADABLE: &str = "it has something that only the compiler can read: write it in plain Rust";

/// Checks whether a text may be compiled.
///
/// # Errors
///
/// A sentence with the line, the refused text and the reason.
pub fn check(text: &str) -> Result<Checked, String> {
    if text.len() > LONGEST {
        return Err(format!("the file has {} bytes, and {LONGEST} are allowed", text.len()));
    }
    // rustc skips a first line that names an interpreter, whatever its text.
    if text.trim_start_matches('\u{feff}').starts_with("#!/") {
        return Err("line 1: `#!/`: a kernel is not a script".to_owned());
    }
    match text.parse::<TokenStream>() {
        Ok(tokens) => walk(tokens, 0).map(|()| Checked::Whole),
        Err(_) => words(text).map(|()| Checked::NotRust),
    }
}

fn too_deep() -> String {
    format!("brackets are nested more than {DEEPEST} deep")
}

/// Why a name is refused, if it is.
fn refused(name: &str) -> Option<&'static str> {
    REFUSED.iter().find(|(names, _)| names.contains(&name)).map(|(_, why)| *why)
}

/// Checks the brackets and words of a text that cannot be split into tokens.
fn words(text: &str) -> Result<(), String> {
    let (mut depth, mut most) = (0_usize, 0);
    for byte in text.bytes() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        most = most.max(depth);
    }
    if most > DEEPEST {
        return Err(too_deep());
    }
    for (index, line) in text.lines().enumerate() {
        for word in line.split(|c: char| !c.is_alphanumeric() && c != '_') {
            if let Some(why) = refused(word) {
                return Err(format!("line {}: `{word}`: {why}", index + 1));
            }
        }
    }
    Ok(())
}

fn walk(tokens: TokenStream, depth: usize) -> Result<(), String> {
    if depth > DEEPEST {
        return Err(too_deep());
    }
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (index, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Group(group) => walk(group.stream(), depth + 1)?,
            TokenTree::Ident(ident) => {
                let line = ident.span().start().line;
                let name = ident.to_string();
                let name = name.strip_prefix("r#").unwrap_or(&name);
                if let Some(why) = refused(name) {
                    return Err(format!("line {line}: `{name}`: {why}"));
                }
                let next = |ahead: usize| tokens.get(index + ahead);
                // Anywhere, because a macro may put it into an attribute.
                if name == "path" {
                    return Err(format!("line {line}: `path`: a kernel is one file; choose another name"));
                }
                // Without `path`, a module that a macro declares is a file beside this one, which does not exist.
                if name == "mod" && matches!(next(2), Some(TokenTree::Punct(punct)) if punct.as_char() == ';') {
                    return Err(format!(
                        "line {line}: `mod {};`: a kernel is one file",
                        next(1).map(ToString::to_string).unwrap_or_default()
                    ));
                }
                if name == "extern" && matches!(next(1), Some(TokenTree::Ident(krate)) if krate == "crate") {
                    return Err(format!(
                        "line {line}: `extern crate`: a kernel has cuda_std and core, and needs no more"
                    ));
                }
            }
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_reaches_the_machine_is_refused_with_its_line() {
        for (text, expected) in [
            (
                "use cuda_std::prelude::*;\nconst X: &str = include_str!(\"/etc/passwd\");",
                "line 2: `include_str`: a kernel may not read files",
            ),
            ("use core::include_bytes as x;", "line 1: `include_bytes`: a kernel may not read files"),
            ("const X: &str = r#env!(\"HOME\");", "line 1: `env`: a kernel may not read the environment"),
            ("const X: Option<&str> = ::core::option_env!(\"HOME\");", "line 1: `option_env`: "),
            ("global_asm!(\".visible .func f {}\");", "line 1: `global_asm`: inline assembly is not needed"),
            ("fn f() { unsafe { core::arch::asm!(\"exit;\") } }", "line 1: `asm`: inline assembly"),
            ("mod other;", "line 1: `mod other;`: a kernel is one file"),
            ("\n\n#[path = \"/etc/passwd\"]\nmod x {}", "line 3: `path`: a kernel is one file"),
            ("#[cfg_attr(all(), path = \"/etc/passwd\")] mod x {}", "line 1: `path`: a kernel is one file"),
            (
                "macro_rules! m { ($p:ident $n:ident $e:tt) => { #[$p = \"/etc/passwd\"] mod $n $e } }\nm!(path x ;);",
                "line 2: `path`: a kernel is one file",
            ),
            ("macro_rules! m { ($p:ident) => { #[$p = \"x\"] mod x {} } }\nm!(r#path);", "line 2: `path`: "),
            ("extern crate alloc;", "line 1: `extern crate`: "),
            ("#![feature(abi_ptx)]", "line 1: `feature`: "),
            ("#[unsafe(no_mangle)] fn x() {}", "line 1: `no_mangle`: "),
            ("#[unsafe(link_section = \".shared\")] static X: u8 = 0;", "line 1: `link_section`: "),
            (
                "macro_rules! m { ($x:ident) => { $x!(\"/etc/passwd\") } }\nconst A: &str = m!(include_str);",
                "line 2: `include_str`: ",
            ),
        ] {
            let refused = check(text).unwrap_err();
            assert!(refused.starts_with(expected), "{text}\n{refused}");
        }
    }

    #[test]
    fn words_in_comments_and_strings_are_no_harm() {
        let text = "//! Do not include the tail; the path is long, and asm! is not.\nconst ENV: &str = \"env!\"; mod inner { } // mod x;";
        check(text).unwrap();
    }

    #[test]
    fn brackets_are_counted_where_they_are_tokens() {
        let nested = |open: &str, close: &str| format!("const X: u32 = {}1{};", open.repeat(1000), close.repeat(1000));
        for text in [nested("(", ")"), nested("{/*}*/", "/*{*/}"), nested("(r\")\";", "r\"(\")")] {
            assert_eq!(check(&text).unwrap_err(), "brackets are nested more than 200 deep");
        }
        assert_eq!(check(&format!("// {}", "(".repeat(1000))), Ok(Checked::Whole));
    }

    #[test]
    fn what_only_rustc_can_read_hides_nothing() {
        for text in [
            "#!/bin/sh \"\nconst X: &str = include_str!(\"x\");",
            "const A: &str = \"\u{0}\"; '' const X: &str = include_str!(\"x\");",
        ] {
            check(text).unwrap_err();
        }
        assert_eq!(check("fn x() { /* env!"), Err("line 1: `env`: a kernel may not read the environment".to_owned()));
        assert_eq!(check("fn x() {"), Ok(Checked::NotRust));
        assert_eq!(check("#![allow(unused)]\nfn x() {}"), Ok(Checked::Whole));
    }

    #[test]
    fn any_text_gets_an_answer() {
        for text in ["", "\"", "'", "((((", "))))", "é\u{0}", "r#\"", "/*", "#[", "mod", "extern", "path ="] {
            let _ = check(text);
        }
        assert!(check(&"(".repeat(100_000)).is_err());
        assert!(check(&" ".repeat(LONGEST + 1)).is_err());
    }
}

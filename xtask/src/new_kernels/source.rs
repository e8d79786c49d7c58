//! Where a new crate takes Coalesce from, and what its files say about that. Pure.

/// A source that cannot stand in a manifest.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{flag}: {problem}")]
pub struct Unusable {
    /// The flag that names it.
    pub flag: &'static str,
    /// What is wrong, and what to give.
    pub problem: &'static str,
}

/// The libraries that a new crate names.
const LIBRARIES: [(&str, &str); 4] = [
    ("cuda_builder", "coalesce-cuda-builder"),
    ("cuda_std", "coalesce-cuda-std"),
    ("device", "coalesce-device"),
    ("simt", "coalesce-simt"),
];

/// The crates below `cust` that ours replace, for GPUs.
const REPLACED: [&str; 4] = ["cust_core", "cust_derive", "cust_raw", "find_cuda_helper"];

/// Where Coalesce comes from.
pub enum Source {
    /// This clone, whose path is text without control characters.
    Clone(String),
    /// A git repository.
    Git(String),
    /// The published packages of a version.
    Published(String),
}

impl Source {
    /// The source that the flags name; without any, this clone.
    ///
    /// # Errors
    ///
    /// What cannot stand in a manifest.
    pub fn of(clone: String, git: Option<&str>, published: Option<&str>) -> Result<Self, Unusable> {
        let is_version = |text: &str| {
            text.starts_with(|c: char| c.is_ascii_digit())
                && text.chars().all(|c| c.is_ascii_alphanumeric() || ".-+".contains(c))
        };
        match (git, published) {
            (Some(url), _) if url.trim().is_empty() || url.contains(char::is_control) => {
                Err(Unusable { flag: "--git", problem: "give the URL of a git repository" })
            }
            (Some(url), _) => Ok(Self::Git(url.to_owned())),
            (None, Some(version)) if !is_version(version) => {
                Err(Unusable { flag: "--published", problem: "give a version, such as 0.1" })
            }
            (None, Some(version)) => Ok(Self::Published(version.to_owned())),
            (None, None) => Ok(Self::Clone(clone)),
        }
    }

    /// Whether the crate is in reach of this clone's chores.
    pub fn is_clone(&self) -> bool {
        matches!(self, Self::Clone(_))
    }

    /// A template's text with this source in it.
    pub fn fill(&self, text: &str) -> String {
        let from = |folder: &str| match self {
            Self::Clone(clone) => format!("path = \"{}/crates/{folder}\"", in_toml(clone)),
            Self::Git(url) => format!("git = \"{}\"", in_toml(url)),
            Self::Published(version) => format!("version = \"{}\"", in_toml(version)),
        };
        let dependencies: String = LIBRARIES
            .iter()
            .map(|(library, package)| format!("{library} = {{ package = \"{package}\", {} }}\n", from(library)))
            .collect();
        let replacements: String = match self {
            Self::Published(_) => String::new(),
            _ => {
                let lines = REPLACED.iter().map(|name| format!("{name} = {{ {} }}\n", from(name)));
                format!(
                    "\n# Parts of cust. They load the NVIDIA driver at run time, so one program runs with and without a\n\
                     # GPU, and need no other library.\n[patch.crates-io]\n{}",
                    lines.collect::<String>()
                )
            }
        };
        let clone = if let Self::Clone(clone) = self { clone } else { "" };
        text.replace("@DEPENDENCIES@\n", &dependencies)
            .replace("@PATCH@\n", &format!("{replacements}\n"))
            .replace("@DEFAULT@", if matches!(self, Self::Published(_)) { "" } else { "\"gpu\"" })
            .replace("@SOURCE@", self.comment())
            .replace("@NOTE@", self.note())
            .replace("@MORE@", self.more())
            .replace("@CLONE@", &in_toml(clone))
            .replace("@CLONE_PATH@", clone)
    }

    /// The comment in the manifest, after the name.
    fn comment(&self) -> &'static str {
        match self {
            Self::Clone(_) => {
                ", by the path of its clone. If the clone moves, correct the paths here and in\n# .cargo/config.toml."
            }
            Self::Git(_) => ", from its repository.",
            Self::Published(_) => "'s published packages.",
        }
    }

    /// The note in the file for continuous integration.
    fn note(&self) -> &'static str {
        match self {
            Self::Clone(_) => {
                "\n# Cargo.toml names Coalesce by its path on one machine: give its repository there before you push\n\
                 # (`cargo xtask new-kernels --git URL` writes it)."
            }
            _ => "",
        }
    }

    /// The end of the README.
    fn more(&self) -> &'static str {
        match self {
            Self::Clone(_) => {
                "To get PTX as a file, for other programs or for `host run`:\n\n    \
                 cargo xtask build-ptx --crate kernels --arch sm_75\n\n\
                 Coalesce is in `@CLONE_PATH@`; its `docs/OWN_KERNELS.md` says more. If that folder moves, correct\n\
                 the paths in `Cargo.toml` and `.cargo/config.toml`."
            }
            Self::Git(_) => "Coalesce's `docs/OWN_KERNELS.md` says more.",
            Self::Published(_) => {
                "This program runs on the simulator. For a GPU, build it with `--features gpu` and add two lines to\n\
                 `Cargo.toml`, with the path of a clone of Coalesce:\n\n    \
                 [patch.crates-io]\n    \
                 cust_raw = { path = \"coalesce/crates/cust_raw\" }\n    \
                 find_cuda_helper = { path = \"coalesce/crates/find_cuda_helper\" }"
            }
        }
    }
}

/// A text, escaped for a TOML string. It has no control characters.
fn in_toml(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_escaped_in_toml() {
        assert_eq!(in_toml(r#"/a b/"c"\d"#), r#"/a b/\"c\"\\d"#);
    }

    #[test]
    fn a_source_is_named_in_the_manifest() {
        let template = include_str!("template/workspace.toml");
        let of = |git, published| Source::of("/clone \"x\"".into(), git, published).map(|source| source.fill(template));
        let manifest = |text: &str| toml::from_str::<toml::Table>(text).unwrap();
        let clone = manifest(&of(None, None).unwrap());
        let device = &clone["workspace"]["dependencies"]["device"];
        assert_eq!(device["path"].as_str(), Some("/clone \"x\"/crates/device"));
        assert_eq!(clone["patch"]["crates-io"]["cust_raw"]["path"].as_str(), Some("/clone \"x\"/crates/cust_raw"));
        let git = manifest(&of(Some("https://a.example/b"), None).unwrap());
        assert_eq!(git["workspace"]["dependencies"]["simt"]["git"].as_str(), Some("https://a.example/b"));
        assert_eq!(git["patch"]["crates-io"]["find_cuda_helper"]["git"].as_str(), Some("https://a.example/b"));
        let published = manifest(&of(None, Some("0.1")).unwrap());
        assert_eq!(published["workspace"]["dependencies"]["cuda_std"]["version"].as_str(), Some("0.1"));
        assert_eq!(published["workspace"]["dependencies"]["cuda_std"]["package"].as_str(), Some("coalesce-cuda-std"));
        assert!(!published.contains_key("patch"));
        for (git, version) in
            [(Some(" "), None), (Some("a\nb"), None), (None, Some("")), (None, Some("x")), (None, Some("1\""))]
        {
            assert!(of(git, version).is_err(), "{git:?} {version:?}");
        }
    }
}

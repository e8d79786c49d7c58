//! Rewrites the names of source files in the IR, so that the PTX has whole paths.
//!
//! rustc names a file relative to the folder that it ran in, and names that folder separately.
//! `llc` prints the folder in some places and not in others, so both are joined here. See the LLVM
//! Language Reference, "DIFile".

/// The `!DIFile` of this line with its folder joined to its name. `None` if there is nothing to
/// join.
pub(crate) fn join_folder(line: &str) -> Option<String> {
    let (before, fields) = line.split_once("!DIFile(filename: \"")?;
    let (name, rest) = fields.split_once("\", directory: \"")?;
    let (folder, rest) = rest.split_once('"')?;
    // Paths that were made independent of the machine are relative.
    if folder.is_empty() || name.starts_with('/') || name.starts_with(folder) {
        return None;
    }
    Some(format!("{before}!DIFile(filename: \"{folder}/{name}\", directory: \"\"{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_joined_to_the_name() {
        assert_eq!(
            join_folder("!3 = !DIFile(filename: \"src/a.rs\", directory: \"rust/core\", checksumkind: CSK_MD5)")
                .unwrap(),
            "!3 = !DIFile(filename: \"rust/core/src/a.rs\", directory: \"\", checksumkind: CSK_MD5)"
        );
    }

    #[test]
    fn other_lines_stay() {
        for line in [
            "!3 = !DIFile(filename: \"kernels/src/a.rs\", directory: \"\")",
            "!3 = !DIFile(filename: \"/a.rs\", directory: \"rust\")",
            "!3 = !DIFile(filename: \"rust/core/src/lib.rs/@/core.1-cgu.0\", directory: \"rust/core\")",
            "!4 = !DILocation(line: 1, column: 2, scope: !3)",
        ] {
            assert_eq!(join_folder(line), None, "{line}");
        }
    }
}

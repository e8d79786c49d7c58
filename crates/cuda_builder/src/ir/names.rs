//! Names of variables: what Rust calls them, and what they are called in the PTX.

use std::collections::HashSet;

/// What Rust calls a symbol: `kernels::transpose::padded::TILE`. A name that is not mangled stays as it is.
pub(crate) fn demangle(symbol: &str) -> String {
    // The alternate form leaves out the hashes.
    format!("{:#}", rustc_demangle::demangle(symbol))
}

/// Gives variables names that a reader of the PTX understands and that do not depend on the compiler's hashes.
#[derive(Debug, Default)]
pub(crate) struct Names {
    taken: HashSet<String>,
}

impl Names {
    /// Keeps `symbol` from being given to another.
    pub fn reserve(&mut self, symbol: &str) {
        self.taken.insert(symbol.to_owned());
    }

    /// A PTX identifier made of the Rust path of `symbol`: `kernels__transpose__padded__TILE`. A second variable of
    /// the same path, from another block of the same function, gets `_2` behind it.
    pub fn give(&mut self, symbol: &str) -> String {
        let path = demangle(symbol).replace("::", "__");
        let readable: String = path.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        let mut name = readable.clone();
        let mut count = 1;
        while !self.taken.insert(name.clone()) {
            count += 1;
            name = format!("{readable}_{count}");
        }
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_identifiers_without_hashes() {
        let mut names = Names::default();
        assert_eq!(names.give("_RNvCsedjycmyLaww_4tiny4TILE"), "tiny__TILE");
        assert_eq!(names.give("_RNvNvCsedjycmyLaww_4tiny12local_static3BUF"), "tiny__local_static__BUF");
        assert_eq!(names.give("_ZN4tiny4DATA17h0123456789abcdefE"), "tiny__DATA");
        assert_eq!(names.give("plain"), "plain");
    }

    #[test]
    fn equal_paths_get_numbers() {
        let mut names = Names::default();
        names.reserve("kernel");
        assert_eq!(names.give("_RNvCsedjycmyLaww_4tiny4TILE"), "tiny__TILE");
        assert_eq!(names.give("_RNvCsedjycmyLaww_4tiny4TILE"), "tiny__TILE_2");
        assert_eq!(names.give("kernel"), "kernel_2");
    }

    #[test]
    fn an_error_names_what_rust_calls_it() {
        assert_eq!(demangle("_RNvNvCsedjycmyLaww_4tiny12local_static3BUF"), "tiny::local_static::BUF");
        assert_eq!(demangle("transpose"), "transpose");
    }
}

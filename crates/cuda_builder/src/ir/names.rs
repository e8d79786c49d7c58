//! Names of variables, in Rust and in the PTX.

use std::collections::HashSet;

/// The Rust name of a symbol: `kernels::transpose::padded::TILE`. A name that is not mangled stays
/// the same.
pub(crate) fn demangle(symbol: &str) -> String {
    // The alternate form omits the hashes.
    format!("{:#}", rustc_demangle::demangle(symbol))
}

/// Gives variables readable names in the PTX that do not depend on the compiler's hashes.
#[derive(Debug, Default)]
pub(crate) struct Names {
    taken: HashSet<String>,
}

impl Names {
    /// Reserves `symbol`.
    pub fn reserve(&mut self, symbol: &str) {
        self.taken.insert(symbol.to_owned());
    }

    /// A PTX identifier made from the Rust path of `symbol`: `kernels__transpose__padded__TILE`. A
    /// second variable with the same path, from another block of the same function, gets the suffix
    /// `_2`.
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

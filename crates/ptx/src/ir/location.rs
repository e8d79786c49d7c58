//! From an instruction to the line of the source program that it came from.

use super::{Location, Module};
use crate::Handle;

impl Module {
    /// The location and those that it was inlined into, innermost first.
    pub fn inline_chain(&self, location: Handle<Location>) -> impl Iterator<Item = Location> + '_ {
        std::iter::successors(Some(self.locations[location]), |location| {
            location.inlined_at.map(|outer| self.locations[outer])
        })
    }

    /// The place to blame for an instruction: path, line and column of the innermost location that is not in the
    /// sources of Rust's own libraries, or of the innermost location if all are. `None` if no location has a line.
    pub fn blame(&self, location: Handle<Location>) -> Option<(&str, u32, u32)> {
        let mut fallback = None;
        for location in self.inline_chain(location).filter(|location| location.line > 0) {
            let place = (self.files[location.file].path.as_str(), location.line, location.column);
            if !is_rust_library(place.0) {
                return Some(place);
            }
            fallback = fallback.or(Some(place));
        }
        fallback
    }
}

/// Whether a path is one of the sources that come with the Rust compiler.
fn is_rust_library(path: &str) -> bool {
    let inside = |folder: &str| path.starts_with(folder) || path.contains(&format!("/{folder}"));
    path.starts_with("/rustc/")
        || inside("rustlib/src/rust/library/")
        || ["core", "alloc", "std", "portable-simd", "stdarch", "compiler-builtins"]
            .into_iter()
            .any(|library| inside(&format!("library/{library}/")))
}

#[cfg(test)]
mod tests {
    use super::is_rust_library;

    #[test]
    fn sources_of_the_compilers_libraries_are_known_by_their_paths() {
        assert!(is_rust_library("/rustc/59807616e1fa2540724bfbac14d7976d7e4a3860/library/core/src/ptr/mod.rs"));
        assert!(is_rust_library("library/core/src/num/mod.rs"));
        assert!(is_rust_library("/usr/lib/rustlib/src/rust/library/core/src/slice/index.rs"));
        assert!(!is_rust_library("kernels/src/transpose.rs"));
        assert!(!is_rust_library("my_library/corex/src/lib.rs"));
    }
}

//! The litmus tests of the literature that PTX can say, and some of our own.

macro_rules! library {
    ($($name:literal)*) => {
        /// Their names and texts.
        pub const LIBRARY: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../library/", $name, ".litmus")))),*];
    };
}

library! {
    "2+2w-fence-acq-rel"
    "2+2w-fence-sc"
    "2+2w-relaxed"
    "2+2w-release"
    "atomicity"
    "atomicity-plain-store"
    "atomicity-scope-too-small"
    "corr-relaxed"
    "corr-scope-too-small"
    "corr-weak"
    "corw"
    "cowr"
    "coww"
    "iriw-acquire"
    "iriw-fence-sc"
    "iriw-relaxed"
    "isa2-relaxed-between"
    "isa2-release-acquire"
    "isa2-scopes"
    "lb-acquire"
    "lb-fences"
    "lb-relaxed"
    "lb-release-acquire"
    "lb-thin-air"
    "lb-weak"
    "load-add-store"
    "lock-relaxed-unlock"
    "mp-barrier"
    "mp-barrier-other-block"
    "mp-between-gpus"
    "mp-between-gpus-sys"
    "mp-dependency"
    "mp-fence-of-reader"
    "mp-fence-of-writer"
    "mp-fence-sc"
    "mp-fence-too-small"
    "mp-fences"
    "mp-fences-weak-flag"
    "mp-in-a-block"
    "mp-in-a-cluster"
    "mp-in-a-cluster-cta"
    "mp-relaxed"
    "mp-relaxed-acquire"
    "mp-relaxed-all"
    "mp-release-acquire"
    "mp-release-pattern"
    "mp-release-relaxed"
    "mp-release-sequence"
    "mp-scope-of-reader-too-small"
    "mp-scope-too-small"
    "mp-store-between"
    "mp-volatile"
    "mp-weak"
    "r-fence-acq-rel"
    "r-fence-sc"
    "rwc-fence-sc"
    "rwc-relaxed"
    "s-relaxed"
    "s-release-acquire"
    "sb-fence-acq-rel"
    "sb-fence-sc"
    "sb-fence-sc-in-a-block"
    "sb-fence-sc-too-small"
    "sb-fence-sc-weak"
    "sb-relaxed"
    "sb-release-acquire"
    "wrc-relaxed"
    "wrc-release-acquire"
    "wrc-small-scope-first"
    "wrc-weak-first"
}

/// The text of the test of this name.
pub fn named(name: &str) -> Option<&'static str> {
    LIBRARY.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

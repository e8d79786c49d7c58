//! Notes the folder in which the program and the driver are built: `cargo install` copies the
//! program alone.

use std::path::Path;

fn main() {
    let out = std::env::var("OUT_DIR").unwrap_or_default();
    // target/PROFILE/build/PACKAGE/out
    let built = Path::new(&out).ancestors().nth(3).unwrap_or(Path::new(""));
    println!("cargo:rustc-env=COALESCE_BUILT_IN={}", built.display());
    println!("cargo:rerun-if-changed=build.rs");
}

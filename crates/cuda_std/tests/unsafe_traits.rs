//! Traits that the safety of phases rests on cannot be implemented in safe code. Needs the device
//! compiler, and is skipped without it unless `COALESCE_REQUIRE_DEVICE_COMPILER` is 1.

use std::fs;
use std::path::Path;

use cuda_builder::CudaBuilder;
use cuda_builder::toolchain::DeviceCompiler;

const SOURCE: &str = r"
#![no_std]
use cuda_std::phases::{Element, Tile};
use cuda_std::shared::SharedStatic;
use cuda_std::warp::WarpShuffleValue;

#[derive(Clone, Copy)]
pub struct Mine(pub Option<&'static u32>);

impl SharedStatic for Mine {}
impl Element for Mine {}
impl Tile for Mine {}
impl WarpShuffleValue for Mine {
    fn shuffle(self, word: impl Fn(u32) -> (u32, bool)) -> (Self, bool) {
        let is_there = self.0.is_some() && word(0).1;
        (self, is_there)
    }
}
";

#[test]
fn traits_that_promise_something_are_unsafe() {
    if let Err(error) = DeviceCompiler::find() {
        let required = std::env::var_os("COALESCE_REQUIRE_DEVICE_COMPILER").is_some_and(|value| value == "1");
        assert!(!required, "the compiler for devices is required here: {error}");
        return;
    }
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("unsafe_traits");
    fs::create_dir_all(root.join("src")).unwrap();
    let manifest = format!(
        "[package]\nname = \"unsafe_traits\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\
         [dependencies]\ncuda_std.path = '{}'\n[workspace]\n",
        env!("CARGO_MANIFEST_DIR")
    );
    fs::write(root.join("Cargo.toml"), manifest).unwrap();
    fs::write(root.join("src/lib.rs"), SOURCE).unwrap();
    let error = CudaBuilder::new(&root).target_dir(root.join("target")).build().unwrap_err().to_string();
    for name in ["SharedStatic", "Element", "Tile", "WarpShuffleValue"] {
        let refused = format!("{name}` requires an `unsafe impl` declaration");
        assert!(error.contains(&refused), "{refused}: {error}");
    }
}

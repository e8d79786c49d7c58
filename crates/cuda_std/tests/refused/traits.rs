//! Traits that the safety of phases rests on take `unsafe`.

use cuda_std::phases::{Element, Tile, Tiles};
use cuda_std::shared::SharedStatic;
use cuda_std::warp::WarpShuffleValue;

#[derive(Clone, Copy)]
pub struct Mine(pub Option<&'static u32>);

impl SharedStatic for Mine {} //~ `SharedStatic` requires an `unsafe impl` declaration
impl Element for Mine {} //~ `Element` requires an `unsafe impl` declaration
impl Tile for Mine {} //~ `Tile` requires an `unsafe impl` declaration
#[rustfmt::skip]
impl WarpShuffleValue for Mine { //~ `WarpShuffleValue` requires an `unsafe impl` declaration
    fn shuffle(self, word: impl Fn(u32) -> (u32, bool)) -> (Self, bool) {
        let is_there = self.0.is_some() && word(0).1;
        (self, is_there)
    }
}

//! Stands for `gpu` in a program that is built without the feature `gpu`: there is no GPU.

use std::rc::Rc;

use crate::backend::Backend;
use crate::error::{Error, Result};
use crate::image::{Images, Loaded};
use crate::options::Options;

fn left_out() -> Error {
    Error::NoGpu("this program was built without the feature `gpu`".to_owned())
}

/// How many GPUs there are.
pub fn count() -> Result<u32> {
    Err(left_out())
}

/// Opens a GPU.
pub fn open(_index: u32, _images: &Images, _options: &Options) -> Result<(Rc<dyn Backend>, Rc<Loaded>)> {
    Err(left_out())
}

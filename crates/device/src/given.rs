//! Texts that a page gives to the program, by name: in WebAssembly there are no files. PTX that users
//! name, the sources of kernels, and the built-in PTX come from here.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::OnceLock;

use cuda_std::launch::PtxImage;

use crate::image::BuiltIn;

thread_local! {
    static TEXTS: RefCell<HashMap<String, Rc<str>>> = RefCell::default();
}

static BUILT_IN: OnceLock<Vec<BuiltIn>> = OnceLock::new();

/// The names of the built-in PTX of each crate of kernels.
const PTX: [&str; 2] = ["kernels.ptx", "best_kernels.ptx"];

/// The architecture of the built-in PTX: the newest, which the simulator runs.
const ARCH: &str = "sm_90";

/// Gives the text of this name, in place of an earlier one. The built-in PTX, `kernels.ptx` and
/// `best_kernels.ptx`, is used as it is when a device is opened first.
pub fn give(name: &str, text: &str) {
    TEXTS.with_borrow_mut(|texts| texts.insert(name.to_owned(), text.into()));
}

/// The text of this name, if it was given.
pub fn text(name: &str) -> Option<Rc<str>> {
    TEXTS.with_borrow(|texts| texts.get(name).cloned())
}

/// The built-in PTX; none unless that of each crate was given.
pub(crate) fn built_in(sources: [&'static str; 2]) -> &'static [BuiltIn] {
    if let Some(known) = BUILT_IN.get() {
        return known;
    }
    let of_crate = |(name, sources): (&str, &'static str)| {
        // Kernels stay loaded as long as the program does, so this leaks nothing.
        let text: &'static str = Box::leak(text(name)?.as_ref().into());
        Some(BuiltIn { ptx: Box::leak(Box::new([PtxImage { arch: ARCH, text }])), sources })
    };
    match PTX.into_iter().zip(sources).map(of_crate).collect() {
        Some(all) => BUILT_IN.get_or_init(|| all),
        None => &[],
    }
}

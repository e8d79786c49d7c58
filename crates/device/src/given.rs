//! Texts that a page gives to the program, by name: in WebAssembly there are no files. PTX that users
//! name, the sources of kernels, and the built-in PTX come from here.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::OnceLock;

use cuda_std::launch::PtxImage;

thread_local! {
    static TEXTS: RefCell<HashMap<String, Rc<str>>> = RefCell::default();
}

static BUILT_IN: OnceLock<[[PtxImage; 1]; 2]> = OnceLock::new();

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

/// The built-in PTX of each crate of kernels; `None` unless that of each was given.
pub(crate) fn built_in() -> Option<&'static [[PtxImage; 1]; 2]> {
    if let Some(known) = BUILT_IN.get() {
        return Some(known);
    }
    // Kernels stay loaded as long as the program does, so this leaks nothing.
    let of_crate = |name| Some([PtxImage { arch: ARCH, text: Box::leak(text(name)?.as_ref().into()) }]);
    let [kernels, best] = PTX.map(of_crate);
    let both = [kernels?, best?];
    Some(BUILT_IN.get_or_init(|| both))
}

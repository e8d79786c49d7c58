//! Texts that a page gives to the program, by name: in WebAssembly there are no files.
//! [`PtxFile`](crate::PtxFile) reads them first.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

thread_local! {
    static TEXTS: RefCell<HashMap<String, Rc<str>>> = RefCell::default();
}

/// Gives the text of this name, in place of an earlier one.
pub fn give(name: &str, text: &str) {
    TEXTS.with_borrow_mut(|texts| texts.insert(name.to_owned(), text.into()));
}

/// The text of this name, if it was given.
pub fn text(name: &str) -> Option<Rc<str>> {
    TEXTS.with_borrow(|texts| texts.get(name).cloned())
}

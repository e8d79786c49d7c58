//! What the program tells people beside its results: notes, errors, findings. They go to the
//! standard error; for a caller that has none, [`kept`] keeps them.

use std::cell::RefCell;
use std::io::Write;

thread_local! {
    static KEPT: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Writes a message, which ends with a line break.
pub(crate) fn write(text: &str) {
    KEPT.with_borrow_mut(|kept| match kept {
        Some(kept) => kept.push_str(text),
        // If the standard error is closed, there is nowhere left to write this.
        None => drop(std::io::stderr().write_all(text.as_bytes())),
    });
}

/// The result of `work`, and the messages that this thread wrote meanwhile.
pub(crate) fn kept<T>(work: impl FnOnce() -> T) -> (T, String) {
    KEPT.set(Some(String::new()));
    let result = work();
    (result, KEPT.take().unwrap_or_default())
}

//! What the page calls: four functions. It asks for room, writes a request there, calls, and reads
//! the reply.

use std::cell::RefCell;

use crate::Session;

thread_local! {
    static SESSION: RefCell<Session> = RefCell::default();
    static REQUEST: RefCell<Vec<u8>> = RefCell::default();
    static REPLY: RefCell<String> = RefCell::default();
}

/// Makes room for a request of this many bytes, and returns its address.
#[unsafe(no_mangle)]
pub extern "C" fn room(bytes: usize) -> *mut u8 {
    REQUEST.with_borrow_mut(|request| {
        *request = vec![0; bytes];
        request.as_mut_ptr()
    })
}

/// Answers the request that stands there.
#[unsafe(no_mangle)]
pub extern "C" fn call() {
    let request = REQUEST.take();
    let reply = SESSION.with_borrow_mut(|session| session.answer(&request));
    REPLY.set(reply);
}

/// The address of the reply, in UTF-8.
#[unsafe(no_mangle)]
pub extern "C" fn reply() -> *const u8 {
    REPLY.with_borrow(|reply| reply.as_ptr())
}

/// The bytes of the reply.
#[unsafe(no_mangle)]
pub extern "C" fn reply_bytes() -> usize {
    REPLY.with_borrow(String::len)
}

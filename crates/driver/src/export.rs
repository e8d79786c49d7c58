//! Tables of functions that NVIDIA's runtime library (cudart) gets by number, not by name. They are
//! undocumented: what is here are the contexts' storage, the loader of fat binaries and hooks for
//! tools, as far as programs were seen to call them. A table that is not here is not found.

use std::ffi::c_int;
use std::sync::LazyLock;
use std::sync::atomic::AtomicU32;

use crate::boundary::pointers::Lasting;
use crate::boundary::{Done, In, Out, Status, enter, say};
use crate::link::text_at;
use crate::module::load_ptx;
use crate::objects::Handle;
use crate::state::{current, lock};

/// A table: its length in bytes, if it begins with that, and functions.
struct Table {
    id: [u8; 16],
    entries: Vec<usize>,
}

const fn id(text: &str) -> [u8; 16] {
    let (text, mut id, mut at) = (text.as_bytes(), [0; 16], 0);
    const fn digit(of: u8) -> u8 {
        match of {
            b'0'..=b'9' => of - b'0',
            _ => of - b'a' + 10,
        }
    }
    while at < 16 {
        id[at] = digit(text[2 * at]) << 4 | digit(text[2 * at + 1]);
        at += 1;
    }
    id
}

extern "C" fn unknown() -> u32 {
    say("cudart called an undocumented function that does nothing here");
    Status::NOT_SUPPORTED.0
}

/// Loads the module that a fat binary's wrapper points to.
extern "C" fn load_wrapped(to: Out<Handle>, image: In<u8>) -> u32 {
    enter("cudart: load", || to.put(load_ptx(&text_at(image)?)?))
}

extern "C" fn load_with_more(to: Out<Handle>, image: In<u8>, _first: In<u8>, _second: In<u8>, _flags: u32) -> u32 {
    load_wrapped(to, image)
}

extern "C" fn load_header(image: In<u8>, to: Out<Handle>, _first: In<u8>, _second: In<u8>, _flags: u32) -> u32 {
    load_wrapped(to, image)
}

/// The primary context, which exists from then on.
extern "C" fn primary(to: Out<Handle>, device: c_int) -> u32 {
    enter("cudart: primary context", || {
        let context = lock().primary_context(device)?;
        to.put(context)
    })
}

extern "C" fn nothing(_: usize) {}

extern "C" fn compilers() -> u32 {
    0
}

fn of(context: Handle) -> Done<Handle> {
    if context == 0 { current() } else { Ok(context) }
}

extern "C" fn store(context: Handle, key: usize, value: usize, _at_end: usize) -> u32 {
    enter("cudart: store", || {
        lock().stored.insert((of(context)?, key), value);
        Ok(())
    })
}

extern "C" fn forget(context: Handle, key: usize) -> u32 {
    enter("cudart: forget", || {
        lock().stored.remove(&(of(context)?, key));
        Ok(())
    })
}

extern "C" fn stored(to: Out<usize>, context: Handle, key: usize) -> u32 {
    enter("cudart: stored", || {
        let value = lock().stored.get(&(of(context)?, key)).copied().ok_or(Status::INVALID_HANDLE)?;
        to.put(value)
    })
}

/// Memory for tools, which nobody reads.
static BUFFERS: [AtomicU32; 2048] = [const { AtomicU32::new(0) }; 2048];

extern "C" fn first_buffer(to: Out<Lasting>, length: Out<usize>) {
    to.give(Lasting::list(&BUFFERS));
    length.give(1024);
}

extern "C" fn second_buffer(to: Out<Lasting>, length: Out<usize>) {
    to.give(Lasting::list(&BUFFERS[1024..]));
    length.give(14);
}

static TABLES: LazyLock<Vec<Table>> = LazyLock::new(|| {
    let table = |text: &str, length: usize, sized: bool, known: &[(usize, *const ())]| {
        let mut entries = vec![unknown as *const () as usize; length];
        if sized {
            entries[0] = length * size_of::<usize>();
        }
        for &(index, function) in known {
            entries[index] = function as usize;
        }
        Table { id: id(text), entries }
    };
    vec![
        // The runtime's own.
        table(
            "6bd5fb6c5bf4e74a8987d93912fd9df9",
            13,
            true,
            &[
                (1, load_wrapped as *const ()),
                (2, primary as *const ()),
                (6, load_with_more as *const ()),
                (7, nothing as *const ()),
                (8, load_header as *const ()),
                (12, compilers as *const ()),
            ],
        ),
        // Threads' storage for tools.
        table("42d85a8123f6cb478298f6e78a3aecdc", 4, true, &[]),
        // Tools' hooks.
        table(
            "a094798c2e742e7493f20800200c0a66",
            7,
            true,
            &[(2, first_buffer as *const ()), (6, second_buffer as *const ())],
        ),
        // Contexts' storage.
        table(
            "c693336e1121df11a8c368f355d89593",
            4,
            false,
            &[(0, store as *const ()), (1, forget as *const ()), (2, stored as *const ())],
        ),
    ]
});

/// The table of that number.
pub fn find(id: &[u8; 16]) -> Option<&'static [usize]> {
    TABLES.iter().find(|table| table.id == *id).map(|table| table.entries.as_slice())
}

//! Memory of the host: the caller's, and what is mapped here at the simulator's own addresses,
//! which processes leave free. So a pointer is the same for host and device.

use std::ffi::{c_int, c_void};
use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd};
use std::sync::atomic::AtomicU32;

use super::status::{Done, Status};

/// An address of the host: of a mapping of this module, or one that the caller gives, whose
/// contract it then is that so many bytes are there, and that nobody else changes them during the
/// call.
#[derive(Clone, Copy)]
pub struct HostPointer(*mut u8);

impl HostPointer {
    /// The pointer to an address; to none there is nothing to copy.
    pub fn new(address: u64) -> Done<Self> {
        if address == 0 { Err(Status::INVALID_VALUE) } else { Ok(Self(address as *mut u8)) }
    }

    /// Copies bytes from there.
    pub fn read(self, to: &mut [u8]) {
        // SAFETY: mapped here, or by the API's contract the caller's; the two may overlap.
        unsafe { std::ptr::copy(self.0, to.as_mut_ptr(), to.len()) };
    }

    /// Copies bytes there.
    pub fn write(self, from: &[u8]) {
        // SAFETY: as above.
        unsafe { std::ptr::copy(from.as_ptr(), self.0, from.len()) };
    }

    /// Copies bytes to another address of the host.
    pub fn copy(self, to: Self, bytes: usize) {
        // SAFETY: as above.
        unsafe { std::ptr::copy(self.0, to.0, bytes) };
    }

    /// Shows the bytes, of which there are at most `isize::MAX`.
    pub fn with<T>(self, bytes: usize, work: impl FnOnce(&[u8]) -> T) -> T {
        // SAFETY: as above.
        work(unsafe { std::slice::from_raw_parts(self.0, bytes) })
    }

    /// Has the bytes changed.
    pub fn change<T>(self, bytes: usize, work: impl FnOnce(&mut [u8]) -> T) -> T {
        // SAFETY: as above.
        work(unsafe { std::slice::from_raw_parts_mut(self.0, bytes) })
    }
}

/// The words at an address of the host, a multiple of 4, for the simulator to use as memory of the
/// device. The last may have bytes of others, which the simulator leaves as they are. To the host, a
/// kernel's access of more than 32 bits is several, one for each word.
pub fn words(address: u64, bytes: u64) -> &'static [AtomicU32] {
    // SAFETY: mapped here, or by the API's contract the caller's until it is unregistered, and the
    // callers free the simulator's allocation, which alone has the words, before they unmap or
    // forget them. The host and kernels access them at the same time as on a GPU.
    unsafe { std::slice::from_raw_parts(address as *const AtomicU32, bytes.div_ceil(4) as usize) }
}

/// Maps zeroed memory of the host at an address; not over anything that is there.
pub fn map(address: u64, bytes: usize) -> bool {
    map_as(address, bytes, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1)
}

/// Maps a file at an address, which other processes do, too. The file is as long.
pub fn map_file(address: u64, bytes: usize, file: &File) -> bool {
    map_as(address, bytes, libc::MAP_SHARED, file.as_raw_fd())
}

/// A file of zeroes in memory, which no folder has.
pub fn file_without_name(bytes: u64) -> std::io::Result<File> {
    // SAFETY: the name is a C string; what comes back is a new descriptor, or none.
    let descriptor = unsafe { libc::memfd_create(c"coalesce".as_ptr(), libc::MFD_CLOEXEC) };
    if descriptor < 0 {
        return Err(std::io::Error::last_os_error());
    }
    // SAFETY: nobody else has it.
    let file = unsafe { File::from_raw_fd(descriptor) };
    file.set_len(bytes)?;
    Ok(file)
}

fn map_as(address: u64, bytes: usize, kind: c_int, file: c_int) -> bool {
    let flags = kind | libc::MAP_FIXED_NOREPLACE;
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: it takes no memory that is in use.
    let at = unsafe { libc::mmap(address as *mut c_void, bytes.max(1), access, flags, file, 0) };
    if at as u64 == address {
        return true;
    }
    if at != libc::MAP_FAILED {
        // SAFETY: an old kernel has mapped it elsewhere; nobody else knows of it.
        unsafe { libc::munmap(at, bytes.max(1)) };
    }
    false
}

/// Unmaps what [`map`] has mapped.
pub fn unmap(address: u64, bytes: usize) {
    // SAFETY: the callers have taken the allocation out of their table, and by the API's contract
    // the program no longer uses it.
    unsafe { libc::munmap(address as *mut c_void, bytes.max(1)) };
}

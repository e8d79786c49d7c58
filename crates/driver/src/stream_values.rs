//! Values that streams write to memory and wait for. All work is done when its call returns, so a
//! value that is waited for must be there by then: nobody could write it while the call waits.

use std::ffi::c_uint;

use crate::boundary::{Done, In, Status, driver, say};
use crate::objects::Handle;
use crate::places::Place;
use crate::queue::submit;
use crate::state::State;
use crate::work::Work;

/// `CUstreamBatchMemOpParams`: which operation it is says which parts are used.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Operation {
    kind: c_uint,
    padding: c_uint,
    address: u64,
    value: u64,
    flags: c_uint,
    rest: [c_uint; 5],
}

/// What a value of so many bytes in memory is compared with, and how.
#[derive(Clone, Copy)]
pub struct Awaited {
    pub address: u64,
    pub value: u64,
    pub bytes: usize,
    /// 0: at least it, as a signed difference; 1: it; 2: a bit of it; 3: a bit that neither has.
    pub how: c_uint,
}

impl Awaited {
    /// Whether what is there is what is waited for.
    fn is_there(&self, found: u64) -> bool {
        let Self { value, bytes, how, .. } = *self;
        let unused = 64 - 8 * bytes as u32;
        match how {
            0 => (found.wrapping_sub(value) << unused) as i64 >= 0,
            1 => found == value,
            2 => found & value != 0,
            _ => !(found | value) << unused != 0,
        }
    }

    /// Fails unless the value is there.
    pub fn check(&self, state: &mut State) -> Done {
        let Self { address, value, bytes, .. } = *self;
        let end = address.checked_add(bytes as u64).ok_or(Status::INVALID_VALUE)?;
        state.span(address).filter(|span| end - span.address <= span.bytes).ok_or(Status::INVALID_VALUE)?;
        let mut found = [0; 8];
        Place::of(state, address).load(state, &mut found[..bytes])?;
        let found = u64::from_le_bytes(found);
        if self.is_there(found) {
            return Ok(());
        }
        say(&format!(
            "a stream waits for {value} at {address:#x}, where {found} is: this driver does all work when it is \
             given, so what writes the value must come before"
        ));
        Err(Status::NOT_SUPPORTED)
    }
}

fn wait_for(address: u64, value: u64, bytes: usize, flags: c_uint) -> Done<Work> {
    // Beside how it is compared, that writes of other devices are to be seen.
    let (how, rest) = (flags & 3, flags & !(3 | 1 << 30));
    if rest != 0 || !address.is_multiple_of(bytes as u64) {
        return Err(Status::INVALID_VALUE);
    }
    Ok(Work::Await(Awaited { address, value, bytes, how }))
}

fn write(to: u64, value: u64, bytes: usize, flags: c_uint) -> Done<Work> {
    // 1: without a barrier before it.
    if flags > 1 || !to.is_multiple_of(bytes as u64) {
        return Err(Status::INVALID_VALUE);
    }
    Ok(Work::Write { to, value, bytes })
}

impl Operation {
    fn work(self) -> Done<Work> {
        let Self { kind, address, value, flags, .. } = self;
        let low = value & u64::from(u32::MAX);
        match kind {
            1 => wait_for(address, low, 4, flags),
            2 => write(address, low, 4, flags),
            // All writes are seen at once, and in their order.
            3 | 6 => Ok(Work::Nothing),
            4 => wait_for(address, value, 8, flags),
            5 => write(address, value, 8, flags),
            _ => Err(Status::INVALID_VALUE),
        }
    }
}

/// Does the operations in their order, if all are right.
fn batch(stream: Handle, count: c_uint, operations: In<Operation>, flags: c_uint) -> Done {
    let operations = operations.list(count as usize);
    if operations.len() != count as usize || flags != 0 {
        return Err(Status::INVALID_VALUE);
    }
    let all = operations.into_iter().map(Operation::work).collect::<Done<Vec<Work>>>()?;
    all.into_iter().try_for_each(|work| submit(stream, work))
}

driver! {
    fn cuStreamWriteValue32 [cuStreamWriteValue32_ptsz] (stream: Handle, address: u64, value: u32, flags: c_uint) {
        submit(stream, write(address, value.into(), 4, flags)?)
    }

    fn cuStreamWriteValue64 [cuStreamWriteValue64_ptsz] (stream: Handle, address: u64, value: u64, flags: c_uint) {
        submit(stream, write(address, value, 8, flags)?)
    }

    fn cuStreamWriteValue32_v2 [cuStreamWriteValue32_v2_ptsz] (stream: Handle, address: u64, value: u32, flags: c_uint) {
        submit(stream, write(address, value.into(), 4, flags)?)
    }

    fn cuStreamWriteValue64_v2 [cuStreamWriteValue64_v2_ptsz] (stream: Handle, address: u64, value: u64, flags: c_uint) {
        submit(stream, write(address, value, 8, flags)?)
    }

    fn cuStreamWaitValue32 [cuStreamWaitValue32_ptsz] (stream: Handle, address: u64, value: u32, flags: c_uint) {
        submit(stream, wait_for(address, value.into(), 4, flags)?)
    }

    fn cuStreamWaitValue64 [cuStreamWaitValue64_ptsz] (stream: Handle, address: u64, value: u64, flags: c_uint) {
        submit(stream, wait_for(address, value, 8, flags)?)
    }

    fn cuStreamWaitValue32_v2 [cuStreamWaitValue32_v2_ptsz] (stream: Handle, address: u64, value: u32, flags: c_uint) {
        submit(stream, wait_for(address, value.into(), 4, flags)?)
    }

    fn cuStreamWaitValue64_v2 [cuStreamWaitValue64_v2_ptsz] (stream: Handle, address: u64, value: u64, flags: c_uint) {
        submit(stream, wait_for(address, value, 8, flags)?)
    }

    fn cuStreamBatchMemOp [cuStreamBatchMemOp_ptsz] (stream: Handle, count: c_uint, operations: In<Operation>, flags: c_uint) {
        batch(stream, count, operations, flags)
    }

    fn cuStreamBatchMemOp_v2 [cuStreamBatchMemOp_v2_ptsz] (stream: Handle, count: c_uint, operations: In<Operation>, flags: c_uint) {
        batch(stream, count, operations, flags)
    }
}

#[cfg(test)]
mod tests {
    use super::Awaited;

    /// As the API says: `(int32_t)(*addr - value) >= 0`, `*addr == value`, `(*addr & value) != 0`,
    /// `~(*addr | value) != 0`.
    #[test]
    fn values_are_compared_as_the_flag_says() {
        let is_there = |how, bytes, found, value| Awaited { address: 0, value, bytes, how }.is_there(found);
        for (how, found, value, expected) in [
            (0, 5, 5, true),
            (0, 6, 5, true),
            (0, 4, 5, false),
            // The difference is signed, so that counters may wrap.
            (0, 1, u64::from(u32::MAX), true),
            (1, 5, 5, true),
            (1, 6, 5, false),
            (2, 6, 2, true),
            (2, 4, 2, false),
            (3, 1, 2, true),
            (3, 0xffff_0000, 0xffff, false),
        ] {
            assert_eq!(is_there(how, 4, found, value), expected, "{how}: {found} with {value}");
        }
        assert!(is_there(0, 8, 1 << 40, 5) && !is_there(0, 8, 5, 1 << 40));
        assert!(!is_there(3, 8, u64::MAX, 0) && is_there(3, 8, u64::from(u32::MAX), 0));
    }
}

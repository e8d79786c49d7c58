//! Calls of the functions that the device's runtime provides: `vprintf`, `malloc`, `free`,
//! `__assertfail`.

use std::cell::RefCell;

use ptx::Space;

use crate::address::Access;
use crate::lanes::lanes;
use crate::machine::state::{At, Attempt, Refused, Warp, Worker};
use crate::machine::{heap, written};
use crate::output::format;
use crate::output::format::{STRING_LIMIT, Source};
use crate::program::{Rows, SystemCall, SystemFunction};
use crate::site::AccessAction;
use crate::trap::TrapKind;

/// Calls a system function with the lanes of `mask`, in rising order.
pub(super) fn call(worker: &mut Worker<'_>, warp: &mut Warp<'_>, call: &SystemCall, at: At) -> Attempt<()> {
    let At { mask, place, .. } = at;
    for lane in lanes(mask) {
        // A call may read and print a megabyte, which takes as long as many instructions.
        if worker.launched.is_cancelled() {
            return Err(Refused::because(TrapKind::Cancelled, lane as u32));
        }
        let argument = |index: usize| call.arguments.get(index).map_or(0, |&rows| value(warp, rows, lane));
        let result = match call.function {
            SystemFunction::Print => print(worker, warp, (lane, place), argument(0), argument(1))?,
            SystemFunction::Allocate => heap::allocate(worker, warp, lane as u32, argument(0), place),
            SystemFunction::Free => {
                heap::free(worker, warp, lane as u32, argument(0), place)?;
                0
            }
            SystemFunction::FailAssertion => {
                let [message, file, function] = [0, 1, 3].map(argument);
                let line = argument(2) as u32;
                let text = |address| -> Attempt<String> {
                    let bytes = match address {
                        0 => Vec::new(),
                        address => Lane::new(worker, warp, lane).string(address, STRING_LIMIT)?,
                    };
                    Ok(String::from_utf8_lossy(&bytes).into_owned())
                };
                let (message, file, function) = (text(message)?, text(file)?, text(function)?);
                return Err(Refused::because(TrapKind::Assertion { message, file, line, function }, lane as u32));
            }
        };
        if let Some(&rows) = call.results.first() {
            set_value(warp, rows, lane, result);
        }
    }
    Ok(())
}

/// The value of up to 64 bits that a lane passes in some rows.
fn value(warp: &Warp<'_>, rows: Rows, lane: usize) -> u64 {
    let word = |index: u32| if index < rows.count { warp.registers.word(rows.first + index)[lane] } else { 0 };
    u64::from(word(1)) << 32 | u64::from(word(0))
}

fn set_value(warp: &mut Warp<'_>, rows: Rows, lane: usize, value: u64) {
    for index in 0..rows.count.min(2) {
        warp.registers.set_word(rows.first + index, 1 << lane, &[(value >> (32 * index)) as u32; 32]);
    }
}

/// `vprintf`. Returns the number of arguments, or -1 without a format.
fn print(
    worker: &mut Worker<'_>,
    warp: &mut Warp<'_>,
    (lane, place): (usize, u32),
    form: u64,
    arguments: u64,
) -> Attempt<u64> {
    if form == 0 {
        return Ok(u64::from(u32::MAX));
    }
    let form = Lane::new(worker, warp, lane).string(form, STRING_LIMIT)?;
    let mut text = Vec::new();
    let mut source = Arguments { lane: Lane::new(worker, warp, lane), next: arguments };
    let taken = format::format(&form, &mut source, &mut text)?;
    let unwritten = source.lane.unwritten.take();
    worker.print(&text);
    written::printed(worker, warp, lane, &unwritten, place);
    Ok(taken.into())
}

/// A lane's view of memory, by generic addresses.
struct Lane<'a, 'w, 'l> {
    worker: &'a Worker<'w>,
    warp: &'a Warp<'l>,
    lane: usize,
    /// The uninitialised local memory that it has read, if checks track it: address and bytes.
    unwritten: RefCell<Vec<(u64, u32)>>,
}

impl<'a, 'w, 'l> Lane<'a, 'w, 'l> {
    fn new(worker: &'a Worker<'w>, warp: &'a Warp<'l>, lane: usize) -> Self {
        Self { worker, warp, lane, unwritten: RefCell::default() }
    }

    /// A value of 1, 4 or 8 bytes.
    fn read(&self, address: u64, width: u32) -> Attempt<u64> {
        let (space, in_space) = super::access::resolve(Space::Generic, address, self.worker.block.rank);
        let addresses = [in_space; 32];
        let access = Access::new(1 << self.lane, &addresses, width);
        let mut rows = [[0; 32]; 4];
        match space {
            Space::Shared => self.worker.block.shared.load_each(&access, &mut rows),
            Space::ClusterShared => super::access::distributed_shared(self.worker, &access)
                .and_then(|shared| shared.load_each(&access, &mut rows)),
            Space::Local => {
                let asks = self.worker.checker.as_ref().is_some_and(|checker| checker.checks().init);
                if asks && !self.warp.local.has(self.lane, in_space, width) {
                    self.unwritten.borrow_mut().push((in_space, width));
                }
                self.warp.local.load(&access, &mut rows)
            }
            Space::Parameter => super::load::load_parameter(&self.worker.launched.parameters, &access, &mut rows),
            _ => self.worker.launched.memory.load_each(&access, &mut rows),
        }
        .map_err(|fault| Refused::new(AccessAction::Read, space, width, fault))?;
        let high = if width == 8 { rows[1][self.lane] } else { 0 };
        Ok(u64::from(high) << 32 | u64::from(rows[0][self.lane]))
    }

    fn string(&self, address: u64, limit: usize) -> Attempt<Vec<u8>> {
        let mut bytes = Vec::new();
        while bytes.len() < limit {
            match self.read(address.wrapping_add(bytes.len() as u64), 1)? as u8 {
                0 => break,
                byte => bytes.push(byte),
            }
        }
        Ok(bytes)
    }
}

/// The arguments of `vprintf`: consecutive, each aligned to its size.
struct Arguments<'a, 'w, 'l> {
    lane: Lane<'a, 'w, 'l>,
    next: u64,
}

impl Source for Arguments<'_, '_, '_> {
    type Error = Box<Refused>;

    fn argument(&mut self, bytes: u32) -> Attempt<u64> {
        let size = u64::from(bytes);
        let at = self.next.checked_next_multiple_of(size).unwrap_or(u64::MAX - size);
        self.next = at.wrapping_add(size);
        self.lane.read(at, bytes)
    }

    fn string(&mut self, address: u64, limit: usize) -> Attempt<Vec<u8>> {
        self.lane.string(address, limit)
    }
}

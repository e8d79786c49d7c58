//! Finds the accesses of two or three threads to the bytes that decide a result, in the order in
//! which they were made.
//!
//! It begins with the element that differs. If a single thread accesses that, the thread read
//! something else than in the usual order: then the bytes are the first of which that holds, or the
//! first that another thread wrote only after the thread had read them. If the value that the
//! thread read was already wrong, the search continues with the bytes that it was read from.

use simt::faults::{AccessAction, own_frame};
use simt::orders::{DrawnOrder, Followed, Start, Strategy, Touch};

use crate::{Access, Timeline};

/// Reads of a thread that are looked at, at most.
const STEPS: usize = 16;
/// How often one goes back from bytes to others that their value comes from, at most.
const DEPTH: usize = 8;
/// Accesses that are shown, at most.
const MOST: usize = 10;

/// How values are shown, and bytes are named.
pub struct Names<'a> {
    /// The PTX file, for kernels without lines of source.
    pub module: &'a str,
    /// A value of so many bytes.
    pub value: &'a dyn Fn(u128, u32) -> String,
    /// Bytes of global memory.
    pub global: &'a dyn Fn(u64) -> String,
}

/// Bytes: of a block's shared memory, or of global memory.
type Bytes = (Option<u64>, u64, u32);

/// How these bytes of global memory (an address, and how many) come to hold what they hold in this
/// order. `follow` gives the accesses that are followed in a run in an order. `None` if the
/// accesses do not show it.
///
/// # Errors
///
/// Those of `follow`.
pub fn explain<E>(
    follow: &dyn Fn(DrawnOrder, Followed) -> Result<Vec<Touch>, E>,
    order: DrawnOrder,
    (address, bytes): (u64, u32),
    names: &Names<'_>,
) -> Result<Option<Timeline>, E> {
    let start = Some(Start::Up);
    let usual = DrawnOrder { resident: Some(1), start, ..DrawnOrder::new(order.seed, Strategy::Usual) };
    let search = Search { follow, order, usual };
    let mut at: Bytes = (None, address, bytes);
    let mut nearest = None;
    for _ in 0..DEPTH {
        match search.look(at, names)? {
            Found::Shown(timeline) => return Ok(Some(timeline)),
            Found::Nothing => break,
            Found::Elsewhere(before, timeline) => {
                at = before;
                nearest = nearest.or(timeline);
            }
        }
    }
    Ok(nearest)
}

/// The two orders that are compared.
struct Search<'a, E> {
    follow: &'a dyn Fn(DrawnOrder, Followed) -> Result<Vec<Touch>, E>,
    order: DrawnOrder,
    usual: DrawnOrder,
}

/// What the accesses to some bytes show.
enum Found {
    Shown(Timeline),
    /// Their value comes from these other bytes, which held what the usual order never writes
    /// there.
    Elsewhere(Bytes, Option<Timeline>),
    Nothing,
}

impl<E> Search<'_, E> {
    fn of_bytes(&self, order: DrawnOrder, (block, address, bytes): Bytes) -> Result<Vec<Touch>, E> {
        (self.follow)(order, Followed::Bytes { block, address, bytes })
    }

    fn look(&self, first: Bytes, names: &Names<'_>) -> Result<Found, E> {
        let touches = self.of_bytes(self.order, first)?;
        if let Some(rows) = conflict(&touches) {
            return Ok(Found::Shown(shown(&rows, None, first, names)));
        }
        // A single thread accesses them: it read something else than in the usual order.
        let Some(writer) = touches.iter().rev().find(|touch| writes(touch)) else { return Ok(Found::Nothing) };
        let (block, thread) = writer.thread;
        let followed = Followed::Thread { block, thread };
        let (own, other) = (reads((self.follow)(self.order, followed)?), reads((self.follow)(self.usual, followed)?));
        let pairs = own.iter().zip(&other).take_while(|(own, other)| place(own) == place(other));
        let differing = pairs.into_iter().find(|(own, other)| own.before != other.before);
        if let Some((read, usually)) = differing
            && is_read(read)
        {
            let at = bytes_of(read);
            let rows = around(&self.of_bytes(self.order, at)?, read);
            if rows.len() > 1 {
                // What shared memory begins with is drawn, and means nothing.
                let in_usual = self.of_bytes(self.usual, at)?;
                let unset = at.0.is_some() && !is_set(&in_usual, usually);
                let timeline = shown(&rows, Some(usually.before).filter(|_| !unset), at, names);
                let is_late = read.late || rows.last().is_some_and(|last| last.thread != read.thread);
                let is_written = rows.first().is_some_and(writes);
                let is_known = in_usual.iter().any(|touch| writes(touch) && touch.after == read.before);
                return Ok(match is_late || !is_written || is_known || at == first {
                    true => Found::Shown(timeline),
                    false => Found::Elsewhere(at, Some(timeline)),
                });
            }
        }
        // It took another way, or read what nobody has written: a read before another thread's
        // write, or one that does not find it.
        for read in own.iter().filter(|touch| is_read(touch)).take(STEPS) {
            let at = bytes_of(read);
            let rows = around(&self.of_bytes(self.order, at)?, read);
            if rows.last().is_some_and(|last| last.thread != read.thread) || read.late && rows.len() > 1 {
                return Ok(Found::Shown(shown(&rows, None, at, names)));
            }
        }
        // Or what it read was wrong already.
        for read in own.iter().filter(|touch| is_read(touch)).take(STEPS) {
            let at = bytes_of(read);
            let usually = self.of_bytes(self.usual, at)?;
            let mut written = usually.iter().filter(|touch| writes(touch) && bytes_of(touch) == at).peekable();
            if at != first && written.peek().is_some() && written.all(|touch| touch.after != read.before) {
                return Ok(Found::Elsewhere(at, None));
            }
        }
        Ok(Found::Nothing)
    }
}

fn is_read(touch: &Touch) -> bool {
    touch.site.action == Some(AccessAction::Read)
}

fn bytes_of(touch: &Touch) -> Bytes {
    (touch.shared_of, touch.address, touch.width)
}

/// Where an access is, in the program and in memory.
fn place(touch: &Touch) -> (u32, Option<u64>, u64) {
    (touch.site.ptx_line, touch.shared_of, touch.address)
}

/// A thread's reads, of those that wait for a value the last.
fn reads(touches: Vec<Touch>) -> Vec<Touch> {
    let mut reads: Vec<Touch> = Vec::new();
    for touch in touches.into_iter().filter(|touch| touch.site.action != Some(AccessAction::Write)) {
        match reads.last_mut() {
            Some(last) if place(last) == place(&touch) && last.site.action == Some(AccessAction::Read) => *last = touch,
            _ => reads.push(touch),
        }
    }
    reads
}

/// Whether anybody wrote the bytes before this read.
fn is_set(touches: &[Touch], read: &Touch) -> bool {
    touches.iter().take_while(|touch| touch.time < read.time).any(writes)
}

fn writes(touch: &Touch) -> bool {
    touch.site.action != Some(AccessAction::Read)
}

/// The accesses of two threads one of which writes after the other wrote what it had not read.
fn conflict(touches: &[Touch]) -> Option<Vec<Touch>> {
    touches.iter().enumerate().find_map(|(last, write)| {
        if !writes(write) {
            return None;
        }
        let first = touches[..last].iter().rposition(|touch| touch.thread == write.thread)?;
        let other = touches[first..last].iter().find(|touch| writes(touch) && touch.thread != write.thread)?;
        let of_two = |touch: &&Touch| [write.thread, other.thread].contains(&touch.thread);
        let begin = touches[..first].iter().rposition(|touch| touch.thread == other.thread).unwrap_or(first);
        let all: Vec<Touch> = touches[begin..=last].iter().filter(of_two).cloned().collect();
        Some(all[all.len().saturating_sub(MOST)..].to_vec())
    })
}

/// A read, the last write before it, and the first write of another thread after it.
fn around(touches: &[Touch], read: &Touch) -> Vec<Touch> {
    let is_read = |touch: &Touch| (touch.time, touch.thread, place(touch)) == (read.time, read.thread, place(read));
    let Some(at) = touches.iter().position(is_read) else { return Vec::new() };
    let is_other = |touch: &&Touch| writes(touch) && touch.thread != read.thread;
    let before = touches[..at].iter().rev().find(|touch| writes(touch));
    let after = touches[at + 1..].iter().find(is_other);
    before.into_iter().chain([&touches[at]]).chain(after).cloned().collect()
}

fn shown(
    rows: &[Touch],
    usually: Option<u128>,
    (block, address, bytes): (Option<u64>, u64, u32),
    names: &Names<'_>,
) -> Timeline {
    let access = |touch: &Touch| {
        let Touch { site, width, before, after, lanes, late, .. } = touch;
        let (old, new) = ((names.value)(*before, *width), (names.value)(*after, *width));
        let mut what = match site.action {
            Some(AccessAction::Write) => format!("writes {new}, over {old}"),
            Some(AccessAction::Atomic) => format!("changes {old} to {new}"),
            _ if *late => format!("reads {old}, though {new} is there"),
            _ => format!("reads {old}"),
        };
        if *late && writes(touch) {
            what = format!("its late store: {new}, over {old}");
        }
        if *lanes > 1 {
            what += &format!(" ({lanes} lanes)");
        }
        let own = own_frame(&site.source).map(|at| &site.source[at]);
        let (file, line) = own.map_or((names.module.to_owned(), site.ptx_line), |at| (at.file.clone(), at.line));
        Access { block: site.block, thread: site.thread, what, file, line }
    };
    let bytes = match block {
        Some(block) => format!("the {bytes} bytes at {address} of shared memory of block {block}"),
        None => (names.global)(address),
    };
    let usually = usually.map(|value| (names.value)(value, rows.last().map_or(4, |touch| touch.width)));
    Timeline { bytes, accesses: rows.iter().map(access).collect(), usually }
}

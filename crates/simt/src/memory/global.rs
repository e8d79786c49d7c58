//! Global and constant memory: allocations that all blocks share. The host allocates, copies and
//! frees; the machine's loads, stores and atomic operations check and access words here.
//!
//! Blocks run on several threads of the host and share this memory, so it consists of `AtomicU32`s
//! that are accessed with relaxed ordering: plain moves on today's processors, and no `unsafe`. A
//! 64-bit atomic operation takes a lock. A caller may lend such words (`lent`).

mod addresses;
mod atomics;
mod lent;
mod mapped;
mod undo;

use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex};

use super::heap::{self, Caller, Chunks, DEFAULT_HEAP_LIMIT, Heap, HeapAllocation};
use super::words;
use super::written::Written;
use crate::address::FreeFault;
use crate::address::{Access, AccessFault, AccessFaultKind, AllocationSpan, Located};
use crate::coalesce::Shape;
use crate::error::MemoryError;
use crate::site::Site;
use crate::texture::Objects;

use addresses::Addresses;
use lent::Words;
pub use mapped::Physical;
use mapped::{Mappable, View};
use undo::{Kept, Undo};

/// Words of zero. The operating system commits their pages on first use.
fn zeroed_words(bytes: u64) -> Result<Box<[AtomicU32]>, MemoryError> {
    bytemuck::try_zeroed_slice_box(bytes.div_ceil(4) as usize)
        .map_err(|()| MemoryError::HostOutOfMemory { requested: bytes })
}

/// The memory of a simulated device.
pub struct Memory {
    limit: u64,
    used: u64,
    addresses: Addresses,
    /// What is live, or mapped without access, sorted by address.
    allocations: Vec<Allocation>,
    /// Memory that can be mapped.
    mappable: Mappable,
    /// What kernels allocate.
    heap: Heap,
    /// Serialises atomic operations of more than 32 bits: they take several words.
    wide_atomics: Mutex<()>,
    /// Of a launch whose writes are undone.
    undo: Undo,
    /// Arrays, textures and surfaces.
    pub(crate) objects: Objects,
}

struct Allocation {
    span: AllocationSpan,
    /// `None` while it is mapped without access.
    words: Option<Words>,
    /// What is mapped there, if it is a mapping.
    mapped: Option<View>,
    read_only: bool,
    /// The bytes that have been written, by the host or by kernels. Those of a mapping are with
    /// what is mapped.
    written: Written,
    /// The pages that are kept, to be restored.
    kept: Kept,
}

/// Bytes of a range in one allocation: its number, where in it they begin, and how many they are.
struct Part {
    index: usize,
    offset: usize,
    length: usize,
}

impl Allocation {
    /// The bytes that have been written, and where among them the allocation begins.
    fn written(&self) -> (&Written, u64) {
        self.mapped.as_ref().map_or((&self.written, 0), View::written)
    }
}

impl Memory {
    /// A device with `limit` bytes of memory, none in use.
    pub fn new(limit: u64) -> Self {
        Self {
            limit,
            used: 0,
            addresses: Addresses::new(),
            allocations: Vec::new(),
            mappable: Mappable::default(),
            heap: Heap::new(DEFAULT_HEAP_LIMIT),
            wide_atomics: Mutex::new(()),
            undo: Undo::default(),
            objects: Objects::default(),
        }
    }

    /// Bytes that the device has.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Bytes in use.
    pub fn used(&self) -> u64 {
        self.used
    }

    /// The live allocations, in rising order of address.
    pub fn allocations(&self) -> impl Iterator<Item = AllocationSpan> {
        self.allocations.iter().filter(|allocation| allocation.words.is_some()).map(|allocation| allocation.span)
    }

    /// Whether an address is among those that were ever given to allocations.
    pub fn has_given(&self, address: u64) -> bool {
        self.addresses.has_given(address)
    }

    /// Allocates `bytes`, zeroed, at a multiple of 256 (an allocation of 0 bytes has an address of
    /// its own).
    pub fn allocate(&mut self, bytes: u64) -> Result<u64, MemoryError> {
        self.allocate_as(bytes, false)
    }

    /// Allocates memory that kernels may only read.
    pub(crate) fn allocate_constant(&mut self, bytes: u64) -> Result<u64, MemoryError> {
        self.allocate_as(bytes, true)
    }

    fn allocate_as(&mut self, bytes: u64, read_only: bool) -> Result<u64, MemoryError> {
        self.check_room(bytes)?;
        let words = Some(Words::Own(zeroed_words(bytes)?));
        let address = self.addresses.take(bytes, 1).ok_or(MemoryError::NoAddresses { requested: bytes })?;
        self.used += bytes;
        self.add(Allocation {
            span: AllocationSpan { address, bytes },
            words,
            mapped: None,
            read_only,
            written: Written::new(bytes),
            kept: Kept::default(),
        });
        Ok(address)
    }

    /// Fails if fewer bytes than these are free.
    fn check_room(&self, requested: u64) -> Result<(), MemoryError> {
        let free = self.limit - self.used;
        if requested > free {
            return Err(MemoryError::OutOfMemory { requested, free, limit: self.limit });
        }
        Ok(())
    }

    fn add(&mut self, allocation: Allocation) {
        let index = self.allocations.partition_point(|it| it.span.address < allocation.span.address);
        self.allocations.insert(index, allocation);
    }

    /// The allocation that starts at an address.
    fn starting_at(&self, address: u64) -> Option<usize> {
        self.allocations.binary_search_by_key(&address, |allocation| allocation.span.address).ok()
    }

    /// Frees the allocation that starts at `address`.
    pub fn free(&mut self, address: u64) -> Result<(), MemoryError> {
        let index = self.starting_at(address).filter(|&index| self.allocations[index].mapped.is_none());
        let index = index.ok_or(MemoryError::NotAllocated { address, bytes: 0 })?;
        let Allocation { span, .. } = self.allocations.remove(index);
        self.used -= span.bytes;
        self.addresses.give_back(address, span.bytes);
        self.addresses.remember(span);
        Ok(())
    }

    /// Sets how many bytes kernels may allocate: [`DEFAULT_HEAP_LIMIT`] unless this is called,
    /// before any program is loaded that allocates. Loading one takes this many bytes of the
    /// device's memory.
    pub fn set_heap_limit(&mut self, bytes: u64) -> Result<(), MemoryError> {
        if self.heap.is_reserved() {
            return Err(MemoryError::HeapInUse { bytes: self.heap.limit() });
        }
        self.heap = Heap::new(bytes);
        Ok(())
    }

    /// What kernels have allocated with `malloc` and not freed, in order of allocation. Only a
    /// kernel can free it; the host cannot copy, fill or free it.
    pub fn heap_allocations(&self) -> Vec<HeapAllocation> {
        self.heap.allocations()
    }

    /// Creates the heap if it does not exist yet.
    pub(crate) fn reserve_heap(&mut self) -> Result<(), MemoryError> {
        if self.heap.is_reserved() {
            return Ok(());
        }
        self.check_room(self.heap.limit())?;
        self.heap.reserve()?;
        self.used += self.heap.limit();
        Ok(())
    }

    /// `malloc`: an address that is a multiple of 16, or none.
    pub(crate) fn heap_allocate(&self, bytes: u64, caller: Caller) -> Option<u64> {
        self.heap.allocate(bytes, caller)
    }

    /// `free` of an address that is not null.
    pub(crate) fn heap_free(&self, address: u64) -> Result<(), FreeFault> {
        match self.find(address, 0).filter(|allocation| allocation.words.is_some()) {
            Some(allocation) => Err(FreeFault::NotOfHeap { allocation: allocation.span }),
            None => self.heap.free(address),
        }
    }

    /// A launch has ended: see [`Heap::settle`].
    pub(crate) fn settle_heap(
        &self,
        module: &str,
        kernel: &str,
        report: impl FnMut(Caller) -> (Arc<Site>, [u32; 3], [u32; 3]),
    ) {
        self.heap.settle(module, kernel, report);
    }

    /// Copies `bytes` to the device.
    pub fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), MemoryError> {
        let mut rest = bytes;
        for part in self.parts(address, bytes.len() as u64)? {
            let (now, later) = rest.split_at(part.length);
            self.written_part(&part)?.write(part.offset, now);
            rest = later;
        }
        Ok(())
    }

    /// Copies bytes from the device.
    pub fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), MemoryError> {
        let mut rest = bytes;
        for part in self.parts(address, rest.len() as u64)? {
            let (now, later) = rest.split_at_mut(part.length);
            words::read(self.allocations[part.index].words.as_deref().unwrap_or_default(), part.offset, now);
            rest = later;
        }
        Ok(())
    }

    /// Which of `count` elements of `element` bytes each, one after the other from `address` on,
    /// have a byte that neither the host nor a kernel has written; nothing if none has. Launches
    /// without the check of uninitialised memory count as writes of everything.
    pub fn unwritten(&self, address: u64, element: u64, count: usize) -> Vec<bool> {
        let allocation = self.find_index(address).map(|index| &self.allocations[index]);
        let allocation = allocation.filter(|allocation| !allocation.read_only);
        allocation.map_or_else(Vec::new, |it| {
            let (written, start) = it.written();
            written.missing(start + (address - it.span.address), element, count)
        })
    }

    /// Sets `bytes` bytes to `value`.
    pub fn fill(&mut self, address: u64, bytes: u64, value: u8) -> Result<(), MemoryError> {
        for part in self.parts(address, bytes)? {
            self.written_part(&part)?.fill(part.offset, part.length, value);
        }
        Ok(())
    }

    /// The allocations that hold all of a range: one, unless memory was mapped side by side.
    fn parts(&self, address: u64, bytes: u64) -> Result<Vec<Part>, MemoryError> {
        let missing = || MemoryError::NotAllocated { address, bytes };
        let (mut parts, mut at, mut rest) = (Vec::with_capacity(1), address, bytes);
        loop {
            let index = self.find_index(at).ok_or_else(missing)?;
            let Allocation { span, words, .. } = &self.allocations[index];
            let offset = at - span.address;
            let length = rest.min(span.bytes.checked_sub(offset).ok_or_else(missing)?);
            if words.is_none() || length == 0 && rest > 0 {
                return Err(missing());
            }
            parts.push(Part { index, offset: offset as usize, length: length as usize });
            (at, rest) = (at + length, rest - length);
            if rest == 0 {
                return Ok(parts);
            }
        }
    }

    /// The words of the allocation that a part is in, all of which the caller writes.
    fn written_part(&mut self, part: &Part) -> Result<&mut Words, MemoryError> {
        let allocation = &mut self.allocations[part.index];
        let (written, start) = allocation.written();
        written.mark(start + part.offset as u64, part.length as u64);
        let Allocation { span, words, .. } = allocation;
        words.as_mut().ok_or(MemoryError::NotAllocated { address: span.address, bytes: span.bytes })
    }

    /// The last allocation that starts at or below `address`.
    #[inline(always)]
    fn find_index(&self, address: u64) -> Option<usize> {
        self.allocations.partition_point(|allocation| allocation.span.address <= address).checked_sub(1)
    }

    /// The allocation that holds all of a range.
    fn find(&self, address: u64, bytes: u64) -> Option<&Allocation> {
        let allocation = &self.allocations[self.find_index(address)?];
        let end = (address - allocation.span.address).checked_add(bytes)?;
        (end <= allocation.span.bytes).then_some(allocation)
    }

    /// Loads for a warp from addresses of which `lowest` is the lowest; rows as in [`words::load`].
    /// Returns whether it did: it does nothing if any lane is at fault, or if lanes reach several
    /// allocations.
    #[inline(always)]
    pub(crate) fn load(&self, shape: &mut Shape, lowest: u64, rows: &mut [[u32; 32]]) -> bool {
        let Some((words, start)) = self.words_of(shape, lowest, false) else { return false };
        words::load(words, start, shape, rows);
        true
    }

    /// Stores for a warp, under the same conditions as [`Memory::load`](Self::load).
    #[inline(always)]
    pub(crate) fn store(&self, shape: &mut Shape, lowest: u64, rows: &[[u32; 32]]) -> bool {
        let Some((words, start)) = self.words_of(shape, lowest, true) else { return false };
        if self.undo.is_active() && !heap::holds(lowest) {
            self.keep_lanes(shape.allocation, start, shape);
        }
        words::store(words, start, shape, rows);
        true
    }

    /// The words of the allocation that all active lanes access, and where in it they start.
    #[inline(always)]
    fn words_of(&self, shape: &mut Shape, lowest: u64, write: bool) -> Option<(&[AtomicU32], u64)> {
        match self.allocation_of(shape, lowest, write) {
            Some((_, allocation, start)) => Some((allocation.words.as_deref()?, start)),
            None if heap::holds(lowest) => self.heap.words_of(shape, lowest),
            None => None,
        }
    }

    /// The allocation that all active lanes access, its number, and where in it they start.
    #[inline(always)]
    fn allocation_of(&self, shape: &mut Shape, lowest: u64, write: bool) -> Option<(usize, &Allocation, u64)> {
        let holds = |allocation: &&Allocation| lowest.wrapping_sub(allocation.span.address) < allocation.span.bytes;
        let allocation = match self.allocations.get(shape.allocation).filter(holds) {
            Some(allocation) => allocation,
            None => {
                shape.allocation = self.find_index(lowest)?;
                &self.allocations[shape.allocation]
            }
        };
        let start = shape.start_within(lowest, allocation.span.address, allocation.span.bytes)?;
        if write && allocation.read_only {
            return None;
        }
        Some((shape.allocation, allocation, start))
    }

    /// Loads lane by lane, from any addresses; rows as in [`words::load`]. Does nothing if any lane
    /// is at fault.
    pub(crate) fn load_each(&self, access: &Access, rows: &mut [[u32; 32]]) -> Result<(), AccessFault> {
        access.check(|address| self.check(address, access.width, false))?;
        Shape::for_each_lane(access, |shape, address| _ = self.load(shape, address, rows));
        Ok(())
    }

    /// Stores lane by lane, under the same conditions as [`Memory::load_each`](Self::load_each).
    pub(crate) fn store_each(&self, access: &Access, rows: &[[u32; 32]]) -> Result<(), AccessFault> {
        access.check(|address| self.check(address, access.width, true))?;
        Shape::for_each_lane(access, |shape, address| _ = self.store(shape, address, rows));
        Ok(())
    }

    /// The live allocation that holds an address; `None` for a write to read-only memory.
    pub(crate) fn locate(&self, address: u64, write: bool) -> Option<Located> {
        let Some(index) = self.find_index(address) else { return self.heap.locate(address, self.allocations.len()) };
        let &Allocation { span, ref words, read_only, .. } = &self.allocations[index];
        let holds = words.is_some() && address - span.address < span.bytes && !(write && read_only);
        holds.then(|| self.located(index))
    }

    /// Where an allocation is. What is mapped has the same number and the same offsets at all its
    /// addresses; the numbers are behind those of the allocations and of the heap.
    #[inline(always)]
    fn located(&self, index: usize) -> Located {
        let &Allocation { span, ref mapped, .. } = &self.allocations[index];
        match mapped {
            None => Located { index, span, base: span.address },
            Some(view) => {
                let index = self.allocations.len() + 1 + view.number();
                Located { index, span, base: span.address.wrapping_sub(view.start()) }
            }
        }
    }

    /// The live allocation that all lanes of an access reach, if the access is aligned and
    /// permitted.
    #[inline(always)]
    pub(crate) fn locate_all(&self, shape: &mut Shape, lowest: u64, write: bool) -> Option<Located> {
        if heap::holds(lowest) {
            let located = self.heap.locate(lowest, self.allocations.len())?;
            return shape.start_within(lowest, located.span.address, located.span.bytes).map(|_| located);
        }
        let (index, allocation, _) = self.allocation_of(shape, lowest, write)?;
        allocation.words.is_some().then(|| self.located(index))
    }

    /// The value of `width` bytes; 0 if the address is not allocated.
    pub(crate) fn value(&self, address: u64, width: u32) -> u128 {
        let mut bytes = [0; 16];
        if self.check(address, width, false).is_ok()
            && let Some((words, offset)) = self.words(address)
            && let Some(bytes) = bytes.get_mut(..width as usize)
        {
            words::read(words, offset, bytes);
        }
        u128::from_le_bytes(bytes)
    }

    /// Where each allocation is.
    pub(super) fn spans(&self) -> impl Iterator<Item = AllocationSpan> {
        self.allocations.iter().map(|allocation| allocation.span)
    }

    /// The words of each allocation, `None` for those that kernels cannot write, then those of the
    /// heap.
    pub(super) fn writable(&self) -> impl Iterator<Item = Option<&[AtomicU32]>> {
        let of_allocations =
            self.allocations.iter().map(|allocation| allocation.words.as_deref().filter(|_| !allocation.read_only));
        of_allocations.chain([self.heap.memory()])
    }

    /// The heap's list of allocations.
    pub(super) fn heap_chunks(&self) -> Chunks {
        self.heap.chunks()
    }

    /// Restores the heap's list of allocations. Their contents are undefined.
    pub(super) fn restore_heap(&self, chunks: &Chunks) {
        self.heap.restore(chunks);
    }

    /// Which bytes of an allocation have been written; `None` if all have, as those of constants.
    pub(crate) fn written(&self, index: usize) -> Option<&Written> {
        match self.allocations.get(index) {
            Some(allocation) => (!allocation.read_only).then_some(&allocation.written),
            None if index == self.allocations.len() => Some(&self.heap.written),
            None => self.mappable.written(index - self.allocations.len() - 1),
        }
    }

    /// Marks the whole allocation at `address` as written.
    pub(crate) fn mark_written(&self, address: u64) {
        if let Some(allocation) = self.find(address, 0) {
            let (written, start) = allocation.written();
            written.mark(start, allocation.span.bytes);
        }
    }

    /// Marks all memory as written: a kernel that ran without checks may have written anywhere.
    pub(crate) fn assume_written(&self) {
        self.allocations.iter().for_each(|allocation| allocation.written().0.mark_all());
        self.heap.written.mark_all();
    }

    /// Whether a thread may access `width` bytes at `address`.
    pub(crate) fn check(&self, address: u64, width: u32, write: bool) -> Result<(), AccessFaultKind> {
        if heap::holds(address) {
            return self.heap.check(address, width);
        }
        let Some(allocation) = self.find(address, u64::from(width)) else { return Err(self.nearest(address)) };
        if allocation.words.is_none() {
            return Err(AccessFaultKind::NoAccess { allocation: allocation.span });
        }
        if write && allocation.read_only {
            return Err(AccessFaultKind::ReadOnly { allocation: allocation.span });
        }
        if !address.is_multiple_of(u64::from(width)) {
            return Err(AccessFaultKind::Misaligned { width });
        }
        Ok(())
    }

    /// Why an address cannot be accessed that is in no allocation: by what is nearest, a live one,
    /// or a freed one that is no further away than allocations are from each other.
    fn nearest(&self, address: u64) -> AccessFaultKind {
        let above = self.allocations.partition_point(|allocation| allocation.span.address <= address);
        let live = self.allocations[above.saturating_sub(1)..].iter().take(2).map(|live| (false, live.span));
        let all = live.chain(self.addresses.freed_near(address).map(|freed| (true, freed)));
        match all.min_by_key(|(freed, span)| (span.distance(address), *freed)) {
            Some((true, allocation)) => AccessFaultKind::Freed { allocation },
            nearest => AccessFaultKind::OutOfBounds { nearest: nearest.map(|(_, span)| span) },
        }
    }

    /// The words of the live allocation that an address is in, and the address's offset in them, in
    /// bytes.
    fn words(&self, address: u64) -> Option<(&[AtomicU32], usize)> {
        if heap::holds(address) {
            return self.heap.words(address);
        }
        let allocation = self.find(address, 0)?;
        Some((allocation.words.as_deref()?, (address - allocation.span.address) as usize))
    }
}

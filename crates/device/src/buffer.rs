//! Memory on a device: linear and pitched buffers, freed when they are dropped. A
//! buffer allocates, copies and frees through its device's backend.

use std::marker::PhantomData;
use std::rc::Rc;

use bytemuck::Pod;
use rayon::prelude::*;

use super::backend::Backend;
use super::on_device::{OnDevice, Owned, Owner};
use crate::error::{Error, Result};

/// The byte that poisons outputs. As a float or integer of any size it is a large finite number
/// that kernels rarely compute, so an element that a kernel forgot is noticed.
pub const POISON: u8 = 0x7b;

/// The alignment of allocations in bytes, which the drivers and the simulator promise.
const ALIGNMENT: usize = 256;

/// An allocation, freed when dropped. It keeps its device alive.
struct Allocation {
    backend: Rc<dyn Backend>,
    address: u64,
}

impl Drop for Allocation {
    fn drop(&mut self) {
        self.backend.free(self.address);
    }
}

/// Elements one after the other in a device's memory.
pub struct Buffer<T> {
    allocation: Allocation,
    length: usize,
    element: PhantomData<T>,
}

impl<T: Pod> Buffer<T> {
    /// Allocates `length` elements whose contents are undefined.
    pub(crate) fn new(backend: &Rc<dyn Backend>, length: usize) -> Result<Self> {
        const { assert!(align_of::<T>() <= ALIGNMENT, "allocations start on 256 bytes") }
        let bytes = bytes_of::<T>(length)?;
        Ok(Self {
            allocation: Allocation { address: backend.allocate(bytes)?, backend: Rc::clone(backend) },
            length,
            element: PhantomData,
        })
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Copies `data` to the device.
    ///
    /// # Panics
    ///
    /// If `data` has a different number of elements: a bug of the caller.
    pub fn write(&mut self, data: &[T]) -> Result<()> {
        assert_eq!(data.len(), self.length, "buffer and data differ in length");
        self.allocation.backend.write(self.address(), bytemuck::cast_slice(data))
    }

    /// Copies `data` to the elements from `first` on.
    ///
    /// # Panics
    ///
    /// If there are fewer: a bug of the caller.
    pub fn write_from(&mut self, first: usize, data: &[T]) -> Result<()> {
        let fits = self.length.checked_sub(first).is_some_and(|left| data.len() <= left);
        assert!(fits, "the buffer is too short");
        let address = self.address() + (first * size_of::<T>()) as u64;
        self.allocation.backend.write(address, bytemuck::cast_slice(data))
    }

    /// Starts a copy of the elements to another buffer of the same device.
    ///
    /// # Panics
    ///
    /// If it has a different number of elements: a bug of the caller.
    ///
    /// # Errors
    ///
    /// [`Error::OtherDevice`].
    pub fn copy_to(&self, to: &mut Self) -> Result<()> {
        assert_eq!(to.length, self.length, "the buffers differ in length");
        self.owner().require("a copy", &[to.owner()])?;
        self.allocation.backend.copy(self.address(), to.address(), self.bytes())
    }

    /// Copies the elements from the device, after all launches.
    ///
    /// # Errors
    ///
    /// Also reports the fault of an earlier launch.
    pub fn read(&self) -> Result<Vec<T>> {
        let mut data = zeros(self.length);
        self.read_into(&mut data)?;
        Ok(data)
    }

    /// As [`Buffer::read`], into the caller's memory.
    ///
    /// # Panics
    ///
    /// If `data` has a different number of elements: a bug of the caller.
    pub fn read_into(&self, data: &mut [T]) -> Result<()> {
        assert_eq!(data.len(), self.length, "buffer and data differ in length");
        self.allocation.backend.read(self.address(), bytemuck::cast_slice_mut(data))
    }

    /// Which of the elements of `bytes` bytes that the buffer holds have a byte that neither the
    /// host nor a kernel has written; nothing if none has, or if the device does not know. The
    /// simulator does, if all launches had the check `init`.
    pub fn unwritten(&self, bytes: usize) -> Vec<bool> {
        let count = (self.length * size_of::<T>()).checked_div(bytes).unwrap_or(0);
        self.allocation.backend.unwritten(self.address(), bytes as u64, count)
    }

    /// Sets every byte to `value`.
    pub fn fill_bytes(&mut self, value: u8) -> Result<()> {
        match self.bytes() {
            0 => Ok(()),
            bytes => self.allocation.backend.fill(self.address(), bytes, value),
        }
    }

    /// Sets every byte to [`POISON`].
    pub fn poison(&mut self) -> Result<()> {
        self.fill_bytes(POISON)
    }
}

/// Rows of elements in a device's memory, each starting at the device's preferred alignment: a
/// two-dimensional allocation.
///
/// The pitch is the distance from one row to the next; the driver chooses it. The bytes between a
/// row's last element and the next row are padding.
pub struct PitchedBuffer<T> {
    allocation: Allocation,
    rows: usize,
    columns: usize,
    pitch_bytes: u64,
    element: PhantomData<T>,
}

impl<T: Pod> PitchedBuffer<T> {
    /// Allocates `rows` x `columns` elements whose contents are undefined.
    pub(super) fn new(backend: &Rc<dyn Backend>, rows: usize, columns: usize) -> Result<Self> {
        const { assert!(align_of::<T>() <= ALIGNMENT, "allocations start on 256 bytes") }
        let row_bytes = bytes_of::<T>(columns)?.max(1);
        bytes_of::<T>(rows.saturating_mul(columns))?;
        let element_bytes = (size_of::<T>() as u32).clamp(4, 16);
        // Kernels take the pitch as 32 bits.
        if u32::try_from(rows).is_err() || u32::try_from(row_bytes + 1024).is_err() {
            return Err(too_large(format!("a matrix of {rows} rows and {columns} columns")));
        }
        let (address, pitch_bytes) = backend.allocate_pitched(row_bytes, (rows as u64).max(1), element_bytes)?;
        let allocation = Allocation { address, backend: Rc::clone(backend) };
        // Kernels count the pitch in elements.
        if !pitch_bytes.is_multiple_of(size_of::<T>() as u64) {
            return Err(Error::Pitch { columns, pitch: pitch_bytes, element: size_of::<T>() });
        }
        Ok(Self { allocation, rows, columns, pitch_bytes, element: PhantomData })
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of elements in a row, without the padding.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// From the start of one row to the start of the next, in elements.
    pub fn pitch(&self) -> usize {
        self.pitch_bytes as usize / size_of::<T>()
    }

    /// From the start of one row to the start of the next, in bytes.
    pub fn pitch_bytes(&self) -> u64 {
        self.pitch_bytes
    }

    /// Copies `rows` x `columns` elements, which lie row by row, to the device: a 2D copy. The
    /// padding stays as it is.
    ///
    /// # Panics
    ///
    /// If `data` has a different number of elements: a bug of the caller.
    pub fn write(&mut self, data: &[T]) -> Result<()> {
        assert_eq!(data.len(), self.rows * self.columns, "buffer and data differ in length");
        if data.is_empty() {
            return Ok(());
        }
        self.allocation.backend.write_2d(
            self.address(),
            self.pitch_bytes,
            (self.columns * size_of::<T>()) as u64,
            bytemuck::cast_slice(data),
        )
    }

    /// Copies the elements from the device, row by row without the padding, after all launches: a
    /// 2D copy.
    pub fn read(&self) -> Result<Vec<T>> {
        let mut data = zeros(self.rows * self.columns);
        if data.is_empty() {
            return Ok(data);
        }
        self.allocation.backend.read_2d(
            self.address(),
            self.pitch_bytes,
            (self.columns * size_of::<T>()) as u64,
            bytemuck::cast_slice_mut(&mut data),
        )?;
        Ok(data)
    }

    /// Sets every byte to `value`, the padding too.
    pub fn fill_bytes(&mut self, value: u8) -> Result<()> {
        self.allocation.backend.fill(self.address(), self.bytes(), value)
    }

    /// Sets every byte to [`POISON`], the padding too.
    pub fn poison(&mut self) -> Result<()> {
        self.fill_bytes(POISON)
    }
}

impl<T: Pod> Owned for Buffer<T> {
    fn owner(&self) -> Owner {
        Owner::of(&self.allocation.backend)
    }
}

impl<T: Pod> Owned for PitchedBuffer<T> {
    fn owner(&self) -> Owner {
        Owner::of(&self.allocation.backend)
    }
}

impl<T: Pod> Owned for Tail<'_, T> {
    fn owner(&self) -> Owner {
        self.buffer.owner()
    }
}

impl<T> Owned for View<'_, T> {
    fn owner(&self) -> Owner {
        self.owner
    }
}

impl<T> Owned for ViewMut<'_, T> {
    fn owner(&self) -> Owner {
        self.owner
    }
}

impl<T: Pod> OnDevice for Buffer<T> {
    fn address(&self) -> u64 {
        self.allocation.address
    }

    fn bytes(&self) -> u64 {
        (self.length * size_of::<T>()) as u64
    }
}

impl<T: Pod> OnDevice for PitchedBuffer<T> {
    fn address(&self) -> u64 {
        self.allocation.address
    }

    fn bytes(&self) -> u64 {
        self.pitch_bytes * self.rows as u64
    }
}

/// The elements of a buffer from an index on: what a kernel's `*const T` may point to.
#[derive(Clone, Copy)]
pub struct Tail<'a, T> {
    buffer: &'a Buffer<T>,
    first: usize,
}

impl<T: Pod> Buffer<T> {
    /// The elements from `first` on.
    ///
    /// # Panics
    ///
    /// If there are fewer: a bug of the caller.
    pub fn tail(&self, first: usize) -> Tail<'_, T> {
        assert!(first <= self.length);
        Tail { buffer: self, first }
    }
}

impl<'a, T: Pod> Tail<'a, T> {
    /// The first `length` of these elements.
    ///
    /// # Panics
    ///
    /// If there are fewer: a bug of the caller.
    pub fn first(self, length: usize) -> View<'a, T> {
        assert!(length <= self.len());
        View { owner: self.owner(), address: self.address(), length, elements: PhantomData }
    }

    /// The address of the first element.
    pub(crate) fn address(&self) -> u64 {
        self.buffer.address() + (self.first * size_of::<T>()) as u64
    }

    /// The number of elements.
    pub(crate) fn len(&self) -> usize {
        self.buffer.len() - self.first
    }
}

/// Elements of a buffer as a kernel reads them: some of them, or several as one word.
#[derive(Clone, Copy)]
pub struct View<'a, T> {
    owner: Owner,
    pub(super) address: u64,
    pub(super) length: usize,
    elements: PhantomData<&'a [T]>,
}

impl<T> View<'_, T> {
    /// So many elements at an address of this device's.
    pub(crate) fn new(owner: Owner, address: u64, length: usize) -> Self {
        Self { owner, address, length, elements: PhantomData }
    }
}

/// Elements of a buffer as a kernel writes them: some of them, or several as one word.
pub struct ViewMut<'a, T> {
    owner: Owner,
    pub(super) address: u64,
    pub(super) length: usize,
    elements: PhantomData<&'a mut [T]>,
}

impl<T: Pod> Buffer<T> {
    /// The first `length` elements, as [`Tail::first`].
    ///
    /// # Panics
    ///
    /// If there are fewer: a bug of the caller.
    pub fn first(&self, length: usize) -> View<'_, T> {
        self.tail(0).first(length)
    }

    /// Some of the elements, to write.
    ///
    /// # Panics
    ///
    /// If there are fewer: a bug of the caller.
    pub fn part_mut(&mut self, range: std::ops::Range<usize>) -> ViewMut<'_, T> {
        let view = self.tail(range.start).first(range.len());
        ViewMut { owner: view.owner, address: view.address, length: view.length, elements: PhantomData }
    }

    /// The elements as words of several elements each, and the last elements, which are less than a
    /// word.
    pub fn words<W: Pod>(&self) -> (View<'_, W>, View<'_, T>) {
        let ((address, length), (rest, elements)) = self.divide::<W>();
        let owner = self.owner();
        (
            View { owner, address, length, elements: PhantomData },
            View { owner, address: rest, length: elements, elements: PhantomData },
        )
    }

    /// As [`Buffer::words`], to write.
    pub fn words_mut<W: Pod>(&mut self) -> (ViewMut<'_, W>, ViewMut<'_, T>) {
        let ((address, length), (rest, elements)) = self.divide::<W>();
        let owner = self.owner();
        let words = ViewMut { owner, address, length, elements: PhantomData };
        (words, ViewMut { owner, address: rest, length: elements, elements: PhantomData })
    }

    /// Where the words and the elements behind the last word start, and how many there are.
    fn divide<W: Pod>(&self) -> ((u64, usize), (u64, usize)) {
        const {
            assert!(size_of::<W>() > 0 && size_of::<W>().is_multiple_of(size_of::<T>()), "a word is several elements");
            assert!(align_of::<W>() <= ALIGNMENT, "allocations start on 256 bytes");
        }
        let in_a_word = size_of::<W>() / size_of::<T>();
        let words = self.length / in_a_word;
        let rest = self.address() + (words * size_of::<W>()) as u64;
        ((self.address(), words), (rest, self.length % in_a_word))
    }
}

/// The size of `length` elements, if memory of that size can exist.
fn bytes_of<T>(length: usize) -> Result<u64> {
    length
        .checked_mul(size_of::<T>())
        .filter(|&bytes| bytes <= isize::MAX as usize)
        .map(|bytes| bytes as u64)
        .ok_or_else(|| too_large(format!("a buffer of {length} elements")))
}

/// What no device has.
fn too_large(what: String) -> Error {
    Error::OutOfMemory {
        what,
        place: "no device".to_owned(),
        needed: u64::MAX,
        available: isize::MAX as u64,
        limit: String::new(),
    }
}

/// Zeros in memory whose pages are already mapped. The system maps a page when it is first touched;
/// on one core that takes longer than a GPU takes to fill the page.
pub(crate) fn zeros<T: Pod>(length: usize) -> Vec<T> {
    let mut data = vec![T::zeroed(); length];
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut data);
    if bytes.len() >= LARGE {
        let touch = |part: &mut [u8]| part.iter_mut().step_by(PAGE).for_each(|byte| *byte = 0);
        bytes.par_chunks_mut(LARGE / 16).for_each(touch);
    }
    data
}

/// The size in bytes from which all cores map pages faster than one.
const LARGE: usize = 1 << 24;

/// The smallest page size in use, in bytes.
const PAGE: usize = 4096;

//! Memory outside the device's own: of the host, pageable, pinned or managed, and of another GPU.
//! Copies between it and the device's memory are started on streams, which run beside each other
//! between a fork and a join of [`crate::Device`].

use std::marker::PhantomData;
use std::ops::Range;
use std::rc::Rc;

use bytemuck::Pod;
pub use simt::transfers::Outside;

use super::backend::{Backend, Transfer};
use super::buffer::{Buffer, POISON, View, zeros};
use super::on_device::{OnDevice, Owned, Owner};
use crate::error::{Error, Result};

/// Elements one after the other in memory outside the device's own. Freed when dropped, after all
/// copies have ended.
pub struct OutsideBuffer<T> {
    backend: Rc<dyn Backend>,
    number: u64,
    kind: Outside,
    length: usize,
    element: PhantomData<T>,
}

impl<T> Drop for OutsideBuffer<T> {
    fn drop(&mut self) {
        self.backend.free_outside(self.number);
    }
}

impl<T: Pod> OutsideBuffer<T> {
    pub(super) fn new(backend: &Rc<dyn Backend>, kind: Outside, length: usize) -> Result<Self> {
        let bytes = (length as u64).saturating_mul(size_of::<T>() as u64);
        let number = backend.allocate_outside(kind, bytes)?;
        Ok(Self { backend: Rc::clone(backend), number, kind, length, element: PhantomData })
    }

    /// Whose memory it is.
    pub fn kind(&self) -> Outside {
        self.kind
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Writes the elements, after all copies.
    ///
    /// # Panics
    ///
    /// If `data` has a different number of elements: a bug of the caller.
    pub fn write(&mut self, data: &[T]) -> Result<()> {
        assert_eq!(data.len(), self.length, "buffer and data differ in length");
        self.backend.write_outside(self.number, bytemuck::cast_slice(data))
    }

    /// Reads the elements, after all copies.
    pub fn read(&self) -> Result<Vec<T>> {
        let mut data = zeros(self.length);
        self.backend.read_outside(self.number, bytemuck::cast_slice_mut(&mut data))?;
        Ok(data)
    }

    /// Sets every byte to [`POISON`].
    pub fn poison(&mut self) -> Result<()> {
        let mut poison: Vec<T> = vec![T::zeroed(); self.length];
        bytemuck::cast_slice_mut::<T, u8>(&mut poison).fill(POISON);
        self.write(&poison)
    }

    /// The elements as a kernel reads them, through the link or after they have moved.
    ///
    /// # Errors
    ///
    /// [`Error::Request`] for pageable memory, which kernels cannot reach.
    pub fn mapped(&self) -> Result<View<'_, T>> {
        let address = self.backend.outside_address(self.number)?;
        Ok(View::new(self.owner(), address, self.length))
    }

    /// Starts moving managed memory to the device, or to the host.
    ///
    /// # Errors
    ///
    /// [`Error::Request`] for other memory.
    pub fn prefetch(&self, to_device: bool) -> Result<()> {
        match self.kind {
            Outside::Managed => self.backend.prefetch(self.number, to_device),
            _ => Err(Error::request("prefetch", "only managed memory moves")),
        }
    }

    /// The copy of some elements between this memory and a buffer of the same device.
    fn transfer(&self, buffer: &Buffer<T>, range: &Range<usize>, to_device: bool, stream: u32) -> Result<Transfer> {
        assert!(range.start <= range.end && range.end <= self.length.min(buffer.len()), "the range is in both");
        self.owner().require("a copy", &[buffer.owner()])?;
        let [first, bytes] = [range.start, range.len()].map(|elements| (elements * size_of::<T>()) as u64);
        Ok(Transfer { outside: self.number, first, address: buffer.address() + first, bytes, to_device, stream })
    }

    /// Starts copying some elements to the same place of a buffer, on a stream.
    ///
    /// # Panics
    ///
    /// If one of the two is shorter: a bug of the caller.
    ///
    /// # Errors
    ///
    /// [`Error::OtherDevice`].
    pub fn copy_to(&self, buffer: &mut Buffer<T>, range: Range<usize>, stream: u32) -> Result<()> {
        self.backend.start_transfer(&self.transfer(buffer, &range, true, stream)?)
    }

    /// Starts copying some elements from the same place of a buffer, on a stream.
    ///
    /// # Panics
    ///
    /// If one of the two is shorter: a bug of the caller.
    ///
    /// # Errors
    ///
    /// [`Error::OtherDevice`].
    pub fn copy_from(&mut self, buffer: &Buffer<T>, range: Range<usize>, stream: u32) -> Result<()> {
        self.backend.start_transfer(&self.transfer(buffer, &range, false, stream)?)
    }
}

impl<T> Owned for OutsideBuffer<T> {
    fn owner(&self) -> Owner {
        Owner::of(&self.backend)
    }
}

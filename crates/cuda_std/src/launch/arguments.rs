//! Lays host values out as the parameters of a kernel.

use alloc::vec::Vec;
use bytemuck::NoUninit;

/// The arguments of one launch: the bytes of each parameter, in order, little endian.
///
/// A pointer is a `u64`, and so is a length. Each parameter's bytes start on a multiple of 16 in
/// the host's memory, so that their addresses can be passed to the driver directly.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arguments {
    // Blocks of 16 bytes, for the alignment.
    storage: Vec<u128>,
    parameters: Vec<Parameter>,
    owners: Vec<u64>,
}

/// The position of a parameter in the storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Parameter {
    /// The first block.
    start: usize,
    /// The size in bytes.
    size: usize,
    /// The alignment of the kernel's parameter in bytes.
    alignment: usize,
}

const BLOCK: usize = size_of::<u128>();

impl Arguments {
    /// No arguments yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a parameter with these bytes and this alignment in the kernel's parameter list.
    pub fn push_bytes(&mut self, bytes: &[u8], alignment: usize) {
        let start = self.storage.len();
        self.storage.resize(start + bytes.len().div_ceil(BLOCK), 0);
        bytemuck::cast_slice_mut::<u128, u8>(&mut self.storage[start..])[..bytes.len()].copy_from_slice(bytes);
        self.parameters.push(Parameter { start, size: bytes.len(), alignment });
    }

    /// Adds one parameter: an address in device memory.
    pub fn push_pointer(&mut self, address: u64) {
        self.push_bytes(&address.to_le_bytes(), 8);
    }

    /// Adds the two parameters of a slice: its address in device memory, and its length in
    /// elements.
    pub fn push_slice(&mut self, address: u64, length: usize) {
        self.push_pointer(address);
        self.push_bytes(&(length as u64).to_le_bytes(), 8);
    }

    /// Adds the four parameters of a matrix: its address in device memory, rows, columns, and the
    /// pitch in elements.
    pub fn push_matrix(&mut self, address: u64, rows: u32, cols: u32, pitch: u32) {
        self.push_pointer(address);
        for extent in [rows, cols, pitch] {
            self.push_bytes(&extent.to_le_bytes(), 4);
        }
    }

    /// Says that some parameter points to memory of this device, by the launcher's own number for
    /// it. A launcher of several devices refuses arguments of another one.
    pub fn point_to(&mut self, device: u64) {
        self.owners.push(device);
    }

    /// The devices to whose memory the parameters point.
    pub fn owners(&self) -> &[u64] {
        &self.owners
    }

    /// The number of parameters; a slice counts as two, and a matrix as four.
    pub fn len(&self) -> usize {
        self.parameters.len()
    }

    /// Whether there are no parameters.
    pub fn is_empty(&self) -> bool {
        self.parameters.is_empty()
    }

    /// The bytes of each parameter, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.parameters
            .iter()
            .map(|parameter| &bytemuck::cast_slice::<u128, u8>(&self.storage[parameter.start..])[..parameter.size])
    }

    /// The alignment of each parameter in bytes, in order.
    pub fn alignments(&self) -> impl ExactSizeIterator<Item = usize> {
        self.parameters.iter().map(|parameter| parameter.alignment)
    }
}

/// A host value that may be passed for a kernel's parameter `P`.
#[diagnostic::on_unimplemented(
    message = "a kernel's parameter `{P}` does not take an argument `{Self}`",
    label = "the kernel wants `{P}` here",
    note = "values are passed as they are, and must have exactly the parameter's type",
    note = "buffers are passed by reference: `&buffer` to read, `&mut buffer` to write"
)]
///
/// # Safety
///
/// [`push`](Argument::push) adds what `P` takes in the PTX. Where that is an address, memory is
/// there, as large and aligned as the kernel may use it for the whole launch; for an output the
/// value is an exclusive borrow of it, or owns it.
pub unsafe trait Argument<P> {
    /// Adds this value's parameters to the launch.
    fn push(self, arguments: &mut Arguments);
}

// SAFETY: the parameter takes the value's own bytes.
unsafe impl<T: NoUninit> Argument<T> for T {
    fn push(self, arguments: &mut Arguments) {
        // `usize` has 64 bits on the device, whatever it has here. In a structure it would need
        // them here, too.
        match (&self as &dyn core::any::Any).downcast_ref::<usize>() {
            Some(&number) => arguments.push_bytes(&(number as u64).to_le_bytes(), 8),
            None => arguments.push_bytes(bytemuck::bytes_of(&self), align_of::<T>()),
        }
    }
}

/// A tuple of host values that matches the parameters `P` of a kernel.
#[diagnostic::on_unimplemented(
    message = "these arguments do not fit the kernel's parameters `{P}`",
    label = "wrong arguments for this kernel",
    note = "a launch takes a tuple with one argument for each parameter, in order; for a single one write `(argument,)`"
)]
///
/// # Safety
///
/// [`push_all`](ArgumentList::push_all) adds what the parameters take, as an [`Argument`] does for
/// one.
pub unsafe trait ArgumentList<P> {
    /// Adds every value's parameters to the launch, in order.
    fn push_all(self, arguments: &mut Arguments);
}

macro_rules! argument_lists {
    ($(($($argument:ident $parameter:ident $index:tt)*))*) => {$(
        // SAFETY: each value adds what its parameter takes.
        unsafe impl<$($argument, $parameter,)*> ArgumentList<($($parameter,)*)> for ($($argument,)*)
        where
            $($argument: Argument<$parameter>,)*
        {
            #[allow(unused_variables)]
            fn push_all(self, arguments: &mut Arguments) {
                $(self.$index.push(arguments);)*
            }
        }
    )*};
}

argument_lists! {
    ()
    (A0 P0 0)
    (A0 P0 0 A1 P1 1)
    (A0 P0 0 A1 P1 1 A2 P2 2)
    (A0 P0 0 A1 P1 1 A2 P2 2 A3 P3 3)
    (A0 P0 0 A1 P1 1 A2 P2 2 A3 P3 3 A4 P4 4)
    (A0 P0 0 A1 P1 1 A2 P2 2 A3 P3 3 A4 P4 4 A5 P5 5)
    (A0 P0 0 A1 P1 1 A2 P2 2 A3 P3 3 A4 P4 4 A5 P5 5 A6 P6 6)
    (A0 P0 0 A1 P1 1 A2 P2 2 A3 P3 3 A4 P4 4 A5 P5 5 A6 P6 6 A7 P7 7)
    (A0 P0 0 A1 P1 1 A2 P2 2 A3 P3 3 A4 P4 4 A5 P5 5 A6 P6 6 A7 P7 7 A8 P8 8)
    (A0 P0 0 A1 P1 1 A2 P2 2 A3 P3 3 A4 P4 4 A5 P5 5 A6 P6 6 A7 P7 7 A8 P8 8 A9 P9 9)
    (A0 P0 0 A1 P1 1 A2 P2 2 A3 P3 3 A4 P4 4 A5 P5 5 A6 P6 6 A7 P7 7 A8 P8 8 A9 P9 9 A10 P10 10)
    (A0 P0 0 A1 P1 1 A2 P2 2 A3 P3 3 A4 P4 4 A5 P5 5 A6 P6 6 A7 P7 7 A8 P8 8 A9 P9 9 A10 P10 10 A11 P11 11)
}

const _: () = assert!(cfg!(target_endian = "little"), "kernels are launched from little-endian hosts");

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn bytes<P, A: ArgumentList<P>>(list: A) -> Vec<Vec<u8>> {
        let mut arguments = Arguments::new();
        list.push_all(&mut arguments);
        arguments.iter().map(<[u8]>::to_vec).collect()
    }

    #[test]
    fn values_are_little_endian_and_keep_their_size() {
        assert_eq!(
            bytes::<(u8, u16, u32, u64, f32, f64, bool, usize), _>((
                0x12_u8,
                0x1234_u16,
                0x1234_5678_u32,
                0x1122_3344_5566_7788_u64,
                1.0_f32,
                -2.0_f64,
                true,
                3_usize,
            )),
            [
                vec![0x12],
                vec![0x34, 0x12],
                vec![0x78, 0x56, 0x34, 0x12],
                vec![0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11],
                vec![0, 0, 0x80, 0x3f],
                vec![0, 0, 0, 0, 0, 0, 0, 0xc0],
                vec![1],
                vec![3, 0, 0, 0, 0, 0, 0, 0],
            ]
        );
    }

    #[test]
    fn literals_take_the_parameter_s_type() {
        assert_eq!(bytes::<(u64, f32), _>((5, 0.5))[0].len(), 8);
    }

    #[test]
    fn a_slice_is_a_pointer_and_a_length() {
        let mut arguments = Arguments::new();
        arguments.push_slice(0x7000_0000_0100, 1000);
        assert_eq!(arguments.len(), 2);
        assert_eq!(arguments.iter().collect::<Vec<_>>(), [0x7000_0000_0100_u64.to_le_bytes(), 1000_u64.to_le_bytes()]);
        assert_eq!(arguments.alignments().collect::<Vec<_>>(), [8, 8]);
    }

    #[test]
    fn each_parameter_starts_on_sixteen_bytes_in_host_memory() {
        let mut arguments = Arguments::new();
        arguments.push_bytes(&[1; 3], 1);
        arguments.push_bytes(&[2; 20], 4);
        arguments.push_bytes(&[3; 8], 8);
        for parameter in arguments.iter() {
            assert!(parameter.as_ptr().addr().is_multiple_of(16));
        }
        assert_eq!(arguments.iter().map(<[u8]>::len).collect::<Vec<_>>(), [3, 20, 8]);
    }

    #[test]
    fn a_kernel_without_parameters_takes_the_empty_tuple() {
        assert!(bytes::<(), _>(()).is_empty());
        assert!(Arguments::new().is_empty());
    }
}

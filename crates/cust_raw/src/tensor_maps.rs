//! Tensor maps, which exist since CUDA 12.0. The bindings are older, so their types are declared
//! here.

use core::ffi::{c_int, c_uint, c_void};

use super::{LoadError, function};

/// `CUtensorMap`: the opaque bytes that describe a tensor to a kernel.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct TensorMap(pub [u8; 128]);

/// What `cuTensorMapEncodeTiled` and `cuTensorMapEncodeIm2col` have in common; codes are those of
/// the driver's enumerations.
#[derive(Clone, Debug)]
pub struct TensorDescription<'a> {
    /// `CUtensorMapDataType`
    pub element: c_uint,
    /// The address on the device.
    pub address: u64,
    /// Elements of each dimension.
    pub dimensions: &'a [u64],
    /// Bytes from one element to the next, of each dimension but the first.
    pub strides: &'a [u64],
    /// Element strides, one for each dimension.
    pub element_strides: &'a [u32],
    /// `CUtensorMapInterleave`
    pub interleave: c_uint,
    /// `CUtensorMapSwizzle`
    pub swizzle: c_uint,
    /// `CUtensorMapL2promotion`
    pub promotion: c_uint,
    /// `CUtensorMapFloatOOBfill`
    pub fill: c_uint,
}

impl TensorDescription<'_> {
    /// The rank. There must be as many element strides, and one stride less.
    fn rank(&self) -> c_uint {
        let rank = self.dimensions.len();
        assert!(self.element_strides.len() == rank && self.strides.len() + 1 == rank, "lists of a tensor's rank");
        rank as c_uint
    }
}

/// `cuTensorMapEncodeTiled`: the map, and the driver's status.
///
/// # Errors
///
/// [`LoadError::Incomplete`]: the driver has no tensor maps.
///
/// # Panics
///
/// If the length of a list does not match the tensor's rank.
pub fn encode_tiled(tensor: &TensorDescription, box_dimensions: &[u32]) -> Result<(TensorMap, u32), LoadError> {
    type Encode = unsafe extern "C" fn(
        *mut TensorMap,
        c_uint,
        c_uint,
        *mut c_void,
        *const u64,
        *const u64,
        *const u32,
        *const u32,
        c_uint,
        c_uint,
        c_uint,
        c_uint,
    ) -> u32;
    let encode: Encode = function("cuTensorMapEncodeTiled")?;
    let (rank, mut map) = (tensor.rank(), TensorMap([0; 128]));
    assert_eq!(box_dimensions.len(), rank as usize, "a box of the tensor's rank");
    // SAFETY: the signature is the driver's (cuda.h); each list has as many entries as the rank
    // requires, and the function only reads them; the address is checked, not dereferenced.
    let status = unsafe {
        encode(
            &mut map,
            tensor.element,
            rank,
            tensor.address as usize as *mut c_void,
            tensor.dimensions.as_ptr(),
            tensor.strides.as_ptr(),
            box_dimensions.as_ptr(),
            tensor.element_strides.as_ptr(),
            tensor.interleave,
            tensor.swizzle,
            tensor.promotion,
            tensor.fill,
        )
    };
    Ok((map, status))
}

/// The boxes of `cuTensorMapEncodeIm2col`: columns of pixels.
#[derive(Clone, Copy, Debug)]
pub struct Columns<'a> {
    /// The lower corner, the fastest dimension of an image first.
    pub lower: &'a [c_int],
    /// The upper corner.
    pub upper: &'a [c_int],
    /// Channels of each pixel.
    pub channels: u32,
    /// Pixels.
    pub pixels: u32,
}

/// `cuTensorMapEncodeIm2col`: the map, and the driver's status.
///
/// # Errors
///
/// [`LoadError::Incomplete`]: the driver has no tensor maps.
///
/// # Panics
///
/// If the length of a list does not match the tensor's rank, or its images'.
pub fn encode_columns(tensor: &TensorDescription, columns: Columns) -> Result<(TensorMap, u32), LoadError> {
    type Encode = unsafe extern "C" fn(
        *mut TensorMap,
        c_uint,
        c_uint,
        *mut c_void,
        *const u64,
        *const u64,
        *const c_int,
        *const c_int,
        u32,
        u32,
        *const u32,
        c_uint,
        c_uint,
        c_uint,
        c_uint,
    ) -> u32;
    let encode: Encode = function("cuTensorMapEncodeIm2col")?;
    let (rank, mut map) = (tensor.rank(), TensorMap([0; 128]));
    let Columns { lower, upper, channels, pixels } = columns;
    assert!(lower.len() + 2 == rank as usize && upper.len() == lower.len(), "corners of the images' rank");
    // SAFETY: as of `encode_tiled`; the corners have two entries less than the rank.
    let status = unsafe {
        encode(
            &mut map,
            tensor.element,
            rank,
            tensor.address as usize as *mut c_void,
            tensor.dimensions.as_ptr(),
            tensor.strides.as_ptr(),
            lower.as_ptr(),
            upper.as_ptr(),
            channels,
            pixels,
            tensor.element_strides.as_ptr(),
            tensor.interleave,
            tensor.swizzle,
            tensor.promotion,
            tensor.fill,
        )
    };
    Ok((map, status))
}

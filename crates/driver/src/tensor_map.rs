//! Tensor maps, which the host encodes for kernels that copy boxes of tensors.

use std::ffi::{c_int, c_uint};

use simt::tensors::{Fill, Interleave, L2Promotion, Swizzle, TENSOR_MAP_BYTES, TensorElement, TensorMap, Traversal};

use crate::boundary::{Done, In, Out, Status, driver, say};

/// The API's order.
const ELEMENTS: [TensorElement; 13] = [
    TensorElement::U8,
    TensorElement::U16,
    TensorElement::U32,
    TensorElement::S32,
    TensorElement::U64,
    TensorElement::S64,
    TensorElement::F16,
    TensorElement::F32,
    TensorElement::F64,
    TensorElement::Bf16,
    TensorElement::F32Ftz,
    TensorElement::Tf32,
    TensorElement::Tf32Ftz,
];

/// What both functions take of the tensor.
struct Tensor {
    element: c_uint,
    rank: c_uint,
    address: u64,
    dimensions: In<u64>,
    strides: In<u64>,
    element_strides: In<c_uint>,
    interleave: c_uint,
    swizzle: c_uint,
    promotion: c_uint,
    fill: c_uint,
}

fn pick<T: Copy>(all: &[T], number: c_uint) -> Done<T> {
    all.get(number as usize).copied().ok_or(Status::INVALID_VALUE)
}

impl Tensor {
    /// The rank, if a tensor can have it.
    fn rank(&self) -> Done<usize> {
        let rank = self.rank as usize;
        if rank == 0 || rank > 5 { Err(Status::INVALID_VALUE) } else { Ok(rank) }
    }

    /// The encoded map.
    fn encode(&self, traversal: Traversal) -> Done<[u8; TENSOR_MAP_BYTES]> {
        let rank = self.rank()?;
        let map = TensorMap {
            element: pick(&ELEMENTS, self.element)?,
            address: self.address,
            dimensions: full(self.dimensions, rank)?,
            strides: full(self.strides, rank - 1)?,
            traversal,
            element_strides: full(self.element_strides, rank)?,
            interleave: pick(&[Interleave::None, Interleave::Bytes16, Interleave::Bytes32], self.interleave)?,
            swizzle: pick(&[Swizzle::None, Swizzle::Bytes32, Swizzle::Bytes64, Swizzle::Bytes128], self.swizzle)?,
            promotion: pick(
                &[L2Promotion::None, L2Promotion::Bytes64, L2Promotion::Bytes128, L2Promotion::Bytes256],
                self.promotion,
            )?,
            fill: pick(&[Fill::Zero, Fill::Nan], self.fill)?,
        };
        encoded(&map)
    }
}

fn encoded(map: &TensorMap) -> Done<[u8; TENSOR_MAP_BYTES]> {
    map.encode().map_err(|error| {
        say(&error.to_string());
        Status::INVALID_VALUE
    })
}

/// A list that must be there, unless it is empty.
fn full<T: Copy>(list: In<T>, count: usize) -> Done<Vec<T>> {
    if list.is_null() && count > 0 { Err(Status::INVALID_VALUE) } else { Ok(list.list(count)) }
}

driver! {
    fn cuTensorMapEncodeTiled(
        to: Out<[u8; TENSOR_MAP_BYTES]>, element: c_uint, rank: c_uint, address: u64, dimensions: In<u64>,
        strides: In<u64>, box_dimensions: In<c_uint>, element_strides: In<c_uint>, interleave: c_uint,
        swizzle: c_uint, promotion: c_uint, fill: c_uint,
    ) {
        let tensor = Tensor {
            element, rank, address, dimensions, strides, element_strides, interleave, swizzle, promotion, fill,
        };
        let box_dimensions = full(box_dimensions, tensor.rank()?)?;
        to.put(tensor.encode(Traversal::Tiled { box_dimensions })?)
    }

    fn cuTensorMapReplaceAddress(map: Out<[u8; TENSOR_MAP_BYTES]>, address: u64) {
        let known = TensorMap::decode(&map.held()?).map_err(|_| Status::INVALID_VALUE)?;
        map.put(encoded(&TensorMap { address, ..known })?)
    }

    fn cuTensorMapEncodeIm2col(
        to: Out<[u8; TENSOR_MAP_BYTES]>, element: c_uint, rank: c_uint, address: u64, dimensions: In<u64>,
        strides: In<u64>, lower: In<c_int>, upper: In<c_int>, channels: c_uint, pixels: c_uint,
        element_strides: In<c_uint>, interleave: c_uint, swizzle: c_uint, promotion: c_uint, fill: c_uint,
    ) {
        let tensor = Tensor {
            element, rank, address, dimensions, strides, element_strides, interleave, swizzle, promotion, fill,
        };
        let corners = tensor.rank()?.checked_sub(2).filter(|&corners| corners > 0).ok_or(Status::INVALID_VALUE)?;
        let (lower, upper) = (full(lower, corners)?, full(upper, corners)?);
        to.put(tensor.encode(Traversal::ImageToColumn { lower, upper, channels, pixels })?)
    }
}

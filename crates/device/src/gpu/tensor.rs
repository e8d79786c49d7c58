//! Tensor maps of a GPU: the driver encodes them. The backend calls it; no device memory is
//! touched.

use cust::sys::{self, Columns, TensorDescription};
use simt::tensors::{Fill, Interleave, L2Promotion, Swizzle, TENSOR_MAP_BYTES, TensorElement, TensorMap, Traversal};

use super::Gpu;
use super::status::{DriverError, number_to_result};
use crate::error::Result;

/// `CUtensorMapDataType`, whose order is not that of PTX.
fn element_code(element: TensorElement) -> u32 {
    match element {
        TensorElement::U8 => 0,
        TensorElement::U16 => 1,
        TensorElement::U32 => 2,
        TensorElement::S32 => 3,
        TensorElement::U64 => 4,
        TensorElement::S64 => 5,
        TensorElement::F16 => 6,
        TensorElement::F32 => 7,
        TensorElement::F64 => 8,
        TensorElement::Bf16 => 9,
        TensorElement::F32Ftz => 10,
        TensorElement::Tf32 => 11,
        TensorElement::Tf32Ftz => 12,
    }
}

impl Gpu {
    /// The bytes of a tensor map, which has been checked.
    pub(super) fn make_tensor_map(&self, map: &TensorMap) -> Result<[u8; TENSOR_MAP_BYTES]> {
        self.make_current()?;
        let tensor = TensorDescription {
            element: element_code(map.element),
            address: map.address,
            dimensions: &map.dimensions,
            strides: &map.strides,
            element_strides: &map.element_strides,
            interleave: match map.interleave {
                Interleave::None => 0,
                Interleave::Bytes16 => 1,
                Interleave::Bytes32 => 2,
            },
            swizzle: match map.swizzle {
                Swizzle::None => 0,
                Swizzle::Bytes32 => 1,
                Swizzle::Bytes64 => 2,
                Swizzle::Bytes128 => 3,
            },
            promotion: match map.promotion {
                L2Promotion::None => 0,
                L2Promotion::Bytes64 => 1,
                L2Promotion::Bytes128 => 2,
                L2Promotion::Bytes256 => 3,
            },
            fill: match map.fill {
                Fill::Zero => 0,
                Fill::Nan => 1,
            },
        };
        let encoded = match map.traversal {
            Traversal::Tiled { ref box_dimensions } => sys::encode_tiled(&tensor, box_dimensions),
            Traversal::ImageToColumn { ref lower, ref upper, channels, pixels } => {
                sys::encode_columns(&tensor, Columns { lower, upper, channels, pixels })
            }
        };
        let encoded = encoded.map_err(DriverError::Missing);
        let encoded = encoded.and_then(|(map, status)| number_to_result(status).map(|()| map));
        Ok(self.explain("encoding a tensor map", encoded)?.0)
    }
}

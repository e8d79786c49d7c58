//! Parses tensors, as arguments of `host run`. `argument` calls it. Pure: `simt` parses the
//! description.
//!
//! | argument | what the kernel gets |
//! | --- | --- |
//! | `tensor:f32[64x32],box:32x8=ramp` | 128 bytes by value: the map of a tensor of 32 rows and 64 columns, in boxes of 8 rows and 32 columns, filled like a buffer |
//! | `tensor:f16[64x32],box:64x8,swizzle:128` | the same with a swizzle; for further options see `simt`'s `tensor/text.rs` |
//! | `tensor_at:f32[64x32],box:32x8` | the address of the map, which is in device memory |
//!
//! 16-bit floats are given as the `u16` with the same bits.

use simt::tensors::{TENSOR_MAP_BYTES, TensorElement, TensorMap};

use super::value::Type;

/// A tensor without its elements.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// Its map, at address 0.
    pub map: TensorMap,
    /// Whether the kernel takes the address of the map.
    pub by_address: bool,
}

/// Whether the text before the colon of an argument names a tensor.
pub fn is_tensor(name: &str) -> bool {
    name.starts_with("tensor")
}

/// Parses the parts before and after the colon, up to the equals sign.
pub fn parse(name: &str, text: &str) -> Result<Tensor, String> {
    let by_address = match name {
        "tensor" => false,
        "tensor_at" => true,
        _ => return Err(format!("unknown kind '{name}'; give tensor, or tensor_at for the address of the map")),
    };
    let map: TensorMap = text.parse()?;
    let bytes = map.bytes().filter(|&bytes| bytes <= isize::MAX as u64);
    if bytes.is_none() {
        return Err(format!("'{text}' is larger than any memory"));
    }
    Ok(Tensor { map, by_address })
}

impl Tensor {
    /// The type of the elements in files and lists.
    pub fn ty(&self) -> Type {
        match self.map.element {
            TensorElement::U8 => Type::U8,
            TensorElement::U16 | TensorElement::F16 | TensorElement::Bf16 => Type::U16,
            TensorElement::U32 => Type::U32,
            TensorElement::S32 => Type::I32,
            TensorElement::U64 => Type::U64,
            TensorElement::S64 => Type::I64,
            TensorElement::F32 | TensorElement::F32Ftz | TensorElement::Tf32 | TensorElement::Tf32Ftz => Type::F32,
            TensorElement::F64 => Type::F64,
        }
    }

    /// The number of elements of its buffer.
    pub fn length(&self) -> usize {
        (self.map.bytes().unwrap_or(0) / u64::from(self.map.element.bytes())) as usize
    }

    /// Elements in each dimension, the slowest first, if they are contiguous; else the buffer's
    /// length.
    pub fn shape(&self) -> Vec<usize> {
        let shape: Vec<usize> = self.map.dimensions.iter().rev().map(|&extent| extent as usize).collect();
        if shape.iter().product::<usize>() == self.length() { shape } else { vec![self.length()] }
    }

    /// Bytes of the kernel's parameter.
    pub fn parameter_bytes(&self) -> usize {
        if self.by_address { size_of::<u64>() } else { TENSOR_MAP_BYTES }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tensors_are_read() {
        let tensor = parse("tensor", "bf16[64x32],box:64x8,swizzle:128").unwrap();
        assert_eq!((tensor.ty(), tensor.length(), tensor.shape()), (Type::U16, 2048, vec![32, 64]));
        assert_eq!((tensor.by_address, tensor.parameter_bytes()), (false, 128));
        let tensor = parse("tensor_at", "tf32[6x4],stride:32,box:4x2").unwrap();
        assert_eq!((tensor.ty(), tensor.length(), tensor.shape()), (Type::F32, 30, vec![30]));
        assert_eq!((tensor.by_address, tensor.parameter_bytes()), (true, 8));
    }

    #[test]
    fn what_is_none_says_so() {
        let error = |name, text| parse(name, text).unwrap_err();
        assert!(error("tensors", "f32[4],box:4").contains("unknown kind 'tensors'"));
        assert!(error("tensor", "f32[4]").contains("needs a box"));
        let large = "u8[16x2147483648x2147483648],stride:1099511627760x1099511627760,box:16x1x1";
        assert!(error("tensor", large).contains("larger than any memory"));
    }
}

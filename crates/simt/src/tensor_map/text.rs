//! Parses tensor maps from text, for command lines and tests.
//!
//! | text | what |
//! | --- | --- |
//! | `f32[64x32],box:32x8` | 32 rows of 64 elements, in boxes of 8 rows and 32 elements: the fastest dimension first |
//! | `...,swizzle:128` | shared memory swizzled within 32, 64 or 128 bytes |
//! | `...,stride:512` | bytes from row to row (and, after an `x`, from plane to plane, ...); by default, without gaps |
//! | `...,every:1x2` | every second row of the box |
//! | `...,interleave:16` | channels in slices of 16 or 32 bytes; the dimensions are columns (of slices), lines, planes, slices, images |
//! | `...,fill:nan` | elements outside the tensor are NaN, not zero |
//! | `...,l2:128` | L2 fetches 64, 128 or 256 bytes at once |
//! | `f16[64x9x14x2],lower:-1x-1,upper:-1x-1,channels:8,pixels:64` | two images of 14 rows, 9 columns and 64 channels; 64 pixels of 8 channels in columns |

use std::str::FromStr;

use super::map::packed_strides;
use super::map::{Fill, Interleave, L2Promotion, Swizzle, TensorElement, TensorMap, Traversal};

/// Parses one number for each dimension, separated by `x`.
fn list<T: FromStr>(name: &str, text: &str) -> Result<Vec<T>, String> {
    let numbers = text.split('x').map(str::parse).collect::<Result<_, _>>();
    numbers.map_err(|_| format!("invalid {name} '{text}': give whole numbers with x between them, as in 64x32"))
}

/// Parses one of several names.
fn choice<T: Copy>(name: &str, text: &str, all: &[(&str, T)]) -> Result<T, String> {
    all.iter().find(|(known, _)| *known == text).map(|&(_, value)| value).ok_or_else(|| {
        let known: Vec<&str> = all.iter().map(|&(known, _)| known).collect();
        format!("unknown {name} '{text}'; give {}", known.join(", "))
    })
}

impl FromStr for TensorMap {
    type Err = String;

    /// Parses the map of a tensor at address 0: see the module's table.
    fn from_str(text: &str) -> Result<Self, String> {
        let (element, rest) = text.split_once('[').ok_or_else(|| {
            format!("'{text}' is not a tensor: write TYPE[ELEMENTS],box:ELEMENTS as in f32[64x32],box:32x8")
        })?;
        let elements = TensorElement::ALL.map(|element| (element.name(), element));
        let element = choice("type of elements", element, &elements)?;
        let (dimensions, options) =
            rest.split_once(']').ok_or_else(|| "the bracket is not closed; write f32[64x32]".to_owned())?;
        let dimensions: Vec<u64> = list("tensor's size", dimensions)?;
        let (mut tiles, mut lower, mut upper, mut channels, mut pixels) = (None, None, None, None, None);
        let traversal = Traversal::Tiled { box_dimensions: Vec::new() };
        let mut map = Self::packed(element, 0, &dimensions, traversal);
        let mut strides = None;
        for option in options.split(',').skip(1) {
            let (name, value) = option.split_once(':').unwrap_or((option, ""));
            match name {
                "box" => tiles = Some(list("box", value)?),
                "stride" => strides = Some(list("stride", value)?),
                "every" => map.element_strides = list("element stride", value)?,
                "lower" => lower = Some(list("lower corner", value)?),
                "upper" => upper = Some(list("upper corner", value)?),
                "channels" => {
                    channels = Some(value.parse().map_err(|_| format!("'{value}' is not a number of channels"))?)
                }
                "pixels" => pixels = Some(value.parse().map_err(|_| format!("'{value}' is not a number of pixels"))?),
                "interleave" => {
                    let all = [("none", Interleave::None), ("16", Interleave::Bytes16), ("32", Interleave::Bytes32)];
                    map.interleave = choice("interleave", value, &all)?;
                }
                "swizzle" => {
                    let all = [
                        ("none", Swizzle::None),
                        ("32", Swizzle::Bytes32),
                        ("64", Swizzle::Bytes64),
                        ("128", Swizzle::Bytes128),
                    ];
                    map.swizzle = choice("swizzle", value, &all)?;
                }
                "fill" => map.fill = choice("fill", value, &[("zero", Fill::Zero), ("nan", Fill::Nan)])?,
                "l2" => {
                    let all = [
                        ("none", L2Promotion::None),
                        ("64", L2Promotion::Bytes64),
                        ("128", L2Promotion::Bytes128),
                        ("256", L2Promotion::Bytes256),
                    ];
                    map.promotion = choice("promotion in L2", value, &all)?;
                }
                _ => {
                    return Err(format!(
                        "a tensor has no option '{option}'; give box, stride, every, swizzle, interleave, fill, l2, or lower, \
                         upper, channels and pixels, each with a value as in box:32x8"
                    ));
                }
            }
        }
        map.traversal = match (tiles, lower, upper, channels, pixels) {
            (Some(box_dimensions), None, None, None, None) => Traversal::Tiled { box_dimensions },
            (None, Some(lower), Some(upper), Some(channels), Some(pixels)) => {
                Traversal::ImageToColumn { lower, upper, channels, pixels }
            }
            _ => {
                return Err(
                    "a tensor needs a box, as in box:32x8; or, for pixels in columns, lower, upper, channels and \
                            pixels"
                        .to_owned(),
                );
            }
        };
        map.strides = strides.unwrap_or_else(|| packed_strides(map.pixel_bytes(), &dimensions));
        map.check().map_err(|error| error.to_string())?;
        Ok(map)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_are_read() {
        let map: TensorMap = "f32[64x32],box:32x8,stride:512,every:1x2,swizzle:128,fill:nan,l2:256".parse().unwrap();
        let expected = TensorMap {
            strides: vec![512],
            element_strides: vec![1, 2],
            swizzle: Swizzle::Bytes128,
            fill: Fill::Nan,
            promotion: L2Promotion::Bytes256,
            ..TensorMap::tiled(TensorElement::F32, 0, &[64, 32], &[32, 8])
        };
        assert_eq!(map, expected);
        let map: TensorMap = "f16[9x14x8x2],lower:-1x0,upper:-1x-2,channels:8,pixels:64,interleave:16".parse().unwrap();
        let traversal = Traversal::ImageToColumn { lower: vec![-1, 0], upper: vec![-1, -2], channels: 8, pixels: 64 };
        let packed = TensorMap::packed(TensorElement::F16, 0, &[9, 14, 8, 2], traversal);
        let strides = vec![9 * 16, 9 * 14 * 16, 9 * 14 * 8 * 16];
        assert_eq!(map, TensorMap { interleave: Interleave::Bytes16, strides, ..packed });
    }

    #[test]
    fn what_is_none_says_so() {
        let error = |text: &str| text.parse::<TensorMap>().unwrap_err();
        assert!(error("f32").contains("write TYPE[ELEMENTS],box:ELEMENTS"));
        assert!(error("f33[4],box:4").starts_with("unknown type of elements 'f33'; give u8, u16"));
        assert!(error("f32[4").contains("not closed"));
        assert!(error("f32[4x],box:4").contains("invalid tensor's size '4x'"));
        assert!(error("f32[4]").contains("needs a box"));
        assert!(error("f32[4],box:4,pixels:3").contains("needs a box"));
        assert!(error("f32[4],box:4,round").contains("no option 'round'"));
        assert!(error("f32[4],box:4,swizzle:96").contains("unknown swizzle '96'; give none, 32, 64, 128"));
        assert!(error("f32[4],box:4,pixels:x").contains("'x' is not a number of pixels"));
        assert_eq!(error("f32[4],box:3"), "a row of the box has 12 bytes: multiples of 16 are allowed");
        assert_eq!(
            error("f32[7x4],box:4x4"),
            "the stride of dimension 1 is 28 bytes: multiples of 16 below 2^40 are allowed"
        );
    }
}

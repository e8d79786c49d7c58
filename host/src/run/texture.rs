//! Parses textures and surfaces, as arguments of `host run`. `argument` calls it; `device_argument`
//! makes the texture.
//!
//! | argument | what the kernel gets |
//! | --- | --- |
//! | `tex2d:f32[64x48]=ramp` | a texture of an array of 64 columns and 48 rows, filled like a buffer |
//! | `tex1d:f32[64]`, `tex3d:f32[16x16x8]` | a texture of one or three dimensions |
//! | `texa1d:f32[64x3]`, `texa2d:f32[64x48x3]` | a texture of three layers |
//! | `texlin:f32[1024]=ramp` | a texture of linear memory, read by integer indices |
//! | `tex2d:u8x4[64x48]=rand:7` | a texture with four components per texel; 1, 2 and 4 are possible |
//! | `tex2d:u8[64x48],linear,wrap,norm,float=@image.npy` | a texture read with a linear filter, wrapped, at normalised coordinates, as floats from 0 to 1 |
//! | `surf2d:f32[64x48]` | a surface; `surf1d`, `surf3d`, `surfa1d`, `surfa2d` |

use device::{AddressMode, ArrayShape, ChannelType, Filter, ReadMode, Sampling, TexelFormat};

use super::value::Type;

/// A texture or surface without its texels.
#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    /// The type of the components.
    pub ty: Type,
    /// The shape of the array. The width of linear memory is its length.
    pub shape: ArrayShape,
    /// Its kind.
    pub kind: ObjectKind,
}

/// The kind of an object.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ObjectKind {
    /// A texture of an array.
    Texture(Sampling),
    /// A texture of linear memory.
    Linear(Sampling),
    /// A surface.
    Surface,
}

impl Object {
    /// How it is read. A surface has the default.
    pub fn sampling(&self) -> Sampling {
        match self.kind {
            ObjectKind::Texture(sampling) | ObjectKind::Linear(sampling) => sampling,
            ObjectKind::Surface => Sampling::default(),
        }
    }

    /// The number of components of all texels together.
    pub fn length(&self) -> usize {
        (self.shape.level_bytes(0) / u64::from(self.shape.format.ty.bytes())) as usize
    }
}

/// Dimensions of an array, and whether the last one counts layers.
const KINDS: [(&str, usize, bool); 5] =
    [("1d", 1, false), ("2d", 2, false), ("3d", 3, false), ("a1d", 2, true), ("a2d", 3, true)];

/// Whether the text before the colon of an argument names a texture or surface.
pub fn is_object(name: &str) -> bool {
    name.starts_with("tex") || name.starts_with("surf")
}

/// Parses the parts before and after the colon, up to the equals sign.
pub fn parse(name: &str, text: &str) -> Result<Object, String> {
    let is_surface = name.starts_with("surf");
    let kind = name.strip_prefix("tex").or(name.strip_prefix("surf")).unwrap_or_default();
    let linear = kind == "lin" && !is_surface;
    let found = KINDS.iter().find(|(candidate, ..)| *candidate == kind);
    let (dimensions, layered) = match found {
        Some(&(_, dimensions, layered)) => (dimensions, layered),
        None if linear => (1, false),
        None => {
            return Err(format!(
                "unknown kind '{name}'; give tex1d, tex2d, tex3d, texa1d, texa2d, texlin, surf1d, surf2d, surf3d, surfa1d or surfa2d"
            ));
        }
    };
    let (ty, rest) =
        text.split_once('[').ok_or_else(|| format!("write {name}:TYPE[TEXELS], as in tex2d:f32[64x48]"))?;
    let (extents, options) =
        rest.split_once(']').ok_or_else(|| "the bracket is not closed; write tex2d:f32[64x48]".to_owned())?;
    let (ty, format) = format(ty)?;
    let wrong = || {
        let wanted = ["W", "WxH", "WxHxD"][dimensions - 1];
        format!("'{extents}' are not the extents of a {name}; give [{wanted}], whole numbers from 1")
    };
    let numbers: Vec<u32> = extents
        .split('x')
        .map(|number| number.parse().ok().filter(|&n| n > 0))
        .collect::<Option<_>>()
        .ok_or_else(wrong)?;
    if numbers.len() != dimensions {
        return Err(wrong());
    }
    let mut shape = ArrayShape { width: numbers[0], ..ArrayShape::of(format) };
    match (layered, numbers.as_slice()) {
        (true, [.., layers]) => {
            shape.layers = *layers;
            shape.height = if dimensions == 3 { numbers[1] } else { 0 };
        }
        (_, [_, height]) => shape.height = *height,
        (_, [_, height, depth]) => (shape.height, shape.depth) = (*height, *depth),
        _ => {}
    }
    if !linear {
        shape.check().map_err(|error| error.to_string())?;
    }
    let sampling = sampling(options)?;
    let kind = match (is_surface, linear) {
        (true, _) if !options.is_empty() => return Err(format!("a surface has no options such as '{options}'")),
        (true, _) => ObjectKind::Surface,
        (_, true) => ObjectKind::Linear(sampling),
        _ => ObjectKind::Texture(sampling),
    };
    if kind != ObjectKind::Surface {
        sampling.check(format).map_err(|error| error.to_string())?;
    }
    Ok(Object { ty, shape, kind })
}

/// `f32`, `u8x4`
fn format(text: &str) -> Result<(Type, TexelFormat), String> {
    let (name, channels) = match text.split_once('x') {
        Some((name, channels)) => (name, channels.parse().unwrap_or(0)),
        None => (text, 1),
    };
    let types = [
        (Type::U8, ChannelType::U8),
        (Type::U16, ChannelType::U16),
        (Type::U32, ChannelType::U32),
        (Type::I8, ChannelType::S8),
        (Type::I16, ChannelType::S16),
        (Type::I32, ChannelType::S32),
        (Type::F32, ChannelType::F32),
    ];
    let found = types.into_iter().find(|(ty, _)| ty.name() == name);
    match (found, channels) {
        (Some((ty, channel)), 1 | 2 | 4) => Ok((ty, TexelFormat { channels, ty: channel })),
        _ => Err(format!(
            "unknown texel type '{text}'; give u8, u16, u32, i8, i16, i32 or f32, with x2 or x4 for more components"
        )),
    }
}

/// `,linear,wrap,norm`: how a texture is read.
///
/// - `point` (the default), `linear`: the filter;
/// - `clamp` (the default), `wrap`, `mirror`, `border`, `border:VALUE`: what is beyond the edges,
///   in every dimension, or one for each with slashes between: `wrap/clamp`;
/// - `norm`: coordinates from 0 to 1;
/// - `float`: integers are read as floats from 0 (or -1) to 1;
/// - `srgb`: the same, and sRGB is converted to linear.
fn sampling(options: &str) -> Result<Sampling, String> {
    let mut sampling = Sampling::default();
    let Some(options) = options.strip_prefix(',') else {
        return match options {
            "" => Ok(sampling),
            other => Err(format!("unexpected '{other}' after the bracket; write ,OPTIONS, =CONTENTS, both or nothing")),
        };
    };
    for option in options.split(',') {
        match option {
            "point" => sampling.filter = Filter::Point,
            "linear" => sampling.filter = Filter::Linear,
            "norm" => sampling.normalized_coordinates = true,
            "float" => sampling.read_mode = ReadMode::NormalizedFloat,
            "srgb" => (sampling.read_mode, sampling.srgb) = (ReadMode::NormalizedFloat, true),
            modes => outside(modes, &mut sampling)?,
        }
    }
    Ok(sampling)
}

/// `wrap`, `wrap/clamp`, `border:1.5`
fn outside(text: &str, sampling: &mut Sampling) -> Result<(), String> {
    let wrong = || {
        format!(
            "unknown option '{text}'; give point, linear, clamp, wrap, mirror, border, border:VALUE, norm, float or srgb"
        )
    };
    let modes: Vec<&str> = text.split('/').collect();
    if modes.len() > 3 {
        return Err(wrong());
    }
    for (index, &mode) in modes.iter().enumerate() {
        let mode = match mode.split_once(':') {
            Some(("border", value)) => {
                sampling.border = [value.parse().map_err(|_| wrong())?; 4];
                AddressMode::Border
            }
            _ => match mode {
                "clamp" => AddressMode::Clamp,
                "wrap" => AddressMode::Wrap,
                "mirror" => AddressMode::Mirror,
                "border" => AddressMode::Border,
                _ => return Err(wrong()),
            },
        };
        // The last one applies to the remaining dimensions.
        sampling.address_modes[index..].fill(mode);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn textures_and_surfaces_are_read() {
        let object = parse("tex2d", "u8x4[64x48],linear,wrap/border:0.5,norm,float").unwrap();
        assert_eq!((object.shape.width, object.shape.height, object.shape.depth, object.shape.layers), (64, 48, 0, 0));
        assert_eq!((object.ty, object.shape.format), (Type::U8, TexelFormat { channels: 4, ty: ChannelType::U8 }));
        assert_eq!(object.length(), 64 * 48 * 4);
        let ObjectKind::Texture(sampling) = object.kind else { panic!("{object:?}") };
        let modes = [AddressMode::Wrap, AddressMode::Border, AddressMode::Border];
        assert_eq!((sampling.address_modes, sampling.border), (modes, [0.5; 4]));
        assert_eq!((sampling.filter, sampling.normalized_coordinates), (Filter::Linear, true));
        assert_eq!(sampling.read_mode, ReadMode::NormalizedFloat);
        let shape = parse("texa1d", "f32[64x3]").unwrap().shape;
        assert_eq!((shape.width, shape.height, shape.layers), (64, 0, 3));
        let shape = parse("surfa2d", "i16[8x4x3]").unwrap().shape;
        assert_eq!((shape.width, shape.height, shape.depth, shape.layers), (8, 4, 0, 3));
        assert!(matches!(parse("texlin", "f32[300000]").unwrap().kind, ObjectKind::Linear(_)));
    }

    #[test]
    fn what_is_none_says_so() {
        let error = |name, text| parse(name, text).unwrap_err();
        assert!(error("tex4d", "f32[1]").contains("unknown kind 'tex4d'"));
        assert!(error("surflin", "f32[1]").contains("unknown kind 'surflin'"));
        assert!(error("tex2d", "f32").contains("tex2d:f32[64x48]"));
        assert!(error("tex2d", "f32[64").contains("not closed"));
        assert!(error("tex2d", "f32[64]").contains("give [WxH]"));
        assert!(error("tex2d", "f32[0x4]").contains("give [WxH]"));
        assert!(error("tex2d", "f64[4x4]").contains("unknown texel type 'f64'"));
        assert!(error("tex2d", "u8x3[4x4]").contains("unknown texel type 'u8x3'"));
        assert!(error("tex2d", "u8[4x4],linear").contains("linear filtering mixes floats"));
        assert!(error("tex2d", "f32[4x4],cubic").contains("unknown option 'cubic'"));
        assert!(error("tex2d", "f32[4x4],border:x").contains("unknown option 'border:x'"));
        assert!(error("tex2d", "f32[4x4]linear").contains("after the bracket"));
        assert!(error("surf2d", "f32[4x4],linear").contains("a surface has no options"));
        assert!(error("tex2d", "f32[200000x4]").contains("131072"));
    }
}

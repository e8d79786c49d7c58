//! A texture as a fetch reads it: where each texel is in memory, and in which sector. A fetch
//! creates an [`Image`], and `sample` reads texels from it.

use crate::Memory;
use crate::address::AccessFaultKind;
use crate::texture::{
    ElementPlace, Sampling, Source, Texel, TexelFormat, Touched, decode, gives_floats, place_in_array,
};

/// The texels that a warp's fetch reads, and where they are.
pub(crate) struct Image<'a> {
    pub memory: &'a Memory,
    pub source: Source,
    /// The elements read so far.
    pub touched: &'a mut Vec<Touched>,
    /// The lane that reads.
    pub lane: u32,
    /// The number of the group of lanes that look up sectors together.
    pub group: u32,
    /// What the sanitizer needs; `None` if it is off.
    pub seen: Option<&'a mut Seen>,
}

/// The texel's memory was freed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TexelFault {
    pub address: u64,
    pub width: u32,
    pub kind: AccessFaultKind,
}

/// What the sanitizer needs to know of a fetch.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// The addresses of the texels that matter.
    pub texels: Vec<u64>,
    /// Whether the following texels have weight zero.
    pub weightless: bool,
    /// Whether a freed texel reads as zero instead of being a fault.
    pub forgives: bool,
}

impl Image<'_> {
    pub fn format(&self) -> TexelFormat {
        match self.source {
            Source::Array { shape, .. } => shape.format,
            Source::Linear { format, .. } | Source::Pitched { format, .. } => format,
        }
    }

    pub fn gives_floats(&self, sampling: &Sampling) -> bool {
        gives_floats(self.format(), sampling)
    }

    pub fn dimensions(&self) -> usize {
        self.source.shape().dimensions()
    }

    pub fn is_linear_memory(&self) -> bool {
        matches!(self.source, Source::Linear { .. })
    }

    /// The number of layers; 1 if it is not layered.
    pub fn layers(&self) -> u32 {
        self.source.shape().layers.max(1)
    }

    pub fn levels(&self) -> u32 {
        self.source.shape().levels
    }

    pub fn extent(&self, level: u32) -> [u32; 3] {
        self.source.shape().extent(level)
    }

    /// Sets whether the following texels have weight zero: they are read all the same, as the
    /// hardware does.
    pub fn set_weightless(&mut self, weightless: bool) {
        if let Some(seen) = &mut self.seen {
            seen.weightless = weightless;
        }
    }

    /// Reads a texel. It must be within the level.
    pub fn texel(
        &mut self,
        level: u32,
        layer: u32,
        [x, y, z]: [u32; 3],
        sampling: &Sampling,
    ) -> Result<Texel, TexelFault> {
        let format = self.format();
        let size = u64::from(format.bytes());
        let ElementPlace { address, sector, within } = self.locate(level, layer, [x, y, z]);
        let Self { group, lane, .. } = *self;
        self.touched.push(Touched { group, sector, address: Some(address), lane, within });
        if let Some(seen) = self.seen.as_mut().filter(|seen| !seen.weightless) {
            seen.texels.push(address);
        }
        let mut bytes = [0; 16];
        let bytes = &mut bytes[..size as usize];
        if self.memory.read(address, bytes).is_err() {
            if self.seen.as_ref().is_some_and(|seen| seen.forgives) {
                return Ok([0; 4]);
            }
            let kind = self.memory.check(address, 1, false).err();
            let kind = kind.unwrap_or(AccessFaultKind::OutOfBounds { nearest: None });
            return Err(TexelFault { address, width: size as u32, kind });
        }
        Ok(decode(bytes, format, sampling))
    }

    /// Looks up the sector of a texel without reading it.
    pub fn look_for(&mut self, level: u32, layer: u32, index: [u32; 3]) {
        let ElementPlace { sector, within, .. } = self.locate(level, layer, index);
        self.touched.push(Touched { group: self.group, sector, address: None, lane: self.lane, within });
    }

    fn locate(&self, level: u32, layer: u32, index: [u32; 3]) -> ElementPlace {
        let size = u64::from(self.format().bytes());
        let [x, y, z] = index.map(u64::from);
        match self.source {
            Source::Array { address, shape } => {
                let level = level.min(shape.levels - 1);
                let height = u64::from(shape.extent(level)[1]);
                let slice = if shape.layers > 0 { u64::from(layer.min(shape.layers - 1)) } else { z };
                let base = address + shape.level_offset(level);
                let row = slice * height + y;
                place_in_array(&shape, level, base, x * size, row)
            }
            Source::Linear { address, .. } => linear(address + x * size),
            Source::Pitched { address, pitch, .. } => linear(address + y * pitch + x * size),
        }
    }
}

/// An element outside arrays.
fn linear(address: u64) -> ElementPlace {
    ElementPlace { address, sector: address / 32, within: (address % 32) as u32 }
}

//! Texture instructions of a warp: `tex`, `tld4`, `txq`; and `suq`. `image` locates texels, and
//! `sample` computes what a fetch returns.

mod image;
mod sample;

use ptx::{Geometry, Space, TextureQuery, Type};

use crate::address::AccessFault;
use crate::coalesce::SECTOR_BYTES;
use crate::counters::MemoryCounters;
use crate::instruction::AccessKind;
use crate::lanes::{self as arithmetic, Row, WideRow, lanes};
use crate::machine::observe;
use crate::machine::observe::{Observed, sanitizer};
use crate::machine::state::{At, Attempt, Refused, Warp, Worker};
use crate::program::{CoordinateRows, Fetch, Level, MemoryOperation, Path, Query};
use crate::request::RequestedMemory;
use crate::site::AccessAction;
use crate::texture;
use crate::texture::{
    ArrayShape, ChannelType, Filter, Sampling, Source, Surface, TexelFormat, Texture, TextureFault, Touched,
};
use crate::trap::TrapKind;
use image::{Image, Seen, TexelFault};
use sample::{Coordinates, Lod, gather, sample};

/// A placeholder for queries of samplers, which have no shape.
const NO_SHAPE: ArrayShape = ArrayShape {
    width: 0,
    height: 0,
    depth: 0,
    layers: 0,
    levels: 0,
    format: TexelFormat { channels: 1, ty: ChannelType::F32 },
};

pub(super) fn refuse<T>(fault: TextureFault, lane: usize) -> Attempt<T> {
    Err(Refused::because(TrapKind::Texture(fault), lane as u32))
}

/// The texture that a lane names.
fn texture_of(worker: &Worker<'_>, value: u64, lane: usize) -> Attempt<Texture> {
    let memory = worker.launched.memory;
    let handle = memory.object_handle(value);
    match memory.objects.texture(handle) {
        Some(texture) => Ok(*texture),
        None => refuse(TextureFault::NoObject { what: "texture", handle }, lane),
    }
}

/// The sampler that a lane names.
fn sampler_of(worker: &Worker<'_>, value: u64, lane: usize) -> Attempt<Sampling> {
    let memory = worker.launched.memory;
    let handle = memory.object_handle(value);
    match memory.objects.sampler(handle) {
        Some(sampling) => Ok(*sampling),
        None => refuse(TextureFault::NoObject { what: "sampler", handle }, lane),
    }
}

/// The surface that a lane names.
pub(super) fn surface_of(worker: &Worker<'_>, value: u64, lane: usize) -> Attempt<Surface> {
    let memory = worker.launched.memory;
    let handle = memory.object_handle(value);
    match memory.objects.surface(handle) {
        Some(surface) => Ok(*surface),
        None => refuse(TextureFault::NoObject { what: "surface", handle }, lane),
    }
}

/// Whether an instruction's geometry fits an object's shape.
pub(super) fn check_geometry(geometry: Geometry, shape: &ArrayShape, lane: usize) -> Attempt<()> {
    let (dimensions, layered) = (shape.dimensions(), shape.layers > 0);
    if geometry.dimensions() == dimensions && geometry.is_layered() == layered {
        return Ok(());
    }
    refuse(TextureFault::OtherShape { instruction: geometry.name(), dimensions, layered }, lane)
}

/// The bits of each coordinate of a lane, and its layer.
pub(super) fn coordinates_of(warp: &Warp<'_>, at: &CoordinateRows, lane: usize) -> ([u32; 3], u32) {
    let word = |row: u32| warp.registers.word(row)[lane];
    let coordinates = std::array::from_fn(|index| at.rows.get(index).map_or(0, |&row| word(row)));
    (coordinates, at.layer.map_or(0, word))
}

fn floats(bits: [u32; 3]) -> [f32; 3] {
    bits.map(f32::from_bits)
}

/// Adds an instruction's requests and sectors to the counters, as an H200 counts them
/// (`tests/data/h200_textures.txt`): `lanes` lanes of a warp form one request. `touched` is sorted;
/// `bytes` is the size of an element.
pub(super) fn count(counters: &mut MemoryCounters, touched: &[Touched], bytes: u32, mask: u32, lanes: u32) {
    let all = u32::MAX >> (32 - lanes);
    counters.requests += (0..32 / lanes).filter(|group| mask >> (group * lanes) & all != 0).count() as u64;
    counters.sectors += texture::lookups(touched).count() as u64;
    for group in touched.chunk_by(|one, other| one.group == other.group) {
        let elements = group.chunk_by(|one, other| one.address == other.address);
        let elements = elements.filter(|same| same[0].address.is_some()).count() as u32;
        counters.ideal_sectors += u64::from((elements * bytes).div_ceil(SECTOR_BYTES));
    }
    let mut addresses: Vec<u64> = touched.iter().filter_map(|element| element.address).collect();
    addresses.sort_unstable();
    addresses.dedup();
    counters.bytes += addresses.len() as u64 * u64::from(bytes);
}

/// The lanes of a request: eight for linear memory with texels of at most 8 bytes, otherwise four.
fn lanes_of_request(source: &Source) -> u32 {
    match source {
        Source::Linear { format, .. } if format.bytes() <= 8 => 8,
        _ => 4,
    }
}

/// The lanes that look up sectors together: those of a request, except two for the linear filter in
/// three dimensions.
fn lanes_of_sectors(source: &Source, sampling: &Sampling, gathers: bool) -> u32 {
    let halves = sampling.filter == Filter::Linear && !gathers && source.shape().dimensions() == 3;
    if halves { 2 } else { lanes_of_request(source) }
}

/// `tex`, `tld4`.
#[expect(clippy::too_many_lines, reason = "one step after another, without a part that has a name")]
pub(super) fn fetch(worker: &mut Worker<'_>, warp: &mut Warp<'_>, fetch: &Fetch, at: At) -> Attempt<()> {
    let At { mask, place, .. } = at;
    let mut touched = Vec::new();
    let mut results: [Row; 4] = [[0; 32]; 4];
    let mut seen = observe::checks(worker).map(|checks| Seen { forgives: checks.memory, ..Seen::default() });
    let mut reported = Vec::new();
    let mut texel_bytes = 0;
    let mut lanes_per_lookup = 4;
    for lane in lanes(mask) {
        let texture = texture_of(worker, warp.registers.wide(fetch.texture)[lane], lane)?;
        let sampling = match fetch.sampler {
            Some(row) => {
                let sampler = sampler_of(worker, warp.registers.wide(row)[lane], lane)?;
                // The read mode is the texture's own, and so is whether coordinates are normalised,
                // unless the sampler forces that they are not.
                let Sampling { read_mode, srgb, border, .. } = texture.sampling;
                let normalized_coordinates = texture.sampling.normalized_coordinates && sampler.normalized_coordinates;
                Sampling { read_mode, srgb, border, normalized_coordinates, ..sampler }
            }
            None => texture.sampling,
        };
        check_geometry(fetch.coordinates.geometry, &texture.source.shape(), lane)?;
        let (bits, layer) = coordinates_of(warp, &fetch.coordinates, lane);
        let values = |rows: &[u32]| -> [u32; 3] {
            std::array::from_fn(|index| rows.get(index).map_or(0, |&row| warp.registers.word(row)[lane]))
        };
        let lod = match &fetch.level {
            Level::Base => Lod::Base,
            Level::At(row) => {
                let level = warp.registers.word(*row)[lane];
                Lod::At(if fetch.coordinates.whole { level as i32 as f32 } else { f32::from_bits(level) })
            }
            Level::Gradient(in_x, in_y) => Lod::Gradient(floats(values(in_x)), floats(values(in_y))),
        };
        let offset = values(&fetch.offset).map(|bits| bits as i32);
        if fetch.coordinates.whole
            && fetch.coordinates.geometry == Geometry::Line
            && !matches!(texture.source, Source::Linear { .. })
        {
            return refuse(TextureFault::NotLinearMemory, lane);
        }
        lanes_per_lookup = lanes_of_request(&texture.source);
        let group = lane as u32 / lanes_of_sectors(&texture.source, &sampling, fetch.component.is_some());
        let memory = worker.launched.memory;
        let mut image = Image {
            memory,
            source: texture.source,
            touched: &mut touched,
            lane: lane as u32,
            group,
            seen: seen.as_mut(),
        };
        texel_bytes = image.format().bytes();
        let at = match fetch.coordinates.whole {
            true => Coordinates::Whole(bits.map(|bits| bits as i32)),
            false => Coordinates::Float(floats(bits)),
        };
        let texel = match fetch.component {
            Some(component) => gather(&mut image, layer, floats(bits), component, offset, &sampling),
            None => sample(&mut image, layer, at, lod, offset, &sampling),
        };
        let texel = texel.map_err(|TexelFault { address, width, kind }| {
            let fault = AccessFault { lane: lane as u32, address, kind };
            Refused::new(AccessAction::Read, Space::Global, width, fault)
        })?;
        let is_float = image.gives_floats(&sampling);
        if let Some(seen) = &mut seen {
            reported.extend(seen.texels.drain(..).map(|address| SeenTexel { lane, address, width: texel_bytes }));
        }
        for (row, value) in results.iter_mut().zip(returned(texel, fetch.ty, is_float)) {
            row[lane] = value;
        }
    }
    report(worker, warp, &reported, place);
    observe::model::fetch(worker, warp, &touched, place);
    for (d, row) in fetch.rows.iter().zip(&results) {
        warp.registers.set_word(*d, mask, row);
    }
    if let Some(resident) = fetch.resident {
        warp.registers.set_predicate(resident, mask, u32::MAX);
    }
    touched.sort_unstable();
    observe::recorder::elements(worker, warp, RequestedMemory::Texture, (texel_bytes, &touched), at);
    let counters = &mut worker.counters[place as usize];
    count(&mut counters.texture, &touched, texel_bytes, mask, lanes_per_lookup);
    counters.texture_sectors_of_warps += texture::distinct_sectors(&touched);
    Ok(())
}

/// A texel that a lane has fetched.
struct SeenTexel {
    lane: usize,
    address: u64,
    width: u32,
}

/// Reports texels to the sanitizer: the first of each lane together, then the second, and so on.
fn report(worker: &mut Worker<'_>, warp: &mut Warp<'_>, texels: &[SeenTexel], place: u32) {
    let mut rounds: Vec<(u32, u32, WideRow)> = Vec::new();
    for &SeenTexel { lane, address, width } in texels {
        let free = rounds.iter_mut().find(|(bytes, mask, _)| *bytes == width && mask >> lane & 1 == 0);
        match free {
            Some((_, mask, addresses)) => {
                *mask |= 1 << lane;
                addresses[lane] = address;
            }
            None => rounds.push((width, 1 << lane, [address; 32])),
        }
    }
    for (width, mask, addresses) in &rounds {
        let operation = MemoryOperation::new(place, AccessKind::Load, *width).through(Path::Texture);
        sanitizer::access(worker, warp, &Observed::new(&operation, Space::Global, addresses), *mask);
    }
}

/// Converts a texel to an instruction's type.
fn returned(texel: [u32; 4], ty: Type, is_float: bool) -> [u32; 4] {
    let half = |bits: u32| match is_float {
        true => arithmetic::float_immediate(f64::from(f32::from_bits(bits)).to_bits(), Type::F16) as u32,
        false => bits & 0xffff,
    };
    match ty {
        Type::F16 => texel.map(half),
        Type::F16x2 => {
            let [red, green, blue, alpha] = texel.map(half);
            [red | green << 16, blue | alpha << 16, 0, 0]
        }
        _ => texel,
    }
}

/// `txq`, `suq`.
pub(super) fn query(worker: &mut Worker<'_>, warp: &mut Warp<'_>, query: &Query, mask: u32) -> Attempt<()> {
    let mut values = [0; 32];
    for lane in lanes(mask) {
        let value = warp.registers.wide(query.object)[lane];
        let (shape, sampling) = match query.what {
            _ if query.of_surface => (surface_of(worker, value, lane)?.shape, Sampling::default()),
            TextureQuery::FilterMode | TextureQuery::AddressMode(_) | TextureQuery::ForceUnnormalizedCoordinates => {
                // A sampler, or a texture with its own.
                let memory = worker.launched.memory;
                match memory.objects.sampler(memory.object_handle(value)) {
                    Some(sampling) => (NO_SHAPE, *sampling),
                    None => {
                        let texture = texture_of(worker, value, lane)?;
                        (texture.source.shape(), texture.sampling)
                    }
                }
            }
            _ => {
                let texture = texture_of(worker, value, lane)?;
                (texture.source.shape(), texture.sampling)
            }
        };
        let level = query.level.map_or(0, |row| warp.registers.word(row)[lane]);
        values[lane] = answer(query.what, &shape, &sampling, level);
    }
    warp.registers.set_word(query.d, mask, &values);
    Ok(())
}

/// The answer to a query. The codes of types and orders are the PTX manual's. Those of filters and
/// modes, which it leaves undefined, count from 0 in its order.
fn answer(what: TextureQuery, shape: &ArrayShape, sampling: &Sampling, level: u32) -> u32 {
    let [width, height, depth] = shape.extent(level);
    let dimensions = shape.dimensions();
    match what {
        TextureQuery::Width => width,
        TextureQuery::Height => {
            if dimensions > 1 {
                height
            } else {
                0
            }
        }
        TextureQuery::Depth => {
            if dimensions > 2 {
                depth
            } else {
                0
            }
        }
        TextureQuery::ChannelDataType => texture::data_type_code(shape.format, sampling),
        TextureQuery::ChannelOrder => match shape.format.channels {
            1 => 0x10B0,
            2 => 0x10B2,
            _ => 0x10B5,
        },
        TextureQuery::NormalizedCoordinates => sampling.normalized_coordinates.into(),
        TextureQuery::ForceUnnormalizedCoordinates => (!sampling.normalized_coordinates).into(),
        TextureQuery::ArraySize => shape.layers,
        TextureQuery::MipmapLevels => shape.levels,
        TextureQuery::Samples => 1,
        TextureQuery::FilterMode => (sampling.filter == Filter::Linear).into(),
        TextureQuery::AddressMode(axis) => match sampling.address_modes[axis as usize] {
            texture::AddressMode::Wrap => 0,
            texture::AddressMode::Mirror => 1,
            texture::AddressMode::Clamp => 3,
            texture::AddressMode::Border => 4,
        },
        TextureQuery::MemoryLayout => 0,
    }
}

//! Surface instructions of a warp: `suld`, `sust`, `sured`.

use ptx::{AtomicOp, OutOfRange, Space, Type};

use crate::address::{Access, AccessFault, AccessFaultKind};
use crate::instruction::AccessKind;
use crate::lanes::{Row, Update, WideRow, lanes};
use crate::machine::observe;
use crate::machine::observe::{Observed, sanitizer};
use crate::machine::state::{At, Attempt, Refused, Warp, Worker};
use crate::machine::texture::{check_geometry, coordinates_of, count, refuse, surface_of};
use crate::program::{MemoryOperation, Path, SurfaceAccess, SurfaceAction};
use crate::request::RequestedMemory;
use crate::texture;
use crate::texture::{ElementPlace, Surface, TextureFault, Touched};

/// The lanes of one request to a surface.
const SURFACE_LANES: u32 = 8;

/// Where a lane's surface access goes; `None` if it is outside and has no effect.
fn element(
    surface: &Surface,
    access: &SurfaceAccess,
    (bits, layer): ([u32; 3], u32),
    width: u32,
    lane: usize,
) -> Attempt<Option<ElementPlace>> {
    let shape = &surface.shape;
    check_geometry(access.coordinates.geometry, shape, lane)?;
    let texel = i64::from(shape.format.bytes());
    let extent = shape.extent(0).map(i64::from);
    let [mut x, mut y, mut z] = bits.map(|bits| i64::from(bits as i32));
    let by_element = access.by_element;
    if by_element {
        x *= texel;
    } else if !x.rem_euclid(i64::from(width)).eq(&0) {
        return refuse(TextureFault::Misaligned { x, width }, lane);
    }
    if shape.layers > 0 {
        z = i64::from(layer as i32);
    }
    let row_bytes = extent[0] * texel;
    let slices = if shape.layers > 0 { i64::from(shape.layers) } else { extent[2] };
    let limits = [row_bytes - i64::from(width), extent[1] - 1, slices - 1];
    let outside = [x, y, z].iter().zip(limits).any(|(&at, limit)| at < 0 || at > limit);
    if outside {
        match access.outside {
            OutOfRange::Zero => return Ok(None),
            OutOfRange::Clamp if limits[0] >= 0 => {
                // The last place in a row where such an access fits.
                let last = limits[0] - limits[0] % if by_element { texel } else { i64::from(width) };
                [x, y, z] = [x.clamp(0, last), y.clamp(0, limits[1]), z.clamp(0, limits[2])];
            }
            OutOfRange::Trap | OutOfRange::Clamp => {
                let coordinates = bits.map(|bits| i64::from(bits as i32));
                let coordinates = if shape.layers > 0 { [coordinates[0], coordinates[1], z] } else { coordinates };
                let extent = [shape.width, shape.height, if shape.layers > 0 { shape.layers } else { shape.depth }];
                let unit = if by_element { "elements" } else { "bytes" };
                return refuse(TextureFault::OutOfRange { coordinates, extent, unit }, lane);
            }
        }
    }
    let row = (z * extent[1] + y) as u64;
    let x = x as u64;
    Ok(Some(texture::place_in_array(shape, 0, surface.address, x, row)))
}

/// Lanes whose accesses have the same width.
struct Group {
    width: u32,
    mask: u32,
    addresses: WideRow,
    /// What they store.
    words: [Row; 4],
}

/// `suld`, `sust`, `sured`.
pub(super) fn execute(worker: &mut Worker<'_>, warp: &mut Warp<'_>, access: &SurfaceAccess, at: At) -> Attempt<()> {
    let At { mask, place, .. } = at;
    let mut touched = Vec::new();
    // Widths differ only if lanes name surfaces of different formats.
    let mut groups: Vec<Group> = Vec::new();
    for lane in lanes(mask) {
        let surface = surface_of(worker, warp.registers.wide(access.surface)[lane], lane)?;
        let width = match access.action {
            SurfaceAction::StoreFormatted => surface.shape.format.bytes(),
            _ => access.ty.bytes() * access.rows.len() as u32,
        };
        let at = coordinates_of(warp, &access.coordinates, lane);
        let Some(place) = element(&surface, access, at, width, lane)? else { continue };
        let ElementPlace { address, sector, within } = place;
        let (group, lane_number) = (lane as u32 / SURFACE_LANES, lane as u32);
        touched.push(Touched { group, sector, address: Some(address), lane: lane_number, within });
        let bytes = stored(warp, access, &surface, lane);
        let index = groups.iter().position(|group| group.width == width).unwrap_or_else(|| {
            groups.push(Group { width, mask: 0, addresses: [address; 32], words: [[0; 32]; 4] });
            groups.len() - 1
        });
        let group = &mut groups[index];
        group.mask |= 1 << lane;
        group.addresses[lane] = address;
        for (row, word) in group.words.iter_mut().zip(bytes.chunks_exact(4)) {
            row[lane] = word.iter().rev().fold(0, |value, &byte| value << 8 | u32::from(byte));
        }
    }
    let mut loaded = [[0; 32]; 4];
    for group in &groups {
        perform(worker, warp, access, group, place, &mut loaded)?;
    }
    if access.action == SurfaceAction::Load {
        for (&d, values) in access.rows.iter().zip(&loaded) {
            match access.wide {
                true => warp.registers.set_wide(d, mask, values),
                false => warp.registers.set_word(d, mask, &values.map(|value| value as u32)),
            }
        }
    }
    let widest = groups.iter().map(|group| group.width).max().unwrap_or(0);
    touched.sort_unstable();
    observe::recorder::elements(worker, warp, RequestedMemory::Surface, (widest, &touched), at);
    count(&mut worker.counters[place as usize].texture, &touched, widest, mask, SURFACE_LANES);
    Ok(())
}

/// The bits of a register.
fn value(warp: &Warp<'_>, ty: Type, row: u32, lane: usize) -> u64 {
    match ty.bytes() {
        8 => warp.registers.wide(row)[lane],
        _ => u64::from(warp.registers.word(row)[lane]),
    }
}

/// The bytes that a lane stores; zeros if it does not store.
fn stored(warp: &Warp<'_>, access: &SurfaceAccess, surface: &Surface, lane: usize) -> [u8; 16] {
    let values = access.rows.iter().map(|&row| value(warp, access.ty, row, lane));
    let mut bytes = [0; 16];
    match access.action {
        SurfaceAction::Store => {
            let element_bytes = access.ty.bytes() as usize;
            for (part, value) in bytes.chunks_exact_mut(element_bytes).zip(values) {
                part.copy_from_slice(&value.to_le_bytes()[..element_bytes]);
            }
        }
        SurfaceAction::StoreFormatted => {
            let values: Vec<u32> = values.map(|value| value as u32).collect();
            bytes = texture::encode(&values, surface.shape.format);
        }
        SurfaceAction::Load | SurfaceAction::Reduce(_) => {}
    }
    bytes
}

/// Executes the accesses of a group of lanes.
fn perform(
    worker: &mut Worker<'_>,
    warp: &mut Warp<'_>,
    access: &SurfaceAccess,
    group: &Group,
    place: u32,
    loaded: &mut [[u64; 32]; 4],
) -> Attempt<()> {
    let Group { width, ref addresses, ref words, .. } = *group;
    let operation = match access.action {
        SurfaceAction::Load => MemoryOperation::new(place, AccessKind::Load, width).through(Path::Texture),
        SurfaceAction::Reduce(_) => MemoryOperation::atomic(place, width),
        _ => MemoryOperation::new(place, AccessKind::Store, width),
    };
    let observed = Observed::new(&operation, Space::Global, addresses);
    let observed = if operation.kind == AccessKind::Store { observed.storing(words) } else { observed };
    let mask = sanitizer::access(worker, warp, &observed, group.mask);
    let memory = worker.launched.memory;
    let refused = |fault| Refused::new(operation.action, Space::Global, width, fault);
    match access.action {
        SurfaceAction::Load => {
            let (mut rows, element_bytes) = ([[0; 32]; 4], access.ty.bytes());
            memory.load_each(&Access::new(mask, addresses, width), &mut rows).map_err(refused)?;
            for lane in lanes(mask) {
                let all = rows.iter().rev().fold(0, |all, row| all << 32 | u128::from(row[lane]));
                for (index, values) in loaded.iter_mut().enumerate().take(access.rows.len()) {
                    let bits = 8 * element_bytes;
                    values[lane] = (all >> (index as u32 * bits)) as u64 & u64::MAX >> (64 - bits);
                }
            }
        }
        SurfaceAction::Store | SurfaceAction::StoreFormatted => {
            memory.store_each(&Access::new(mask, addresses, width), words).map_err(refused)?;
        }
        SurfaceAction::Reduce(op) => {
            for lane in lanes(mask) {
                let operand = access.rows.first().map_or(0, |&row| value(warp, access.ty, row, lane));
                reduce(worker, op, access.ty, addresses[lane], operand)
                    .map_err(|kind| refused(AccessFault { lane: lane as u32, address: addresses[lane], kind }))?;
            }
        }
    }
    Ok(())
}

fn reduce(worker: &Worker<'_>, op: AtomicOp, ty: Type, address: u64, operand: u64) -> Result<(), AccessFaultKind> {
    let memory = worker.launched.memory;
    let combine = |old: u64| Update { op, ty, flush: false }.apply(old, operand, operand);
    match ty.bytes() {
        8 => memory.atomic64(address, combine).map(drop),
        _ => memory.atomic32(address, |old| combine(old.into()) as u32).map(drop),
    }
}

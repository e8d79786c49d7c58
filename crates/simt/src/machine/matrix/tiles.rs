//! Executes the instructions of a whole warp on a matrix: `ldmatrix`, `stmatrix`, `movmatrix`,
//! `wmma.load`, `wmma.store`; for products, see [`multiply`] and [`warpgroup`].

use ptx::Space;

use crate::address::{Access, AccessFault, AccessFaultKind};
use crate::coalesce::Wavefronts;
use crate::instruction::AccessKind;
use crate::lanes::{Row, WideRow, lanes};
use crate::machine::access;
use crate::machine::matrix::multiply::multiply;
use crate::machine::matrix::warpgroup;
use crate::machine::observe;
use crate::machine::observe::{Observed, Stored, counters};
use crate::machine::state::{At, Attempt, Fault, Refused, Split, Warp, Worker};
use crate::machine::transfer::by_lane;
use crate::program::{AddressOperand, Load, Matrix, MemoryOperation, Store, Tile};
use crate::site::AccessAction;
use crate::trap::TrapKind;
use crate::{coalesce, program};

/// Executes an instruction. All 32 lanes must execute it together.
pub(crate) fn execute<'l>(
    worker: &mut Worker<'l>,
    warp: &mut Warp<'l>,
    matrix: &Matrix,
    at: At,
) -> Result<bool, Fault> {
    let At { mask, split: &Split { pc, .. }, .. } = at;
    if mask != u32::MAX {
        let kind = TrapKind::IncompleteWarp { missing: !mask, absence: warp.absence((!mask).trailing_zeros()) };
        return Err(Fault { kind, lane: mask.trailing_zeros() & 31, pc });
    }
    match matrix {
        Matrix::Load { reach, transposed, rows } => load(worker, warp, reach, *transposed, rows, at),
        Matrix::Store { reach, transposed, rows } => store(worker, warp, reach, *transposed, rows, at),
        Matrix::Transpose { d, source } => {
            transpose(warp, *d, *source);
            Ok(())
        }
        Matrix::LoadFragment(tile) => load_fragment(worker, warp, tile, at),
        Matrix::StoreFragment(tile) => store_fragment(worker, warp, tile, at),
        Matrix::Multiply(product) => {
            multiply(warp, product);
            Ok(())
        }
        Matrix::MultiplyByWarpgroup(product) => warpgroup::multiply(worker, warp, product, at),
        Matrix::Await => Ok(()),
        Matrix::CommitProducts => {
            observe::products_committed(worker, warp);
            Ok(())
        }
        Matrix::WaitForProducts { groups_left } => {
            observe::products_awaited(worker, warp, *groups_left);
            return Ok(warpgroup::await_products(worker, warp, at.split));
        }
    }
    .map_err(|refused| refused.at(pc))?;
    Ok(true)
}

/// The lanes that provide the addresses of `count` matrices: eight for each.
fn givers(count: usize) -> u32 {
    u32::MAX >> (32 - 8 * count.clamp(1, 4))
}

/// The addresses of `reach`, which must be in shared memory.
fn shared_addresses(
    warp: &Warp,
    reach: &AddressOperand,
    split: &Split,
    mask: u32,
    action: AccessAction,
) -> Result<WideRow, Box<Refused>> {
    let addresses = access::addresses(warp, reach, split);
    if reach.space != Space::Generic {
        return Ok(addresses);
    }
    for lane in lanes(mask) {
        let space = crate::address::space_of(addresses[lane]);
        if space != Space::Shared {
            let kind = AccessFaultKind::WrongSpace { needed: "shared" };
            let address = addresses[lane].wrapping_sub(program::window(space));
            let fault = AccessFault { lane: lane as u32, address, kind };
            return Err(Refused::new(action, space, 16, fault));
        }
    }
    Ok(addresses.map(|address| address.wrapping_sub(program::window(Space::Shared))))
}

/// Counts a request to shared memory for `count` matrices. Eight rows go at a time, as an H200
/// counts.
fn count_rows(worker: &mut Worker, place: u32, addresses: &WideRow, mask: u32, count: usize) {
    let mut found = Wavefronts::default();
    for matrix in 0..count {
        let rows = mask & 0xff << (8 * matrix);
        found = found + coalesce::store_wavefronts(&Access::new(rows, addresses, 16));
    }
    counters::count_shared(&mut worker.counters[place as usize], found);
}

/// The lane, and the half of its register, that holds an element of an 8 x 8 matrix.
fn holder(row: usize, column: usize, transposed: bool) -> (usize, u32) {
    let (row, column) = if transposed { (column, row) } else { (row, column) };
    (row * 4 + column / 2, 16 * (column as u32 % 2))
}

/// `ldmatrix`: PTX ISA, "Warp-level matrix load instruction: ldmatrix".
fn load<'l>(
    worker: &mut Worker<'l>,
    warp: &mut Warp<'l>,
    reach: &AddressOperand,
    transposed: bool,
    rows: &[u32],
    at: At,
) -> Attempt {
    let all = givers(rows.len());
    let operation = MemoryOperation::new(at.place, AccessKind::Load, 16);
    let what = (&operation, Stored::Unknown);
    let mask = observe::sanitizer::by_operand(worker, warp, reach, what, at.with_mask(all));
    let addresses = shared_addresses(warp, reach, at.split, mask, AccessAction::Read)?;
    let access = Access::new(mask, &addresses, 16);
    let mut words = [[0; 32]; 4];
    let refused = |fault| Refused::new(AccessAction::Read, Space::Shared, 16, fault);
    worker.block.shared.load_each(&access, &mut words).map_err(refused)?;
    observe::recorder::rows(worker, warp, &access, rows.len(), at.place);
    count_rows(worker, at.place, &addresses, mask, rows.len());
    for (matrix, &d) in rows.iter().enumerate() {
        let mut values: Row = [0; 32];
        for row in 0..8 {
            for column in 0..8 {
                let element = words[column / 2][8 * matrix + row] >> (16 * (column % 2)) & 0xffff;
                let (lane, shift) = holder(row, column, transposed);
                values[lane] |= element << shift;
            }
        }
        warp.registers.set_word(d, u32::MAX, &values);
    }
    Ok(())
}

/// `stmatrix`.
fn store<'l>(
    worker: &mut Worker<'l>,
    warp: &mut Warp<'l>,
    reach: &AddressOperand,
    transposed: bool,
    rows: &[u32],
    at: At,
) -> Attempt {
    let all = givers(rows.len());
    let mut words = [[0; 32]; 4];
    for (matrix, &source) in rows.iter().enumerate() {
        let values = warp.registers.word(source);
        for row in 0..8 {
            for column in 0..8 {
                let (lane, shift) = holder(row, column, transposed);
                words[column / 2][8 * matrix + row] |= (values[lane] >> shift & 0xffff) << (16 * (column % 2));
            }
        }
    }
    let operation = MemoryOperation::new(at.place, AccessKind::Store, 16);
    let what = (&operation, Stored::Words(&words));
    let mask = observe::sanitizer::by_operand(worker, warp, reach, what, at.with_mask(all));
    let addresses = shared_addresses(warp, reach, at.split, mask, AccessAction::Write)?;
    let access = Access::new(mask, &addresses, 16);
    let refused = |fault| Refused::new(AccessAction::Write, Space::Shared, 16, fault);
    worker.block.shared.store_each(&access, &words).map_err(refused)?;
    observe::recorder::rows(worker, warp, &access, rows.len(), at.place);
    count_rows(worker, at.place, &addresses, mask, rows.len());
    Ok(())
}

/// `movmatrix`.
fn transpose(warp: &mut Warp, d: u32, source: u32) {
    let source = warp.registers.word(source);
    let mut values: Row = [0; 32];
    for row in 0..8 {
        for column in 0..8 {
            let (from, from_shift) = holder(row, column, false);
            let (to, to_shift) = holder(row, column, true);
            values[to] |= (source[from] >> from_shift & 0xffff) << to_shift;
        }
    }
    warp.registers.set_word(d, u32::MAX, &values);
}

/// An access that moves elements of a tile.
struct TileAccess {
    /// The index of their register.
    register: usize,
    /// The first of them in the register.
    within: usize,
    width: u32,
    addresses: WideRow,
}

/// The accesses that move a tile: a register's elements at once if they are contiguous in memory,
/// otherwise one by one. (For some tiles, the hardware uses wider accesses, or `ldmatrix`; the
/// counters count these accesses.)
fn accesses(warp: &Warp, tile: &Tile, split: &Split) -> Vec<TileAccess> {
    let start = access::addresses(warp, &tile.reach, split);
    let strides = warp.registers.word(tile.stride);
    let fragment = &tile.fragment;
    let (bits, each) = (u64::from(fragment.ty.bits()), fragment.elements_per_register());
    // In bits, from the start of the matrix.
    let offset = |element: usize, lane: usize| {
        let (row, column) = fragment.position(element, lane);
        let (line, within) = if tile.in_rows { (row, column) } else { (column, row) };
        (line as u64).wrapping_mul(strides[lane].into()).wrapping_add(within as u64).wrapping_mul(bits)
    };
    let contiguous = (0..32).all(|lane| {
        let first = offset(0, lane);
        (1..each).all(|element| offset(element, lane) == first.wrapping_add(element as u64 * bits))
    });
    let step = if contiguous { each } else { 1 };
    let mut accesses = Vec::new();
    let width = (bits as u32 * step as u32).div_ceil(8);
    for register in 0..fragment.registers.len() {
        for within in (0..each).step_by(step) {
            let element = register * each + within;
            let addresses = std::array::from_fn(|lane| start[lane].wrapping_add(offset(element, lane) / 8));
            accesses.push(TileAccess { register, within, width, addresses });
        }
    }
    accesses
}

/// `wmma.load`.
fn load_fragment<'l>(worker: &mut Worker<'l>, warp: &mut Warp<'l>, tile: &Tile, at: At) -> Attempt {
    let fragment = &tile.fragment;
    let bits = fragment.ty.bits();
    let mut values: Vec<[Row; 2]> = vec![[[0; 32]; 2]; fragment.registers.len()];
    for TileAccess { register, within, width, addresses } in accesses(warp, tile, at.split) {
        let (operation, space) = (MemoryOperation::new(at.place, AccessKind::Load, width), tile.reach.space);
        let mask = observe::access(worker, warp, &Observed::new(&operation, space, &addresses), at);
        worker.rows = [[0; 32]; 4];
        by_lane::<Load>(worker, warp, space, mask, &addresses, width)?;
        let [low, high] = &mut values[register];
        for lane in lanes(mask) {
            low[lane] |= worker.rows[0][lane] << (within as u32 * bits);
            high[lane] = worker.rows[1][lane];
        }
    }
    for (&register, [low, high]) in fragment.registers.iter().zip(&values) {
        if bits == 64 {
            let wide = std::array::from_fn(|lane| u64::from(high[lane]) << 32 | u64::from(low[lane]));
            warp.registers.set_wide(register, u32::MAX, &wide);
        } else {
            warp.registers.set_word(register, u32::MAX, low);
        }
    }
    Ok(())
}

/// `wmma.store`.
fn store_fragment<'l>(worker: &mut Worker<'l>, warp: &mut Warp<'l>, tile: &Tile, at: At) -> Attempt {
    let fragment = &tile.fragment;
    let bits = fragment.ty.bits();
    for TileAccess { register, within, width, addresses } in accesses(warp, tile, at.split) {
        let register = fragment.registers[register];
        if bits == 64 {
            let values = warp.registers.wide(register);
            worker.rows[0] = values.map(|value| value as u32);
            worker.rows[1] = values.map(|value| (value >> 32) as u32);
        } else {
            worker.rows[0] = warp.registers.word(register).map(|value| value >> (within as u32 * bits));
        }
        let words = worker.rows;
        let (operation, space) = (MemoryOperation::new(at.place, AccessKind::Store, width), tile.reach.space);
        let access = Observed::new(&operation, space, &addresses);
        let mask = observe::access(worker, warp, &access.storing(&words), at);
        by_lane::<Store>(worker, warp, space, mask, &addresses, width)?;
    }
    Ok(())
}

//! Products of matrices by a warpgroup: `wgmma.mma_async`.
//!
//! Each of the four warps has 16 rows of D and of A, in its own registers or in shared memory, so
//! each computes its part when it reaches the instruction. The result is in its registers
//! immediately, although a program may read it, or change the product's operands, only after
//! `wgmma.wait_group`. The four warps meet at that wait, because a product is one operation of all
//! four: a warp that has waited for it knows that the others have read their parts, too, and may
//! start to copy the next tile.
//!
//! A block without all four warps traps. For the sanitizer, the accesses of the four warps up to
//! their last product are ordered before those of any of them after the wait. It treats the reads
//! of shared memory as the warp's own, and reports writes there before the wait, or without a proxy
//! fence. `wgmma.fence` and `fence.proxy.async` have no effect on execution, which is in order
//! anyway. The cost of products is not counted: tensor cores read shared memory directly, in an
//! unknown number of wavefronts.

use std::ops::Range;

use ptx::{MatrixType, Space};

use crate::address::Access;
use crate::instruction::AccessKind;
use crate::lanes::{WideRow, lanes};
use crate::machine::matrix::descriptor::SharedMatrix;
use crate::machine::matrix::multiply::{gather, scatter};
use crate::machine::matrix::products::{Arithmetic, with_zeros};
use crate::machine::observe;
use crate::machine::observe::{Observed, sanitizer};
use crate::machine::state::{Arrival, At, Attempt, Refused, Split, WARPS_OF_GROUP, Wait, Warp, Worker};
use crate::program::{MemoryOperation, Path, WARPGROUP_BARRIER, WarpgroupFactor, WarpgroupProduct};
use crate::site::AccessAction;
use crate::trap::TrapKind;

/// Rows of D that each warp has.
const ROWS: usize = 16;

/// Executes a warp's part of a product.
pub(crate) fn multiply<'l>(
    worker: &mut Worker<'l>,
    warp: &mut Warp<'l>,
    product: &WarpgroupProduct,
    at: At,
) -> Attempt {
    if !has_whole_group(worker, warp) {
        let warps = worker.block.copies.len() as u32 % WARPS_OF_GROUP;
        return Err(Refused::because(TrapKind::IncompleteWarpgroup { warps }, 0));
    }
    let &WarpgroupProduct { n, k, b_ty, ref d, sparse, .. } = product;
    let a_ty = product.a.ty();
    let stored = if sparse.is_some() { k / 2 } else { k };
    let adds = match warp.registers.predicate(product.adds) {
        0 => false,
        u32::MAX => true,
        some => return Err(Refused::because(TrapKind::NotUniform { what: "scale-d" }, some.trailing_ones() & 31)),
    };
    // The shared memory that the product reads, if checks track it.
    let mut pieces = Vec::new();
    let mut a = match product.a {
        WarpgroupFactor::Registers(ref fragment) => gather(&warp.registers, fragment, (ROWS, stored)),
        WarpgroupFactor::Shared { descriptor, transposed, .. } => {
            let matrix = matrix(worker, warp, descriptor, transposed)?;
            let first = (warp.index % WARPS_OF_GROUP) as usize * ROWS;
            let part = Part { matrix, vectors: first..first + ROWS, k: stored, ty: a_ty, transposed };
            part.read(worker, warp, at, &mut pieces)?
        }
    };
    if let Some(sparse) = sparse {
        a = with_zeros(&a, k, a_ty, warp.registers.word(sparse.metadata), sparse);
    }
    let (descriptor, transposed) = product.b;
    let matrix = matrix(worker, warp, descriptor, transposed)?;
    let mut b = Part { matrix, vectors: 0..n, k, ty: b_ty, transposed }.read(worker, warp, at, &mut pieces)?;
    if worker.checker.is_some() {
        observe::product_begins(worker, warp, at.place, pieces);
    }
    for (factor, ty, negate) in [(&mut a, a_ty, product.negate_a), (&mut b, b_ty, product.negate_b)] {
        if negate {
            factor.iter_mut().for_each(|bits| *bits ^= 1 << (ty.bits() - 1));
        }
    }
    let mut sums = if adds { gather(&warp.registers, d, (ROWS, n)) } else { vec![0; ROWS * n] };
    let arithmetic = Arithmetic {
        a: a_ty,
        b: b_ty,
        c: d.ty,
        d: d.ty,
        k,
        saturate: product.saturate,
        bit_product: product.bit_product,
        has_narrow: true,
    };
    arithmetic.multiply(&a, &b, &mut sums);
    scatter(&mut warp.registers, d, &sums, n);
    Ok(())
}

/// A warp waits for the products of its warpgroup, until all four warps have begun their parts.
/// Returns whether it continues at once: without a whole warpgroup, there are no products.
pub(crate) fn await_products(worker: &mut Worker, warp: &mut Warp, split: &Split) -> bool {
    let barrier = WARPGROUP_BARRIER + warp.index / WARPS_OF_GROUP;
    let threads = Some(WARPS_OF_GROUP * 32);
    let arrival = Arrival { barrier, threads, mask: u32::MAX, exists: warp.exists, predicate: None };
    if !has_whole_group(worker, warp) || worker.block.barriers.arrive(&arrival).is_err() {
        return true;
    }
    observe::arrive_with_products(worker, warp, barrier);
    warp.waiting.push((*split, Wait::Barrier(barrier)));
    false
}

/// Whether the block has all four warps of a warp's group.
fn has_whole_group(worker: &Worker, warp: &Warp) -> bool {
    (warp.index / WARPS_OF_GROUP + 1) * WARPS_OF_GROUP <= worker.block.copies.len() as u32
}

/// The matrix of a descriptor, which must be the same in all lanes. It is in the block's own shared
/// memory: a descriptor has no bits for another block's.
fn matrix(worker: &Worker, warp: &Warp, descriptor: u32, transposed: bool) -> Result<SharedMatrix, Box<Refused>> {
    let descriptors = warp.registers.wide(descriptor);
    match descriptors.iter().position(|other| *other != descriptors[0]) {
        None => Ok(SharedMatrix::new(descriptors[0], transposed, worker.block.shared.start())),
        Some(lane) => Err(Refused::because(TrapKind::NotUniform { what: "a matrix descriptor" }, lane as u32)),
    }
}

/// Rows of A, or columns of B, in shared memory.
struct Part {
    matrix: SharedMatrix,
    vectors: Range<usize>,
    /// The elements of each.
    k: usize,
    ty: MatrixType,
    transposed: bool,
}

impl Part {
    /// Its elements as bits, in order. Adds the addresses of its pieces to `pieces_read`, if checks
    /// track them.
    fn read<'l>(
        self,
        worker: &mut Worker<'l>,
        warp: &mut Warp<'l>,
        at: At,
        pieces_read: &mut Vec<u64>,
    ) -> Result<Vec<u32>, Box<Refused>> {
        let Self { matrix, vectors, k, ty, transposed } = self;
        let bits = ty.bits() as usize;
        let in_piece = 128 / bits;
        let (lines, along) = if transposed { (0..k, vectors.clone()) } else { (vectors.clone(), 0..k) };
        let pieces = along.start / in_piece..along.end.div_ceil(in_piece);
        let pieces: Vec<(usize, usize)> =
            lines.flat_map(|line| pieces.clone().map(move |piece| (line, piece))).collect();
        let mut elements = vec![0; vectors.len() * k];
        for some in pieces.chunks(32) {
            let mut addresses: WideRow = [0; 32];
            for (address, &(line, piece)) in addresses.iter_mut().zip(some) {
                *address = matrix.address(line as u64, piece as u64);
            }
            let all = u32::MAX >> (32 - some.len());
            let operation = MemoryOperation::new(at.place, AccessKind::Load, 16).through(Path::Async);
            let mask = sanitizer::access(worker, warp, &Observed::new(&operation, Space::Shared, &addresses), all);
            if worker.checker.is_some() {
                pieces_read.extend(lanes(mask).map(|lane| addresses[lane]));
            }
            let mut words = [[0; 32]; 4];
            let refused = |fault| Refused::new(AccessAction::Read, Space::Shared, 16, fault);
            worker.block.shared.load_each(&Access::new(mask, &addresses, 16), &mut words).map_err(refused)?;
            for (lane, &(line, piece)) in some.iter().enumerate() {
                for within in 0..in_piece {
                    let at = within * bits;
                    let element = words[at / 32][lane] >> (at % 32) & (u32::MAX >> (32 - bits));
                    let along = piece * in_piece + within;
                    let (vector, index) = if transposed { (along, line) } else { (line, along) };
                    elements[(vector - vectors.start) * k + index] = element;
                }
            }
        }
        Ok(elements)
    }
}

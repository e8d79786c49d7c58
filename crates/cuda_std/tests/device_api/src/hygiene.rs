//! Names that `#[kernel]` writes, too: methods of an array, parameters of the entry point, a tile's
//! static. What a crate gives such a name is not what the macro means.

use cuda_std::phases::{Block, BlockSlice, Shared};
#[gpu_only]
use cuda_std::thread;
use cuda_std::{DisjointMatrix, DisjointSlice, Matrix, gpu_only, kernel};

/// Methods by which another address would be found.
#[gpu_only]
#[allow(dead_code)]
trait Elsewhere {
    fn as_ptr(&self) -> *const u32;
    fn as_mut_ptr(&mut self) -> *mut u32;
}

#[gpu_only]
impl Elsewhere for [u32; 0] {
    fn as_ptr(&self) -> *const u32 {
        core::ptr::without_provenance(0x1000)
    }

    fn as_mut_ptr(&mut self) -> *mut u32 {
        core::ptr::without_provenance_mut(0x2000)
    }
}

/// The length of the tile, in whose type the name of the tile's static is not the static.
pub const TILE: usize = 64;

/// Adds two slices and a number, of which two have the names of the other's parts, through a tile.
/// The first element of `lengths` becomes the length of the second.
#[kernel(block(64), linear)]
pub fn hygiene_slices(
    mut block: Block<64>,
    mut tile: Shared<[u32; TILE]>,
    __y_pointer: &[u32],
    y: &[u32],
    __y_length: u32,
    mut sums: DisjointSlice<u32>,
    mut lengths: BlockSlice<u32>,
) {
    #[allow(dead_code, non_upper_case_globals)]
    static __sums_pointer: [u32; 0] = [];
    #[allow(dead_code)]
    mod __cuda_std_of_hygiene_slices {}
    block.fill(&mut tile, |_, i| __y_pointer.get(i as usize).copied().unwrap_or(0));
    block.finish(|thread| {
        let i = thread.linear_index();
        if let (Some(y), Some(sum)) = (y.get(i.get()), sums.get_mut(i)) {
            *sum = tile.read(thread)[thread.x() as usize] + y + __y_length;
        }
        if let Some(length) = lengths.get_mut(thread) {
            *length = y.len() as u32;
        }
    });
}

/// Adds 1 to each element.
#[kernel]
pub fn hygiene_matrices(input: Matrix<u32>, mut output: DisjointMatrix<u32>) {
    let at = thread::position();
    if let (Some(input), Some(output)) = (input.get(at.row(), at.col()), output.get_mut(at)) {
        *output = input + 1;
    }
}

/// An array with an element for each thread of a row. The largest block is no shape: a block may be
/// 256 threads in a row, so the check of the index has to stay.
// ptx: .maxntid 32, 8, 1
// ptx: trap
#[kernel(launch_bounds((32, 8)))]
pub fn hygiene_bounds(mut output: DisjointSlice<u32>) {
    let row = core::hint::black_box([3_u32; 32]);
    let element = row[thread::thread_idx_x() as usize];
    if let Some(output) = output.get_mut(thread::linear_index()) {
        *output = element;
    }
}

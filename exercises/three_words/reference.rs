//! Scales each vector to length 1, in one thread.

use cuda_std::prelude::*;

/// Three words: 12 bytes.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Vector {
    x: f32,
    y: f32,
    z: f32,
}

impl Vector {
    /// The vector of length 1 with the same direction.
    fn unit(self) -> Vector {
        let Vector { x, y, z } = self;
        let length = (x * x + y * y + z * z).sqrt();
        Vector { x: x / length, y: y / length, z: z / length }
    }
}

/// # Safety
/// As for the kernel of the exercise; one thread.
#[kernel]
pub unsafe fn reference(input: *const Vector, output: *mut Vector, n: usize) {
    for i in 0..n {
        *output.add(i) = (*input.add(i)).unit();
    }
}

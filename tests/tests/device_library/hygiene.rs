//! Kernels in a crate that has names of its own for what `#[kernel]` writes.

use crate::device_library::harness::{Run, on_each_device};

#[test]
fn a_parameter_is_what_the_launch_passes_whatever_else_has_its_name() {
    on_each_device(|| {
        let mut run = Run::new();
        run.slice(&(0..64).collect::<Vec<u32>>());
        run.slice(&[100_u32; 40]);
        run.value(1000_u32);
        let sums = run.slice(&[7_u32; 64]);
        let lengths = run.slice(&[7_u32; 2]);
        run.launch_checked("hygiene_slices", [1, 1, 1], [64, 1, 1]);
        let expected: Vec<u32> = (0..64).map(|i| if i < 40 { i + 1100 } else { 7 }).collect();
        assert_eq!(run.read::<u32>(sums), expected);
        assert_eq!(run.read::<u32>(lengths), [40, 7]);

        let mut run = Run::new();
        run.matrix(&[1_u32, 2, 3, 4], [2, 2, 2]);
        let output = run.matrix(&[0_u32; 4], [2, 2, 2]);
        run.launch_checked("hygiene_matrices", [1, 1, 1], [8, 4, 1]);
        assert_eq!(run.read::<u32>(output), [2, 3, 4, 5]);
    });
}

#[test]
fn an_index_is_checked_that_the_largest_block_does_not_bound() {
    let mut run = Run::new();
    run.slice(&[7_u32; 64]);
    run.launch("hygiene_bounds", [1, 1, 1], [32, 2, 1]);
    let problem = run.try_launch("hygiene_bounds", [1, 1, 1], [64, 1, 1], 0).unwrap_err();
    assert!(problem.contains("trap"), "{problem}");
}

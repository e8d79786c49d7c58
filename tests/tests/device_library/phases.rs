//! Kernels in phases compute what they should, and the sanitizer finds nothing in them.

use crate::device_library::harness::{Run, on_each_device, survives_faults};

fn values(count: u32) -> Vec<u32> {
    (0..count).map(|i| i.wrapping_mul(2_654_435_761) >> 20).collect()
}

/// What a kernel of one block makes of `input`.
fn made_of(kernel: &str, input: &[u32], length: usize, block: [u32; 3]) -> Vec<u32> {
    let mut run = Run::new();
    run.slice(input);
    let output = run.slice(&vec![7_u32; length]);
    run.launch_checked(kernel, [1, 1, 1], block);
    run.read(output)
}

#[test]
fn an_array_is_filled_in_rounds() {
    on_each_device(|| {
        let input = values(100);
        let reversed: Vec<u32> = input.iter().rev().copied().collect();
        assert_eq!(made_of("phases_fill", &input, 100, [64, 1, 1]), reversed);
    });
}

#[test]
fn tiles_take_turns() {
    on_each_device(|| {
        let input = values(64);
        let sums: Vec<u32> = input
            .iter()
            .scan(0, |sum, value| {
                *sum += value;
                Some(*sum)
            })
            .collect();
        assert_eq!(made_of("phases_take_turns", &input, 64, [64, 1, 1]), sums);
    });
}

#[test]
fn no_element_is_in_two_pairs() {
    on_each_device(|| {
        for distance in [0, 1, 2, 31, 32, 40, 63, 64, 65, u32::MAX] {
            let mut run = Run::new();
            run.value(distance);
            let output = run.slice(&[7_u32; 64]);
            run.launch_checked("phases_pairs", [1, 1, 1], [64, 1, 1]);
            let has_pair = |i: u32| i < distance && i.checked_add(distance).is_some_and(|second| second < 64);
            let sums: Vec<u32> = (0..64).map(|i| if has_pair(i) { 2 * i + distance } else { i }).collect();
            assert_eq!(run.read::<u32>(output), sums, "{distance}");
        }
    });
}

#[test]
fn threads_own_columns_and_rows_of_them() {
    on_each_device(|| {
        // Each of 32 columns counts each value once, and the last word has four times 63.
        let input = values(50);
        assert_eq!(made_of("phases_columns", &input, 1, [32, 2, 1]), [32 * 50 + 4 * 63]);
    });
}

#[test]
fn an_index_is_a_row_of_the_thread() {
    on_each_device(|| {
        let input: Vec<u32> = values(50).iter().map(|value| value % 16).collect();
        let count = |bin| input.iter().filter(|value| **value == bin).count() as u32;
        assert_eq!(made_of("phases_index", &input, 16, [32, 1, 1]), (0..16).map(count).collect::<Vec<_>>());

        if survives_faults() {
            let mut run = Run::new();
            run.slice(&[3_u32, 16]);
            run.slice(&[7_u32; 16]);
            assert!(run.try_launch("phases_index", [1, 1, 1], [32, 1, 1], 0).is_err(), "there is no row 16");
        }
    });
}

#[test]
fn tiles_of_atomic_integers_are_shared_by_all() {
    on_each_device(|| {
        let input = values(64);
        let count = |bin| input.iter().filter(|value| **value % 16 == bin).count() as u32;
        assert_eq!(made_of("phases_atomics", &input, 16, [64, 1, 1]), (0..16).map(count).collect::<Vec<_>>());
    });
}

#[test]
fn warps_add_up() {
    on_each_device(|| {
        let input = values(64);
        assert_eq!(made_of("phases_warps", &input, 1, [64, 1, 1]), [input.iter().sum::<u32>()]);
    });
}

#[test]
fn each_block_has_its_tile_of_the_transpose() {
    on_each_device(|| {
        for (rows, cols) in [(8, 8), (5, 20), (33, 7), (1, 1)] {
            let input = values(rows * cols);
            let mut run = Run::new();
            run.matrix(&input, [rows, cols, cols]);
            let output = run.matrix(&vec![7_u32; input.len()], [cols, rows, rows]);
            run.launch_checked("phases_transpose", [cols.div_ceil(8), rows.div_ceil(8), 1], [8, 4, 1]);
            let turned: Vec<u32> = (0..cols)
                .flat_map(|col| (0..rows).map(move |row| row * cols + col))
                .map(|i| input[i as usize])
                .collect();
            assert_eq!(run.read::<u32>(output), turned, "{rows} x {cols}");
        }
    });
}

//! Each element of a disjoint output belongs to one thread, in launches of any shape.

use crate::device_library::harness::{Run, on_each_device};

/// How often each of `length` elements was counted by a kernel of one output.
fn counts(kernel: &str, length: usize, grid: [u32; 3], block: [u32; 3]) -> Vec<u32> {
    let mut run = Run::new();
    let output = run.slice(&vec![0_u32; length]);
    run.launch(kernel, grid, block);
    run.read(output)
}

#[test]
fn every_element_belongs_to_one_thread_of_a_linear_launch() {
    on_each_device(|| {
        for length in [1, 31, 128, 200] {
            // 128 threads.
            let once: Vec<u32> = (0..length).map(|i| u32::from(i < 128)).collect();
            for kernel in ["disjoint_any_shape", "disjoint_linear"] {
                assert_eq!(counts(kernel, length, [4, 1, 1], [32, 1, 1]), once, "{kernel}");
            }
            for kernel in ["disjoint_grid_stride", "disjoint_ahead"] {
                assert_eq!(counts(kernel, length, [4, 1, 1], [32, 1, 1]), vec![1; length], "{kernel}");
                assert_eq!(counts(kernel, length, [3, 1, 1], [7, 1, 1]), vec![1; length], "{kernel}");
            }
        }
    });
}

#[test]
fn threads_beside_the_first_line_have_no_element() {
    on_each_device(|| {
        for (grid, block) in [([2, 3, 1], [8, 1, 1]), ([2, 1, 2], [8, 2, 1]), ([2, 1, 1], [8, 1, 4])] {
            let once: Vec<u32> = (0..40).map(|i| u32::from(i < 16)).collect();
            assert_eq!(counts("disjoint_any_shape", 40, grid, block), once, "{grid:?} {block:?}");
            for kernel in ["disjoint_grid_stride", "disjoint_ahead"] {
                assert_eq!(counts(kernel, 40, grid, block), vec![1; 40], "{kernel}: {grid:?} {block:?}");
            }
        }
    });
}

#[test]
fn an_index_too_large_for_64_bits_is_nobodys() {
    on_each_device(|| {
        // 64 threads: 2^58 rounds are 2^64 elements, which must not wrap to element 0.
        for (rounds, first) in [(0, 0), (1, 64), (2, 128), (1 << 58, 200), ((1 << 58) + 1, 200), (usize::MAX, 200)] {
            let mut run = Run::new();
            let output = run.slice(&vec![0_u32; 200]);
            run.value(rounds);
            run.launch("disjoint_far_ahead", [2, 1, 1], [32, 1, 1]);
            let once = |i: usize| u32::from((first..first + 64).contains(&i)) + u32::from(i >= first);
            assert_eq!(run.read::<u32>(output), (0..200).map(once).collect::<Vec<_>>(), "{rounds} rounds");
        }
    });
}

#[test]
fn every_element_of_a_matrix_belongs_to_one_thread() {
    on_each_device(|| {
        let (rows, cols, input_pitch, output_pitch) = (7, 19, 20, 24);
        let input: Vec<f32> = (0..rows * input_pitch).map(|i| i as f32).collect();
        // Two layers of rows, and more threads in z, which have no position.
        for (grid, block) in [([3, 2, 1], [8, 4, 1]), ([5, 2, 2], [4, 2, 3])] {
            let mut run = Run::new();
            run.matrix(&input, [rows, cols, input_pitch]);
            let output = run.matrix(&vec![0.0_f32; (rows * output_pitch) as usize], [rows, cols, output_pitch]);
            run.launch("disjoint_matrix", grid, block);
            let found = run.read::<f32>(output);
            for (place, value) in (0..).zip(found) {
                let (row, col) = (place / output_pitch, place % output_pitch);
                let expected = if col < cols { 2.0 * input[(row * input_pitch + col) as usize] } else { 0.0 };
                assert_eq!(value, expected, "({row}, {col}) in {grid:?} {block:?}");
            }
        }
    });
}

#[test]
fn rows_and_columns_are_read_to_their_ends() {
    on_each_device(|| {
        let (rows, inner, cols) = (5, 6, 9);
        let value = |i: u32| ((i * 7) % 11) as f32;
        let (a, b): (Vec<f32>, Vec<f32>) =
            ((0..rows * 8).map(value).collect(), (0..inner * 10).map(|i| value(i + 3)).collect());
        let mut run = Run::new();
        run.matrix(&a, [rows, inner, 8]);
        run.matrix(&b, [inner, cols, 10]);
        let output = run.matrix(&[0.0_f32; 45], [rows, cols, cols]);
        run.launch("disjoint_product", [2, 2, 1], [8, 4, 1]);
        for (place, found) in (0..).zip(run.read::<f32>(output)) {
            let (row, col) = (place / cols, place % cols);
            let expected: f32 = (0..inner).map(|k| a[(row * 8 + k) as usize] * b[(k * 10 + col) as usize]).sum();
            assert_eq!(found, expected, "({row}, {col})");
        }
    });
}

#[test]
fn words_of_sixteen_bytes_move_whole() {
    on_each_device(|| {
        let mut run = Run::new();
        let input: Vec<[f32; 4]> = (0..32).map(|i| [i as f32; 4]).collect();
        run.slice(&input);
        let output = run.slice(&vec![[0.0_f32; 4]; 30]);
        run.launch("disjoint_words", [1, 1, 1], [32, 1, 1]);
        let expected: Vec<[f32; 4]> = (0..30).map(|i| [i as f32 + 1.0; 4]).collect();
        assert_eq!(run.read::<[f32; 4]>(output), expected);
    });
}

#[test]
fn a_block_of_another_shape_is_refused() {
    let mut run = Run::new();
    run.matrix(&[0.0_f32; 4], [2, 2, 2]);
    run.matrix(&[0.0_f32; 4], [2, 2, 2]);
    run.launch("disjoint_tile", [1, 1, 1], [32, 8, 1]);
    let problem = run.try_launch("disjoint_tile", [1, 1, 1], [8, 32, 1], 0).unwrap_err();
    assert!(problem.contains("[32, 8, 1] threads (.reqntid)"), "{problem}");
}

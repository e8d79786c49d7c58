//! Every kernel against a reference on the CPU, on every device, at sizes that fit and that do not.

use coalesce_tests::{devices, random};
use cuda_std::launch::{Kernel, PointerMut, Slice};
use host::device::{Device, LaunchConfig, Matrix};
use kernels::{offset, transpose};

/// Sizes in one dimension: one thread, just below a warp, a warp, just above.
const SIZES: [usize; 4] = [1, 31, 32, 33];
/// A size that no tile divides, as rows and columns.
const RAGGED: (usize, usize) = (1000, 777);

type TransposeParameters = (Slice<f32>, PointerMut<f32>, u32, u32, u32, u32);

/// All pairs of [`SIZES`], and [`RAGGED`].
fn shapes() -> Vec<(usize, usize)> {
    let pairs = SIZES.iter().flat_map(|&rows| SIZES.iter().map(move |&columns| (rows, columns)));
    pairs.chain([RAGGED]).collect()
}

/// Launches a kernel that makes `out_rows` rows of what has `rows` x `columns` elements, with the output poisoned first.
fn move_matrix(
    device: &Device,
    kernel: &Kernel<TransposeParameters>,
    (rows, columns): (usize, usize),
    block: [u32; 2],
    tile: [u32; 2],
    (pitched, transposes): (bool, bool),
) -> (Vec<f32>, Vec<f32>) {
    let data = random(rows * columns, (rows * 31 + columns) as u64);
    let mut input: Matrix<f32> = device.matrix(rows, columns, pitched).unwrap();
    input.write(&data).unwrap();
    let (out_rows, out_columns) = if transposes { (columns, rows) } else { (rows, columns) };
    let mut output: Matrix<f32> = device.matrix(out_rows, out_columns, pitched).unwrap();
    output.poison().unwrap();
    let launch = LaunchConfig::new(transpose::grid(rows as u32, columns as u32, tile), [block[0], block[1], 1]);
    let pitches = (input.pitch() as u32, output.pitch() as u32);
    device
        .launch(kernel, &launch, (&input, &mut output, rows as u32, columns as u32, pitches.0, pitches.1))
        .unwrap_or_else(|error| panic!("{rows} x {columns}: {error}"));
    device.synchronize().unwrap();
    (data, output.read().unwrap())
}

#[test]
fn transposes_equal_the_reference() {
    let tiled = |height| ([transpose::TILE, height], [transpose::TILE, transpose::TILE]);
    let kernels: [(&Kernel<TransposeParameters>, _); 8] = [
        (&transpose::transpose_naive_reads, tiled(transpose::BLOCK_ROWS)),
        (&transpose::transpose_naive_writes, tiled(transpose::BLOCK_ROWS)),
        (&transpose::transpose_tiled, tiled(transpose::BLOCK_ROWS)),
        (&transpose::transpose_padded, tiled(transpose::BLOCK_ROWS)),
        // Other heights take the kernels' other path.
        (&transpose::transpose_padded, tiled(1)),
        (&transpose::transpose_tiled, tiled(32)),
        (&transpose::transpose_block16, ([16, 16], [16, 16])),
        (&transpose::transpose_block16, ([5, 7], [5, 7])),
    ];
    for device in devices() {
        for (rows, columns) in shapes() {
            for pitched in [false, true] {
                for (kernel, (block, tile)) in kernels {
                    let (data, found) = move_matrix(&device, kernel, (rows, columns), block, tile, (pitched, true));
                    for row in 0..rows {
                        for column in 0..columns {
                            assert_eq!(
                                found[column * rows + row].to_bits(),
                                data[row * columns + column].to_bits(),
                                "{} of {rows} x {columns}, pitched: {pitched}, on {}: ({row}, {column})",
                                kernel.name(),
                                device.properties().name,
                            );
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn the_copy_is_a_copy() {
    for device in devices() {
        for shape in shapes() {
            for pitched in [false, true] {
                let (block, tile) = ([transpose::TILE, transpose::BLOCK_ROWS], [transpose::TILE; 2]);
                let (data, found) =
                    move_matrix(&device, &transpose::transpose_copy, shape, block, tile, (pitched, false));
                assert_eq!(data, found, "{shape:?} on {}", device.properties().name);
            }
        }
    }
}

#[test]
fn shifted_sums_equal_the_reference_and_leave_the_rest_alone() {
    for device in devices() {
        for size in SIZES.into_iter().chain([RAGGED.0 * RAGGED.1]) {
            let (a, b) = (random(size, 1), random(size, 2));
            let mut on_device = [device.buffer::<f32>(size).unwrap(), device.buffer::<f32>(size).unwrap()];
            on_device[0].write(&a).unwrap();
            on_device[1].write(&b).unwrap();
            let [a_on_device, b_on_device] = &on_device;
            let mut output = device.buffer::<f32>(size).unwrap();
            output.poison().unwrap();
            let poison = output.read().unwrap()[0].to_bits();
            for offset in [0, 1, 7, 8, 31, 128].into_iter().filter(|&offset| offset < size) {
                for block in [32, 256] {
                    let launch = LaunchConfig::linear(size, block);
                    output.poison().unwrap();
                    device
                        .launch(&offset::offset_read, &launch, (a_on_device, b_on_device, &mut output, offset))
                        .unwrap();
                    let found = output.read().unwrap();
                    for i in 0..size {
                        let expected =
                            if i + offset < size { (a[i + offset] + b[i + offset]).to_bits() } else { poison };
                        assert_eq!(found[i].to_bits(), expected, "reads at {offset}, element {i} of {size}");
                    }
                    output.poison().unwrap();
                    device
                        .launch(&offset::offset_write, &launch, (a_on_device, b_on_device, &mut output, offset))
                        .unwrap();
                    let found = output.read().unwrap();
                    for i in 0..size {
                        let expected = if i < offset { poison } else { (a[i - offset] + b[i - offset]).to_bits() };
                        assert_eq!(found[i].to_bits(), expected, "writes at {offset}, element {i} of {size}");
                    }
                }
            }
        }
    }
}

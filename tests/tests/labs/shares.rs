//! The best products with their tiles shared out in ways that the labs take only at sizes that keep
//! the simulator busy for long.

use best_kernels::gram;
use best_kernels::matmul;
use best_kernels::product::{SUMS_PER_BLOCK, Shares, THREADS, TileSize};
use coalesce_tests::devices;
use device::{Buffer, Device, LaunchConfig, Report};
use simt::Checks;

/// How many tiles have a block of their own, how many blocks share the others, and how many slabs
/// the first half of these takes more. Tiles have 9 slabs: some blocks share three tiles, and some
/// tiles have four shares.
const WAYS: [(u32, u32, u32); 8] =
    [(0, 7, 0), (0, 7, 5), (2, 5, 0), (2, 5, 6), (1, 12, 2), (3, 4, 5), (5, 2, 3), (4, 1, 0)];

/// The shape of a matrix product: in neither direction whole tiles, and a first slab of 3 steps.
const M: usize = 300;
const N: usize = 270;
const K: usize = 131;

/// Rows by columns of whole numbers, whose products and sums are exact, `pitch` apart.
fn whole_numbers(rows: usize, columns: usize, pitch: usize) -> Vec<f32> {
    let mut numbers = vec![f32::NAN; rows * pitch];
    for row in 0..rows {
        for column in 0..columns {
            numbers[row * pitch + column] = ((row * 37 + column * 101) % 11) as f32 - 5.0;
        }
    }
    numbers
}

/// A product of `m` x `n` elements over [`K`] steps.
fn product(m: usize, n: usize, left: impl Fn(usize, usize) -> f32, right: impl Fn(usize, usize) -> f32) -> Vec<f32> {
    (0..m * n).map(|i| (0..K).map(|k| left(i / n, k) * right(k, i % n)).sum()).collect()
}

/// A buffer with these values.
fn filled(device: &Device, values: &[f32]) -> Buffer<f32> {
    let mut buffer = device.buffer(values.len()).unwrap();
    buffer.write(values).unwrap();
    buffer
}

/// What the blocks of a launch share: who takes what, who has left sums, and the sums.
type Workspace<'a> = (Shares, &'a mut Buffer<u32>, &'a mut Buffer<f32>);

/// Launches a best kernel in each of [`WAYS`], twice: `launch` does, and the buffer that it is
/// given must then hold `expected`. With all checks, the strict ones too.
fn launch_each_way(
    device: &Device,
    tile: TileSize,
    expected: &[f32],
    launch: impl Fn(&LaunchConfig, &mut Buffer<f32>, Workspace<'_>) -> Option<Report>,
) {
    let mut c = device.buffer(expected.len()).unwrap();
    for (unsplit_tiles, sharing, head_start) in WAYS {
        let mut ready = device.buffer::<u32>(sharing as usize).unwrap();
        ready.fill_bytes(0).unwrap();
        let mut sums = device.buffer::<f32>((sharing * SUMS_PER_BLOCK) as usize).unwrap();
        let mut config = LaunchConfig::new([unsplit_tiles + sharing, 1, 1], [THREADS, 1, 1]);
        config.dynamic_shared = tile.shared_bytes;
        config.checks = Checks { strict: true, ..Checks::ALL };
        for _ in 0..2 {
            c.poison().unwrap();
            let report = launch(&config, &mut c, (Shares { unsplit_tiles, head_start }, &mut ready, &mut sums));
            let way = format!("{unsplit_tiles} unsplit, {sharing} sharing, head start {head_start}");
            let wrong = c.read().unwrap().iter().zip(expected).position(|(found, expected)| found != expected);
            assert_eq!(wrong, None, "{way}");
            assert_eq!(ready.read().unwrap(), vec![0; sharing as usize], "{way}");
            if let Some(report) = report {
                assert!(report.findings().is_empty(), "{way}: {:?}", report.findings());
            }
        }
    }
}

#[test]
#[ignore = "long: `.ci/run` runs it"]
fn products_are_right_however_their_tiles_are_shared_out() {
    for device in devices() {
        for (pitch, kernel, tile) in [
            (272, &matmul::matmul_best, matmul::LARGE),
            (271, &matmul::matmul_best_unaligned, matmul::LARGE),
            (272, &matmul::matmul_best_small_split, matmul::SMALL),
            (271, &matmul::matmul_best_small_split, matmul::SMALL),
        ] {
            let (a, b) = (whole_numbers(M, K, K), whole_numbers(K, N, pitch));
            let expected = product(M, N, |row, k| a[row * K + k], |k, column| b[k * pitch + column]);
            let [m, n, k] = [M, N, K].map(|size| size as u32);
            let shape = matmul::Shape { m, n, k, a_pitch: k, b_pitch: pitch as u32, c_pitch: n };
            let (a, b) = (filled(&device, &a), filled(&device, &b));
            launch_each_way(&device, tile, &expected, |config, c, (shares, ready, sums)| {
                let arguments = (&a, &b, c, shape, 1.0_f32, shares, ready, sums);
                // SAFETY: the shape is that of the matrices, and the workspace is as large as the
                // shares.
                unsafe { device.launch_unchecked(kernel, config, arguments) }.unwrap()
            });
        }
    }
}

#[test]
fn gram_matrices_are_right_however_their_tiles_are_shared_out() {
    for device in devices() {
        let a = whole_numbers(M, K, K);
        let expected = product(M, M, |row, k| a[row * K + k], |k, column| a[column * K + k]);
        let [rows, columns] = [M, K].map(|size| size as u32);
        let transposed_pitch = M.next_multiple_of(4);
        let mut transposed = vec![f32::NAN; K * transposed_pitch];
        for (i, &element) in a.iter().enumerate() {
            transposed[i % K * transposed_pitch + i / K] = element;
        }
        let (a, transposed) = (filled(&device, &a), filled(&device, &transposed));
        for (kernel, operand, a_pitch, tile) in [
            (&gram::gram_best, &transposed, transposed_pitch as u32, gram::LARGE),
            (&gram::gram_best_small, &a, columns, gram::SMALL),
        ] {
            let shape = gram::Shape { rows, columns, a_pitch, c_pitch: rows };
            launch_each_way(&device, tile, &expected, |config, c, (shares, ready, sums)| {
                let arguments = (operand, c, shape, 1.0_f32, shares, ready, sums);
                // SAFETY: the same.
                unsafe { device.launch_unchecked(kernel, config, arguments) }.unwrap()
            });
        }
    }
}

//! Every device function does what it says: the kernels of `tests/device_api` run on the simulator, and give what the
//! documentation promises.

use cuda_std::GpuFloat;
use simt::{Launch, Memory, Program};
use std::fmt::Debug;
use std::path::Path;
use std::sync::LazyLock;

static MODULE: LazyLock<ptx::Module> = LazyLock::new(|| {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/device_api/ptx/device_api.sm_75.ptx");
    let text = std::fs::read_to_string(&path).unwrap();
    ptx::parse("device_api.sm_75.ptx", &text).unwrap_or_else(|errors| panic!("{errors}"))
});

/// One launch being put together: the device's memory, and the arguments so far.
struct Run {
    memory: Memory,
    program: Program,
    arguments: Vec<Vec<u8>>,
}

/// A buffer of the device, and how many elements it has.
#[derive(Clone, Copy)]
struct Buffer {
    address: u64,
    length: usize,
}

impl Run {
    fn new() -> Self {
        let mut memory = Memory::new(1 << 24);
        let program = Program::load(&MODULE, &mut memory).unwrap();
        Self { memory, program, arguments: Vec::new() }
    }

    /// Adds a buffer with these elements, and a pointer to it as the next argument.
    fn buffer<T: bytemuck::Pod>(&mut self, elements: &[T]) -> Buffer {
        let bytes: &[u8] = bytemuck::cast_slice(elements);
        let address = self.memory.allocate(bytes.len() as u64).unwrap();
        self.memory.write(address, bytes).unwrap();
        self.value(address);
        Buffer { address, length: elements.len() }
    }

    /// Adds a buffer, and a pointer and a length as the next arguments.
    fn slice<T: bytemuck::Pod>(&mut self, elements: &[T]) -> Buffer {
        let buffer = self.buffer(elements);
        self.value(elements.len() as u64);
        buffer
    }

    fn value<T: bytemuck::NoUninit>(&mut self, value: T) {
        self.arguments.push(bytemuck::bytes_of(&value).to_vec());
    }

    fn launch(&self, kernel: &str, grid: [u32; 3], block: [u32; 3]) {
        self.try_launch(kernel, grid, block, 0).unwrap_or_else(|error| panic!("{error}"));
    }

    fn try_launch(&self, kernel: &str, grid: [u32; 3], block: [u32; 3], dynamic_shared: u32) -> Result<(), String> {
        let arguments: Vec<&[u8]> = self.arguments.iter().map(Vec::as_slice).collect();
        let launch = Launch { kernel, grid, block, dynamic_shared, arguments: &arguments, ..Launch::default() };
        self.program.launch(&self.memory, &launch).map(drop).map_err(|error| error.to_string())
    }

    fn read<T: bytemuck::Pod>(&self, buffer: Buffer) -> Vec<T> {
        let mut elements = vec![T::zeroed(); buffer.length];
        self.memory.read(buffer.address, bytemuck::cast_slice_mut(&mut elements)).unwrap();
        elements
    }
}

/// What a kernel of one warp makes of an input of 32 elements, `per_thread` results each.
fn of_one_warp<I: bytemuck::Pod, O: bytemuck::Pod>(kernel: &str, input: &[I], per_thread: usize) -> Vec<Vec<O>> {
    let mut run = Run::new();
    run.buffer(input);
    let output = run.buffer(&vec![O::zeroed(); 32 * per_thread]);
    run.launch(kernel, [1, 1, 1], [32, 1, 1]);
    run.read::<O>(output).chunks(per_thread).map(<[O]>::to_vec).collect()
}

fn lanes<T>(function: impl Fn(u32) -> T) -> Vec<T> {
    (0..32).map(function).collect()
}

#[test]
fn threads_know_their_place() {
    let mut run = Run::new();
    let output = run.buffer(&[0_u32; 22 * 3 * 2 * 2 * 24]);
    run.launch("thread_indices", [3, 2, 2], [4, 3, 2]);
    let all = run.read::<u32>(output);
    let mut number = 0;
    for [bz, by, bx] in coordinates([2, 2, 3]) {
        for [tz, ty, tx] in coordinates([2, 3, 4]) {
            let lane = (number % 24) % 32;
            let expected = [
                tx,
                ty,
                tz,
                bx,
                by,
                bz,
                4,
                3,
                2,
                3,
                2,
                2,
                24,
                4 * bx + tx,
                4 * bx + tx,
                4 * bx + tx,
                3 * by + ty,
                4 * bx + tx,
                2 * bz + tz,
                lane,
                32,
                u32::from(number == 0),
            ];
            assert_eq!(all[22 * number as usize..][..22], expected, "thread {number}");
            number += 1;
        }
    }
}

/// All coordinates below the extents, the last one fastest.
fn coordinates(extents: [u32; 3]) -> impl Iterator<Item = [u32; 3]> {
    let [a, b, c] = extents;
    (0..a * b * c).map(move |i| [i / (b * c), i / c % b, i % c])
}

#[test]
fn barriers_of_the_block_count_and_vote() {
    for (input, expected) in
        [(vec![1_u32; 64], [64, 1, 1]), (vec![0; 64], [0, 0, 0]), ((0..64).map(|i| i % 4 * 7).collect(), [48, 0, 1])]
    {
        let mut run = Run::new();
        run.buffer(&input);
        let output = run.buffer(&[9_u32; 192]);
        run.launch("thread_barriers", [1, 1, 1], [64, 1, 1]);
        assert!(run.read::<u32>(output).chunks(3).all(|chunk| chunk == expected), "{expected:?}");
    }
}

#[test]
fn shuffles_read_the_lane_that_they_name() {
    let input = lanes(|lane| 100 + lane);
    for (lane, results) in of_one_warp::<u32, u32>("warp_shuffles", &input, 8).into_iter().enumerate() {
        let lane = lane as u32;
        let own = 100 + lane;
        let up = if lane >= 1 { own - 1 } else { own };
        let down = if lane % 16 + 2 < 16 { own + 2 } else { own };
        let index = 100 + lane / 8 * 8 + 5;
        let xor = 100 + (lane ^ 4);
        let inside = [u32::from(lane >= 1), u32::from(lane % 16 + 2 < 16), 1, 1];
        assert_eq!(results[..4], [up, down, index, xor], "lane {lane}");
        assert_eq!(results[4..], inside, "lane {lane}");
    }
}

#[test]
fn shuffles_move_values_of_every_size() {
    let mut run = Run::new();
    let small = run.buffer(&[0_i8; 32]);
    let float = run.buffer(&[0_f32; 32]);
    let wide = run.buffer(&[0_u64; 32]);
    let double = run.buffer(&[0_f64; 32]);
    run.launch("warp_shuffle_types", [1, 1, 1], [32, 1, 1]);
    let next = |lane: u32| (lane + 1) % 32;
    assert_eq!(run.read::<i8>(small), lanes(|lane| -(next(lane) as i8)));
    assert_eq!(run.read::<f32>(float), lanes(|lane| next(lane) as f32 * 0.5));
    assert_eq!(run.read::<u64>(wide), lanes(|lane| u64::from(next(lane)) << 32 | 7));
    assert_eq!(run.read::<f64>(double), lanes(|lane| f64::from(next(lane)) * 0.25));
}

#[test]
fn votes_and_matches_compare_all_lanes() {
    let all_odd = lanes(|lane| 2 * lane + 1);
    assert!(of_one_warp::<u32, u32>("warp_votes", &all_odd, 4).iter().all(|votes| votes == &[1, 1, 1, u32::MAX]));
    let some_odd = lanes(|lane| lane / 8);
    let ballot = 0xff00_ff00;
    assert!(of_one_warp::<u32, u32>("warp_votes", &some_odd, 4).iter().all(|votes| votes == &[0, 1, 0, ballot]));

    let mut run = Run::new();
    run.buffer(&lanes(|lane| (lane % 2) as i32));
    run.buffer(&[0.5_f64; 32]);
    let output = run.buffer(&[0_u32; 128]);
    run.launch("warp_matches", [1, 1, 1], [32, 1, 1]);
    for (lane, matches) in run.read::<u32>(output).chunks(4).enumerate() {
        assert_eq!(matches, [0x5555_5555 << (lane % 2), u32::MAX, 0, u32::MAX], "lane {lane}");
    }
}

#[test]
fn warps_reduce() {
    let input = lanes(|lane| (lane as f32 - 10.0) * 0.5);
    let mut run = Run::new();
    run.buffer(&input);
    let sums = run.buffer(&[0_f32; 32]);
    let maximum = run.buffer(&[0_f32; 1]);
    run.launch("warp_reductions", [1, 1, 1], [32, 1, 1]);
    assert_eq!(run.read::<f32>(sums), [88.0; 32]);
    assert_eq!(run.read::<f32>(maximum), [10.5]);

    let reversed = of_one_warp::<u32, u32>("warp_barrier", &lanes(|lane| lane * lane), 1).concat();
    assert_eq!(reversed, lanes(|lane| (31 - lane) * (31 - lane)));

    let mut run = Run::new();
    run.buffer(&(0..128).map(|i| i * i - 500).collect::<Vec<i32>>());
    let sums = run.buffer(&[0_i32; 2]);
    run.launch("warp_unrolled_sum", [2, 1, 1], [64, 1, 1]);
    let sum = |range: std::ops::Range<i32>| range.map(|i| i * i - 500).sum::<i32>();
    assert_eq!(run.read::<i32>(sums), [sum(0..64), sum(64..128)]);
}

#[test]
fn lane_masks_are_of_the_lane() {
    let mut run = Run::new();
    let output = run.buffer(&[0_u32; 192]);
    run.launch("warp_masks", [1, 1, 1], [32, 1, 1]);
    for (lane, masks) in run.read::<u32>(output).chunks(6).enumerate() {
        let equal = 1_u32 << lane;
        let less = equal - 1;
        assert_eq!(masks, [equal, less, less | equal, !(less | equal), !less, u32::MAX], "lane {lane}");
    }
}

#[test]
fn shared_memory_holds_what_was_put_there() {
    let matrix: Vec<f32> = (0..1024).map(|i| i as f32).collect();
    let mut run = Run::new();
    run.buffer(&matrix);
    let output = run.buffer(&[0_f32; 1024]);
    run.launch("shared_module_tile", [1, 1, 1], [32, 32, 1]);
    let transposed: Vec<f32> = (0..1024).map(|i| (i % 32 * 32 + i / 32) as f32).collect();
    assert_eq!(run.read::<f32>(output), transposed);

    let mut run = Run::new();
    let data = run.buffer(&(0..64).collect::<Vec<i32>>());
    run.launch("shared_function_arrays", [1, 1, 1], [64, 1, 1]);
    assert_eq!(run.read::<i32>(data), (0..64).map(|t| 63 - t + 1000).collect::<Vec<_>>());

    let mut run = Run::new();
    let data = run.buffer(&lanes(u64::from));
    run.launch("shared_static_mut", [1, 1, 1], [32, 1, 1]);
    assert_eq!(run.read::<u64>(data), lanes(|lane| u64::from(lane ^ 1)));

    let mut run = Run::new();
    let data = run.buffer(&(0..128).map(|i| i as f32).collect::<Vec<_>>());
    run.launch("shared_vectors", [1, 1, 1], [32, 1, 1]);
    let expected: Vec<f32> = (0..128).map(|i| (4 * (31 - i / 4) + i % 4) as f32).collect();
    assert_eq!(run.read::<f32>(data), expected);
}

#[test]
fn dynamic_shared_memory_is_as_large_as_asked_for() {
    let mut run = Run::new();
    let output = run.buffer(&[0_f32; 48]);
    run.try_launch("shared_dynamic", [1, 1, 1], [48, 1, 1], 240).unwrap();
    let expected: Vec<f32> = (0..48).map(|t| (t + 1) % 48).map(|next| next as f32 * 1.5 + 240.0).collect();
    assert_eq!(run.read::<f32>(output), expected);
    assert!(run.try_launch("shared_dynamic", [1, 1, 1], [48, 1, 1], 200).is_err(), "40 bytes are out of bounds");
}

#[test]
fn constants_and_statics_start_as_written() {
    let mut run = Run::new();
    let data = run.buffer(&lanes(|lane| lane as f32));
    run.launch("constant_polynomial", [1, 1, 1], [32, 1, 1]);
    let polynomial = |x: f32| ((0.125 * x + 0.25) * x + 0.5) * x + 1.0;
    assert_eq!(run.read::<f32>(data), lanes(|lane| polynomial(lane as f32)));

    let mut run = Run::new();
    let output = run.buffer(&[0_f32; 32]);
    run.launch("constant_lookup", [1, 1, 1], [32, 1, 1]);
    assert_eq!(run.read::<f32>(output), lanes(|lane| [1.0, 0.5, 0.25, 0.125][lane as usize % 4]));

    let mut run = Run::new();
    let output = run.buffer(&[0_u32; 32]);
    run.launch("global_static", [1, 1, 1], [32, 1, 1]);
    let mut tickets = run.read::<u32>(output);
    tickets.sort_unstable();
    assert_eq!(tickets, lanes(|lane| 5 + lane));
}

#[test]
fn atomic_operations_lose_nothing() {
    let mut run = Run::new();
    let words = run.buffer(&[0, 50, 3, u32::MAX, 0, 0, 0, 3, 1, 5]);
    run.launch("atomic_words", [1, 1, 1], [32, 1, 1]);
    // Up and around by 8 comes back after 32 steps, and so does down and around.
    assert_eq!(run.read::<u32>(words), [496, 0, 31, 0, u32::MAX, 0, 0, 3, 99, 6]);

    let mut run = Run::new();
    let counter = run.buffer(&[0_u32]);
    let tickets = run.buffer(&[0_u32; 128]);
    run.launch("atomic_tickets", [2, 1, 1], [64, 1, 1]);
    let mut drawn = run.read::<u32>(tickets);
    drawn.sort_unstable();
    assert_eq!(drawn, (0..128).collect::<Vec<_>>());
    assert_eq!(run.read::<u32>(counter), [128]);

    let mut run = Run::new();
    let signed = run.buffer(&[0, 5, -50, 1, -5]);
    let wide = run.buffer(&[0_u64, 1, 0, 0, 5]);
    let wide_signed = run.buffer(&[0_i64, 5, -50]);
    let float = run.buffer(&[0_f32; 2]);
    let double = run.buffer(&[0.0, 1.5]);
    run.launch("atomic_types", [1, 1, 1], [32, 1, 1]);
    assert_eq!(run.read::<i32>(signed), [-496, -31, 0, -99, -6]);
    assert_eq!(run.read::<u64>(wide), [32 << 40, 31 << 32, 0xffff_ffff, 1 << 50, 1 << 51]);
    assert_eq!(run.read::<i64>(wide_signed), [-32, -31, 0]);
    assert_eq!(run.read::<f32>(float), [16.0, 2.5]);
    assert_eq!(run.read::<f64>(double), [8.0, 3.5]);

    let mut run = Run::new();
    run.buffer(&(0..128).collect::<Vec<u32>>());
    let bins = run.buffer(&[0_u32; 8]);
    let sums = run.buffer(&[0_f32; 2]);
    run.launch("atomic_shared", [2, 1, 1], [64, 1, 1]);
    assert_eq!(run.read::<u32>(bins), [16; 8]);
    assert_eq!(run.read::<f32>(sums), [2016.0, 6112.0]);

    let mut run = Run::new();
    let start = [0, 50, 3, u32::MAX, 0, 0, 1, 5];
    let words = run.buffer(&[start, start].concat());
    let doubles = run.buffer(&[0_f64; 2]);
    run.launch("atomic_scopes", [1, 1, 1], [32, 1, 1]);
    let end = [496, 0, 31, 0, u32::MAX, 0, 99, 6];
    assert_eq!(run.read::<u32>(words), [end, end].concat());
    assert_eq!(run.read::<f64>(doubles), [8.0, 8.0]);

    let mut run = Run::new();
    let floats = run.buffer(&[0_f32; 3]);
    let doubles = run.buffer(&[10_f64]);
    run.launch("atomic_float_types", [1, 1, 1], [32, 1, 1]);
    assert_eq!(run.read::<f32>(floats), [16.0, 3.0, 3.0]);
    assert_eq!(run.read::<f64>(doubles), [2.0]);
}

/// Copies 32 elements with each operator.
fn copied<T: bytemuck::Pod + PartialEq + Debug>(kernel: &str, element: impl Fn(u32) -> T) {
    let input = lanes(&element);
    for (lane, copies) in of_one_warp::<T, T>(kernel, &input, 6).into_iter().enumerate() {
        assert_eq!(copies, [input[lane]; 6], "{kernel}, lane {lane}");
    }
}

#[test]
fn cache_operators_change_nothing_but_the_way() {
    let sums = of_one_warp::<f32, f32>("memory_operators", &lanes(|lane| lane as f32), 4);
    for (lane, sum) in sums.into_iter().enumerate() {
        assert_eq!(sum, [6.0 * lane as f32; 4]);
    }
    copied("memory_u8", |lane| lane as u8 * 7);
    copied("memory_i8", |lane| lane as i8 * 3 - 100);
    copied("memory_u16", |lane| lane as u16 * 2000);
    copied("memory_i16", |lane| (lane as i32 * 2000 - 32_000) as i16);
    copied("memory_u32", |lane| lane * 0x0101_0101);
    copied("memory_i32", |lane| lane as i32 - 16);
    copied("memory_u64", |lane| u64::from(lane) << 40 | 3);
    copied("memory_i64", |lane| i64::from(lane) - (1 << 50));
    copied("memory_f64", |lane| f64::from(lane) * 0.1);
    copied("memory_f32x2", |lane| [lane as f32, 0.5]);
    copied("memory_f32x4", |lane| [lane as f32, 0.5, -1.0, 2.0]);
    copied("memory_f64x2", |lane| [f64::from(lane), 0.1]);
    copied("memory_u32x2", |lane| [lane, 7]);
    copied("memory_u32x4", |lane| [lane, 7, 8, 9]);
    copied("memory_i32x2", |lane| [lane as i32, -7]);
    copied("memory_i32x4", |lane| [lane as i32, -7, -8, -9]);
    copied("memory_u64x2", |lane| [u64::from(lane), 1 << 40]);
    copied("memory_i64x2", |lane| [i64::from(lane), -1 << 40]);
}

#[test]
fn vectors_compute_element_by_element() {
    fn reversed<T: bytemuck::Pod + PartialEq + Debug, const N: usize>(
        kernel: &str,
        element: impl Fn(u32) -> T,
        of: impl Fn(T) -> T,
    ) {
        let input: Vec<T> = (0..32 * N as u32).map(element).collect();
        let mut run = Run::new();
        run.slice(&input);
        let output = run.buffer(&vec![T::zeroed(); input.len()]);
        run.launch(kernel, [1, 1, 1], [32, 1, 1]);
        let expected: Vec<T> =
            input.chunks(N).flat_map(|vector| vector.iter().rev().map(|&x| of(x)).collect::<Vec<_>>()).collect();
        assert_eq!(run.read::<T>(output), expected, "{kernel}");
    }
    let float = |x: f32| ((x + 1.0) * 2.0 - x) / 2.0;
    reversed::<f32, 2>("vector_f32x2", |i| i as f32, float);
    reversed::<f32, 4>("vector_f32x4", |i| i as f32, float);
    reversed::<f64, 2>("vector_f64x2", f64::from, |x| ((x + 1.0) * 2.0 - x) / 2.0);
    reversed::<u32, 2>("vector_u32x2", |i| i, |x| x + 2);
    reversed::<u32, 4>("vector_u32x4", |i| i, |x| x + 2);
    reversed::<i32, 2>("vector_i32x2", |i| -(i as i32), |x| x + 2);
    reversed::<i32, 4>("vector_i32x4", |i| -(i as i32), |x| x + 2);
    reversed::<u64, 2>("vector_u64x2", |i| u64::from(i) << 40, |x| x + 2);
    reversed::<i64, 2>("vector_i64x2", |i| -(i64::from(i) << 40), |x| x + 2);

    let mut run = Run::new();
    let data = run.buffer(&(0..128_u32).map(|i| i.wrapping_mul(2_654_435_761)).collect::<Vec<_>>());
    let before = run.read::<u32>(data);
    run.launch("vector_arrays", [1, 1, 1], [32, 1, 1]);
    for (after, before) in run.read::<u32>(data).chunks(4).zip(before.chunks(4)) {
        let mut sorted = before.to_vec();
        sorted.sort_unstable();
        assert_eq!(after, sorted);
    }
}

#[test]
fn parameters_arrive_as_they_were_sent() {
    let mut run = Run::new();
    let output = run.buffer(&[0_u64; 11]);
    run.value(200_u8);
    run.value(60_000_u16);
    run.value(4_000_000_000_u32);
    run.value(1_u64 << 60);
    run.value(1_usize << 61);
    run.value(-100_i8);
    run.value(-30_000_i16);
    run.value(-2_000_000_000_i32);
    run.value(i64::MIN);
    run.value(0.5_f32);
    run.value(1_u8);
    run.launch("parameter_scalars", [1, 1, 1], [1, 1, 1]);
    let expected = [
        200,
        60_000,
        4_000_000_000,
        1 << 60,
        1 << 61,
        (-100_i64).cast_unsigned(),
        (-30_000_i64).cast_unsigned(),
        (-2_000_000_000_i64).cast_unsigned(),
        1 << 63,
        u64::from(0.5_f32.to_bits()),
        1,
    ];
    assert_eq!(run.read::<u64>(output), expected);

    let mut run = Run::new();
    let output = run.buffer(&[0_f64; 4]);
    run.value(device_api::parameters::Settings { seed: 77, scale: 0.5, shift: -3 });
    run.value(2.25_f64);
    run.launch("parameter_values", [1, 1, 1], [1, 1, 1]);
    assert_eq!(run.read::<f64>(output), [77.0, 0.5, -3.0, 2.25]);

    let mut run = Run::new();
    let points: Vec<f32> = (0..60).map(|i| i as f32).collect();
    run.buffer(&points);
    run.value(20_u64);
    run.buffer(&[1.0_f32, -1.0]);
    let output = run.slice(&[0.0_f32; 20]);
    run.launch("parameter_slices", [1, 1, 1], [32, 1, 1]);
    let expected: Vec<f32> = (0..20).map(|i| (9 * i + 3) as f32 * if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
    assert_eq!(run.read::<f32>(output), expected);
}

#[test]
fn threads_end_and_launches_stop() {
    let mut run = Run::new();
    let output = run.buffer(&[0_u32; 32]);
    run.launch("special_exit", [1, 1, 1], [32, 1, 1]);
    assert_eq!(run.read::<u32>(output), lanes(|lane| 2 - lane % 2));

    for (victim, stops) in [(4, true), (5, true), (32, false)] {
        let mut run = Run::new();
        run.buffer(&[0_u32; 32]);
        run.value(victim);
        assert_eq!(run.try_launch("special_trap", [1, 1, 1], [32, 1, 1], 0).is_err(), stops, "{victim}");
    }
}

/// Holds results to what the host computes, within a relative error where the result is finite.
fn close<T: Copy + Into<f64>>(
    kernel: &str,
    tolerance: f64,
    input: &[T],
    results: &[Vec<T>],
    host: impl Fn(T) -> Vec<T>,
) {
    for (&x, results) in input.iter().zip(results) {
        let expected = host(x);
        assert_eq!(expected.len(), results.len());
        for (place, (&result, &expected)) in results.iter().zip(&expected).enumerate() {
            let (x, result, expected): (f64, f64, f64) = (x.into(), result.into(), expected.into());
            let same = result == expected || result.is_nan() && expected.is_nan();
            assert!(
                same || (result - expected).abs() <= tolerance * expected.abs().max(1.0),
                "{kernel}, result {place} of {x}: {result}, and not {expected}"
            );
        }
    }
}

macro_rules! exact {
    ($x:ident) => {
        vec![
            GpuFloat::floor($x),
            GpuFloat::ceil($x),
            GpuFloat::trunc($x),
            GpuFloat::round_ties_even($x),
            GpuFloat::fract($x),
            GpuFloat::abs($x),
            GpuFloat::signum($x),
            GpuFloat::sqrt($x),
            GpuFloat::recip($x),
            GpuFloat::copysign($x, -1.0),
            GpuFloat::mul_add($x, $x, 0.5),
            GpuFloat::powi($x, 5),
            GpuFloat::div_euclid($x, 2.0),
            GpuFloat::rem_euclid($x, 2.0),
        ]
    };
}

macro_rules! accurate {
    ($x:ident) => {
        vec![
            GpuFloat::round($x),
            GpuFloat::exp($x),
            GpuFloat::exp2($x),
            GpuFloat::exp_m1($x),
            GpuFloat::ln($x),
            GpuFloat::ln_1p($x),
            GpuFloat::log2($x),
            GpuFloat::log10($x),
            GpuFloat::cbrt($x),
            GpuFloat::sin($x),
            GpuFloat::cos($x),
            GpuFloat::tan($x),
            GpuFloat::asin($x),
            GpuFloat::acos($x),
            GpuFloat::atan($x),
            GpuFloat::sinh($x),
            GpuFloat::cosh($x),
            GpuFloat::tanh($x),
            GpuFloat::asinh($x),
            GpuFloat::acosh($x),
            GpuFloat::atanh($x),
            GpuFloat::log($x, 3.0),
            GpuFloat::powf($x, 1.5),
            GpuFloat::atan2($x, 0.5),
            GpuFloat::hypot($x, 0.5),
            GpuFloat::sin($x),
            GpuFloat::cos($x),
        ]
    };
}

#[test]
fn accurate_math_is_that_of_the_host() {
    let floats = lanes(|lane| lane as f32 * 0.37 - 4.0);
    close("math_exact_f32", 0.0, &floats, &of_one_warp("math_exact_f32", &floats, 14), |x| exact!(x));
    close("math_accurate_f32", 1e-6, &floats, &of_one_warp("math_accurate_f32", &floats, 27), |x| accurate!(x));
    let doubles = lanes(|lane| f64::from(lane) * 0.37 - 4.0);
    close("math_exact_f64", 0.0, &doubles, &of_one_warp("math_exact_f64", &doubles, 14), |x| exact!(x));
    close("math_accurate_f64", 1e-14, &doubles, &of_one_warp("math_accurate_f64", &doubles, 27), |x| accurate!(x));
    // Angles for which the argument's reduction takes the long way, by arrays on the stack.
    let large = lanes(|lane| (lane as f32 + 1.0) * 1.0e9);
    close("math_accurate_f32", 1e-6, &large, &of_one_warp("math_accurate_f32", &large, 27), |x| accurate!(x));
}

#[test]
fn fast_math_is_near() {
    let floats = lanes(|lane| (lane as f32 + 1.0) * 0.09);
    close("math_fast", 2e-5, &floats, &of_one_warp("math_fast", &floats, 13), |x| {
        vec![
            x.sin(),
            x.cos(),
            x.tan(),
            x.exp2(),
            x.exp(),
            x.log2(),
            x.ln(),
            x.log10(),
            1.0 / x.sqrt(),
            1.0 / x,
            x.sqrt(),
            x.powf(1.5),
            1.5 / x,
        ]
    });
    let mut run = Run::new();
    let doubles = lanes(|lane| f64::from(lane + 1) * 0.37);
    let data = run.buffer(&doubles);
    run.launch("math_fast_f64", [1, 1, 1], [32, 1, 1]);
    let results: Vec<Vec<f64>> = run.read::<f64>(data).into_iter().map(|result| vec![result]).collect();
    close("math_fast_f64", 1e-6, &doubles, &results, |x| vec![1.0 / x.sqrt()]);
}

#[test]
fn clocks_advance() {
    let mut run = Run::new();
    let output = run.buffer(&[u64::MAX; 64]);
    run.launch("special_clocks", [1, 1, 1], [32, 1, 1]);
    assert!(run.read::<u64>(output).iter().all(|&passed| passed <= i64::MAX.cast_unsigned()));

    let mut run = Run::new();
    let output = run.buffer(&[u32::MAX; 192]);
    run.launch("special_registers", [1, 1, 1], [32, 1, 1]);
    for numbers in run.read::<u32>(output).chunks(6) {
        let &[_, multiprocessor, multiprocessors, slot, slots, _] = numbers else { unreachable!() };
        assert!(multiprocessor < multiprocessors && slot < slots, "{numbers:?}");
    }
}

#[test]
fn coordinates_and_fences() {
    let mut run = Run::new();
    let output = run.buffer(&[0_u32; 48]);
    run.launch("thread_coordinates", [2, 1, 1], [4, 3, 2]);
    for (number, sum) in run.read::<u32>(output).into_iter().enumerate() {
        let (thread, block) = (number as u32 % 24, number as u32 / 24);
        assert_eq!(sum, thread % 4 + thread / 4 % 3 + thread / 12 + block + 24 + 2, "thread {number}");
    }

    let mut run = Run::new();
    let output = run.buffer(&[0_u32; 160]);
    run.launch("thread_fences", [1, 1, 1], [32, 1, 1]);
    assert!(run.read::<u32>(output).chunks(5).all(|numbers| numbers == [1, 2, 3, 4, 5]));
}

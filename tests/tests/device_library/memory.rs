//! Tests of shared and constant memory, atomic operations, cache operators, vectors and parameters.

use crate::device_library::harness::{Run, lanes, of_one_warp, on_each_device, survives_faults};
use std::fmt::Debug;

#[test]
fn shared_memory_holds_what_was_put_there() {
    on_each_device(|| {
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
    });
}

#[test]
fn dynamic_shared_memory_is_as_large_as_asked_for() {
    on_each_device(|| {
        let mut run = Run::new();
        let output = run.buffer(&[0_f32; 48]);
        run.try_launch("shared_dynamic", [1, 1, 1], [48, 1, 1], 240).unwrap();
        let expected: Vec<f32> = (0..48).map(|t| (t + 1) % 48).map(|next| next as f32 * 1.5 + 240.0).collect();
        assert_eq!(run.read::<f32>(output), expected);
        if survives_faults() {
            assert!(
                run.try_launch("shared_dynamic", [1, 1, 1], [48, 1, 1], 200).is_err(),
                "40 bytes are out of bounds"
            );
        }
    });
}

/// The copies are asynchronous in PTX for `sm_80`, as in the labs' best kernels; here they are
/// loads and stores.
#[test]
fn copies_to_shared_memory_arrive_or_are_zero() {
    on_each_device(|| {
        let words: Vec<f32> = (0..128).map(|i| i as f32 + 1.0).collect();
        let mut run = Run::new();
        run.buffer(&words);
        let output = run.buffer(&[f32::NAN; 512]);
        run.value(20_u32);
        run.launch("memory_pipeline", [1, 1, 1], [32, 1, 1]);
        let expected = |place: usize| {
            let (part, thread, float) = (place / 128, place / 4 % 32, place % 4);
            let copied = match (part, float) {
                (0, 1) | (3, _) => thread < 20,
                (1, _) => (thread < 20) == (float < 2),
                _ => true,
            };
            if copied { words[place % 128] } else { 0.0 }
        };
        assert_eq!(run.read::<f32>(output), (0..512).map(expected).collect::<Vec<_>>());
    });
}

#[test]
fn waiting_for_the_launch_before_changes_nothing_where_launches_come_in_turn() {
    on_each_device(|| {
        let mut run = Run::new();
        let numbers: Vec<u32> = (0..512).collect();
        let data = run.buffer(&numbers);
        for _ in 0..20 {
            run.launch("memory_dependent_launch", [4, 1, 1], [128, 1, 1]);
        }
        let after = |number: u32| (0..20).fold(number, |number, _| number.wrapping_mul(3).wrapping_add(1));
        assert_eq!(run.read::<u32>(data), numbers.into_iter().map(after).collect::<Vec<_>>());
    });
}

#[test]
fn constants_and_statics_start_as_written() {
    on_each_device(|| {
        let mut run = Run::new();
        let data = run.buffer(&lanes(|lane| lane as f32));
        run.launch("constant_polynomial", [1, 1, 1], [32, 1, 1]);
        let polynomial = |x: f32| ((0.125 * x + 0.25) * x + 0.5) * x + 1.0;
        assert_eq!(run.read::<f32>(data), lanes(|lane| polynomial(lane as f32)));

        let mut run = Run::new();
        let output = run.slice(&[0_f32; 32]);
        run.launch("constant_lookup", [1, 1, 1], [32, 1, 1]);
        assert_eq!(run.read::<f32>(output), lanes(|lane| [1.0, 0.5, 0.25, 0.125][lane as usize % 4]));

        let mut run = Run::new();
        let output = run.buffer(&[0_u32; 32]);
        run.launch("global_static", [1, 1, 1], [32, 1, 1]);
        let mut tickets = run.read::<u32>(output);
        tickets.sort_unstable();
        assert_eq!(tickets, lanes(|lane| 5 + lane));
    });
}

#[test]
fn atomic_operations_lose_nothing() {
    on_each_device(|| {
        let mut run = Run::new();
        let words = run.buffer(&[0, 50, 3, u32::MAX, 0, 0, 0, 3, 1, 5]);
        run.launch("atomic_words", [1, 1, 1], [32, 1, 1]);
        // Up and around by 8 comes back after 32 steps, and so does down and around.
        assert_eq!(run.read::<u32>(words), [496, 0, 31, 0, u32::MAX, 0, 0, 3, 99, 6]);

        let mut run = Run::new();
        let counts = run.slice(&[0_u32, 50, 3, 1, 0]);
        let sums = run.slice(&[0_f32]);
        let olds = run.slice(&[0_u32; 128]);
        run.launch("atomic_slice", [2, 1, 1], [64, 1, 1]);
        assert_eq!(run.read::<u32>(counts), [127 * 64, 0, 127, 99, 128]);
        assert_eq!(run.read::<f32>(sums), [64.0]);
        let mut olds = run.read::<u32>(olds);
        olds.sort_unstable();
        assert_eq!(olds, (0..128).collect::<Vec<_>>());

        let mut run = Run::new();
        let counter = run.buffer(&[0_u32]);
        let tickets = run.buffer(&[0_u32; 128]);
        run.launch("atomic_tickets", [2, 1, 1], [64, 1, 1]);
        let mut drawn = run.read::<u32>(tickets);
        drawn.sort_unstable();
        assert_eq!(drawn, (0..128).collect::<Vec<_>>());
        assert_eq!(run.read::<u32>(counter), [128]);

        let mut run = Run::new();
        run.buffer(&[0_u32; 64]);
        let (flag, word) = (run.buffer(&[0_u32]), run.buffer(&[0_u64]));
        let taken = run.buffer(&[0_u32; 64]);
        run.launch("atomic_hand_over", [2, 1, 1], [64, 1, 1]);
        assert_eq!(run.read::<u32>(taken), (101..165).collect::<Vec<_>>());
        assert_eq!((run.read::<u32>(flag), run.read::<u64>(word)), (vec![2], vec![1 << 32 | 100]));

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
    });
}

/// Copies 32 elements with each operator.
fn copied<T: bytemuck::Pod + PartialEq + Debug>(kernel: &str, element: impl Fn(u32) -> T) {
    let input = lanes(&element);
    for (lane, copies) in of_one_warp::<T, T>(kernel, &input, 12).into_iter().enumerate() {
        assert_eq!(copies, [input[lane]; 12], "{kernel}, lane {lane}");
    }
}

#[test]
fn cache_operators_change_nothing_but_the_way() {
    on_each_device(|| {
        let sums = of_one_warp::<f32, f32>("memory_operators", &lanes(|lane| lane as f32), 8);
        for (lane, sum) in sums.into_iter().enumerate() {
            assert_eq!(sum, [13.0 * lane as f32; 8]);
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
    });
}

#[test]
fn vectors_compute_element_by_element() {
    on_each_device(|| {
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
    });
}

#[test]
fn parameters_arrive_as_they_were_sent() {
    on_each_device(|| {
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
        run.slice(&[1.0_f32, -1.0]);
        let output = run.slice(&[0.0_f32; 20]);
        run.launch("parameter_slices", [1, 1, 1], [32, 1, 1]);
        let expected: Vec<f32> = (0..20).map(|i| (9 * i + 3) as f32 * if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
        assert_eq!(run.read::<f32>(output), expected);
    });
}

#[test]
fn textures_are_read_by_index_and_between_texels() {
    use device::{ArrayShape, ChannelType, Filter, Sampling, TexelFormat};
    use std::rc::Rc;

    on_each_device(|| {
        let texels: Vec<f32> = (0..64).map(|i| i as f32 * 0.5).collect();
        let format = TexelFormat { channels: 1, ty: ChannelType::F32 };
        let mut run = Run::new();
        let mut buffer = run.device().buffer::<f32>(64).unwrap();
        buffer.write(&texels).unwrap();
        let texture: device::OwnedTexture = run.device().buffer_texture(Rc::new(buffer), format).unwrap();
        run.value(texture.argument().handle());
        let output = run.buffer(&[0_f32; 4 * 32]);
        run.launch("texture_fetch", [1, 1, 1], [32, 1, 1]);
        // A texture of one channel fills the first of four.
        let found: Vec<f32> = run.read::<f32>(output).into_iter().step_by(4).collect();
        assert_eq!(found, texels[..32]);

        let mut run = Run::new();
        let shape = ArrayShape { width: 8, height: 8, ..ArrayShape::of(format) };
        let mut array = run.device().array(&shape).unwrap();
        array.write(0, &texels).unwrap();
        let sampling = Sampling { filter: Filter::Linear, ..Sampling::default() };
        let texture = run.device().array_texture(Rc::new(array), &sampling).unwrap();
        run.value(texture.argument().handle());
        let output = run.buffer(&[0_f32; 64]);
        run.launch("texture_sample", [1, 1, 1], [8, 8, 1]);
        // Half way to the next texel. The edge is repeated, so there is no next one.
        let half_way = |i: usize| if i % 8 < 7 { (texels[i] + texels[i + 1]) / 2.0 } else { texels[i] };
        assert_eq!(run.read::<f32>(output), (0..64).map(half_way).collect::<Vec<_>>());
    });
}

#[test]
fn a_surface_writes_an_array() {
    use device::{ArrayShape, ChannelType, TexelFormat};
    use std::rc::Rc;

    on_each_device(|| {
        let format = TexelFormat { channels: 1, ty: ChannelType::F32 };
        let mut run = Run::new();
        let shape = ArrayShape { width: 8, height: 8, ..ArrayShape::of(format) };
        let array = Rc::new(run.device().array(&shape).unwrap());
        let surface = run.device().array_surface(Rc::clone(&array)).unwrap();
        run.value(surface.argument().handle());
        run.launch("surface_numbers", [1, 1, 1], [8, 8, 1]);
        let mut texels = [0_f32; 64];
        array.read(0, &mut texels).unwrap();
        assert_eq!(texels.to_vec(), (0..64).map(|i| i as f32).collect::<Vec<_>>());
    });
}

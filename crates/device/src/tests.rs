//! Tests of the device interface, on the simulator.

use cuda_std::launch::{Argument, Arguments, Pointer, Slice};

use super::*;

fn simulator() -> Device {
    open(DeviceChoice::Simulator, &Options::of(kernels::PTX)).unwrap()
}

#[test]
fn linear_memory_keeps_what_is_written() {
    let device = simulator();
    let data: Vec<u32> = (0..1000).collect();
    let mut first = device.buffer::<u32>(1000).unwrap();
    first.write(&data).unwrap();
    assert_eq!(first.read().unwrap(), data);
    let mut second = device.buffer::<u32>(1000).unwrap();
    second.poison().unwrap();
    assert_eq!(second.read().unwrap(), [0x7b7b_7b7b; 1000]);
    device.copy(&first, &mut second, 40).unwrap();
    assert_eq!(second.read().unwrap()[..11], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0x7b7b_7b7b]);
}

#[test]
fn rows_of_pitched_memory_start_on_the_device_s_boundary() {
    let device = simulator();
    let data: Vec<f32> = (0..120 * 7).map(|i| i as f32).collect();
    let mut matrix = device.pitched_buffer::<f32>(7, 120).unwrap();
    assert_eq!((matrix.pitch_bytes(), matrix.pitch(), matrix.bytes()), (512, 128, 512 * 7));
    matrix.poison().unwrap();
    matrix.write(&data).unwrap();
    assert_eq!(matrix.read().unwrap(), data);
    // The padding is still poisoned: read through a copy of all bytes.
    let mut all = device.buffer::<f32>(128 * 7).unwrap();
    device.copy(&matrix, &mut all, matrix.bytes()).unwrap();
    let all = all.read().unwrap();
    assert_eq!(all[128..248], data[120..240]);
    assert!(all[120..128].iter().all(|x| x.to_bits() == 0x7b7b_7b7b));
}

#[test]
fn buffers_are_slices_and_pointers() {
    let device = simulator();
    let pitched = device.pitched_buffer::<f32>(3, 5).unwrap();
    let linear = device.matrix::<f32>(3, 5, false).unwrap();
    let mut arguments = Arguments::new();
    Argument::<Slice<f32>>::push(&pitched, &mut arguments);
    Argument::<Slice<f32>>::push(&linear, &mut arguments);
    Argument::<Pointer<f32>>::push(&linear, &mut arguments);
    let values: Vec<u64> = arguments.iter().map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap())).collect();
    assert_eq!(values, [pitched.address(), 3 * 128, linear.address(), 15, linear.address()]);
}

#[test]
fn memory_is_freed_with_its_buffer_and_runs_out_with_a_clear_error() {
    let device = simulator();
    let before = device.properties().memory_bytes;
    for _ in 0..100 {
        drop(device.buffer::<u8>(1 << 20).unwrap());
    }
    assert_eq!(device.properties().memory_bytes, before);
    let error = device.buffer::<f64>(usize::MAX / 16).err().unwrap();
    assert!(matches!(error, Error::OutOfMemory { .. }), "{error}");
    assert!(device.buffer::<f64>(usize::MAX).is_err());
    assert!(device.check_room("a test", u64::MAX).unwrap_err().to_string().starts_with("a test needs 16.0 EiB"));
}

#[test]
fn a_kernel_out_of_bounds_is_a_fault_that_names_where() {
    let device = simulator();
    let a = device.buffer::<f32>(64).unwrap();
    let short = device.buffer::<f32>(32).unwrap();
    let config = LaunchConfig::linear(64, 64);
    // The output's length is a lie, which only raw arguments can tell.
    let mut arguments = Arguments::new();
    for buffer in [&a, &a, &short] {
        arguments.push_slice(buffer.address(), 64);
    }
    arguments.push_bytes(&0_u64.to_le_bytes(), 8);
    // SAFETY: the simulator finds what is wrong.
    let error = unsafe { device.launch_untyped("offset_read", &config, &arguments) }.err().unwrap();
    assert_eq!(error.exit_code(), 1);
    let text = error.to_string();
    assert!(text.starts_with("kernel `offset_read`: out of bounds write of 4 bytes"), "{text}");
    assert!(text.contains("src/offset.rs:") && text.contains("thread"), "{text}");
    assert!(!text.contains('\n'));
}

#[test]
fn a_kernel_without_a_handle_is_launched_by_its_name() {
    let device = simulator();
    let mut a = device.buffer::<f32>(10).unwrap();
    a.write(&[2.0; 10]).unwrap();
    let c = device.buffer::<f32>(10).unwrap();
    let mut arguments = Arguments::new();
    arguments.push_slice(a.address(), 10);
    arguments.push_slice(a.address(), 10);
    arguments.push_slice(c.address(), 10);
    let config = LaunchConfig::linear(10, 32);
    // SAFETY: it is refused.
    let error = unsafe { device.launch_untyped("offset_read", &config, &arguments) }.err().unwrap();
    assert_eq!(
        error.to_string(),
        "kernel offset_read: takes 7 parameters in the loaded PTX, but 6 arguments were given"
    );
    arguments.push_bytes(&0_u64.to_le_bytes(), 8);
    // SAFETY: the three buffers have ten elements.
    unsafe { device.launch_untyped("offset_read", &config, &arguments) }.unwrap();
    assert_eq!(c.read().unwrap(), [4.0; 10]);
}

#[test]
fn launches_on_the_simulator_are_counted_and_not_timed() {
    let device = simulator();
    let mut matrix = device.matrix::<f32>(32, 32, true).unwrap();
    let input = device.matrix::<f32>(32, 32, true).unwrap();
    let config = LaunchConfig::new([1, 1, 1], [32, 8, 1]);
    let kernel = &kernels::transpose::transpose_padded;
    let report = device.launch(kernel, &config, (&input, &mut matrix)).unwrap().unwrap();
    let counters = report.counters();
    assert_eq!((counters.global.load.requests, counters.global.load.sectors), (32, 128));
    assert_eq!((counters.shared.load.wavefronts, counters.shared.load.bank_conflicts), (32, 0));
    assert_eq!(device.time(&mut || unreachable!("the simulator has no clock")).unwrap(), None);
}

#[test]
fn words_and_the_rest_are_all_elements() {
    use cuda_std::launch::{Argument, Arguments, DisjointSlice, Slice};
    let device = simulator();
    for (length, words, rest) in [(10, 2, 2), (8, 2, 0), (3, 0, 3), (0, 0, 0)] {
        let mut buffer = device.buffer::<f32>(length).unwrap();
        let start = buffer.address();
        let mut expected = Arguments::new();
        expected.point_to(device.owner().0);
        expected.point_to(device.owner().0);
        expected.push_slice(start, words);
        expected.push_slice(start + 16 * words as u64, rest);
        let mut read = Arguments::new();
        let (all, last) = buffer.words::<[f32; 4]>();
        Argument::<Slice<[f32; 4]>>::push(all, &mut read);
        Argument::<Slice<f32>>::push(last, &mut read);
        let mut written = Arguments::new();
        let (all, last) = buffer.words_mut::<[f32; 4]>();
        Argument::<DisjointSlice<[f32; 4]>>::push(all, &mut written);
        Argument::<DisjointSlice<f32>>::push(last, &mut written);
        assert_eq!((&read, &written), (&expected, &expected), "{length} elements");
    }
}

#[test]
fn memory_of_another_device_is_refused_wherever_it_is_used() {
    let (device, other) = (simulator(), simulator());
    let (mut here, mut far) = (device.buffer::<f32>(64).unwrap(), other.buffer::<f32>(64).unwrap());
    let config = LaunchConfig::linear(64, 64);
    let kernel = &kernels::offset::offset_read;
    device.clone().launch(kernel, &config, (&here, &here, &mut device.buffer::<f32>(64).unwrap(), 0)).unwrap();
    let refused = |result: Result<()>, user: &str| {
        let expected = format!("{user}: memory of another device; allocate it on the device that uses it");
        assert_eq!(result.unwrap_err().to_string(), expected);
    };
    let name = "kernel offset_read";
    refused(device.launch(kernel, &config, (&far, &far, &mut here, 0)).map(drop), name);
    refused(device.launch(kernel, &config, (far.first(64), &far, &mut here, 0)).map(drop), name);
    refused(device.launch(kernel, &config, (&device.buffer(64).unwrap(), &here, &mut far, 0)).map(drop), name);
    let matrix = other.matrix::<f32>(32, 32, true).unwrap();
    let mut transposed = device.matrix::<f32>(32, 32, false).unwrap();
    let padded = &kernels::transpose::transpose_padded;
    let block = LaunchConfig::new([1, 1, 1], [32, 8, 1]);
    refused(device.launch(padded, &block, (&matrix, &mut transposed)).map(drop), "kernel transpose_padded");
    refused(device.copy(&here, &mut far, 4), "a copy");
    refused(device.copy(&far, &mut here, 4), "a copy");
    refused(far.copy_to(&mut here), "a copy");
    let format = TexelFormat { channels: 1, ty: ChannelType::F32 };
    let texture = |source| device.texture(source, &Sampling::default()).map(drop);
    refused(texture(TextureSource::linear(&far, format)), "a texture");
    let mut array = other.array(&ArrayShape { width: 8, height: 8, ..ArrayShape::of(format) }).unwrap();
    refused(texture(TextureSource::Array(&array)), "a texture");
    refused(device.surface(&mut array).map(drop), "a surface");
}

#[test]
fn rows_of_elements_that_do_not_divide_the_pitch_are_refused() {
    let device = simulator();
    let error = device.matrix::<[f32; 3]>(4, 5, true).err().unwrap();
    assert_eq!(
        error.to_string(),
        "a pitched matrix of 5 columns: its rows start 512 bytes apart, which is no multiple of the 12 bytes of an element; \
         make the matrix linear"
    );
    assert_eq!(error.exit_code(), 2);
    assert!(device.matrix::<[f32; 0]>(4, 5, true).is_err());
    // Rows of 1536 bytes consist of whole elements.
    let mut matrix = device.matrix::<[f32; 3]>(2, 128, true).unwrap();
    let data: Vec<[f32; 3]> = (0..256).map(|i| [i as f32; 3]).collect();
    matrix.write(&data).unwrap();
    assert_eq!((matrix.pitch(), matrix.read().unwrap()), (128, data));
}

#[test]
fn a_texture_reads_no_more_than_its_buffer() {
    let device = simulator();
    let buffer = device.buffer::<f32>(100).unwrap();
    let format = TexelFormat { channels: 1, ty: ChannelType::F32 };
    let texture = |source| device.texture(source, &Sampling::default()).map(drop);
    texture(TextureSource::Linear { buffer: &buffer, texels: 100, format }).unwrap();
    assert!(texture(TextureSource::Linear { buffer: &buffer, texels: 101, format }).is_err());
    let rows = |height, pitch| TextureSource::Pitched { buffer: &buffer, width: 16, height, pitch, format };
    texture(rows(3, 128)).unwrap();
    assert!(texture(rows(4, 128)).is_err());
    assert!(texture(rows(u32::MAX, u64::MAX)).is_err());
}

#[test]
#[should_panic(expected = "the buffer is too short")]
fn a_write_beyond_the_end_of_the_address_space_is_none() {
    let _ = simulator().buffer::<u32>(4).unwrap().write_from(usize::MAX, &[1, 2]);
}

#[test]
fn goals_of_a_launch_are_met_missed_or_refused() {
    let device = simulator();
    let (mut input, out) = (device.buffer::<f32>(64).unwrap(), device.buffer::<f32>(64).unwrap());
    input.write(&[1.0; 64]).unwrap();
    let mut arguments = Arguments::new();
    for buffer in [&input, &out] {
        arguments.push_slice(buffer.address(), 64);
    }
    // SAFETY: the kernel copies as many elements as both buffers have.
    let report = unsafe { device.launch_untyped("vector_copy4", &LaunchConfig::linear(64, 64), &arguments) };
    let report = report.unwrap().expect("the simulator counts");
    for goal in ["loads.sectors == loads.bytes / 32", "launches == 1", "findings == 0", "stores.requests <= 2"] {
        assert_eq!(report.require(goal), Ok(()), "{goal}");
    }
    for (goal, said) in [
        ("stores.sectors < 8", "stores.sectors < 8: 8; "),
        ("occupancy > 50", "occupancy > 50: nothing was counted"),
        ("predicted.us < 1", "predicted.us < 1: no time was predicted"),
        ("loads", "loads: 'loads': a goal needs <=, <, ==, >= or >"),
        ("hopper: launches == 1", "hopper: launches == 1: a report is of one launch on one device: leave out"),
        ("launches of copy == 1", "launches of copy == 1: a report is of one launch on one device: leave out"),
        ("unsafe == 0", "unsafe == 0: unsafe: only exercises have it"),
        ("launches <= blocks", "launches <= blocks: unknown name 'blocks': a bound may name metrics"),
    ] {
        let missed = report.require(goal).expect_err(goal);
        assert!(missed.to_string().starts_with(said), "{missed}");
        assert_eq!(Error::from(missed).exit_code(), 1);
    }
}

//! Which kernels wait for the launch before them by themselves, so that a GPU may begin them early.
//! If the compiler put an access to memory before the wait, or took their input as constant, they
//! would silently lose this.

use best_kernels::{PTX, vector};
use device::LaunchConfig;

use crate::labs::devices;

#[test]
fn the_best_kernels_may_begin_early() {
    for (crates, arch, waits) in [(PTX, "sm_90", true), (kernels::PTX, "sm_80", false)] {
        let newest = crates.last().expect("PTX for some architecture");
        assert_eq!(newest.arch, arch);
        let module = ptx::parse(newest.arch, newest.text).unwrap_or_else(|errors| panic!("{errors}"));
        assert!(module.kernels().count() >= 45);
        for (_, kernel) in module.kernels() {
            assert_eq!(kernel.may_begin_early(), waits, "{}", kernel.name);
        }
    }
}

#[test]
fn older_architectures_have_no_wait() {
    for image in &PTX[..PTX.len() - 1] {
        assert!(!image.text.contains("griddepcontrol"), "{}", image.arch);
    }
}

/// Each launch copies what the one before has copied, from the fourth float on: a launch that began
/// too early would find old ones. On a GPU nothing waits between them but they themselves.
#[test]
fn a_launch_finds_what_the_one_before_has_written() {
    const LAUNCHES: usize = 50;
    for device in devices() {
        let length = if device.properties().is_gpu() { 1 << 20 } else { 10_000 };
        let numbers: Vec<f32> = (0..length).map(|i| i as f32).collect();
        let (mut from, mut to) = (device.buffer(length).unwrap(), device.buffer::<f32>(length).unwrap());
        from.write(&numbers).unwrap();
        to.poison().unwrap();
        for launch in 1..=LAUNCHES {
            let length = length - 4 * launch;
            let config = LaunchConfig::linear(length.div_ceil(4), vector::THREADS);
            // SAFETY: so many elements follow, and the other buffer has more.
            unsafe { device.launch_unchecked(&vector::vector_copy_best, &config, (from.tail(4), &mut to, length)) }
                .unwrap();
            std::mem::swap(&mut from, &mut to);
        }
        let left = length - 4 * LAUNCHES;
        assert_eq!(from.read().unwrap()[..left], numbers[4 * LAUNCHES..], "{}", device.properties().name);
    }
}

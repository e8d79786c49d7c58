//! The checks of the targets `machine`, `loose` and `wild`: what must hold for every random kernel
//! on the simulator. The crate's table of targets and the tests of fixed seeds call it.

use arbitrary::Unstructured;
use common::random::Random;
use simt::textures::{AddressMode, ArrayShape, ChannelType, Filter, ReadMode, Sampling, TexelFormat, TextureSource};
use simt::{Checks, Launch, LaunchError, Memory, Model, Program, Report};

use crate::kernel::{COMMON_BYTES, INPUT_BYTES, Kernel, Kind, RECORD_BYTES};
use crate::scalar::{self, Outcome};

/// What the output holds before the launch.
pub const OUTPUT_BYTE: u8 = 0x5c;
/// What the common memory holds before the launch.
pub const COMMON_BYTE: u8 = 0xa5;

/// A limit of warp instructions that a kernel of [`Kernel::generate`] never comes near.
const STEP_LIMIT: u64 = 1 << 26;

/// The bytes that a kernel reads, drawn from its seed. Every second number is a special one.
pub fn input(kernel: &Kernel) -> Vec<u8> {
    const SPECIAL: [u64; 8] = [
        0,
        u64::MAX,
        0x8000_0000_0000_0000,
        0x7f80_0000_ff80_0001,
        0x0000_0003_0000_001f,
        0x3ff0_0000_3f80_0000,
        0x7ff0_0000_0000_0000,
        0xffff_8000_0000_7fff,
    ];
    let mut random = Random::new(kernel.seed);
    let numbers = (0..INPUT_BYTES / 8).map(|_| match random.next_u64() {
        bits if bits % 2 == 0 => SPECIAL[(bits >> 8) as usize % SPECIAL.len()],
        bits => bits.rotate_left((bits >> 16) as u32 & 63),
    });
    numbers.flat_map(u64::to_le_bytes).collect()
}

/// The outcome of a launch.
struct Launched {
    result: Result<Report, LaunchError>,
    outcome: Outcome,
}

/// How a kernel is launched.
#[derive(Clone, Copy, Debug)]
struct Way {
    /// Host threads.
    threads: usize,
    checks: Checks,
    model: Option<&'static str>,
}

/// On one host thread, without checks.
const ALONE: Way = Way { threads: 1, checks: Checks::NONE, model: None };

/// Creates the textures and the surface that loose kernels read, and stores their handles where the
/// kernels look for them.
fn place_objects(program: &Program, memory: &mut Memory) {
    let floats = TexelFormat { channels: 4, ty: ChannelType::U8 };
    let image = ArrayShape { width: 16, height: 8, levels: 3, ..ArrayShape::of(floats) };
    let integers = TexelFormat { channels: 2, ty: ChannelType::S16 };
    let volume = ArrayShape { width: 5, height: 3, depth: 4, ..ArrayShape::of(integers) };
    let words = TexelFormat { channels: 1, ty: ChannelType::U32 };
    let pixels = ArrayShape { width: 8, height: 8, ..ArrayShape::of(words) };
    let [image, volume, pixels] = [image, volume, pixels].map(|shape| {
        let array = memory.allocate_array(&shape).expect("a good shape");
        for level in 0..shape.levels {
            let texels: Vec<u8> = (0..shape.level_bytes(level)).map(|byte| (byte * 37 + 11) as u8).collect();
            memory.write_array(array, level, &texels).expect("the level has that size");
        }
        array
    });
    let smooth = Sampling {
        address_modes: [AddressMode::Wrap, AddressMode::Mirror, AddressMode::Clamp],
        filter: Filter::Linear,
        level_filter: Filter::Linear,
        normalized_coordinates: true,
        read_mode: ReadMode::NormalizedFloat,
        ..Sampling::default()
    };
    let objects = [
        ("image", memory.create_texture(&TextureSource::Array(image), &smooth)),
        ("volume", memory.create_texture(&TextureSource::Array(volume), &Sampling::default())),
        ("pixels", memory.create_surface(pixels)),
    ];
    for (name, handle) in objects {
        let handle = handle.expect("it can be read so");
        let symbol = program.symbol(name).expect("a loose kernel has it");
        memory.write(symbol.address, &handle.to_le_bytes()).expect("it is allocated");
    }
}

/// Launches the kernel.
fn launch(kernel: &Kernel, module: &ptx::Module, way: Way) -> Launched {
    let mut memory = Memory::new(1 << 22);
    let program = Program::load(module, &mut memory).unwrap_or_else(|error| panic!("{error}\n{kernel:?}"));
    if kernel.kind == Kind::Loose {
        place_objects(&program, &mut memory);
    }
    let mut allocate = |bytes: &[u8]| {
        let address = memory.allocate(bytes.len() as u64).expect("there is room");
        memory.write(address, bytes).expect("it was just allocated");
        address
    };
    let mut output = vec![OUTPUT_BYTE; (kernel.threads() * RECORD_BYTES) as usize];
    let mut common = vec![COMMON_BYTE; COMMON_BYTES as usize];
    let addresses = [allocate(&input(kernel)), allocate(&output), allocate(&common)];
    let arguments = addresses.map(u64::to_le_bytes);
    let result = program.launch(
        &memory,
        &Launch {
            kernel: "k",
            grid: kernel.grid,
            block: kernel.block,
            arguments: &arguments.each_ref().map(|argument| argument.as_slice()),
            step_limit: STEP_LIMIT,
            threads: Some(way.threads),
            checks: way.checks,
            model: way.model.and_then(Model::named),
            ..Launch::default()
        },
    );
    memory.read(addresses[1], &mut output).expect("it is allocated");
    memory.read(addresses[2], &mut common).expect("it is allocated");
    Launched { result, outcome: Outcome { output, common } }
}

fn parse(kernel: &Kernel) -> ptx::Module {
    ptx::parse("k.ptx", &kernel.module()).unwrap_or_else(|errors| panic!("{errors}\n{kernel:?}"))
}

/// Checks that the kernel gives what [`scalar::run`] gives, with the same memory and counters on
/// several host threads and under all checks, which find nothing.
///
/// # Panics
///
/// If not.
pub fn check(kernel: &Kernel) {
    let module = parse(kernel);
    let outcome = check_ways(kernel, &module, None);
    let expected = scalar::run(kernel, &input(kernel), OUTPUT_BYTE, COMMON_BYTE);
    compare(kernel, &outcome, &expected, "the machine and one thread after another");
}

/// Checks that a loose kernel ends, and gives the same memory and counters on several host threads
/// and under all checks, which find nothing, with a model and without.
///
/// # Panics
///
/// If not.
pub fn check_loose(kernel: &Kernel) {
    let module = parse(kernel);
    let plain = check_ways(kernel, &module, None);
    let modelled = check_ways(kernel, &module, Some("ampere"));
    compare(kernel, &modelled, &plain, "a model and none");
}

/// Launches the kernel in each way, and returns their common outcome.
fn check_ways(kernel: &Kernel, module: &ptx::Module, model: Option<&'static str>) -> Outcome {
    let alone = launch(kernel, module, Way { model, ..ALONE });
    let report = alone.result.unwrap_or_else(|error| panic!("{error}\n{kernel:?}"));
    check_report(&report, kernel);
    for (threads, checks) in [(3, Checks::NONE), (1, Checks::ALL), (3, Checks::ALL)] {
        let way = Way { threads, checks, model };
        let other = launch(kernel, module, way);
        compare(kernel, &other.outcome, &alone.outcome, &format!("{way:?} and one thread without checks"));
        // Findings are part of a report, and must be empty.
        assert_eq!(other.result.as_ref(), Ok(&report), "{way:?}\n{kernel:?}");
    }
    alone.outcome
}

/// Checks that the counters add up.
fn check_report(report: &Report, kernel: &Kernel) {
    let counters = report.counters();
    let executed: u64 = report.instructions().map(|row| row.counters.executed).sum();
    let by_line: u64 = report.by_ptx_line().values().map(|counters| counters.executed).sum();
    assert_eq!((executed, by_line), (counters.instructions_executed, counters.instructions_executed), "\n{kernel:?}");
    for row in report.instructions() {
        let counted = row.counters;
        assert!(counted.active_lanes <= 32 * counted.executed, "{row:?}\n{kernel:?}");
        assert!(counted.shared.bank_conflicts <= counted.shared.wavefronts, "{row:?}\n{kernel:?}");
        assert!(counted.global.bytes <= 32 * counted.global.sectors, "{row:?}\n{kernel:?}");
    }
}

/// Checks that a wild kernel ends the same way on one host thread and on several, with checks and
/// without.
///
/// # Panics
///
/// If not.
pub fn check_wild(kernel: &Kernel) {
    let module = parse(kernel);
    let [unchecked, checked] = [Checks::NONE, Checks::ALL].map(|checks| {
        let [alone, several] = [1, 3].map(|threads| launch(kernel, &module, Way { threads, checks, model: None }));
        assert_eq!(alone.result, several.result, "{checks:?}\n{kernel:?}");
        // After a trap, it is undefined which of the later blocks have run.
        if alone.result.is_ok() {
            compare(kernel, &several.outcome, &alone.outcome, "three threads of the host and one");
        }
        alone
    });
    // A kernel that completes without checks does the same with them.
    if let Ok(report) = &unchecked.result {
        let other = checked.result.unwrap_or_else(|error| panic!("under checks: {error}\n{kernel:?}"));
        assert!(other.instructions().eq(report.instructions()), "checks count\n{kernel:?}");
        compare(kernel, &checked.outcome, &unchecked.outcome, "all checks and none");
    }
}

/// Checks that two outcomes are the same.
///
/// # Panics
///
/// If not: see [`difference`].
fn compare(kernel: &Kernel, found: &Outcome, expected: &Outcome, who: &str) {
    if let Some(difference) = difference(found, expected) {
        panic!("{who} differ in {difference}\n{kernel:?}");
    }
}

/// The first difference between two outcomes: a thread's record, or the common memory.
pub fn difference(found: &Outcome, expected: &Outcome) -> Option<String> {
    let first =
        |found: &[u8], expected: &[u8]| found.iter().zip(expected).position(|(found, expected)| found != expected);
    if let Some(at) = first(&found.output, &expected.output) {
        let (thread, byte) = (at / RECORD_BYTES as usize, at % RECORD_BYTES as usize);
        let record = |bytes: &[u8]| bytes[at - byte..][..RECORD_BYTES as usize].to_vec();
        let [found, expected] = [record(&found.output), record(&expected.output)];
        return Some(format!("byte {byte} of thread {thread}:\n{found:02x?}\n{expected:02x?}"));
    }
    let at = first(&found.common, &expected.common)?;
    Some(format!("byte {at} of the common memory: {:#04x}, {:#04x}", found.common[at], expected.common[at]))
}

/// The kernel of this kind for a seed.
pub fn seeded(seed: u64, kind: Kind) -> Kernel {
    let mut random = Random::new(seed);
    let bytes: Vec<u8> = (0..256).flat_map(|_| random.next_u64().to_le_bytes()).collect();
    Kernel::generate(&mut Unstructured::new(&bytes), kind).expect("there are bytes enough")
}

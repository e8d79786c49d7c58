//! `wgmma` with random numbers, on every device of this machine: every layout of the same matrices
//! in shared memory gives the same sums, and all devices agree on them to the bit.
//!
//! A GPU must be a Hopper (sm_90a); otherwise only the simulator is tested.

use std::fmt::Write as _;
use std::path::PathBuf;

use common::random::Random;
use cuda_std::launch::Arguments;
use device::{Buffer, Device, DeviceChoice, LaunchConfig, OnDevice, Options};

/// Columns of D.
const N: usize = 16;
/// Bytes of shared memory: A's, then B's.
const HALF: usize = 16 << 10;

/// A matrix product.
struct Case {
    name: &'static str,
    /// The instruction's shape and types.
    form: &'static str,
    /// Bytes of an element (of one bit: of eight of them).
    width: usize,
    /// Whether the instruction has operands for signs, and for transpositions.
    has_signs: bool,
    may_transpose: bool,
    is_sparse: bool,
    /// 32-bit words of D in each thread.
    words: usize,
}

const fn case(name: &'static str, form: &'static str, width: usize) -> Case {
    Case { name, form, width, has_signs: true, may_transpose: width == 2, is_sparse: false, words: N / 2 }
}

/// With sums of f16.
const fn short(case: Case) -> Case {
    Case { words: N / 4, ..case }
}

const fn integer(case: Case) -> Case {
    Case { has_signs: false, ..case }
}

const fn sparse(case: Case) -> Case {
    Case { is_sparse: true, ..case }
}

const CASES: [Case; 16] = [
    case("f16", "m64n16k16.f32.f16.f16", 2),
    short(case("f16_f16", "m64n16k16.f16.f16.f16", 2)),
    case("bf16", "m64n16k16.f32.bf16.bf16", 2),
    case("tf32", "m64n16k8.f32.tf32.tf32", 4),
    case("e4m3", "m64n16k32.f32.e4m3.e4m3", 1),
    case("e5m2", "m64n16k32.f32.e5m2.e5m2", 1),
    case("mixed", "m64n16k32.f32.e4m3.e5m2", 1),
    short(case("e4m3_f16", "m64n16k32.f16.e4m3.e4m3", 1)),
    short(case("e5m2_f16", "m64n16k32.f16.e5m2.e4m3", 1)),
    integer(case("s8", "m64n16k32.s32.s8.u8", 1)),
    integer(case("u8_satfinite", "m64n16k32.satfinite.s32.u8.s8", 1)),
    integer(case("b1", "m64n16k256.s32.b1.b1.and.popc", 1)),
    sparse(case("sparse_f16", "m64n16k32.f32.f16.f16", 2)),
    sparse(case("sparse_tf32", "m64n16k16.f32.tf32.tf32", 4)),
    sparse(case("sparse_e4m3", "m64n16k64.f32.e4m3.e4m3", 1)),
    sparse(integer(case("sparse_s8", "m64n16k64.s32.s8.s8", 1))),
];

/// Where A is, and whether it and B are transposed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Variant {
    a_in_registers: bool,
    a_transposed: bool,
    b_transposed: bool,
}

impl Case {
    fn variants(&self) -> Vec<Variant> {
        let transposed: &[bool] = if self.may_transpose { &[false, true] } else { &[false] };
        let mut variants = Vec::new();
        for &b_transposed in transposed {
            variants.push(Variant { a_in_registers: true, a_transposed: false, b_transposed });
            for &a_transposed in transposed {
                variants.push(Variant { a_in_registers: false, a_transposed, b_transposed });
            }
        }
        variants
    }

    fn kernel(&self, variant: Variant) -> String {
        let Variant { a_in_registers, a_transposed, b_transposed } = variant;
        format!("{}_{}{}{}", self.name, u8::from(a_in_registers), u8::from(a_transposed), u8::from(b_transposed))
    }

    /// Elements along k: of B, and of A as it is stored.
    fn depths(&self) -> (usize, usize) {
        let stored = 32 / self.width;
        (if self.is_sparse { 2 * stored } else { stored }, stored)
    }

    /// The kernel: shared memory is filled, the product made, D stored.
    fn text(&self, variant: Variant) -> String {
        let list = |name: &str, count: usize| {
            let registers: Vec<String> = (0..count).map(|index| format!("%{name}{index}")).collect();
            format!("{{{}}}", registers.join(", "))
        };
        let mut operands = vec![list("d", self.words)];
        operands.push(if variant.a_in_registers { list("a", 4) } else { "%rd1".into() });
        operands.push("%rd2".into());
        if self.is_sparse {
            operands.extend(["%r5".into(), "0".into()]);
        }
        operands.push("1".into());
        if self.has_signs {
            operands.extend(["1".into(), "-1".into()]);
        }
        if self.may_transpose {
            let a = (!variant.a_in_registers).then(|| u8::from(variant.a_transposed).to_string());
            operands.extend(a.into_iter().chain([u8::from(variant.b_transposed).to_string()]));
        }
        let mut text = format!(
            ".visible .entry {}(.param .u64 memory, .param .u64 a, .param .u64 d, .param .u64 metadata, .param .u64 at_a, \
             .param .u64 at_b, .param .u64 out)\n.maxntid 128\n{{\n\
             .reg .pred %p<2>; .reg .b32 %r<8>; .reg .b32 %a<4>; .reg .b32 %d<8>; .reg .b64 %rd<8>;\n\
             mov.u32 %r0, %tid.x;\nmov.u32 %r1, tile;\nld.param.u64 %rd3, [memory];\nmov.u32 %r2, %r0;\n\
             FILL:\nmad.wide.u32 %rd4, %r2, 4, %rd3;\nld.global.u32 %r3, [%rd4];\nmad.lo.u32 %r4, %r2, 4, %r1;\n\
             st.shared.u32 [%r4], %r3;\nadd.u32 %r2, %r2, 128;\nsetp.lt.u32 %p1, %r2, {};\n@%p1 bra FILL;\n\
             ld.param.u64 %rd3, [metadata];\nmad.wide.u32 %rd3, %r0, 4, %rd3;\nld.global.u32 %r5, [%rd3];\n\
             ld.param.u64 %rd3, [a];\nmad.wide.u32 %rd3, %r0, 16, %rd3;\n\
             ld.global.v4.u32 {{%a0, %a1, %a2, %a3}}, [%rd3];\nld.param.u64 %rd3, [d];\n",
            self.kernel(variant),
            HALF / 2
        );
        let bytes = 4 * self.words;
        writeln!(text, "mad.wide.u32 %rd3, %r0, {bytes}, %rd3;").expect("a string takes all");
        for word in 0..self.words {
            writeln!(text, "ld.global.u32 %d{word}, [%rd3+{}];", 4 * word).expect("a string takes all");
        }
        write!(
            text,
            "shr.u32 %r1, %r1, 4;\ncvt.u64.u32 %rd3, %r1;\nld.param.u64 %rd1, [at_a];\nadd.u64 %rd1, %rd1, %rd3;\n\
             ld.param.u64 %rd2, [at_b];\nadd.u64 %rd2, %rd2, %rd3;\n\
             bar.sync 0;\nfence.proxy.async;\nwgmma.fence.sync.aligned;\n\
             wgmma.mma_async{}.sync.aligned.{} {};\n\
             wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n\
             ld.param.u64 %rd3, [out];\nmad.wide.u32 %rd3, %r0, {bytes}, %rd3;\n",
            if self.is_sparse { ".sp" } else { "" },
            self.form,
            operands.join(", ")
        )
        .expect("a string takes all");
        for word in 0..self.words {
            writeln!(text, "st.global.u32 [%rd3+{}], %d{word};", 4 * word).expect("a string takes all");
        }
        text + "ret;\n}\n"
    }
}

/// All kernels, in a file.
fn module() -> PathBuf {
    let mut text =
        format!(".version 8.4\n.target sm_90a\n.address_size 64\n.shared .align 1024 .b8 tile[{}];\n", 2 * HALF);
    for case in &CASES {
        for variant in case.variants() {
            text += &case.text(variant);
        }
    }
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("warpgroup.ptx");
    std::fs::write(&path, text).expect("the file is written");
    path
}

/// The layout of a matrix in shared memory: the swizzle's bytes (16: none), strides, where it
/// starts, and where its pattern starts.
#[derive(Clone, Copy, Debug)]
struct Layout {
    line: usize,
    leading: usize,
    stride: usize,
    start: usize,
    base: usize,
}

impl Layout {
    /// All layouts of a matrix of this many vectors (rows of A or columns of B).
    fn all(case: &Case, transposed: bool, vectors: usize, depth: usize) -> Vec<Layout> {
        let along = case.width * if transposed { vectors } else { depth };
        let mut layouts = Vec::new();
        for line in [16, 32, 64, 128] {
            // Along k, a swizzled line holds everything that the instruction reads.
            if line > 16 && !transposed && along > line {
                continue;
            }
            let atom = 8 * line;
            let atoms_along = along.div_ceil(line);
            let atoms_across = if transposed { depth } else { vectors } / 8;
            // Transposed and without a swizzle, the strides change roles.
            let (along, across) = (atom * atoms_across, atom);
            let (leading, stride) = if transposed && line == 16 { (across, along) } else { (along, across) };
            let plain = Layout { line, leading, stride, start: 0, base: 0 };
            layouts.push(plain);
            // Adjacent atoms along the lines.
            let (along, across) = (atom, atom * atoms_along);
            let (leading, stride) = if transposed && line == 16 { (across, along) } else { (along, across) };
            layouts.push(Layout { leading, stride, ..plain });
            // A swizzled pattern that starts elsewhere, and a matrix that starts within its lines.
            if line > 16 {
                layouts.push(Layout { start: 1024 + 384, base: 3, ..plain });
            }
            if line == 128 && !transposed && case.width * depth <= 32 {
                layouts.push(Layout { start: 32, ..plain });
            }
        }
        layouts
    }

    fn descriptor(&self, offset: usize) -> u64 {
        let mode = [(16, 0), (128, 1), (64, 2), (32, 3)].iter().find(|mode| mode.0 == self.line).expect("a mode").1;
        let field = |bytes: usize| (bytes as u64 & 0x3_ffff) >> 4;
        field(offset + self.start)
            | field(self.leading) << 16
            | field(self.stride) << 32
            | (self.base as u64) << 49
            | mode << 62
    }

    /// The byte of an element of some row of A or column of B (PTX ISA, "Shared Memory Matrix
    /// Layout").
    fn place(&self, transposed: bool, width: usize, vector: usize, k: usize) -> usize {
        let (across, along) = if transposed { (k, vector * width) } else { (vector, k * width) };
        let (to_lower, to_right) =
            if transposed && self.line == 16 { (self.leading, self.stride) } else { (self.stride, self.leading) };
        let address = self.start
            + across / 8 * to_lower
            + across % 8 * self.line
            + along / self.line * to_right
            + along % self.line;
        let pattern = (address / 128).wrapping_sub(self.base) % (self.line / 16);
        address ^ (pattern * 16)
    }
}

/// A matrix of A's rows or B's columns, one after the other.
struct Matrix {
    depth: usize,
    bits: Vec<u32>,
}

impl Matrix {
    fn vectors(&self) -> usize {
        self.bits.len() / self.depth
    }

    /// Writes it to shared memory.
    fn write(&self, memory: &mut [u8], layout: &Layout, transposed: bool, width: usize) {
        for vector in 0..self.vectors() {
            for k in 0..self.depth {
                let at = layout.place(transposed, width, vector, k);
                let bytes = self.bits[vector * self.depth + k].to_le_bytes();
                memory[at..at + width].copy_from_slice(&bytes[..width]);
            }
        }
    }

    /// A's registers: four for each thread.
    fn registers(&self, width: usize) -> Vec<u32> {
        let each = 4 / width;
        let register = |index: usize| {
            let (thread, register) = (index / 4, index % 4);
            let (warp, lane) = (thread / 32, thread % 32);
            let row = 16 * warp + lane / 4 + 8 * (register & 1);
            let first = lane % 4 * each + if register >= 2 { 4 * each } else { 0 };
            (0..each).fold(0, |word, k| word | self.bits[row * self.depth + first + k] << (8 * width * k))
        };
        (0..512).map(register).collect()
    }
}

/// A float of `(exponent, fraction)` bits whose exponent is near that of 1.
fn float(random: &mut Random, spread: u32, (exponent, fraction): (u32, u32)) -> u32 {
    let bits = random.next_u64() as u32;
    let bias = (1 << (exponent - 1)) - 1;
    let spread = spread.min(2 * bias - 2);
    let biased = bias - spread / 2 + (random.next_u64() >> 40) as u32 % spread;
    (bits >> 31) << (exponent + fraction) | biased << fraction | bits & ((1 << fraction) - 1)
}

/// An element of A or B; `round` spreads exponents further.
fn element(case: &Case, is_b: bool, round: u32, random: &mut Random) -> u32 {
    let spread = 2 + 3 * round;
    let ty = case.form.split('.').rev().filter(|part| !matches!(*part, "and" | "popc")).nth(usize::from(!is_b));
    match ty.expect("a type") {
        "f16" => float(random, if case.words < N / 2 { spread.min(10) } else { spread }, (5, 10)),
        "bf16" => float(random, spread, (8, 7)),
        "tf32" => float(random, spread, (8, 23)),
        // Everything but infinities and NaN.
        "e4m3" => loop {
            let bits = random.next_u64() as u32 >> 24;
            if bits & 0x7f != 0x7f && (case.words == N / 2 || bits & 0x40 == 0) {
                return bits;
            }
        },
        "e5m2" => loop {
            let bits = random.next_u64() as u32 >> 24;
            if bits & 0x7c != 0x7c && (case.words == N / 2 || bits & 0x40 == 0) {
                return bits;
            }
        },
        _ => random.next_u64() as u32 >> 24,
    }
}

/// A word of D.
fn sum(case: &Case, round: u32, random: &mut Random) -> u32 {
    let spread = 2 + 3 * round;
    if case.form.contains("s32") {
        return random.next_u64() as u32;
    }
    if case.words < N / 2 {
        let mut half = || float(random, spread.min(10), (5, 10));
        return half() | half() << 16;
    }
    float(random, spread, (8, 23))
}

/// A word of metadata that is valid for every element size.
fn metadata(case: &Case, random: &mut Random) -> u32 {
    let chunks: &[u32] = if case.width == 4 { &[0b0100, 0b1110] } else { &[0x4, 0x8, 0xc, 0x9, 0xd, 0xe] };
    (0..8).fold(0, |word, chunk| word | chunks[(random.next_u64() >> 33) as usize % chunks.len()] << (4 * chunk))
}

struct Inputs {
    a: Matrix,
    b: Matrix,
    d: Vec<u32>,
    metadata: Vec<u32>,
}

/// Runs a kernel. Returns D.
fn launch(
    device: &Device,
    case: &Case,
    variant: Variant,
    inputs: &Inputs,
    layouts: (&Layout, &Layout),
) -> Result<Vec<u32>, device::Error> {
    let mut memory = vec![0; 2 * HALF];
    let (in_a, in_b) = memory.split_at_mut(HALF);
    inputs.a.write(in_a, layouts.0, variant.a_transposed, case.width);
    inputs.b.write(in_b, layouts.1, variant.b_transposed, case.width);
    let words: Vec<u32> =
        memory.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().expect("four"))).collect();
    let mut buffers: Vec<Buffer<u32>> = Vec::new();
    for values in [&words, &inputs.a.registers(case.width), &inputs.d, &inputs.metadata, &vec![0; inputs.d.len()]] {
        let mut buffer = device.buffer::<u32>(values.len())?;
        buffer.write(values)?;
        buffers.push(buffer);
    }
    let mut arguments = Arguments::new();
    for buffer in &buffers[..4] {
        arguments.push_pointer(buffer.address());
    }
    for descriptor in [layouts.0.descriptor(0), layouts.1.descriptor(HALF)] {
        arguments.push_bytes(&descriptor.to_le_bytes(), 8);
    }
    arguments.push_pointer(buffers[4].address());
    let config = LaunchConfig::new([1; 3], [128, 1, 1]);
    // SAFETY: the kernel is generated above, for buffers of these sizes.
    unsafe { device.launch_untyped(&case.kernel(variant), &config, &arguments)? };
    device.synchronize()?;
    buffers[4].read()
}

/// The simulator, and the first GPU if it is a Hopper.
fn devices(path: PathBuf) -> Vec<Device> {
    let options = Options { ptx: vec![path.into()], ..Options::default() };
    let mut devices = vec![device::open(DeviceChoice::Simulator, &options).expect("the simulator takes it")];
    if cust_raw::load().is_ok() {
        // The driver rejects `sm_90a` elsewhere.
        devices.extend(device::open(DeviceChoice::Gpu(0), &options));
    }
    devices
}

#[test]
fn sums_do_not_depend_on_layout_or_device() {
    let devices = devices(module());
    let mut random = Random::new(20_261_121);
    let mut failures = Vec::new();
    for case in &CASES {
        let (depth, stored) = case.depths();
        for round in 0..6 {
            let mut matrix = |is_b: bool, vectors: usize, depth: usize| Matrix {
                depth,
                bits: (0..vectors * depth).map(|_| element(case, is_b, round, &mut random)).collect(),
            };
            let (a, b) = (matrix(false, 64, stored), matrix(true, N, depth));
            let d = (0..128 * case.words).map(|_| sum(case, round, &mut random)).collect();
            let metadata = (0..128).map(|_| metadata(case, &mut random)).collect();
            let inputs = Inputs { a, b, d, metadata };
            let mut expected: Option<Vec<u32>> = None;
            for variant in case.variants() {
                let a_layouts = Layout::all(case, variant.a_transposed, 64, stored);
                let b_layouts = Layout::all(case, variant.b_transposed, N, depth);
                // Each layout of A with one of B, and the other way round.
                for index in 0..a_layouts.len().max(b_layouts.len()) {
                    let layouts = (&a_layouts[index % a_layouts.len()], &b_layouts[index % b_layouts.len()]);
                    for (number, device) in devices.iter().enumerate() {
                        let found = launch(device, case, variant, &inputs, layouts).unwrap_or_else(|e| panic!("{e}"));
                        let expected = expected.get_or_insert_with(|| found.clone());
                        let differs = expected.iter().zip(&found).filter(|(one, other)| one != other).count();
                        if let Some(at) = expected.iter().zip(&found).position(|(one, other)| one != other) {
                            failures.push(format!(
                                "{} {variant:?} {layouts:?}, round {round}, {}: {differs} of {} words differ, the first, {at}, \
                                 is {:08x}, not {:08x}",
                                case.name,
                                ["simulator", "GPU"][number],
                                found.len(),
                                found[at],
                                expected[at]
                            ));
                        }
                    }
                }
            }
        }
    }
    let shown = failures.len().min(40);
    assert!(failures.is_empty(), "{} launches differ:\n{}", failures.len(), failures[..shown].join("\n"));
}

//! Predicted times of atomic operations: L2 does those on its sectors and slices in turns, shared
//! memory counts increments, adds lane after lane, and has a loop for sums of floats. The cycles
//! are an H100's.

use simt::prediction::Predicted;
use simt::{Launch, Memory, Model, Program};

const MODULE: &str = r"
.version 7.8
.target sm_75
.address_size 64

// One operation a thread, at its number within so many bytes.
.visible .entry global(.param .u64 data)
{
	.reg .b32 %r<6>;
	.reg .f32 %f<2>;
	.reg .b64 %rd<3>;
	ld.param.u64 %rd1, [data];
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %tid.x;
	mad.lo.u32 %r1, %r1, 128, %r2;
	shl.b32 %r1, %r1, 2;
	and.b32 %r1, %r1, BYTES;
	cvt.u64.u32 %rd2, %r1;
	add.u64 %rd1, %rd1, %rd2;
	OPERATION
	ret;
}

// Operations of a warp, one after the other, at its lanes' numbers below a limit.
.visible .entry shared(.param .u64 data)
{
	.shared .align 8 .b8 words[1024];
	.reg .b32 %r<6>;
	.reg .f32 %f<2>;
	.reg .b64 %rd<3>;
	mov.u32 %r1, %laneid;
	and.b32 %r1, %r1, BYTES;
	mov.u32 %r2, words;
	mad.lo.u32 %r1, %r1, 4, %r2;
	OPERATION
	ret;
}
";

/// Microseconds of blocks of so many threads on an H100, that do an operation so many times.
fn time(kernel: &str, [blocks, threads]: [u32; 2], bytes: u32, operation: &str, count: usize) -> f64 {
    let text = MODULE.replace("BYTES", &(bytes - 1).to_string()).replace("OPERATION", &operation.repeat(count));
    let mut memory = Memory::new(1 << 24);
    let program = Program::load(&ptx::parse("atomics.ptx", &text).unwrap(), &mut memory).unwrap();
    let data = memory.allocate(1 << 20).unwrap().to_le_bytes();
    memory.fill(u64::from_le_bytes(data), 1 << 20, 0).unwrap();
    let model = Model::named("h100");
    let arguments: [&[u8]; 1] = [&data];
    let (grid, block) = ([blocks, 1, 1], [threads, 1, 1]);
    let launch = Launch { kernel, grid, block, arguments: &arguments, model, predicts: model, ..Launch::default() };
    match program.launch(&memory, &launch).unwrap().predicted() {
        Some(Predicted::Time(time)) => time.cold_us,
        other => panic!("{other:?}"),
    }
}

/// 8192 warps have 4 sectors each. A slice takes 1.45 cycles for one; all of them do 44 in a cycle.
#[test]
fn l2_adds_to_neighbouring_lines_in_few_slices() {
    let add = "red.global.add.u32 [%rd1], 1;\n";
    let [line, kibibyte, page, all] =
        [128, 1024, 4096, 1 << 18].map(|bytes| time("global", [2048, 128], bytes, add, 1));
    assert!((line - all - 23.5).abs() < 2.5, "{line} {all}");
    assert!((kibibyte - all - 11.5).abs() < 2.0 && (page - all - 2.5).abs() < 1.0, "{kibibyte} {page} {all}");
    // 4 sectors take L2 longer than one word of each lane's own does: floats in one sector, 3.5
    // cycles.
    let float = "mov.f32 %f1, 0f3F800000;\nred.global.add.f32 [%rd1], %f1;\n";
    let floats = time("global", [2048, 128], 4, float, 1);
    assert!((floats - 8192.0 * 32.0 * 3.5 / 1980.0).abs() < 20.0, "{floats}");
}

/// Cycles of a multiprocessor for an operation of a warp, of 64 resident ones.
fn busy(words: u32, operation: &str) -> f64 {
    let of = |count| time("shared", [132, 1024], words, operation, count);
    (of(40) - of(8)) / 32.0 / 32.0 * 1980.0
}

#[test]
fn shared_memory_counts_increments_and_adds_lane_after_lane() {
    for increment in ["red.shared.add.u32 [%r1], 1;\n", "atom.shared.add.s32 %r3, [%r1], 1;\n"] {
        let (one, each) = (busy(1, increment), busy(32, increment));
        assert!((one - 1.0).abs() < 0.2 && (each - 1.0).abs() < 0.2, "{increment}{one} {each}");
    }
    for add in [
        "red.shared.add.u32 [%r1], 2;\n",
        "red.shared.max.u32 [%r1], 1;\n",
        "atom.shared.add.u32 %r3, [%r1], 1;\nadd.u32 %r4, %r4, %r3;\n",
    ] {
        let [one, four, each] = [1, 4, 32].map(|words| busy(words, add));
        assert!((one - 32.0).abs() < 1.0 && (four - 8.0).abs() < 0.5 && each < 2.2, "{add}{one} {four} {each}");
    }
}

#[test]
fn shared_memory_adds_floats_in_a_loop_that_holds_the_warp() {
    let add = "red.shared.add.f32 [%r1], %f1;\n";
    let [one, each] = [1, 32].map(|words| busy(words, add));
    assert!((one - 32.0 * 14.5).abs() < 45.0 && (each - 14.5).abs() < 1.5, "{one} {each}");
    let wide = busy(1, "red.shared.add.u64 [%r2], 1;\n");
    assert!((wide / one - 1.0).abs() < 0.05, "{wide} {one}");
    // A single warp: 95 cycles for each lane.
    let alone = |words| {
        let of = |count| time("shared", [132, 32], words, add, count);
        (of(40) - of(8)) / 32.0 * 1980.0
    };
    let (one, each) = (alone(1), alone(32));
    assert!((one - 32.0 * 95.0).abs() < 60.0 && (each - 95.0).abs() < 4.0, "{one} {each}");
}

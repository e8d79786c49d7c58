//! Predicted times of what `ptxas` makes of PTX: the order of accesses to different memories, and
//! of many loads; halves of 64 bits that stay as they are; and logic on predicates.

use simt::prediction::Predicted;
use simt::{Launch, Memory, Model, Program};

const MODULE: &str = r"
.version 7.8
.target sm_75
.address_size 64

// Loads, each followed by a store of what it loaded.
.visible .entry pairs(.param .u64 data)
{
	.shared .align 4 .b8 tile[1024];
	.reg .b32 %r<3>;
	.reg .b64 %rd<2>;
	.reg .f32 %f<4>;
	ld.param.u64 %rd1, [data];
	mov.u32 %r1, %laneid;
	mov.u32 %r2, tile;
	mad.lo.u32 %r2, %r1, 4, %r2;
	mad.wide.u32 %rd1, %r1, 4, %rd1;
PAIRS
	ret;
}

// So many loads, all of whose values are added up behind them.
.visible .entry loads(.param .u64 data)
{
	.reg .b32 %r<3>;
	.reg .b64 %rd<2>;
	.reg .f32 %f<101>;
	ld.param.u64 %rd1, [data];
	mov.u32 %r1, %laneid;
	mad.wide.u32 %rd1, %r1, 4, %rd1;
	mov.f32 %f100, 0f00000000;
LOADS
	st.global.f32 [%rd1], %f100;
	ret;
}

// Comparisons, and what becomes of them.
.visible .entry predicates(.param .u64 data)
{
	.reg .pred %p<4>;
	.reg .b32 %r<3>;
	.reg .b64 %rd<2>;
	ld.param.u64 %rd1, [data];
	mov.u32 %r1, %laneid;
PREDICATES
	@%p1 mov.u32 %r1, 1;
	st.global.u32 [%rd1], %r1;
	ret;
}

// A value of 64 bits and itself, shifted.
.visible .entry shifts(.param .u64 data)
{
	.reg .b64 %rd<5>;
	ld.param.u64 %rd1, [data];
	mov.u64 %rd2, %rd1;
SHIFTS
	st.global.u64 [%rd1], %rd2;
	ret;
}
";

/// Microseconds of a launch of one block on an H200.
fn time(kernel: &str, block: u32, pairs: &str, count: usize, shift: &str) -> f64 {
    let one = |at: usize| pairs.replace("AT", &(at * 1024).to_string()).replace("VALUE", &format!("%f{at}"));
    let lines = (0..count).map(one).collect::<String>() + &shift.repeat(count);
    let names = ["pairs", "loads", "predicates", "shifts"];
    let text = names.iter().fold(MODULE.to_owned(), |text, &name| {
        text.replace(&name.to_uppercase(), if name == kernel { &lines } else { "" })
    });
    let mut memory = Memory::new(1 << 20);
    let program = Program::load(&ptx::parse("compiler.ptx", &text).unwrap(), &mut memory).unwrap();
    let data = memory.allocate(1 << 16).unwrap().to_le_bytes();
    memory.fill(u64::from_le_bytes(data), 1 << 16, 0).unwrap();
    let model = Model::named("hopper");
    let (grid, block, arguments): (_, _, [&[u8]; 1]) = ([1, 1, 1], [block, 1, 1], [&data]);
    let launch = Launch { kernel, grid, block, arguments: &arguments, model, predicts: model, ..Launch::default() };
    match program.launch(&memory, &launch).unwrap().predicted() {
        Some(Predicted::Time(time)) => time.cold_us,
        other => panic!("{other:?}"),
    }
}

#[test]
fn loads_from_global_memory_go_ahead_of_stores_to_shared_memory() {
    // DRAM takes 0.37 us.
    let of = |store: &str, count| time("pairs", 32, &format!("ld.global.f32 VALUE, [%rd1+AT];\n{store}\n"), count, "");
    let more = |store| of(store, 4) - of(store, 1);
    let (shared, global) = (more("st.shared.f32 [%r2], VALUE;"), more("st.global.f32 [%rd1+AT], VALUE;"));
    assert!(shared < 0.3 && global > 0.9, "{shared} {global}");
}

/// A thread has 32 registers, so that all warps fit: of 40 loads, some wait for the first ones'
/// uses. Those take a second latency of DRAM, 0.37 us.
#[test]
fn loads_beyond_a_threads_registers_wait() {
    let of = |count| time("loads", 32, "ld.global.f32 VALUE, [%rd1+AT];\nadd.f32 %f100, %f100, VALUE;\n", count, "");
    let (few, more, many) = (of(4), of(16), of(40));
    assert!(more - few < 0.2 && many - more > 0.3 && many - more < 0.9, "{few} {more} {many}");
}

#[test]
fn logic_on_predicates_is_part_of_a_comparison() {
    let of = |logic: &str| {
        let one = format!("setp.ne.u32 %p2, %r1, 3;\n{logic}");
        time("predicates", 1024, "", 2000, &one) - time("predicates", 1024, "", 1000, &one)
    };
    let (with, without) = (of("and.pred %p1, %p2, %p3;\n"), of(""));
    // The integer units would take twice as long for both; to look at an instruction takes the
    // replay a cycle.
    assert!(with < 1.5 * without, "{with} {without}");
}

#[test]
fn a_half_that_is_zero_costs_nothing() {
    let of = |by: u32| {
        let shift = format!("shr.u64 %rd3, %rd2, {by};\nxor.b64 %rd2, %rd2, %rd3;\n");
        time("shifts", 1024, "", 2000, &shift) - time("shifts", 1024, "", 1000, &shift)
    };
    let (both, one) = (of(31), of(33));
    assert!(both > 1.6 * one && both < 2.2 * one, "{both} {one}");
}

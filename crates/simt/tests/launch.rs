//! What a launch guarantees: the same results on any number of threads, the lowest block's trap, an
//! end when cancelled.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use proptest::prelude::*;
use simt::{Checks, Launch, LaunchError, Memory, MemoryError, Program, Report, TrapKind};

const MODULE: &str = r"
.version 7.8
.target sm_80
.address_size 64

// Adds 0.1 to a cell in each thread: the sum depends on the order.
.visible .entry float_sum(.param .u64 cells)
{
	.reg .b32 %r<4>;
	.reg .f32 %f<3>;
	.reg .b64 %rd<3>;
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %tid.x;
	mad.lo.u32 %r3, %r1, 977, %r2;
	cvt.rn.f32.u32 %f1, %r3;
	mul.rn.f32 %f1, %f1, 0f3DCCCCCD;
	ld.param.u64 %rd1, [cells];
	atom.global.add.f32 %f2, [%rd1], %f1;
	ret;
}

// Counts threads by the remainder of their index; blocks in any order.
.visible .entry histogram(.param .u64 cells)
{
	.reg .b32 %r<6>;
	.reg .b64 %rd<3>;
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %ntid.x;
	mov.u32 %r3, %tid.x;
	mad.lo.u32 %r4, %r1, %r2, %r3;
	rem.u32 %r5, %r4, 61;
	ld.param.u64 %rd1, [cells];
	mad.wide.u32 %rd2, %r5, 4, %rd1;
	red.global.add.u32 [%rd2], 1;
	ret;
}

// The first `working` warps of the launch load three times, the others have nothing to do.
.visible .entry worked_by(.param .u64 cells, .param .u32 working)
{
	.reg .pred %p<2>;
	.reg .b32 %r<8>;
	.reg .b64 %rd<2>;
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %ntid.x;
	mov.u32 %r3, %tid.x;
	mad.lo.u32 %r4, %r1, %r2, %r3;
	shr.u32 %r5, %r4, 5;
	ld.param.u32 %r6, [working];
	setp.ge.u32 %p1, %r5, %r6;
	@%p1 exit;
	ld.param.u64 %rd1, [cells];
	ld.global.u32 %r7, [%rd1];
	ld.global.u32 %r7, [%rd1];
	ld.global.u32 %r7, [%rd1];
	ret;
}

// Blocks from the given one on fault.
.visible .entry fault_from(.param .u32 first)
{
	.reg .pred %p<2>;
	.reg .b32 %r<3>;
	mov.u32 %r1, %ctaid.x;
	ld.param.u32 %r2, [first];
	setp.lt.u32 %p1, %r1, %r2;
	@%p1 ret;
	trap;
}

.visible .entry endless()
{
	.reg .b32 %r;
	mov.u32 %r, 0;
$again:
	add.u32 %r, %r, 1;
	bra $again;
}

// out[i] = a, b through one operation after another; see `arithmetic_is_rusts`.
.visible .entry arithmetic(.param .u64 a, .param .u64 b, .param .u64 out)
{
	.reg .pred %p<2>;
	.reg .b32 %r<20>;
	.reg .f32 %f<9>;
	.reg .b64 %rd<20>;
	mov.u32 %r1, %tid.x;
	ld.param.u64 %rd1, [a];
	ld.param.u64 %rd2, [b];
	ld.param.u64 %rd3, [out];
	mad.wide.u32 %rd1, %r1, 8, %rd1;
	mad.wide.u32 %rd2, %r1, 8, %rd2;
	mad.wide.u32 %rd3, %r1, 128, %rd3;
	ld.global.u64 %rd4, [%rd1];
	ld.global.u64 %rd5, [%rd2];
	cvt.u32.u64 %r2, %rd4;
	cvt.u32.u64 %r3, %rd5;
	add.u64 %rd6, %rd4, %rd5;
	st.global.u64 [%rd3], %rd6;
	mul.lo.u64 %rd6, %rd4, %rd5;
	st.global.u64 [%rd3+8], %rd6;
	mul.hi.u64 %rd6, %rd4, %rd5;
	st.global.u64 [%rd3+16], %rd6;
	mul.hi.s64 %rd6, %rd4, %rd5;
	st.global.u64 [%rd3+24], %rd6;
	div.s64 %rd6, %rd4, %rd5;
	st.global.u64 [%rd3+32], %rd6;
	rem.u64 %rd6, %rd4, %rd5;
	st.global.u64 [%rd3+40], %rd6;
	shr.s64 %rd6, %rd4, %r3;
	st.global.u64 [%rd3+48], %rd6;
	mul.wide.s32 %rd6, %r2, %r3;
	st.global.u64 [%rd3+56], %rd6;
	mov.b32 %f1, %r2;
	mov.b32 %f2, %r3;
	add.rn.f32 %f3, %f1, %f2;
	mul.rn.f32 %f4, %f1, %f2;
	st.global.v2.f32 [%rd3+64], {%f3, %f4};
	div.rn.f32 %f3, %f1, %f2;
	fma.rn.f32 %f4, %f1, %f2, %f1;
	st.global.v2.f32 [%rd3+72], {%f3, %f4};
	cvt.rzi.s32.f32 %r4, %f1;
	cvt.rn.f32.s32 %f3, %r3;
	mov.b32 %r5, %f3;
	st.global.v2.u32 [%rd3+80], {%r4, %r5};
	setp.lt.f32 %p1, %f1, %f2;
	selp.u32 %r6, 1, 0, %p1;
	min.s32 %r7, %r2, %r3;
	st.global.v2.u32 [%rd3+88], {%r6, %r7};
	ret;
}
";

struct Bench {
    memory: Memory,
    program: Program,
}

impl Bench {
    fn new() -> Self {
        let module = ptx::parse("launch.ptx", MODULE).unwrap();
        let mut memory = Memory::new(1 << 24);
        let program = Program::load(&module, &mut memory).unwrap();
        Self { memory, program }
    }

    fn run(&self, kernel: &str, blocks: u32, threads: usize, arguments: &[&[u8]]) -> Result<Report, LaunchError> {
        let (grid, block) = ([blocks, 1, 1], [96, 1, 1]);
        self.program.launch(
            &self.memory,
            &Launch { kernel, grid, block, arguments, threads: Some(threads), ..Launch::default() },
        )
    }
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    for kernel in ["float_sum", "histogram"] {
        let mut results = Vec::new();
        for threads in [1, 2, 5] {
            let mut bench = Bench::new();
            let cells = bench.memory.allocate(61 * 4).unwrap();
            let report = bench.run(kernel, 300, threads, &[&cells.to_le_bytes()]).unwrap();
            let mut bytes = vec![0; 61 * 4];
            bench.memory.read(cells, &mut bytes).unwrap();
            results.push((bytes, report));
        }
        assert_eq!(results[0], results[1], "{kernel}");
        assert_eq!(results[0], results[2], "{kernel}");
        assert_ne!(results[0].0, vec![0; 61 * 4]);
    }
}

#[test]
fn how_evenly_warps_and_blocks_share_the_work_is_counted() {
    let mut bench = Bench::new();
    let cells = bench.memory.allocate(4).unwrap();
    for threads in [1, 3] {
        // 12 warps in 4 blocks.
        for (working, blocks) in [(12u32, 4.0), (5, 15.0 * 15.0 / (9.0 * 9.0 + 6.0 * 6.0)), (1, 1.0)] {
            let report = bench.run("worked_by", 4, threads, &[&cells.to_le_bytes(), &working.to_le_bytes()]).unwrap();
            let evenness = report.evenness();
            assert_eq!(evenness.warp_accesses.sum, 3 * u64::from(working));
            assert_eq!(evenness.warp_accesses.effective(), Some(f64::from(working)));
            assert_eq!(evenness.block_accesses.effective(), Some(blocks));
            assert_eq!(evenness.warp_instructions.sum, report.counters().instructions_executed);
            let warps = evenness.warp_instructions.effective().unwrap();
            assert!(warps <= 12.0 && (warps == 12.0) == (working == 12), "{working}: {warps}");
        }
        let report = bench.run("worked_by", 4, threads, &[&cells.to_le_bytes(), &0u32.to_le_bytes()]).unwrap();
        assert_eq!(report.evenness().warp_accesses.effective(), None);
    }
}

#[test]
fn the_lowest_faulting_block_is_reported() {
    let bench = Bench::new();
    for threads in [1, 2, 5] {
        for first in [0u32, 7, 250, 999] {
            match bench.run("fault_from", 1000, threads, &[&first.to_le_bytes()]) {
                Err(LaunchError::Trap(trap)) => {
                    assert_eq!((trap.kind.clone(), trap.block), (TrapKind::TrapInstruction, [first, 0, 0]));
                }
                other => panic!("{other:?}"),
            }
        }
        assert!(bench.run("fault_from", 1000, threads, &[&1000u32.to_le_bytes()]).is_ok());
    }
}

#[test]
fn an_endless_launch_stops_when_cancelled_or_at_its_limit() {
    let bench = Bench::new();
    let cancel = AtomicBool::new(false);
    for checks in [Checks::NONE, Checks::ALL] {
        cancel.store(false, Ordering::Relaxed);
        let launch = Launch { kernel: "endless", grid: [8, 1, 1], cancel: Some(&cancel), checks, ..Launch::default() };
        let result = std::thread::scope(|scope| {
            let running = scope.spawn(|| bench.program.launch(&bench.memory, &launch));
            cancel.store(true, Ordering::Relaxed);
            running.join().unwrap()
        });
        match result {
            Err(LaunchError::Trap(trap)) => assert_eq!(trap.kind, TrapKind::Cancelled),
            other => panic!("{other:?}"),
        }
    }
    for step_limit in [0, 1, 100, 100_000] {
        let launch = Launch { kernel: "endless", grid: [8, 1, 1], step_limit, ..Launch::default() };
        match bench.program.launch(&bench.memory, &launch) {
            Err(LaunchError::Trap(trap)) => assert_eq!(trap.kind, TrapKind::StepLimit { limit: step_limit }),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn progress_ends_with_all_blocks() {
    let bench = Bench::new();
    let most = AtomicU64::new(0);
    let progress = |done: u64, total: u64| {
        assert!(done <= total && total == 1000);
        most.fetch_max(done, Ordering::Relaxed);
    };
    let first = 1000u32.to_le_bytes();
    let launch = Launch {
        kernel: "fault_from",
        grid: [1000, 1, 1],
        arguments: &[&first],
        progress: Some(&progress),
        ..Launch::default()
    };
    bench.program.launch(&bench.memory, &launch).unwrap();
    assert_eq!(most.load(Ordering::Relaxed), 1000);
}

#[test]
fn counters_are_found_by_line() {
    let mut bench = Bench::new();
    let cells = bench.memory.allocate(61 * 4).unwrap();
    let report = bench.run("histogram", 2, 1, &[&cells.to_le_bytes()]).unwrap();
    let line = MODULE.lines().position(|line| line.contains("red.global")).unwrap() as u32 + 1;
    let counted = report.by_ptx_line()[&line];
    assert_eq!((counted.executed, counted.active_lanes, counted.global.requests), (6, 192, 6));
    assert_eq!(report.counters().instructions_executed, 6 * 9);
}

#[test]
fn one_kernel_that_cannot_run_does_not_spoil_the_others() {
    let text = MODULE.replace(".visible .entry endless()", ".extern .func lost(); .visible .entry endless()");
    let text = text.replace("bra $again;", "call.uni lost, (); ret;");
    let module = ptx::parse("lost.ptx", &text).unwrap();
    let mut memory = Memory::new(1 << 20);
    let program = Program::load(&module, &mut memory).unwrap();
    let refused: Vec<_> = program.unsupported().map(|(kernel, error)| (kernel.name.as_str(), error.clone())).collect();
    let launch = |kernel, arguments: &[&[u8]]| {
        program.launch(&memory, &Launch { kernel, arguments, ..Launch::default() }).map(|_| ())
    };
    assert_eq!(refused.len(), 1);
    assert_eq!(refused[0].0, "endless");
    assert_eq!(launch("endless", &[]), Err(LaunchError::Unsupported(Box::new(refused[0].1.clone()))));
    assert_eq!(launch("fault_from", &[&1u32.to_le_bytes()]), Ok(()));
}

#[test]
fn variables_of_the_module_are_found_by_name() {
    let text = ".version 7.8\n.target sm_80\n.address_size 64\n.const .align 4 .u32 scale[2] = {3, 4};\n";
    let module = ptx::parse("variables.ptx", text).unwrap();
    let mut memory = Memory::new(1 << 20);
    let program = Program::load(&module, &mut memory).unwrap();
    let symbol = program.symbol("scale").unwrap();
    let mut bytes = [0; 8];
    memory.read(symbol.address, &mut bytes).unwrap();
    assert_eq!((symbol.bytes, symbol.space, bytes), (8, ptx::Space::Constant, [3, 0, 0, 0, 4, 0, 0, 0]));
    assert_eq!(program.symbol("nothing"), None);
}

/// Threads that allocate, and keep or free what they got.
const HEAP: &str = r"
.version 7.8
.target sm_75
.address_size 64
.extern .func (.param .b64 address) malloc(.param .b64 bytes);
.extern .func free(.param .b64 address);

// Thread t of block b gets 32 bytes, writes 100 b + t there, and puts the address into a table.
.visible .entry keep(.param .u64 table)
{
	.reg .b32 %r<5>;
	.reg .b64 %rd<4>;
	.param .b64 bytes;
	.param .b64 address;
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %tid.x;
	mov.u32 %r3, %ntid.x;
	mad.lo.u32 %r4, %r1, %r3, %r2;
	st.param.b64 [bytes], 32;
	call (address), malloc, (bytes);
	ld.param.b64 %rd1, [address];
	mad.lo.u32 %r3, %r1, 100, %r2;
	st.u32 [%rd1], %r3;
	ld.param.u64 %rd2, [table];
	mad.wide.u32 %rd2, %r4, 8, %rd2;
	st.global.u64 [%rd2], %rd1;
	ret;
}

// Sums what the addresses of a table lead to; thread 1 of each block frees its own.
.visible .entry sum(.param .u64 table, .param .u64 sums)
{
	.reg .pred %p;
	.reg .b32 %r<6>;
	.reg .b64 %rd<4>;
	.param .b64 address;
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %tid.x;
	mov.u32 %r3, %ntid.x;
	mad.lo.u32 %r4, %r1, %r3, %r2;
	ld.param.u64 %rd1, [table];
	mad.wide.u32 %rd1, %r4, 8, %rd1;
	ld.global.u64 %rd2, [%rd1];
	ld.u32 %r5, [%rd2];
	ld.param.u64 %rd3, [sums];
	red.global.add.u32 [%rd3], %r5;
	setp.ne.u32 %p, %r2, 1;
	@%p ret;
	st.param.b64 [address], %rd2;
	call free, (address);
	ret;
}
";

#[test]
fn what_kernels_allocate_stays_until_they_free_it() {
    let module = ptx::parse("heap.ptx", HEAP).unwrap();
    let run = |threads: usize| {
        let mut memory = Memory::new(1 << 24);
        memory.set_heap_limit(1 << 20).unwrap();
        let program = Program::load(&module, &mut memory).unwrap();
        assert_eq!(memory.set_heap_limit(1 << 21), Err(MemoryError::HeapInUse { bytes: 1 << 20 }));
        assert_eq!(memory.used(), 1 << 20);
        let (table, sums) = (memory.allocate(12 * 8).unwrap(), memory.allocate(4).unwrap());
        let launch = |kernel, arguments: &[&[u8]]| {
            let (grid, block, threads) = ([3, 1, 1], [4, 1, 1], Some(threads));
            let launch = Launch { kernel, grid, block, arguments, threads, ..Launch::default() };
            program.launch(&memory, &launch).unwrap();
        };
        launch("keep", &[&table.to_le_bytes()]);
        let kept = memory.heap_allocations();
        launch("sum", &[&table.to_le_bytes(), &sums.to_le_bytes()]);
        let left = memory.heap_allocations();
        let leaks = memory.leaks();
        let [leak] = leaks.as_slice() else { panic!("one call of malloc: {leaks:?}") };
        assert_eq!((leak.kind.name(), leak.kind.check(), leak.count), ("leak", "memory", left.len() as u64));
        assert!(
            leak.to_string().starts_with(
                "kernel `keep`: malloc without free: the allocation of 32 bytes at 0x680000000000 is still allocated at the end; \
                 thread (0, 0, 0) of block (0, 0, 0), line 20 of the PTX: `call (address), malloc, (bytes);`; "
            ),
            "{leak}"
        );
        let (mut addresses, mut sum) = ([0; 12 * 8], [0; 4]);
        memory.read(table, &mut addresses).unwrap();
        memory.read(sums, &mut sum).unwrap();
        assert!(memory.read(left[0].span.address, &mut sum).is_err());
        (kept, left, addresses, u32::from_le_bytes(sum))
    };
    let (kept, left, addresses, sum) = run(1);
    assert_eq!(sum, (0..12).map(|thread| thread / 4 * 100 + thread % 4).sum::<u32>());
    // Block by block, lane by lane; all by the same call.
    let found: Vec<_> = kept.iter().map(|kept| (kept.span.bytes, kept.site.block[0], kept.site.thread[0])).collect();
    assert_eq!(found, (0..12).map(|thread| (32, thread / 4, thread % 4)).collect::<Vec<_>>());
    assert!(kept.iter().all(|kept| &*kept.kernel == "keep" && kept.site.ptx_line == 20), "{kept:?}");
    assert_eq!(kept[0].site.instruction, "call (address), malloc, (bytes);");
    let stayed: Vec<_> = kept.into_iter().filter(|kept| kept.site.thread[0] != 1).collect();
    assert_eq!(left, stayed);
    assert_eq!(run(3), (run(1).0, left, addresses, sum));
}

#[test]
fn a_heap_takes_memory_of_the_device() {
    let module = ptx::parse("heap.ptx", HEAP).unwrap();
    let mut memory = Memory::new(1 << 20);
    let error = Program::load(&module, &mut memory).map(|_| ()).unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("heap.ptx:5:") && text.contains("cannot allocate the heap"), "{text}");
    memory.set_heap_limit(1 << 20).unwrap();
    Program::load(&module, &mut memory).unwrap();
}

/// The bits of an f32 result, with the machine's NaN.
fn bits(value: f32) -> u32 {
    if value.is_nan() { 0x7fff_ffff } else { value.to_bits() }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn arithmetic_is_rusts(inputs in prop::collection::vec((any::<u64>(), any::<u64>(), 0..4u32), 32)) {
        let inputs: Vec<(u64, u64)> = inputs
            .into_iter()
            // Small numbers and equal ones, too.
            .map(|(a, b, kind)| match kind {
                0 => (a >> 60, b >> 60),
                1 => (a, a),
                _ => (a, b),
            })
            .collect();
        let mut bench = Bench::new();
        let addresses: Vec<u64> = (0..3).map(|_| bench.memory.allocate(32 * 128).unwrap()).collect();
        let bytes = |pick: fn(&(u64, u64)) -> u64| inputs.iter().flat_map(|pair| pick(pair).to_le_bytes()).collect::<Vec<u8>>();
        bench.memory.write(addresses[0], &bytes(|pair| pair.0)).unwrap();
        bench.memory.write(addresses[1], &bytes(|pair| pair.1)).unwrap();
        let arguments: Vec<[u8; 8]> = addresses.iter().map(|address| address.to_le_bytes()).collect();
        let arguments: Vec<&[u8]> = arguments.iter().map(|argument| argument.as_slice()).collect();
        let launch = Launch { kernel: "arithmetic", block: [32, 1, 1], arguments: &arguments, ..Launch::default() };
        bench.program.launch(&bench.memory, &launch).unwrap();
        for (lane, &(a, b)) in inputs.iter().enumerate() {
            let mut found = [0; 96];
            bench.memory.read(addresses[2] + lane as u64 * 128, &mut found).unwrap();
            let found: Vec<u64> = found.chunks(8).map(|chunk| u64::from_le_bytes(chunk.try_into().unwrap())).collect();
            let (x, y) = (f32::from_bits(a as u32), f32::from_bits(b as u32));
            let pair = |low: u32, high: u32| u64::from(high) << 32 | u64::from(low);
            let high = |product: i128| (product >> 64) as u64;
            let expected = [
                a.wrapping_add(b),
                a.wrapping_mul(b),
                ((u128::from(a) * u128::from(b)) >> 64) as u64,
                high(i128::from(a as i64) * i128::from(b as i64)),
                if b == 0 { u64::MAX } else { (a as i64).wrapping_div(b as i64) as u64 },
                if b == 0 { u64::MAX } else { a % b },
                ((a as i64) >> (b as u32).min(63)) as u64,
                (i64::from(a as i32) * i64::from(b as i32)) as u64,
                pair(bits(x + y), bits(x * y)),
                pair(bits(x / y), bits(x.mul_add(y, x))),
                pair(x as i32 as u32, (b as i32 as f32).to_bits()),
                pair((x < y).into(), (a as i32).min(b as i32) as u32),
            ];
            prop_assert_eq!(found, expected.to_vec(), "a = {:#x}, b = {:#x}", a, b);
        }
    }
}

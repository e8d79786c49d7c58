//! Predicted times of what the copy engine copies, and of waits at mbarriers.

use simt::prediction::{Bound, Predicted, Prediction, Why};
use simt::{Launch, Memory, Model, Program};

const MODULE: &str = r"
.version 8.4
.target sm_90
.address_size 64

// Each block copies so many tiles to shared memory, and waits for each before it uses its place
// again; `depth` of them are on their way.
.visible .entry walk(.param .u64 in, .param .u32 bytes, .param .u32 depth, .param .u32 count)
{
	.shared .align 128 .b8 tiles[32768];
	.shared .align 8 .b8 arrived[64];
	.reg .pred %p<5>;
	.reg .b32 %r<20>;
	.reg .b64 %rd<5>;
	ld.param.u64 %rd1, [in];
	ld.param.u32 %r1, [bytes];
	ld.param.u32 %r2, [depth];
	ld.param.u32 %r3, [count];
	mov.u32 %r4, %tid.x;
	mov.u32 %r5, %ctaid.x;
	mov.u32 %r6, tiles;
	mov.u32 %r7, arrived;
	mul.lo.u32 %r8, %r5, %r3;
	mad.wide.u32 %rd2, %r8, %r1, %rd1;
	cvt.u64.u32 %rd3, %r1;
	setp.ne.u32 %p1, %r4, 0;
	mov.u32 %r9, 0;
$begin:
	shl.b32 %r10, %r9, 3;
	add.u32 %r10, %r7, %r10;
	mad.lo.u32 %r11, %r9, %r1, %r6;
	@%p1 bra $begun;
	mbarrier.init.shared::cta.b64 [%r10], 1;
	mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r10], %r1;
	cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r11], [%rd2], %r1, [%r10];
$begun:
	add.u64 %rd2, %rd2, %rd3;
	add.u32 %r9, %r9, 1;
	setp.lt.u32 %p2, %r9, %r2;
	@%p2 bra $begin;
	bar.sync 0;
	mov.u32 %r12, 0;
	mov.u32 %r13, 0;
	mov.u32 %r14, 0;
$next:
	shl.b32 %r10, %r13, 3;
	add.u32 %r10, %r7, %r10;
	mad.lo.u32 %r11, %r13, %r1, %r6;
$wait:
	mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r10], %r14;
	@!%p3 bra $wait;
	bar.sync 0;
	add.u32 %r15, %r12, %r2;
	setp.ge.u32 %p4, %r15, %r3;
	or.pred %p4, %p4, %p1;
	@%p4 bra $used;
	mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r10], %r1;
	cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r11], [%rd2], %r1, [%r10];
$used:
	add.u64 %rd2, %rd2, %rd3;
	add.u32 %r13, %r13, 1;
	setp.lt.u32 %p2, %r13, %r2;
	@%p2 bra $same;
	mov.u32 %r13, 0;
	xor.b32 %r14, %r14, 1;
$same:
	add.u32 %r12, %r12, 1;
	setp.lt.u32 %p2, %r12, %r3;
	@%p2 bra $next;
	ret;
}

// The second warp waits for the first, which adds so many times before it arrives.
.visible .entry meet(.param .u64 out, .param .u32 steps)
{
	.shared .align 8 .b64 met;
	.reg .pred %p<4>;
	.reg .b32 %r<6>;
	.reg .f32 %f<2>;
	.reg .b64 %rd<2>;
	ld.param.u64 %rd1, [out];
	ld.param.u32 %r1, [steps];
	mov.u32 %r2, %tid.x;
	mov.u32 %r3, met;
	setp.ne.u32 %p1, %r2, 0;
	@%p1 bra $begun;
	mbarrier.init.shared::cta.b64 [%r3], 32;
$begun:
	bar.sync 0;
	setp.lt.u32 %p2, %r2, 32;
	@!%p2 bra $wait;
	mov.f32 %f1, 0f00000000;
$again:
	add.f32 %f1, %f1, 0f3F800000;
	sub.u32 %r1, %r1, 1;
	setp.ne.u32 %p3, %r1, 0;
	@%p3 bra $again;
	st.global.f32 [%rd1], %f1;
	mbarrier.arrive.shared::cta.b64 _, [%r3];
	ret;
$wait:
	mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r3], 0;
	@!%p3 bra $wait;
	ret;
}

// The first warp asks a few times whether a phase is complete before it arrives itself, adds so many
// times, and arrives where the second waits, which adds as often.
.visible .entry poll(.param .u64 out, .param .u32 steps)
{
	.shared .align 8 .b64 own;
	.shared .align 8 .b64 met;
	.reg .pred %p<4>;
	.reg .b32 %r<7>;
	.reg .f32 %f<2>;
	.reg .b64 %rd<2>;
	ld.param.u64 %rd1, [out];
	ld.param.u32 %r1, [steps];
	mov.u32 %r2, %tid.x;
	mov.u32 %r3, own;
	mov.u32 %r4, met;
	setp.ne.u32 %p1, %r2, 0;
	@%p1 bra $begun;
	mbarrier.init.shared::cta.b64 [%r3], 32;
	mbarrier.init.shared::cta.b64 [%r4], 32;
$begun:
	bar.sync 0;
	setp.lt.u32 %p2, %r2, 32;
	mov.u32 %r5, 0;
	@!%p2 bra $wait;
$ask:
	mbarrier.test_wait.parity.shared::cta.b64 %p3, [%r3], 0;
	@%p3 bra $add;
	add.u32 %r5, %r5, 1;
	setp.eq.u32 %p3, %r5, 4;
	@!%p3 bra $ask;
	mbarrier.arrive.shared::cta.b64 _, [%r3];
	bra $ask;
$wait:
	mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r4], 0;
	@!%p3 bra $wait;
$add:
	mov.f32 %f1, 0f00000000;
$again:
	add.f32 %f1, %f1, 0f3F800000;
	sub.u32 %r1, %r1, 1;
	setp.ne.u32 %p3, %r1, 0;
	@%p3 bra $again;
	st.global.f32 [%rd1], %f1;
	@!%p2 bra $end;
	mbarrier.arrive.shared::cta.b64 _, [%r4];
$end:
	ret;
}

// Each block copies its shared memory out, and waits until it has been read, or is there.
.visible .entry put(.param .u64 out, .param .u32 bytes)
{
	.shared .align 128 .b8 tile[32768];
	.reg .b32 %r<5>;
	.reg .b64 %rd<3>;
	ld.param.u64 %rd1, [out];
	ld.param.u32 %r1, [bytes];
	mov.u32 %r2, %ctaid.x;
	mov.u32 %r3, tile;
	mad.wide.u32 %rd2, %r2, %r1, %rd1;
	cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r3], %r1;
	cp.async.bulk.commit_group;
	cp.async.bulk.wait_group WAITS0;
	ret;
}

.visible .entry combine(.param .u64 out)
{
	.shared .align 16 .b8 tile[16];
	.reg .b64 %rd<2>;
	ld.param.u64 %rd1, [out];
	cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [tile], 16;
	ret;
}
";

/// The size of the buffer.
const BUFFER: u32 = 32 << 20;

/// What is predicted, and the part of the waiting that is at mbarriers.
fn predicted(waits: &str, kernel: &str, (grid, block): (u32, u32), words: &[u32]) -> (Predicted, f64) {
    let text = MODULE.replace("WAITS", waits);
    let module = ptx::parse("copies.ptx", &text).unwrap();
    let mut memory = Memory::new(1 << 26);
    let program = Program::load(&module, &mut memory).unwrap();
    let buffer = memory.allocate(BUFFER.into()).unwrap();
    memory.fill(buffer, BUFFER.into(), 1).unwrap();
    let mut arguments = vec![buffer.to_le_bytes().to_vec()];
    arguments.extend(words.iter().map(|word| word.to_le_bytes().to_vec()));
    let arguments: Vec<&[u8]> = arguments.iter().map(Vec::as_slice).collect();
    let model = Model::named("hopper");
    let launch = Launch {
        kernel,
        grid: [grid, 1, 1],
        block: [block, 1, 1],
        arguments: &arguments,
        model,
        predicts: model,
        ..Launch::default()
    };
    let report = program.launch(&memory, &launch).unwrap();
    let of = |name: &str| report.waits().filter(|(info, _)| info.text.contains(name)).map(|(_, us)| us).sum::<f64>();
    (report.predicted().unwrap().clone(), of("try_wait") / of(""))
}

fn time(kernel: &str, launch: (u32, u32), words: &[u32]) -> Prediction {
    match predicted("", kernel, launch, words).0 {
        Predicted::Time(time) => *time,
        Predicted::Not(what) => panic!("{what}"),
    }
}

/// The walk of 132 blocks over 8 MiB, in tiles of so many bytes.
fn walk(bytes: u32, depth: u32) -> Prediction {
    time("walk", (132, 64), &[bytes, depth, 65536 / bytes])
}

fn used(time: &Prediction, unit: Bound) -> f64 {
    time.uses.iter().find(|(other, _)| *other == unit).map_or(0.0, |(_, part)| *part)
}

#[test]
fn more_bytes_in_flight_take_no_longer() {
    let own = |time: Prediction| time.cold_us - time.empty_us;
    let tiles = [1024, 2048, 4096, 8192].map(|bytes| own(walk(bytes, 1)));
    let depths = [1, 2, 4, 8].map(|depth| own(walk(1024, depth)));
    for times in [tiles, depths] {
        assert!(times.windows(2).all(|pair| pair[1] < pair[0]), "{times:?}");
        // Twice the bytes in flight, half the time, while DRAM has more to give.
        assert!(times[1] < 0.65 * times[0], "{times:?}");
    }
}

#[test]
fn bulk_copies_are_not_faster_than_dram_and_reach_it() {
    let bytes = 132.0 * 65536.0 * 3.0;
    let deep = time("walk", (396, 64), &[4096, 8, 16]);
    let least = bytes / 4.61e6;
    let own = deep.cold_us - deep.empty_us;
    assert!(own > least && own < 2.0 * least, "{own} {least}");
    assert!(used(&deep, Bound::Dram) > 0.6, "{:?}", deep.uses);
    assert!(deep.warm_us.is_some_and(|warm| warm < deep.cold_us));
}

#[test]
fn warps_wait_for_a_copy_at_the_mbarrier() {
    let (Predicted::Time(time), waits) = predicted("", "walk", (132, 64), &[4096, 1, 16]) else { panic!() };
    assert!(waits > 0.8, "{waits}");
    assert_eq!((time.waits[0].0, time.bound), (Why::Memory, Bound::Latency), "{:?}", time.waits);
}

#[test]
fn a_warp_waits_at_an_mbarrier_for_those_that_arrive() {
    let meet = |steps| predicted("", "meet", (132, 64), &[steps]);
    let [(Predicted::Time(short), _), (Predicted::Time(long), waits)] = [meet(16), meet(1024)] else { panic!() };
    // A step is an addition, a subtraction, a comparison and a branch.
    assert!(long.cold_us > short.cold_us + 1008.0 * 4.0 / 1980.0, "{} {}", short.cold_us, long.cold_us);
    let at_barriers = long.waits.iter().find(|(why, _)| *why == Why::Barrier).map_or(0.0, |(_, part)| *part);
    assert!(waits > 0.3 && at_barriers >= waits, "{waits} {:?}", long.waits);
}

#[test]
fn a_test_that_fails_is_no_wait() {
    let [short, long] = [16, 1024].map(|steps| time("poll", (132, 64), &[steps]).cold_us);
    // Both warps add, one after the other.
    assert!(long > short + 2.0 * 1008.0 * 4.0 / 1980.0, "{short} {long}");
}

#[test]
fn a_copy_from_shared_memory_is_read_before_it_is_there() {
    let own = |waits| match predicted(waits, "put", (132, 1), &[16384]).0 {
        Predicted::Time(time) => time.cold_us - time.empty_us,
        Predicted::Not(what) => panic!("{what}"),
    };
    let (read, there) = (own(".read "), own(""));
    // 2 MiB at 4200 GB/s.
    assert!(read < there && there > 0.5, "{read} {there}");
}

#[test]
fn reductions_by_the_copy_engine_have_no_time() {
    assert_eq!(predicted("", "combine", (1, 1), &[]).0, Predicted::Not("bulk reductions"));
}

//! Predicted times: the same on any number of threads, and finite whatever is launched.
//! `timing_laws` has what holds for all launches.

use simt::prediction::{Predicted, Prediction};
use simt::{Launch, Memory, Model, Program, Report};

const MODULE: &str = r"
.version 7.8
.target sm_75
.address_size 64

// out[i * stride] = in[i * stride], then so many dependent additions.
.visible .entry copy(.param .u64 in, .param .u64 out, .param .u32 stride, .param .u32 steps)
{
	.reg .pred %p<2>;
	.reg .b32 %r<8>;
	.reg .f32 %f<3>;
	.reg .b64 %rd<5>;
	ld.param.u64 %rd1, [in];
	ld.param.u64 %rd2, [out];
	ld.param.u32 %r5, [stride];
	ld.param.u32 %r6, [steps];
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %ntid.x;
	mov.u32 %r3, %tid.x;
	mad.lo.u32 %r4, %r1, %r2, %r3;
	mul.lo.u32 %r4, %r4, %r5;
	and.b32 %r4, %r4, 1048575;
	mad.wide.u32 %rd3, %r4, 4, %rd1;
	mad.wide.u32 %rd4, %r4, 4, %rd2;
	ld.global.f32 %f1, [%rd3];
	setp.eq.u32 %p1, %r6, 0;
	@%p1 bra $store;
$again:
	add.f32 %f1, %f1, 0f3F800000;
	sub.u32 %r6, %r6, 1;
	setp.ne.u32 %p1, %r6, 0;
	@%p1 bra $again;
$store:
	st.global.f32 [%rd4], %f1;
	ret;
}

// Writes shared memory so many times, at a stride.
.visible .entry banks(.param .u32 stride, .param .u32 steps)
{
	.shared .align 4 .b8 cells[4096];
	.reg .pred %p<2>;
	.reg .b32 %r<6>;
	ld.param.u32 %r1, [stride];
	ld.param.u32 %r2, [steps];
	mov.u32 %r3, %tid.x;
	mul.lo.u32 %r4, %r3, %r1;
	and.b32 %r4, %r4, 1023;
	shl.b32 %r4, %r4, 2;
	mov.u32 %r5, cells;
	add.u32 %r4, %r4, %r5;
$again:
	st.shared.u32 [%r4], %r2;
	sub.u32 %r2, %r2, 1;
	setp.ne.u32 %p1, %r2, 0;
	@%p1 bra $again;
	ret;
}

// Each warp loads 64 lines, one after the other. The loop counts by a constant.
.visible .entry counted(.param .u64 in, .param .u64 out)
{
	.reg .pred %p<2>;
	.reg .b32 %r<4>;
	.reg .f32 %f<3>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [in];
	mov.u32 %r1, %ctaid.x;
	mad.wide.u32 %rd2, %r1, 8192, %rd1;
	mov.f32 %f1, 0f00000000;
	mov.u32 %r2, 64;
$again:
	ld.global.f32 %f2, [%rd2];
	add.f32 %f1, %f1, %f2;
	add.u64 %rd2, %rd2, 128;
	sub.u32 %r2, %r2, 1;
	setp.ne.u32 %p1, %r2, 0;
	@%p1 bra $again;
	ld.param.u64 %rd3, [out];
	st.global.f32 [%rd3], %f1;
	ret;
}

// The same, by a number that only the launch knows.
.visible .entry by_register(.param .u64 in, .param .u64 out, .param .u32 step)
{
	.reg .pred %p<2>;
	.reg .b32 %r<4>;
	.reg .f32 %f<3>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [in];
	ld.param.u32 %r3, [step];
	mov.u32 %r1, %ctaid.x;
	mad.wide.u32 %rd2, %r1, 8192, %rd1;
	mov.f32 %f1, 0f00000000;
	mov.u32 %r2, 64;
$again:
	ld.global.f32 %f2, [%rd2];
	add.f32 %f1, %f1, %f2;
	add.u64 %rd2, %rd2, 128;
	sub.u32 %r2, %r2, %r3;
	setp.ne.u32 %p1, %r2, 0;
	@%p1 bra $again;
	ld.param.u64 %rd3, [out];
	st.global.f32 [%rd3], %f1;
	ret;
}

// An atomic addition a lane, `stride` bytes apart: integers, then floats.
.visible .entry atomics(.param .u64 sums, .param .u32 stride)
{
	.reg .b32 %r<6>;
	.reg .b64 %rd<3>;
	ld.param.u64 %rd1, [sums];
	ld.param.u32 %r1, [stride];
	mov.u32 %r2, %ctaid.x;
	mov.u32 %r3, %ntid.x;
	mov.u32 %r4, %tid.x;
	mad.lo.u32 %r5, %r2, %r3, %r4;
	and.b32 %r5, %r5, 65535;
	mul.lo.u32 %r5, %r5, %r1;
	cvt.u64.u32 %rd2, %r5;
	add.u64 %rd2, %rd1, %rd2;
	red.global.add.u32 [%rd2], 1;
	ret;
}

.visible .entry float_atomics(.param .u64 sums)
{
	.reg .b64 %rd<2>;
	ld.param.u64 %rd1, [sums];
	red.global.add.f32 [%rd1], 0f3F800000;
	ret;
}

// Sixteen values of the grid, and one of each thread, are live at once.
.visible .entry uniform(.param .u64 out)
{
	.reg .b32 %r<20>;
	.reg .b64 %rd<2>;
	ld.param.u64 %rd1, [out];
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %tid.x;
UNIFORM
	st.global.u32 [%rd1], %r2;
	ret;
}

.visible .entry endless()
{
	.reg .b32 %r;
	mov.u32 %r, 0;
$again:
	add.u32 %r, %r, 1;
	bra $again;
}

.visible .entry empty()
{
	ret;
}
";

pub struct Bench {
    pub memory: Memory,
    pub program: Program,
    /// Two buffers of 4 MiB.
    pub data: [u64; 2],
}

impl Bench {
    pub fn new() -> Self {
        let made = (3..19).map(|to| format!("mul.lo.u32 %r{to}, %r1, {to};\n"));
        let used = (3..19).map(|from| format!("add.u32 %r2, %r2, %r{from};\n"));
        let text = MODULE.replace("UNIFORM", &made.chain(used).collect::<String>());
        let module = ptx::parse("timing.ptx", &text).unwrap();
        let mut memory = Memory::new(1 << 26);
        let program = Program::load(&module, &mut memory).unwrap();
        let data = std::array::from_fn(|_| memory.allocate(4 << 20).unwrap());
        data.iter().for_each(|&address| memory.fill(address, 4 << 20, 1).unwrap());
        Self { memory, program, data }
    }

    pub fn launch(&self, launch: &Launch) -> Report {
        self.program.launch(&self.memory, launch).unwrap()
    }

    pub fn time(&self, launch: &Launch) -> Prediction {
        match self.launch(launch).predicted() {
            Some(Predicted::Time(time)) => (**time).clone(),
            other => panic!("{other:?}"),
        }
    }

    /// A copy on an H200, unless `change` says otherwise.
    pub fn copy(&self, blocks: u32, stride: u32, steps: u32, change: impl Fn(&mut Launch)) -> Prediction {
        let [from, to] = self.data.map(u64::to_le_bytes);
        let (stride, steps) = (stride.to_le_bytes(), steps.to_le_bytes());
        let arguments: [&[u8]; 4] = [&from, &to, &stride, &steps];
        let model = Model::named("hopper");
        let (grid, block) = ([blocks, 1, 1], [256, 1, 1]);
        let mut launch =
            Launch { kernel: "copy", grid, block, arguments: &arguments, model, predicts: model, ..Launch::default() };
        change(&mut launch);
        self.time(&launch)
    }

    /// Stores to shared memory, on a model.
    pub fn banks(&self, stride: u32, steps: u32, change: impl Fn(&mut Launch)) -> Prediction {
        let (stride, steps) = (stride.to_le_bytes(), steps.to_le_bytes());
        let model = Model::named("hopper");
        let (grid, block, arguments): (_, _, [&[u8]; 2]) = ([132, 1, 1], [256, 1, 1], [&stride, &steps]);
        let (kernel, predicts) = ("banks", model);
        let mut launch = Launch { kernel, grid, block, arguments: &arguments, model, predicts, ..Launch::default() };
        change(&mut launch);
        self.time(&launch)
    }
}

impl Bench {
    /// A kernel on an H200 whose first parameters are the two buffers, or the second one.
    fn kernel(&self, kernel: &str, blocks: u32, buffers: &[u64], more: &[u32]) -> Prediction {
        let mut arguments: Vec<Vec<u8>> = buffers.iter().map(|address| address.to_le_bytes().to_vec()).collect();
        arguments.extend(more.iter().map(|value| value.to_le_bytes().to_vec()));
        let arguments: Vec<&[u8]> = arguments.iter().map(Vec::as_slice).collect();
        let model = Model::named("hopper");
        let (grid, block) = ([blocks, 1, 1], [128, 1, 1]);
        let arguments = &arguments[..];
        self.time(&Launch { kernel, grid, block, arguments, model, predicts: model, ..Launch::default() })
    }
}

#[test]
fn a_loop_that_counts_by_a_constant_has_the_loads_of_four_iterations_under_way() {
    let bench = Bench::new();
    let counted = bench.kernel("counted", 132, &bench.data, &[]);
    let single = bench.kernel("by_register", 132, &bench.data, &[1]);
    let [counted, single] = [counted, single].map(|time| time.cold_us - time.empty_us);
    assert!(single > 2.5 * counted && single < 4.0 * counted, "{counted} {single}");
}

#[test]
fn atomic_operations_on_one_address_take_turns_and_floats_take_longer() {
    let bench = Bench::new();
    let integers = |stride| bench.kernel("atomics", 2048, &bench.data[1..], &[stride]).cold_us;
    let floats = bench.kernel("float_atomics", 2048, &bench.data[1..], &[]).cold_us;
    // 262144 operations, 1.5 or 3.5 cycles each at 1980 MHz.
    let (apart, together) = (integers(4), integers(0));
    assert!((together - 200.0).abs() < 20.0 && (floats - 465.0).abs() < 40.0, "{together} {floats}");
    assert!(apart < together / 20.0, "{apart}");
}

#[test]
fn values_of_the_whole_grid_take_no_registers_of_a_thread() {
    let bench = Bench::new();
    assert_eq!(bench.kernel("uniform", 1, &bench.data[1..], &[]).registers, 16);
}

#[test]
fn host_threads_do_not_matter() {
    let bench = Bench::new();
    for only in [false, true] {
        let one = bench.copy(700, 3, 5, |launch| (launch.threads, launch.time_only) = (Some(1), only));
        let four = bench.copy(700, 3, 5, |launch| (launch.threads, launch.time_only) = (Some(4), only));
        assert_eq!(one, four);
    }
}

#[test]
fn counters_are_the_same_with_a_prediction() {
    let bench = Bench::new();
    let run = |predicts| {
        let [from, to] = bench.data.map(u64::to_le_bytes);
        let (stride, steps) = (3u32.to_le_bytes(), 2u32.to_le_bytes());
        let arguments: [&[u8]; 4] = [&from, &to, &stride, &steps];
        let model = Model::named("hopper");
        let (grid, block) = ([300, 1, 1], [256, 1, 1]);
        let launch =
            Launch { kernel: "copy", grid, block, arguments: &arguments, model, predicts, ..Launch::default() };
        bench.launch(&launch).counters()
    };
    assert_eq!(format!("{:?}", run(None)), format!("{:?}", run(Model::named("hopper"))));
}

#[test]
fn odd_launches_have_finite_times_on_every_model() {
    let bench = Bench::new();
    for model in Model::all() {
        for (grid, block) in [([1, 1, 1], [1, 1, 1]), ([3, 2, 1], [33, 1, 1]), ([1, 1, 1], [256, 2, 1])] {
            for (kernel, only) in [("empty", false), ("empty", true)] {
                let (model, predicts, time_only) = (Some(model), Some(model), only);
                let launch = Launch { kernel, grid, block, model, predicts, time_only, ..Launch::default() };
                let Ok(report) = bench.program.launch(&bench.memory, &launch) else { continue };
                if let Some(Predicted::Time(time)) = report.predicted() {
                    assert!(time.cold_us.is_finite() && time.cold_us > 0.0, "{time:?}");
                    assert!(time.waits_by_instruction.iter().all(|part| part.is_finite()), "{time:?}");
                }
            }
        }
    }
}

#[test]
fn an_endless_kernel_is_stopped_by_its_limit() {
    let bench = Bench::new();
    let model = Model::named("hopper");
    for time_only in [false, true] {
        let launch = Launch {
            kernel: "endless",
            grid: [1, 1, 1],
            block: [32, 1, 1],
            model,
            predicts: model,
            time_only,
            step_limit: 10_000,
            ..Launch::default()
        };
        assert!(bench.program.launch(&bench.memory, &launch).is_err() || time_only);
    }
}

/// The work of a sample has a bound of its own, also where all blocks have to run at once.
#[test]
fn a_prediction_of_blocks_that_are_too_long_ends() {
    let bench = Bench::new();
    let model = Model::named("hopper");
    for (blocks, cooperative) in [(1, false), (1000, false), (200, true)] {
        let launch = Launch {
            kernel: "endless",
            grid: [blocks, 1, 1],
            block: [256, 1, 1],
            model,
            predicts: model,
            time_only: true,
            cooperative,
            step_limit: u64::MAX,
            ..Launch::default()
        };
        let report = bench.launch(&launch);
        assert!(matches!(report.predicted(), Some(Predicted::Not("blocks that are too long to sample"))));
        assert!(report.counters().instructions_executed < 80 << 20);
    }
}

/// Blocks that are too long to sample are timed by their beginnings, and by how long one of them
/// is.
#[test]
fn long_blocks_take_as_long_as_their_loops() {
    let bench = Bench::new();
    let model = Model::named("hopper");
    let run = |steps: u32| {
        let [from, to] = bench.data.map(u64::to_le_bytes);
        let (stride, steps) = (1u32.to_le_bytes(), steps.to_le_bytes());
        let arguments: [&[u8]; 4] = [&from, &to, &stride, &steps];
        let launch = Launch {
            kernel: "copy",
            grid: [4096, 1, 1],
            block: [64, 1, 1],
            arguments: &arguments,
            model,
            predicts: model,
            time_only: true,
            ..Launch::default()
        };
        let report = bench.launch(&launch);
        assert!(report.counters().instructions_executed < 30 << 20, "{steps:?} steps");
        let Some(Predicted::Time(time)) = report.predicted() else { panic!("{:?}", report.predicted()) };
        time.cold_us
    };
    // Two that are sampled to the end, and two that are not.
    let [short, twice, long, longest] = [11, 12, 17, 21].map(|power| run(1 << power));
    for (time, power) in [(long, 17), (longest, 21)] {
        let expected = (twice - short) * f64::from(1 << (power - 11));
        assert!((time / expected - 1.0).abs() < 0.05, "{short} {twice} {long} {longest}");
    }
}

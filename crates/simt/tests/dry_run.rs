//! Checks of a launch on a model: it runs twice, and everything but the findings is as if it had
//! run once.

use std::sync::Mutex;

use simt::{Checks, Finding, Launch, LaunchError, Memory, Model, Output, Program, Report};

const TEXT: &str = "
.version 7.8
.target sm_75
.address_size 64
.global .u32 launches;
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.const .align 1 .b8 here[6] = {104, 101, 114, 101, 10, 0};

// Counts the blocks in a global variable, prints a line, and writes out[i] = in[i + shift].
.visible .entry shift(.param .u64 from, .param .u64 out, .param .u32 shift, .param .u32 traps) {
    .reg .pred %p<3>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<8>;
    mov.u32 %r1, %tid.x;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra go;
    atom.global.add.u32 %r2, [launches], 1;
    mov.u64 %rd1, here;
    cvta.const.u64 %rd1, %rd1;
    {
        .param .b64 f;
        .param .b64 a;
        .param .b32 r;
        st.param.b64 [f], %rd1;
        st.param.b64 [a], 0;
        call (r), vprintf, (f, a);
    }
go:
    mov.u32 %r3, %ctaid.x;
    mov.u32 %r4, %ntid.x;
    mad.lo.u32 %r5, %r3, %r4, %r1;
    ld.param.u32 %r6, [shift];
    ld.param.u64 %rd2, [from];
    ld.param.u64 %rd3, [out];
    mul.wide.u32 %rd4, %r5, 4;
    add.u64 %rd3, %rd3, %rd4;
    mul.wide.u32 %rd5, %r6, 4;
    add.u64 %rd4, %rd4, %rd5;
    add.u64 %rd2, %rd2, %rd4;
    ld.global.u32 %r7, [%rd2];
    st.global.u32 [%rd3], %r7;
    ld.param.u32 %r6, [traps];
    setp.le.u32 %p2, %r6, %r3;
    @%p2 trap;
    ret;
}
";

/// Blocks and threads of each launch.
const BLOCKS: u32 = 5;
const THREADS: u32 = 40;
const WORDS: u32 = BLOCKS * THREADS;

/// A device with two uninitialised vectors.
struct Device {
    memory: Memory,
    program: Program,
    vectors: [u64; 2],
    output: Output,
    /// The progress that the launches reported.
    progress: Mutex<Vec<(u64, u64)>>,
}

impl Device {
    fn new() -> Self {
        let mut memory = Memory::new(1 << 20);
        let program = Program::load(&ptx::parse("shift.ptx", TEXT).unwrap(), &mut memory).unwrap();
        let vectors = [0; 2].map(|_| memory.allocate(u64::from(WORDS) * 4).unwrap());
        Self { memory, program, vectors, output: Output::default(), progress: Mutex::default() }
    }

    /// Shifts vector `from` into the other one. `traps`: the first block that ends in a trap.
    fn shift(&self, from: usize, shift: u32, traps: u32, model: &str, checks: Checks) -> Result<Report, LaunchError> {
        let addresses = [self.vectors[from], self.vectors[1 - from]].map(u64::to_le_bytes);
        let numbers = [shift, traps].map(u32::to_le_bytes);
        let report = |done, whole| self.progress.lock().unwrap().push((done, whole));
        let launch = Launch {
            kernel: "shift",
            grid: [BLOCKS, 1, 1],
            block: [THREADS, 1, 1],
            arguments: &[&addresses[0], &addresses[1], &numbers[0], &numbers[1]],
            output: Some(&self.output),
            model: Model::named(model),
            progress: Some(&report),
            checks,
            ..Launch::default()
        };
        self.program.launch(&self.memory, &launch)
    }

    fn words(&self, address: u64, count: u32) -> Vec<u32> {
        let mut bytes = vec![0; count as usize * 4];
        self.memory.read(address, &mut bytes).unwrap();
        bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
    }

    fn launches(&self) -> u32 {
        self.words(self.program.symbol("launches").unwrap().address, 1)[0]
    }
}

fn texts(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(|finding| format!("{finding}, {} times", finding.count)).collect()
}

/// No block ends in a trap.
const NEVER: u32 = u32::MAX;

#[test]
fn effects_of_the_dry_run_are_undone_and_its_findings_are_kept() {
    let mut seen = Vec::new();
    for model in ["", "tesla", "hopper"] {
        let mut device = Device::new();
        let from = device.vectors[0];
        let numbers: Vec<u8> = (0..WORDS).flat_map(u32::to_le_bytes).collect();
        device.memory.write(from, &numbers).unwrap();
        let report = device.shift(0, 3, NEVER, model, Checks::ALL).unwrap();
        let expected: Vec<u32> = (0..WORDS).map(|i| if i + 3 < WORDS { i + 3 } else { 0 }).collect();
        assert_eq!(device.words(device.vectors[1], WORDS), expected, "on '{model}'");
        assert_eq!((device.launches(), device.output.take().text()), (BLOCKS, "here\n".repeat(5)), "on '{model}'");
        assert_eq!(report.findings().len(), 1, "{:?}", texts(report.findings()));
        let runs = if model.is_empty() { 1 } else { 2 } * u64::from(BLOCKS);
        let reported = std::mem::take(&mut *device.progress.lock().unwrap());
        assert!(reported.is_sorted() && reported.iter().all(|&(_, whole)| whole == runs), "{reported:?}");
        assert_eq!(reported.last(), Some(&(runs, runs)));
        seen.push(texts(report.findings()));

        // What the launch wrote is written: nothing more is found when it is read.
        let report = device.shift(1, 0, NEVER, model, Checks::ALL).unwrap();
        assert_eq!(texts(report.findings()), [""; 0], "on '{model}'");
    }
    assert_eq!(seen[0][0], seen[1][0]);
    assert_eq!(seen[0][0], seen[2][0]);
    assert!(seen[0][0].contains("out of bounds read") && seen[0][0].ends_with("3 times"), "{seen:?}");
}

#[test]
fn what_nothing_wrote_is_reported_once_and_counts_are_those_without_checks() {
    let counted = |checks| {
        let device = Device::new();
        let report = device.shift(0, 0, NEVER, "hopper", checks).unwrap();
        let again = device.shift(0, 0, NEVER, "hopper", checks).unwrap();
        assert_eq!(again.findings(), []);
        (texts(report.findings()), report.counters(), again.counters())
    };
    let (findings, first, second) = counted(Checks::ALL);
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert!(
        findings[0].contains("uninitialised read") && findings[0].ends_with(&format!("{WORDS} times")),
        "{findings:?}"
    );
    assert_eq!(counted(Checks::NONE), (vec![], first, second));
}

#[test]
fn a_trap_in_the_dry_run_ends_the_launch() {
    let stopped = |model| {
        let device = Device::new();
        let error = device.shift(0, 0, 2, model, Checks::ALL).unwrap_err();
        let LaunchError::Trap(trap) = error else { panic!("{error}") };
        // Blocks 0 and 1 have ended, block 2 has trapped.
        assert_eq!((trap.block, device.launches(), device.output.take().text()), ([2, 0, 0], 3, "here\n".repeat(3)));
        (trap.to_string(), texts(&trap.findings))
    };
    let plain = stopped("");
    assert_eq!(plain.1.len(), 1, "{plain:?}");
    assert_eq!(stopped("ampere"), plain);
}

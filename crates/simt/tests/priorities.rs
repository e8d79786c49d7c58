//! What L2 keeps: policies of loads, `ld.cs`, and access policy windows, on a model.

use simt::models::AccessWindow;
use simt::{Launch, Memory, Model, Program};

/// A warp reads a table, line by line, then a stream, then the table again.
const KERNELS: &str = "
.version 7.4
.target sm_80
.address_size 64
.visible .entry passes(.param .u64 data, .param .u64 of_table, .param .u64 of_stream, .param .u32 lines)
{
    .reg .pred %p;
    .reg .b32 %r<4>;
    .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [data];
    ld.param.u64 %rd2, [of_table];
    ld.param.u64 %rd3, [of_stream];
    ld.param.u32 %r1, [lines];
    cvta.to.global.u64 %rd1, %rd1;
    mov.u32 %r2, %tid.x;
    mad.wide.u32 %rd1, %r2, 4, %rd1;
    mul.wide.u32 %rd4, %r1, 128;
    add.u64 %rd5, %rd1, %rd4;
    add.u64 %rd6, %rd5, %rd4;
    mov.u64 %rd7, %rd1;
TABLE:
    ld.global.L2::cache_hint.u32 %r3, [%rd7], %rd2;
    add.u32 %r2, %r2, %r3;
    add.u64 %rd7, %rd7, 128;
    setp.lt.u64 %p, %rd7, %rd5;
    @%p bra TABLE;
STREAM:
    HINT
    add.u32 %r2, %r2, %r3;
    add.u64 %rd7, %rd7, 128;
    setp.lt.u64 %p, %rd7, %rd6;
    @%p bra STREAM;
    mov.u64 %rd7, %rd1;
AGAIN:
    ld.global.u32 %r3, [%rd7];
    add.u32 %r2, %r2, %r3;
    add.u64 %rd7, %rd7, 128;
    setp.lt.u64 %p, %rd7, %rd5;
    @%p bra AGAIN;
    // Loads that nobody uses are left out.
    st.global.u32 [%rd1], %r2;
    ret;
}
.visible .entry policies(.param .u64 to)
{
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [to];
    createpolicy.fractional.L2::evict_last.b64 %rd2, 1.0;
    st.global.u64 [%rd1], %rd2;
    createpolicy.fractional.L2::evict_first.b64 %rd2;
    st.global.u64 [%rd1+8], %rd2;
    ret;
}";

/// Lines of the table and of the stream: of the 6144 of a C2050's L2, both do not fit.
const LINES: u32 = 5000;

struct Machine {
    memory: Memory,
    program: Program,
    data: u64,
}

/// The kernels, whose stream is loaded by this instruction.
fn machine(stream: &str) -> Machine {
    let module = ptx::parse("passes.ptx", &KERNELS.replace("HINT", stream)).expect("right PTX");
    let mut memory = Memory::new(1 << 24);
    let program = Program::load(&module, &mut memory).expect("known instructions");
    let data = memory.allocate(u64::from(2 * LINES) * 128).expect("room");
    Machine { memory, program, data }
}

const POLICY: &str = "ld.global.L2::cache_hint.u32 %r3, [%rd7], %rd3;";

impl Machine {
    /// The lines that DRAM delivers with these policies and this window.
    fn lines(&self, [table, stream]: [u64; 2], window: Option<AccessWindow>) -> u64 {
        let arguments =
            [&self.data.to_le_bytes()[..], &table.to_le_bytes(), &stream.to_le_bytes(), &LINES.to_le_bytes()];
        let launch = Launch {
            kernel: "passes",
            block: [32, 1, 1],
            model: Model::named("fermi"),
            window,
            arguments: &arguments,
            ..Launch::default()
        };
        let report = self.program.launch(&self.memory, &launch).expect("the kernel runs");
        report.counters().model.expect("a model").caches.dram_read_bytes / 128
    }

    /// The policies `evict_last` and `evict_first`.
    fn policies(&self) -> [u64; 2] {
        let arguments = [&self.data.to_le_bytes()[..]];
        let launch = Launch { kernel: "policies", arguments: &arguments, ..Launch::default() };
        self.program.launch(&self.memory, &launch).expect("the kernel runs");
        let mut bytes = [0; 16];
        self.memory.read(self.data, &mut bytes).expect("what was written");
        [0, 8].map(|at| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes")))
    }
}

#[test]
fn a_policy_keeps_a_table_that_a_stream_would_push_out() {
    let (machine, lines) = (machine(POLICY), u64::from(LINES));
    let [last, first] = machine.policies();
    assert_eq!(machine.lines([0, 0], None), 3 * lines);
    assert_eq!(machine.lines([0, first], None), 2 * lines);
    // To be evicted last takes a part of L2 that is set aside: by a window, of whatever.
    let elsewhere = Some(AccessWindow { address: machine.data + 256 * lines, bytes: 128 });
    assert_eq!(machine.lines([last, 0], None), 3 * lines);
    assert_eq!(machine.lines([last, 0], elsewhere), 2 * lines);
    // If both are to stay, the older goes, until something ordinary comes: the table's end stays.
    assert!((2 * lines + lines / 2..3 * lines).contains(&machine.lines([last, last], elsewhere)));
    // What is no policy changes nothing.
    assert_eq!(machine.lines([0x1234, 7], None), 3 * lines);
}

#[test]
fn a_stream_that_is_read_once_leaves_first() {
    let (machine, lines) = (machine("ld.global.cs.u32 %r3, [%rd7];"), u64::from(LINES));
    assert_eq!(machine.lines([0, 0], None), 2 * lines);
}

#[test]
fn a_window_keeps_what_is_in_it_unless_an_access_asks_otherwise() {
    let (machine, lines) = (machine(POLICY), u64::from(LINES));
    let window =
        |first: u64, count: u64| Some(AccessWindow { address: machine.data + 128 * first, bytes: 128 * count });
    assert_eq!(machine.lines([0, 0], window(0, lines)), 2 * lines);
    // Half of the table.
    assert_eq!(machine.lines([0, 0], window(0, lines / 2)), 2 * lines + lines / 2);
    assert_eq!(machine.lines([0, 0], window(lines, lines)), 3 * lines);
    let [_, first] = machine.policies();
    assert_eq!(machine.lines([first, 0], window(0, lines)), 3 * lines);
}

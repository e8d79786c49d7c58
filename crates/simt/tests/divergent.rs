//! Where a warp diverges, machine code can make more requests than PTX, or fewer: a report names
//! those branches, and no others.

use simt::{CountsDiffer, Launch, Memory, Program};

/// `loop`: each thread loads as many words as its number says, at a step of a word, or of `step`.
/// `conditions`: two conditions with one alternative, or one.
const MODULE: &str = r"
.version 8.4
.target sm_90
.address_size 64

.visible .entry loop(.param .u64 data, .param .u32 more)
{
	.reg .pred %p<2>;
	.reg .b32 %r<6>;
	.reg .b64 %rd<2>;
	ld.param.u64 %rd1, [data];
	ld.param.u32 %r5, [more];
	mov.u32 %r1, %tid.x;
	shr.u32 %r1, %r1, 3;
	add.u32 %r1, %r1, 1;
	mov.u32 %r2, 0;
	mov.u32 %r3, 0;
$again:
	ld.global.u32 %r4, [%rd1];
	add.u32 %r2, %r2, %r4;
	add.u64 %rd1, %rd1, 4;
	add.u32 %r3, %r3, STEP;
	setp.lt.u32 %p1, %r3, %r1;
	@%p1 bra $again;
	st.global.u32 [%rd1], %r2;
	ret;
}

.visible .entry conditions(.param .u64 data, .param .u32 more)
{
	.reg .pred %p<3>;
	.reg .b32 %r<3>;
	.reg .b64 %rd<3>;
	ld.param.u64 %rd1, [data];
	ld.param.u32 %r2, [more];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd2, %r1, 4;
	add.u64 %rd1, %rd1, %rd2;
	setp.lt.u32 %p1, %r1, 8;
	@%p1 bra SECOND;
	bra.uni $otherwise;
$second:
	setp.ge.u32 %p2, %r1, %r2;
	@%p2 bra $otherwise;
$both:
	st.global.u32 [%rd1], %r2;
	bra.uni $end;
$otherwise:
	st.global.u32 [%rd1+128], %r2;
$end:
	ret;
}";

/// Why the launch of a block of 32 threads can be counted otherwise, with the instructions.
fn differing(text: &str, kernel: &str, more: u32, threads: u32) -> Vec<(String, CountsDiffer)> {
    let module = ptx::parse("divergent.ptx", text).unwrap_or_else(|errors| panic!("{errors}"));
    let mut memory = Memory::new(1 << 20);
    let program = Program::load(&module, &mut memory).unwrap();
    let data = memory.allocate(4096).unwrap().to_le_bytes();
    let arguments: [&[u8]; 2] = [&data, &more.to_le_bytes()];
    let launch = Launch { kernel, block: [threads, 1, 1], arguments: &arguments, ..Launch::default() };
    let report = program.launch(&memory, &launch).unwrap();
    report.differing().map(|(info, why)| (info.text.to_string(), why)).collect()
}

#[test]
fn lanes_that_leave_an_unrolled_loop_apart() {
    let unrolled = MODULE.replace("STEP", "1").replace("SECOND", "$second");
    let expected = [("@%p1 bra $again;".to_owned(), CountsDiffer::Unrolled)];
    assert_eq!(differing(&unrolled, "loop", 0, 32), expected);
    // All lanes make one iteration.
    assert_eq!(differing(&unrolled, "loop", 0, 8), []);
    // ptxas unrolls no loop that counts by a register.
    let other = MODULE.replace("STEP", "%r5").replace("SECOND", "$second");
    assert_eq!(differing(&other, "loop", 1, 32), []);
}

#[test]
fn lanes_that_come_to_one_alternative_by_two_conditions() {
    let two = MODULE.replace("STEP", "1").replace("SECOND", "$second");
    let expected = [("@%p1 bra $second;".to_owned(), CountsDiffer::Joined)];
    assert_eq!(differing(&two, "conditions", 4, 32), expected);
    // No lane comes by the first.
    assert_eq!(differing(&two, "conditions", 4, 8), []);
    let one = MODULE.replace("STEP", "1").replace("SECOND", "$both");
    assert_eq!(differing(&one, "conditions", 4, 32), []);
}

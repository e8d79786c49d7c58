//! What a predicted time does not replay: blocks of other multiprocessors that do more.

use simt::prediction::{Predicted, Prediction};
use simt::{Launch, Memory, Model, Program};

/// Blocks whose number is a multiple of `every` end at once, the others load `count` times.
const MODULE: &str = r"
.version 7.8
.target sm_75
.address_size 64

.visible .entry loads(.param .u64 in, .param .u32 every, .param .u32 count)
{
	.reg .pred %p<3>;
	.reg .b32 %r<6>;
	.reg .b64 %rd<3>;
	ld.param.u64 %rd1, [in];
	ld.param.u32 %r1, [every];
	ld.param.u32 %r2, [count];
	mov.u32 %r3, %ctaid.x;
	rem.u32 %r4, %r3, %r1;
	setp.eq.u32 %p1, %r4, 0;
	@%p1 bra $end;
	mov.u32 %r4, %tid.x;
	mad.lo.u32 %r4, %r3, 128, %r4;
	mad.wide.u32 %rd2, %r4, 4, %rd1;
$again:
	ld.global.u32 %r5, [%rd2];
	sub.u32 %r2, %r2, 1;
	setp.ne.u32 %p2, %r2, 0;
	@%p2 bra $again;
$end:
	ret;
}
";

fn time(every: u32, count: u32) -> Prediction {
    let module = ptx::parse("sample.ptx", MODULE).unwrap();
    let mut memory = Memory::new(1 << 24);
    let program = Program::load(&module, &mut memory).unwrap();
    let data = memory.allocate(4 << 20).unwrap();
    memory.fill(data, 4 << 20, 1).unwrap();
    let (data, every, count) = (data.to_le_bytes(), every.to_le_bytes(), count.to_le_bytes());
    let arguments: [&[u8]; 3] = [&data, &every, &count];
    let model = Model::named("hopper");
    let (grid, block) = ([2112, 1, 1], [128, 1, 1]);
    let kernel = "loads";
    let launch = Launch { kernel, grid, block, arguments: &arguments, model, predicts: model, ..Launch::default() };
    match program.launch(&memory, &launch).unwrap().predicted() {
        Some(Predicted::Time(time)) => (**time).clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_blocks_do_that_are_not_replayed_is_known() {
    // Spread evenly, a sample has its share of those that end at once.
    let even = time(101, 8).unsampled;
    assert!((1.0..1.2).contains(&even), "{even}");
    // All blocks of the multiprocessor that is replayed end at once. (A second wave of blocks would
    // fill it with others.)
    let [few, many] = [8, 64].map(|count| time(132, count).unsampled);
    assert!(few > 5.0 && many > 4.0 * few, "{few} {many}");
}

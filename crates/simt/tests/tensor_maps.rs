//! Tensor maps in a constant, which the host writes before the launch.

use simt::faults::TensorFault;
use simt::tensors::{TensorElement, TensorMap};
use simt::{Launch, LaunchError, Memory, Program, TrapKind};

const MODULE: &str = r"
.version 8.0
.target sm_90
.address_size 64
.const .align 64 .b8 map[128];

.visible .entry load(.param .u64 out)
{
	.reg .pred %p<2>;
	.reg .b32 %r<3>;
	.reg .b64 %rd<4>;
	.shared .align 128 .b8 tile[128];
	.shared .align 8 .b64 full;
	mov.u64 %rd1, map;
	cvta.const.u64 %rd1, %rd1;
	ld.param.u64 %rd2, [out];
	prefetch.const.tensormap [map];
	mbarrier.init.shared::cta.b64 [full], 1;
	mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 32;
	cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd1, {4, 2}], [full];
again:
	mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], 0;
	@!%p1 bra again;
	ld.shared.u32 %r1, [tile];
	ld.shared.u32 %r2, [tile+16];
	st.global.v2.u32 [%rd2], {%r1, %r2};
	ret;
}
";

#[test]
fn a_map_may_be_a_constant() {
    let module = ptx::parse("map.ptx", MODULE).unwrap_or_else(|errors| panic!("{errors}"));
    let mut memory = Memory::new(1 << 20);
    let program = Program::load(&module, &mut memory).unwrap();
    let tensor = memory.allocate(32 * 4).unwrap();
    let numbers: Vec<u8> = (0..32u32).flat_map(u32::to_le_bytes).collect();
    memory.write(tensor, &numbers).unwrap();
    let out = memory.allocate(8).unwrap();
    let launch = Launch { kernel: "load", arguments: &[&out.to_le_bytes()], ..Launch::default() };

    // All zeros are not a map.
    match program.launch(&memory, &launch) {
        Err(LaunchError::Trap(trap)) => assert_eq!(trap.kind, TrapKind::Tensor(TensorFault::NoMap)),
        other => panic!("{:?}", other.map(drop)),
    }
    let map = TensorMap::tiled(TensorElement::U32, tensor, &[8, 4], &[4, 2]).encode().unwrap();
    memory.write(program.symbol("map").unwrap().address, &map).unwrap();
    program.launch(&memory, &launch).unwrap();
    let mut found = [0; 8];
    memory.read(out, &mut found).unwrap();
    assert_eq!(found, [20, 0, 0, 0, 28, 0, 0, 0]);
}

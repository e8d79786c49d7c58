//! What instructions do beyond their results: whether a pass may drop them, and whether memory may
//! have changed behind them.

use ptx::Effect;

/// The effect of the first instruction of a kernel's body.
fn effect(instruction: &str) -> Effect {
    let text = format!(
        ".version 8.6\n.target sm_90a\n.address_size 64\n.shared .align 128 .b8 tile[256];\n.visible .entry k() {{\n\
         .reg .pred %p<3>; .reg .b32 %r<4>; .reg .b64 %rd<4>;\n{instruction}\nret;\n}}\n"
    );
    let module = ptx::parse("k.ptx", &text).unwrap_or_else(|errors| panic!("{errors}"));
    let (_, kernel) = module.kernels().next().expect("a kernel");
    kernel.body.as_ref().expect("a body")[0].op.effect()
}

#[test]
fn what_changes_memory_says_so() {
    for changes in [
        "st.global.u32 [%rd1], %r1;",
        "st.shared.u32 [tile], %r1;",
        "atom.global.add.u32 %r1, [%rd1], 1;",
        "red.shared.add.u32 [tile], 1;",
        "fence.acq_rel.gpu;",
        "fence.proxy.tensormap::generic.acquire.gpu [%rd1], 128;",
        "bar.sync 0;",
        "bar.warp.sync -1;",
        "barrier.cluster.wait;",
        "cp.async.ca.shared.global [tile], [%rd1], 4;",
        "cp.async.wait_group 0;",
        "cp.async.wait_all;",
        "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 16;",
        "cp.async.bulk.wait_group 0;",
        "cp.async.bulk.wait_group.read 1;",
        "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd1, {%r1, %r2}], [tile];",
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r1], %r2, [%r3];",
        "tensormap.replace.tile.rank.global.b1024.b32 [%rd1], 1;",
        "tensormap.replace.tile.global_address.shared::cta.b1024.b64 [tile], %rd2;",
        "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd1], [tile], 128;",
        "mbarrier.init.shared.b64 [tile], 1;",
        "mbarrier.try_wait.parity.shared::cta.b64 %p1, [tile], 0;",
    ] {
        let effect = effect(changes);
        assert!(effect.changes_memory() && !effect.may_be_unused(), "{changes} {effect:?}");
    }
}

#[test]
fn nobody_misses_what_only_has_a_result() {
    for result in [
        "add.u32 %r1, %r2, 1;",
        "ld.global.u32 %r1, [%rd1];",
        "ld.relaxed.gpu.global.u32 %r1, [%rd1];",
        "shfl.sync.idx.b32 %r1, %r2, 0, 31, -1;",
        "vote.sync.any.pred %p1, %p2, -1;",
        "match.any.sync.b32 %r1, %r2, -1;",
        "activemask.b32 %r1;",
        // Which lane is elected depends on the mask alone, and nothing is ordered.
        "elect.sync %r1|%p1, -1;",
    ] {
        let effect = effect(result);
        assert!(effect.may_be_unused() && !effect.changes_memory(), "{result} {effect:?}");
    }
}

//! Instructions as text, in PTX's own language.
//!
//! An [`Op`] has one text. Parsed in place of the original, it gives the same operation, and
//! `ptxas` accepts it. Where PTX has several texts for one operation:
//!
//! - defaults are left out: `.weak`, `.relaxed.gpu` of `atom`, `.tile`;
//! - one of several names is written: `.shared` for `.shared::cta`, `lt` for `lo`, `fma` for `mad`
//!   of floats, `fence.sc` for `membar`, `bar` for an aligned `barrier`;
//! - what the operation does not keep has one text: `prefetch.L2` for all prefetches but those of
//!   tensor maps in `.const` and `.param`, `createpolicy.fractional`, `pmevent 0` for everything
//!   that has no effect, `test_wait` for `try_wait`; `mapa`, `getctarank` and `mbarrier` without
//!   their optional modifiers.
//!
//! Labels and tables are not kept either, and what stands for them is no PTX: the target of a
//! branch is `L12`, a position in the body; the table of `brx.idx` is a list of these, and that of
//! an indirect call is a list of functions.
//!
//! The `match` here has no catch-all, so a new instruction has to say here what its text is. Longer
//! texts are in a file for each family. `text` does the writing; words come from `ir`, where each
//! enum declares its own.

mod arithmetic;
mod copies;
mod matrices;
mod memory;
mod text;

use std::fmt;

use crate::{
    AsyncOp, BarrierAction, BarrierOp, BarrierReduction, CallOperand, Callee, ComputeOp, ControlOp, Function,
    Instruction, MatrixOp, Module, Op, StackOp, TernaryOp, TextureOp, VoteMode, WarpOp,
};
use text::{Names, Part, Text};

/// The text, without a semicolon, in which registers, variables and functions are numbers.
impl fmt::Display for Op {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&operation(self, Text::new(None)).finish())
    }
}

impl Instruction {
    /// The text, with guard and semicolon, with the names of the function that the instruction is
    /// in.
    pub fn in_function(&self, module: &Module, function: &Function) -> String {
        let text = Text::new(Some(Names { module, function })).guard(self.guard);
        operation(&self.op, text).finish() + ";"
    }
}

/// Adds the text of an operation.
fn operation<'m>(op: &Op, text: Text<'m>) -> Text<'m> {
    match op {
        Op::Load { space, ordering, scope, cache, eviction, non_coherent, uniform, ty, dsts, address } => {
            let text = text.op(if *uniform { "ldu" } else { "ld" }).ordering(*ordering, *scope).dot(space.name());
            let text = text.dot(cache.name()).when(*non_coherent, "nc").dot(memory::eviction(eviction));
            text.lanes(dsts.len()).ty(*ty).args(dsts).arg(address).each(eviction.policy())
        }
        Op::Store { space, ordering, scope, cache, eviction, ty, srcs, address } => {
            let text = text.op("st").ordering(*ordering, *scope).dot(space.name()).dot(cache.name());
            let text = text.dot(memory::eviction(eviction)).lanes(srcs.len()).ty(*ty);
            text.arg(address).args(srcs).each(eviction.policy())
        }
        Op::Atomic { space, op, ordering, scope, ty, is_reduction, dst, address, a, b, flush_subnormals: _ } => {
            let text = memory::atomic(text, *is_reduction, (*ordering, *scope), *space).dot(op.name());
            let text = text.when(memory::keeps_subnormals(*ty), "noftz").ty(*ty);
            let text = if *is_reduction { text } else { text.arg(dst) };
            text.arg(address).arg(a).each(b)
        }
        Op::AtomicVector { space, op, ordering, scope, ty, is_reduction, dsts, address, srcs, flush_subnormals: _ } => {
            let text = memory::atomic(text, *is_reduction, (*ordering, *scope), *space).dot(op.name());
            let text = text.when(memory::keeps_subnormals(*ty), "noftz").lanes(srcs.len()).ty(*ty);
            let text = if *is_reduction { text } else { text.args(dsts) };
            text.arg(address).args(srcs)
        }
        Op::Prefetch { space, address } => memory::prefetch(text, *space).arg(address),
        Op::CreatePolicy { dst, priority } => {
            text.op("createpolicy.fractional").dot(priority.name()).dot("b64").arg(dst)
        }
        Op::Fence { ordering, scope, proxies } => memory::fence(text, *ordering, *scope, proxies),
        Op::WaitForEarlierGrids => text.op("griddepcontrol.wait"),
        Op::NoEffect => text.op("pmevent").number(0u32),
        Op::NanoSleep { duration } => text.op("nanosleep.u32").arg(duration),
        Op::Compute(op) => compute(text, op),
        Op::Texture(op) => texture(text, op),
        Op::Async(op) => asynchronous(text, op),
        Op::Matrix(op) => matrix(text, op),
        Op::Warp(op) => warp(text, op),
        Op::Barrier(BarrierOp::Block { action, aligned, barrier, threads }) => {
            let text = text.op(if *aligned { "bar" } else { "barrier" });
            match action {
                BarrierAction::Synchronize => text.dot("sync").arg(barrier).each(threads),
                BarrierAction::Arrive => text.dot("arrive").arg(barrier).each(threads),
                BarrierAction::Reduce { op, destination, predicate } => {
                    let counts = *op == BarrierReduction::PopulationCount;
                    let text = text.dot("red").dot(op.name()).dot(if counts { "u32" } else { "pred" });
                    text.arg(destination).arg(barrier).each(threads).arg(predicate)
                }
            }
        }
        Op::Barrier(BarrierOp::Warp { members }) => text.op("bar.warp.sync").arg(members),
        Op::Barrier(BarrierOp::Cluster { waits, relaxed, aligned }) => {
            let text = text.op("barrier.cluster").dot(if *waits { "wait" } else { "arrive" });
            text.when(*relaxed, "relaxed").when(*aligned, "aligned")
        }
        Op::Control(op) => control(text, op),
        Op::Stack(StackOp::Allocate { ty, dst, size, align }) => {
            text.op("alloca").ty(*ty).arg(dst).arg(size).number(*align)
        }
        Op::Stack(StackOp::Save { ty, dst }) => text.op("stacksave").ty(*ty).arg(dst),
        Op::Stack(StackOp::Restore { ty, src }) => text.op("stackrestore").ty(*ty).arg(src),
    }
}

fn compute<'m>(text: Text<'m>, op: &ComputeOp) -> Text<'m> {
    match op {
        ComputeOp::Move { ty, dst, src } => text.op("mov").ty(*ty).arg(dst).arg(src),
        ComputeOp::MoveVector { ty, dsts, srcs } => text.op("mov").lanes(dsts.len()).ty(*ty).args(dsts).args(srcs),
        ComputeOp::Pack { ty, dst, parts } => text.op("mov").ty(*ty).arg(dst).args(parts),
        ComputeOp::Unpack { ty, dsts, src } => text.op("mov").ty(*ty).args(dsts).arg(src),
        ComputeOp::Convert { to, from, mode, dst, src } => {
            text.op("cvt").mode(*mode).ty(*to).ty(*from).arg(dst).arg(src)
        }
        ComputeOp::ConvertPair { to, from, mode, dst, a, b } => {
            text.op("cvt").mode(*mode).ty(*to).ty(*from).arg(dst).arg(a).arg(b)
        }
        ComputeOp::ConvertPack { bits, signed, dst, a, b, c } => {
            let text = text.op("cvt.pack.sat").dot(&format!("{}{bits}", if *signed { 's' } else { 'u' })).dot("s32");
            text.when(c.is_some(), "b32").arg(dst).arg(a).arg(b).each(c)
        }
        ComputeOp::ConvertAddress { space, to_generic, ty, dst, src } => {
            text.op("cvta").when(!to_generic, "to").dot(space.name()).ty(*ty).arg(dst).arg(src)
        }
        ComputeOp::IsSpace { space, dst, src } => text.op("isspacep").dot(space.name()).arg(dst).arg(src),
        ComputeOp::IsType { ty, dst, src } => text.op("istypep").ty(*ty).arg(dst).arg(src),
        ComputeOp::Unary { op, ty, mode, dst, a } => text.op(op.name()).mode(*mode).ty(*ty).arg(dst).arg(a),
        ComputeOp::Binary { op, ty, mode, dst, a, b } => {
            text.op(arithmetic::binary(*op, *ty)).mode(*mode).ty(*ty).arg(dst).arg(a).arg(b)
        }
        ComputeOp::Ternary { op, ty, mode, dst, a, b, c } => {
            let text = arithmetic::ternary(text, *op, *ty, *mode).arg(dst).arg(a).arg(b).arg(c);
            if let TernaryOp::Logic(table) = op { text.truth_table(*table) } else { text }
        }
        ComputeOp::LogicAndTest { table, combine, dst, dst_is_set, a, b, c } => {
            let text = text.op("lop3").dot(combine.op.name()).dot("b32").pair(*dst, *dst_is_set);
            text.arg(a).arg(b).arg(c).truth_table(*table).arg(combine.predicate)
        }
        ComputeOp::BitFieldInsert { ty, dst, a, b, position, length } => {
            text.op("bfi").ty(*ty).arg(dst).arg(a).arg(b).arg(position).arg(length)
        }
        ComputeOp::Carry { op, ty, carry_in, carry_out, dst, a, b, c } => {
            let (name, half) = arithmetic::carry(*op);
            let text = text.op(name).op(if *carry_in { "c" } else { "" }).dot(half).when(*carry_out, "cc");
            text.ty(*ty).arg(dst).arg(a).arg(b).each(c)
        }
        ComputeOp::ScalarVideo(video) => arithmetic::scalar_video(text, video),
        ComputeOp::SimdVideo(video) => arithmetic::simd_video(text, video),
        ComputeOp::SetPredicate { comparison, ty, flush_subnormals, combine, dst, dst_not, a, b } => {
            let text = text.op("setp").comparison(*comparison, combine, *flush_subnormals);
            text.ty(*ty).pair(*dst, *dst_not).arg(a).arg(b).combined(combine)
        }
        ComputeOp::Set { comparison, to, ty, flush_subnormals, combine, dst, a, b } => {
            let text = text.op("set").comparison(*comparison, combine, *flush_subnormals);
            text.ty(*to).ty(*ty).arg(dst).arg(a).arg(b).combined(combine)
        }
        ComputeOp::Select { ty, dst, a, b, predicate } => text.op("selp").ty(*ty).arg(dst).arg(a).arg(b).arg(predicate),
        ComputeOp::SelectBySign { ty, selector, flush_subnormals, dst, a, b, c } => {
            text.op("slct").when(*flush_subnormals, "ftz").ty(*ty).ty(*selector).arg(dst).arg(a).arg(b).arg(c)
        }
        ComputeOp::TestProperty { property, ty, dst, a } => {
            text.op("testp").dot(property.name()).ty(*ty).arg(dst).arg(a)
        }
        ComputeOp::MapToBlock { ty, dst, src, rank } => text.op("mapa").ty(*ty).arg(dst).arg(src).arg(rank),
        ComputeOp::RankOfAddress { ty, dst, src } => text.op("getctarank").ty(*ty).arg(dst).arg(src),
    }
}

fn texture<'m>(text: Text<'m>, op: &TextureOp) -> Text<'m> {
    match op {
        TextureOp::Fetch(fetch) => memory::texture_fetch(text, fetch),
        TextureOp::Query { what, of_surface, dst, object, level } => {
            let text = text.op(if *of_surface { "suq" } else { "txq" }).when(level.is_some(), "level");
            text.dot(what.name()).dot("b32").arg(dst).operand(|text| text.put_list("[", [object], "]")).each(level)
        }
        TextureOp::SurfaceLoad { ty, dsts, surface, position, outside } => {
            let text = text.op("suld.b").dot(position.geometry.name()).lanes(dsts.len()).ty(*ty);
            text.dot(outside.name()).args(dsts).texel(*surface, None, position)
        }
        TextureOp::SurfaceStore { formatted, ty, srcs, surface, position, outside } => {
            let text = text.op(if *formatted { "sust.p" } else { "sust.b" }).dot(position.geometry.name());
            let text = text.lanes(srcs.len()).ty(*ty).dot(outside.name());
            text.texel(*surface, None, position).args(srcs)
        }
        TextureOp::SurfaceReduce { by_element, op, ty, src, surface, position, outside } => {
            let text = text.op(if *by_element { "sured.p" } else { "sured.b" }).dot(op.name());
            let text = text.dot(position.geometry.name()).ty(*ty).dot(outside.name());
            text.texel(*surface, None, position).arg(src)
        }
    }
}

fn asynchronous<'m>(text: Text<'m>, op: &AsyncOp) -> Text<'m> {
    match op {
        AsyncOp::Copy(copy) => copies::by_thread(text, copy),
        AsyncOp::Commit => text.op("cp.async.commit_group"),
        AsyncOp::Wait { groups_left: Some(groups) } => text.op("cp.async.wait_group").number(*groups),
        AsyncOp::Wait { groups_left: None } => text.op("cp.async.wait_all"),
        AsyncOp::ArriveAfterCopies { space, counted_before, address } => {
            let text = text.op("cp.async.mbarrier.arrive").when(*counted_before, "noinc").dot(space.name());
            text.dot("b64").arg(address)
        }
        AsyncOp::BulkCopy(copy) => copies::bulk(text, copy),
        AsyncOp::CommitBulk => text.op("cp.async.bulk.commit_group"),
        AsyncOp::WaitForBulk { groups_left, reads_only } => {
            text.op("cp.async.bulk.wait_group").when(*reads_only, "read").number(*groups_left)
        }
        AsyncOp::Store(store) => copies::store(text, store),
        AsyncOp::TensorCopy(copy) => copies::tensor(text, copy),
        AsyncOp::ReplaceTensorField { space, address, field, value } => {
            copies::replace_field(text, *space, *field, address).arg(value)
        }
        AsyncOp::CopyTensorMap { dst, src, scope } => {
            let text = text.op("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release");
            text.dot(scope.name()).dot("sync.aligned").arg(dst).arg(src).number(128u32)
        }
        AsyncOp::Mbarrier { action, space, address } => copies::mbarrier(text, action, *space, address),
        AsyncOp::PendingCount { dst, state } => text.op("mbarrier.pending_count.b64").arg(dst).arg(state),
    }
}

fn matrix<'m>(text: Text<'m>, op: &MatrixOp) -> Text<'m> {
    match op {
        MatrixOp::Load { space, transposed, dsts, address } => {
            matrices::moved(text.op("ldmatrix"), dsts.len(), *transposed, *space).vector(dsts).arg(address)
        }
        MatrixOp::Store { space, transposed, address, srcs } => {
            matrices::moved(text.op("stmatrix"), srcs.len(), *transposed, *space).arg(address).vector(srcs)
        }
        MatrixOp::Transpose { dst, src } => text.op("movmatrix.sync.aligned.m8n8.trans.b16").arg(dst).arg(src),
        MatrixOp::Multiply(product) => matrices::multiply(text, product),
        MatrixOp::LoadFragment { tile, dsts } => {
            let text = matrices::tile(text.op("wmma.load"), tile, "c").vector(dsts);
            text.arg(tile.address).each(tile.stride)
        }
        MatrixOp::StoreFragment { tile, srcs } => {
            let text = matrices::tile(text.op("wmma.store"), tile, "d").arg(tile.address);
            text.vector(srcs).each(tile.stride)
        }
        MatrixOp::WarpgroupMultiply(product) => matrices::warpgroup(text, product),
        MatrixOp::WarpgroupFence => text.op("wgmma.fence.sync.aligned"),
        MatrixOp::CommitProducts => text.op("wgmma.commit_group.sync.aligned"),
        MatrixOp::WaitForProducts { groups_left } => text.op("wgmma.wait_group.sync.aligned").number(*groups_left),
    }
}

fn warp<'m>(text: Text<'m>, op: &WarpOp) -> Text<'m> {
    match op {
        WarpOp::Shuffle { mode, dst, in_range, src, lane, clamp, members } => {
            let text = text.op("shfl").when(members.is_some(), "sync").dot(mode.name()).dot("b32");
            text.pair(*dst, *in_range).arg(src).arg(lane).arg(clamp).each(members)
        }
        WarpOp::Vote { mode, dst, predicate, members } => {
            let ty = if *mode == VoteMode::Ballot { "b32" } else { "pred" };
            let text = text.op("vote").when(members.is_some(), "sync").dot(mode.name()).dot(ty);
            text.arg(dst).arg(predicate).each(members)
        }
        WarpOp::Match { all, ty, dst, all_equal, src, members } => {
            let text = text.op(if *all { "match.all.sync" } else { "match.any.sync" }).ty(*ty);
            text.pair(*dst, *all_equal).arg(src).arg(members)
        }
        WarpOp::Reduce { op, ty, dst, src, members } => {
            text.op("redux.sync").dot(op.name()).ty(*ty).arg(dst).arg(src).arg(members)
        }
        WarpOp::ActiveMask { dst } => text.op("activemask.b32").arg(dst),
        WarpOp::Elect { dst, leader, members } => text.op("elect.sync").pair(*dst, *leader).arg(members),
    }
}

fn control<'m>(text: Text<'m>, op: &ControlOp) -> Text<'m> {
    match op {
        ControlOp::Branch { target, uniform } => text.op("bra").when(*uniform, "uni").arg(Label(*target)),
        ControlOp::BranchIndexed { index, targets, uniform } => {
            text.op("brx.idx").when(*uniform, "uni").arg(index).vector(targets.iter().map(|&target| Label(target)))
        }
        ControlOp::Call { callee, results, arguments, uniform } => {
            call(text.op("call").when(*uniform, "uni"), callee, results, arguments)
        }
        ControlOp::Return => text.op("ret"),
        ControlOp::Exit => text.op("exit"),
        ControlOp::Trap => text.op("trap"),
        ControlOp::Breakpoint => text.op("brkpt"),
    }
}

/// A position of the body.
struct Label(u32);

impl Part for Label {
    fn put(&self, text: &mut Text<'_>) {
        text.put(format_args!("L{}", self.0));
    }
}

/// `call (results), callee, (arguments), {candidates}`, without empty parentheses.
fn call<'m>(text: Text<'m>, callee: &Callee, results: &[CallOperand], arguments: &[CallOperand]) -> Text<'m> {
    let text = if results.is_empty() { text } else { text.operand(|text| text.put_list("(", results, ")")) };
    let text = match callee {
        Callee::Direct(function) => text.arg(function),
        Callee::Indirect { register, .. } => text.arg(register),
    };
    let text = if arguments.is_empty() { text } else { text.operand(|text| text.put_list("(", arguments, ")")) };
    match callee {
        Callee::Direct(_) => text,
        Callee::Indirect { candidates, .. } => text.vector(candidates),
    }
}

//! Gives instructions their meaning: from opcode, modifiers and operands to typed operations.
//!
//! [`instruction`] is called for each instruction of a body. A *family* is a file with the
//! instructions of one subject; its functions take the instruction as a [`Context`] and return an
//! [`Op`], or an operation of one of its families. They may add registers and pending branches to
//! the function being read, and never touch the text.
//!
//! **To add a PTX instruction:** add an arm to [`operation`] that names its family; add a row to
//! the family's tables, or a function; and if the opcode is new, a row to
//! [`syntax::opcodes`](crate::syntax::opcodes), which says which `.version` and `.target` it needs.
//! What its modifiers need is in [`syntax::targets`](crate::syntax::targets) and
//! [`syntax::versions`](crate::syntax::versions). A family takes the modifiers that it knows, in
//! any order (as `ptxas` does; only types must be in order). It then calls
//! [`Context::operands`](context::Context::operands), which rejects left-over modifiers and a wrong
//! number of operands, and reads the operands, each with the type that it must have. Take the
//! opcode out of `syntax/unsupported.rs`, and add an example to `tests/data/instructions.ptx` (or
//! `instructions_100.ptx`, if it needs sm_100), and wrong uses to `tests/errors/`.
//!
//! A new kind of operation is a variant of its family's enum in `ir/`, such as `ComputeOp`. The
//! compiler then asks for its row in the table of `ir/effects.rs` (what it reads and does), its
//! text in `print/mod.rs`, and what it becomes in simt's `program/decode/instruction.rs`. Where it
//! differs from the rest of its family, simt's `program/facts.rs` (class, order, loops),
//! `program/decode/flows.rs` (what its results depend on) and `timing/plan.rs` (cost) say so. A new
//! `Action` there needs its row and its targets in `program/effects.rs`, its text in
//! `program/text.rs` and an arm in `machine/step.rs`; `lanes/` (arithmetic) or `machine/` (the
//! rest) has what it does.

mod addresses;
mod arithmetic;
mod atomic;
mod barrier;
mod carry;
mod cluster;
mod compare;
mod context;
mod control;
mod convert;
mod copy;
mod matrix;
mod memory;
mod mode;
mod modifiers;
mod movement;
mod names;
mod needs;
mod operands;
mod special;
mod stack;
mod surface;
mod texture;
mod video;
mod warp;

use context::Context;
use copy::{asynchronous, bulk, tensor};
use matrix::{fragments, multiply, warpgroup, wmma};
use needs::check_instruction;

use crate::environment::Environment;
use crate::errors::Parsed;
use crate::syntax::statement::Statement;
use crate::{ControlOp, Op, Predicate};

/// The guard and the operation of an instruction.
pub(crate) fn instruction<'t>(
    statement: &Statement<'t>,
    environment: &mut Environment<'t>,
) -> Parsed<(Option<Predicate>, Op)> {
    let mut context = Context { statement, environment, taken: 0, last: 0 };
    let guard = match &statement.guard {
        Some(name) => Some(context.predicate_named(name)?),
        None => None,
    };
    let op = operation(&mut context)?;
    check_instruction(&context, &op)?;
    Ok((guard, op))
}

/// Dispatches to the family by opcode: the only function that knows all opcodes.
fn operation(c: &mut Context<'_, '_>) -> Parsed<Op> {
    match c.opcode() {
        "ld" | "ldu" => memory::load(c),
        "st" | "red" if c.has_modifier("async") => bulk::store(c),
        "st" => memory::store(c),
        "prefetch" | "prefetchu" | "applypriority" | "discard" => memory::prefetch(c),
        "fence" | "membar" => memory::fence(c),
        "createpolicy" => memory::create_policy(c),
        "tex" => texture::fetch(c).map(Op::Texture),
        "tld4" => texture::gather(c).map(Op::Texture),
        "txq" | "suq" => texture::query(c).map(Op::Texture),
        "suld" => surface::load(c).map(Op::Texture),
        "sust" => surface::store(c).map(Op::Texture),
        "sured" => surface::reduce(c).map(Op::Texture),
        "atom" | "red" => atomic::atomic(c),

        "cp" if c.has_modifier("bulk") => bulk::copy(c),
        "cp" => asynchronous::copy(c).map(Op::Async),
        "tensormap" => tensor::map(c),
        "mbarrier" => asynchronous::mbarrier(c).map(Op::Async),
        "ldmatrix" => fragments::load(c).map(Op::Matrix),
        "stmatrix" => fragments::store(c).map(Op::Matrix),
        "movmatrix" => fragments::transpose(c).map(Op::Matrix),
        "mma" => multiply::multiply(c).map(Op::Matrix),
        "wmma" => wmma::wmma(c).map(Op::Matrix),
        "wgmma" => warpgroup::wgmma(c).map(Op::Matrix),

        "mov" => movement::mov(c).map(Op::Compute),
        "cvt" if c.has_modifier("pack") => convert::pack(c).map(Op::Compute),
        "cvt" => convert::cvt(c).map(Op::Compute),
        "cvta" => convert::cvta(c).map(Op::Compute),
        "isspacep" => convert::isspacep(c).map(Op::Compute),
        "istypep" => convert::istypep(c).map(Op::Compute),

        "add" | "sub" | "mad" if c.has_modifier("cc") => carry::carry(c).map(Op::Compute),
        "addc" | "subc" | "madc" => carry::carry(c).map(Op::Compute),
        "mul" | "mad" => arithmetic::multiply(c).map(Op::Compute),
        "abs" | "neg" | "not" | "cnot" | "popc" | "clz" | "brev" | "bfind" | "rcp" | "sqrt" | "rsqrt" | "sin"
        | "cos" | "lg2" | "ex2" | "tanh" => arithmetic::unary(c).map(Op::Compute),
        "add" | "sub" | "div" | "rem" | "min" | "max" | "and" | "or" | "xor" | "shl" | "shr" | "copysign" | "mul24"
        | "bmsk" | "szext" => arithmetic::binary(c).map(Op::Compute),
        "fma" | "mad24" | "sad" | "bfe" | "shf" | "prmt" | "lop3" | "dp4a" | "dp2a" | "fns" => {
            arithmetic::ternary(c).map(Op::Compute)
        }
        "bfi" => arithmetic::bit_field_insert(c).map(Op::Compute),

        "setp" => compare::setp(c).map(Op::Compute),
        "set" => compare::set(c).map(Op::Compute),
        "selp" => compare::selp(c).map(Op::Compute),
        "slct" => compare::slct(c).map(Op::Compute),
        "testp" => compare::testp(c).map(Op::Compute),

        "vadd" | "vsub" | "vabsdiff" | "vmin" | "vmax" | "vshl" | "vshr" | "vmad" | "vset" => {
            video::scalar(c).map(Op::Compute)
        }
        "vadd2" | "vsub2" | "vavrg2" | "vabsdiff2" | "vmin2" | "vmax2" | "vset2" | "vadd4" | "vsub4" | "vavrg4"
        | "vabsdiff4" | "vmin4" | "vmax4" | "vset4" => video::simd(c).map(Op::Compute),

        "shfl" => warp::shuffle(c).map(Op::Warp),
        "vote" => warp::vote(c).map(Op::Warp),
        "match" => warp::matching(c).map(Op::Warp),
        "redux" => warp::reduce(c).map(Op::Warp),
        "elect" => warp::elect(c).map(Op::Warp),
        "activemask" => warp::active_mask(c).map(Op::Warp),

        "barrier" if c.has_modifier("cluster") => cluster::barrier(c).map(Op::Barrier),
        "bar" | "barrier" => barrier::barrier(c).map(Op::Barrier),
        "mapa" => cluster::map(c).map(Op::Compute),
        "getctarank" => cluster::rank(c).map(Op::Compute),
        "griddepcontrol" => cluster::grid_dependency(c),
        "setmaxnreg" | "pmevent" => cluster::no_effect(c),
        "nanosleep" => barrier::nanosleep(c),

        "bra" => control::branch(c).map(Op::Control),
        "brx" => control::branch_indexed(c).map(Op::Control),
        "call" => control::call(c).map(Op::Control),
        "alloca" => stack::allocate(c).map(Op::Stack),
        "stacksave" => stack::save(c).map(Op::Stack),
        "stackrestore" => stack::restore(c).map(Op::Stack),
        "ret" => control::ending(c, ControlOp::Return).map(Op::Control),
        "exit" => control::ending(c, ControlOp::Exit).map(Op::Control),
        "trap" => control::ending(c, ControlOp::Trap).map(Op::Control),
        "brkpt" => control::ending(c, ControlOp::Breakpoint).map(Op::Control),

        _ => c.unknown_opcode(),
    }
}

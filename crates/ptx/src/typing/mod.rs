//! Gives instructions their meaning: from opcode, modifiers and operands to typed operations.
//!
//! [`instruction`] is called for each instruction of a body. A *family* is a file with the
//! instructions of one subject; its functions take the instruction as a [`Context`] and return an
//! [`Op`]. They may add registers and pending branches to the function being read, and never touch
//! the text.
//!
//! **To add a PTX instruction:** add an arm to [`operation`] that names its family; add a row to
//! the family's tables, or a function; and if the opcode is new, a row to
//! [`syntax::opcodes`](crate::syntax::opcodes), which says which `.version` and `.target` it needs.
//! What its modifiers need is in [`syntax::targets`](crate::syntax::targets) and
//! [`syntax::versions`](crate::syntax::versions). A family takes the modifiers that it knows, in
//! any order (as `ptxas` does; only types must be in order). It then calls
//! [`Context::operands`](context::Context::operands), which rejects left-over modifiers and a wrong
//! number of operands, and reads the operands, each with the type that it must have.

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
use crate::{Op, Predicate};

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
        "tex" => texture::fetch(c),
        "tld4" => texture::gather(c),
        "txq" | "suq" => texture::query(c),
        "suld" => surface::load(c),
        "sust" => surface::store(c),
        "sured" => surface::reduce(c),
        "atom" | "red" => atomic::atomic(c),

        "cp" if c.has_modifier("bulk") => bulk::copy(c),
        "cp" => asynchronous::copy(c),
        "tensormap" => tensor::map(c),
        "mbarrier" => asynchronous::mbarrier(c),
        "ldmatrix" => fragments::load(c),
        "stmatrix" => fragments::store(c),
        "movmatrix" => fragments::transpose(c),
        "mma" => multiply::multiply(c),
        "wmma" => wmma::wmma(c),
        "wgmma" => warpgroup::wgmma(c),

        "mov" => movement::mov(c),
        "cvt" if c.has_modifier("pack") => convert::pack(c),
        "cvt" => convert::cvt(c),
        "cvta" => convert::cvta(c),
        "isspacep" => convert::isspacep(c),
        "istypep" => convert::istypep(c),

        "add" | "sub" | "mad" if c.has_modifier("cc") => carry::carry(c),
        "addc" | "subc" | "madc" => carry::carry(c),
        "mul" | "mad" => arithmetic::multiply(c),
        "abs" | "neg" | "not" | "cnot" | "popc" | "clz" | "brev" | "bfind" | "rcp" | "sqrt" | "rsqrt" | "sin"
        | "cos" | "lg2" | "ex2" | "tanh" => arithmetic::unary(c),
        "add" | "sub" | "div" | "rem" | "min" | "max" | "and" | "or" | "xor" | "shl" | "shr" | "copysign" | "mul24"
        | "bmsk" | "szext" => arithmetic::binary(c),
        "fma" | "mad24" | "sad" | "bfe" | "shf" | "prmt" | "lop3" | "dp4a" | "dp2a" | "fns" => arithmetic::ternary(c),
        "bfi" => arithmetic::bit_field_insert(c),

        "setp" => compare::setp(c),
        "set" => compare::set(c),
        "selp" => compare::selp(c),
        "slct" => compare::slct(c),
        "testp" => compare::testp(c),

        "vadd" | "vsub" | "vabsdiff" | "vmin" | "vmax" | "vshl" | "vshr" | "vmad" | "vset" => video::scalar(c),
        "vadd2" | "vsub2" | "vavrg2" | "vabsdiff2" | "vmin2" | "vmax2" | "vset2" | "vadd4" | "vsub4" | "vavrg4"
        | "vabsdiff4" | "vmin4" | "vmax4" | "vset4" => video::simd(c),

        "shfl" => warp::shuffle(c),
        "vote" => warp::vote(c),
        "match" => warp::matching(c),
        "redux" => warp::reduce(c),
        "elect" => warp::elect(c),
        "activemask" => warp::active_mask(c),

        "barrier" if c.has_modifier("cluster") => cluster::barrier(c),
        "bar" | "barrier" => barrier::barrier(c),
        "mapa" => cluster::map(c),
        "getctarank" => cluster::rank(c),
        "griddepcontrol" => cluster::grid_dependency(c),
        "setmaxnreg" | "pmevent" => cluster::no_effect(c),
        "nanosleep" => barrier::nanosleep(c),

        "bra" => control::branch(c),
        "brx" => control::branch_indexed(c),
        "call" => control::call(c),
        "alloca" => stack::allocate(c),
        "stacksave" => stack::save(c),
        "stackrestore" => stack::restore(c),
        "ret" => control::ending(c, Op::Return),
        "exit" => control::ending(c, Op::Exit),
        "trap" => control::ending(c, Op::Trap),
        "brkpt" => control::ending(c, Op::Breakpoint),

        _ => c.unknown_opcode(),
    }
}

//! What an instruction's result is, if its operands are the same in all threads of a block, or of a
//! warp.

use std::collections::HashSet;

use super::function::Function;
use super::instruction::{Instruction, is_local};
use crate::ir::{Kind, tokens};

/// The threads that are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    Block,
    /// The lanes of a warp. This is for warnings: it takes warps for rows of 32 threads in x, and
    /// loads for done by all lanes at once.
    Warp,
}

/// What an instruction does with uniformity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    /// The result is the same in all threads of a block, whatever the operands.
    Uniform,
    /// The result is the same if the operands are.
    Computes,
    /// The result may differ.
    Differs(Origin),
}

/// Where a value begins to depend on the thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// A register of the thread, or another result of a call.
    Call,
    /// A load from memory that threads write, or of which it is not known that they do not.
    Load,
    /// An atomic operation.
    Atomic,
    /// Inline assembly.
    Assembly,
    /// The address of a local variable, or a value that is not known.
    Local,
}

/// Special registers that are the same in all threads of a block (PTX ISA, "Special Registers").
const UNIFORM_REGISTERS: [&str; 6] = ["ntid.", "ctaid.", "nctaid.", "warpsize", "dynamic_smem_size", "total_smem_size"];

/// LLVM's intrinsics that only compute. What is not here differs.
const COMPUTING: [&str; 61] = [
    "abs",
    "smax",
    "smin",
    "umax",
    "umin",
    "scmp",
    "ucmp",
    "ctpop",
    "ctlz",
    "cttz",
    "bswap",
    "bitreverse",
    "fshl",
    "fshr",
    "sadd",
    "uadd",
    "ssub",
    "usub",
    "smul",
    "umul",
    "sshl",
    "ushl",
    "sqrt",
    "fma",
    "fmuladd",
    "fabs",
    "floor",
    "ceil",
    "trunc",
    "rint",
    "nearbyint",
    "round",
    "roundeven",
    "copysign",
    "minnum",
    "maxnum",
    "minimum",
    "maximum",
    "minimumnum",
    "maximumnum",
    "exp",
    "exp2",
    "exp10",
    "log",
    "log2",
    "log10",
    "pow",
    "powi",
    "sin",
    "cos",
    "ldexp",
    "frexp",
    "fptosi",
    "fptoui",
    "canonicalize",
    "is",
    "expect",
    "ptrmask",
    "lround",
    "lrint",
    "vector",
];

/// The same among NVPTX's: the first word after `llvm.nvvm.`.
const COMPUTING_NVVM: [&str; 14] =
    ["sin", "cos", "ex2", "lg2", "rsqrt", "rcp", "sqrt", "div", "fma", "add", "mul", "fabs", "fmin", "fmax"];

/// The effect of an instruction that has a result.
pub(super) fn effect<'a>(
    instruction: &Instruction<'a>,
    function: &Function<'a>,
    constants: &HashSet<&str>,
    scope: Scope,
) -> Effect {
    if scope == Scope::Warp && is_uniform_in_warp(instruction, function) {
        return Effect::Uniform;
    }
    match instruction.operation {
        "load" if scope == Scope::Warp => Effect::Computes,
        "parameter" => Effect::Uniform,
        "call" if instruction.assembly().is_some() => Effect::Differs(Origin::Assembly),
        "call" => instruction.callee().map_or(Effect::Differs(Origin::Call), of_function),
        "load" => {
            let ordered = tokens(instruction.text).any(|token| matches!(token.text, "volatile" | "atomic"));
            let pointer = || pointer_operand(instruction.text);
            match !ordered && pointer().is_some_and(|pointer| is_read_only(pointer, function, constants)) {
                true => Effect::Computes,
                false => Effect::Differs(Origin::Load),
            }
        }
        "atomicrmw" | "cmpxchg" => Effect::Differs(Origin::Atomic),
        "alloca" | "va_arg" | "landingpad" | "catchpad" | "cleanuppad" | "invoke" | "callbr" => {
            Effect::Differs(Origin::Local)
        }
        // It gives a value to what has none, and not the same to all.
        "freeze" if instruction.operands.is_empty() => Effect::Differs(Origin::Local),
        _ => Effect::Computes,
    }
}

/// Whether the lanes of a warp have the same result although their threads' indices differ.
fn is_uniform_in_warp<'a>(instruction: &Instruction<'a>, function: &Function<'a>) -> bool {
    if let Some(callee) = instruction.callee() {
        let is = |name: &str| callee.starts_with(&format!("llvm.nvvm.{name}"));
        let of_warp = ["vote.", "redux.", "activemask", "read.ptx.sreg.warpid", "read.ptx.sreg.smid"];
        let rows = ["read.ptx.sreg.tid.y", "read.ptx.sreg.tid.z"];
        return of_warp.into_iter().any(is) || (function.has_rows_of_warps && rows.into_iter().any(is));
    }
    // `%x / 64`, `%x < 32` and the like for the thread's x, which begins with a multiple of 32 in
    // each warp.
    let words: Vec<&str> = instruction.text.split([' ', ',']).filter(|word| !word.is_empty()).collect();
    let constant = words.iter().skip(2).find_map(|word| word.parse::<i64>().ok());
    let (Some(constant), [operand]) = (constant, instruction.operands.as_slice()) else { return false };
    let is_first =
        words.iter().position(|word| word == operand) < words.iter().position(|word| *word == constant.to_string());
    let has = |word: &str| words.contains(&word);
    let splits = match instruction.operation {
        "lshr" => constant >= 5,
        "udiv" => constant % 32 == 0,
        "and" => constant & 31 == 0,
        "icmp" if has("ult") || has("uge") => constant % 32 == 0,
        "icmp" if has("ugt") || has("ule") => constant % 32 == 31,
        _ => false,
    };
    is_first && splits && is_thread_x(operand, function)
}

/// Whether a value is the thread's x, in a type of any width.
fn is_thread_x<'a>(mut name: &'a str, function: &Function<'a>) -> bool {
    for _ in 0..8 {
        let Some(&index) = function.defined.get(name) else { return false };
        let instruction = &function.instructions[index];
        match (instruction.operation, instruction.operands.as_slice()) {
            ("zext" | "sext" | "trunc" | "freeze", [operand]) => name = operand,
            _ => return instruction.callee() == Some("llvm.nvvm.read.ptx.sreg.tid.x"),
        }
    }
    false
}

fn of_function(callee: &str) -> Effect {
    if let Some(register) = callee.strip_prefix("llvm.nvvm.read.ptx.sreg.") {
        let is_uniform = UNIFORM_REGISTERS.iter().any(|name| register.starts_with(name));
        return if is_uniform { Effect::Uniform } else { Effect::Differs(Origin::Call) };
    }
    // A vote of the block: all threads get the result.
    if callee.starts_with("llvm.nvvm.barrier.cta.red.") && callee.ends_with(".aligned.all") {
        return Effect::Uniform;
    }
    let first = |name: &str| name.split('.').next().unwrap_or("").to_owned();
    let computes = match callee.strip_prefix("llvm.nvvm.") {
        Some(name) => COMPUTING_NVVM.contains(&first(name).as_str()),
        None => callee.strip_prefix("llvm.").is_some_and(|name| COMPUTING.contains(&first(name).as_str())),
    };
    if computes { Effect::Computes } else { Effect::Differs(Origin::Call) }
}

/// The operands of type `ptr`, in order; `None` for one that is neither a local value nor a
/// variable.
fn pointer_operands(text: &str) -> Vec<Option<&str>> {
    let all: Vec<_> = tokens(text).filter(|token| token.kind != Kind::Space).collect();
    let mut operands = Vec::new();
    for index in (0..all.len()).filter(|&index| all[index].text == "ptr") {
        // `ptr addrspace(4) %p`
        let is_qualified = all.get(index + 1).is_some_and(|token| token.text == "addrspace");
        let rest = all.get(index + if is_qualified { 5 } else { 1 }..).unwrap_or_default();
        match rest.first() {
            // It is a type alone, or within a constant expression.
            None => {}
            Some(token) if matches!(token.text, "," | "]" | "}" | ">" | ")" | "to") => {}
            Some(token) => operands.push((is_local(token) || token.name().is_some()).then_some(token.text)),
        }
    }
    operands
}

/// The first operand of type `ptr`. Of a constant expression it is the variable within.
fn pointer_operand(text: &str) -> Option<&str> {
    let operands = pointer_operands(text);
    match operands.as_slice() {
        [None, Some(variable), ..] if variable.starts_with('@') => Some(variable),
        [first, ..] => *first,
        [] => None,
    }
}

/// Whether nobody writes the memory that a pointer points into while the kernel runs: a constant,
/// or a parameter through which the kernel only reads and which nothing else in it points to.
fn is_read_only(pointer: &str, function: &Function<'_>, constants: &HashSet<&str>) -> bool {
    let mut open = vec![pointer];
    let mut seen = HashSet::new();
    while let Some(pointer) = open.pop() {
        if !seen.insert(pointer) {
            continue;
        }
        if let Some(name) = pointer.strip_prefix('@') {
            if !constants.contains(name.trim_matches('"')) {
                return false;
            }
            continue;
        }
        let Some(&index) = function.defined.get(pointer) else { return false };
        let instruction = &function.instructions[index];
        match instruction.operation {
            "parameter" => {
                let has = |attribute: &str| tokens(instruction.text).any(|token| token.text == attribute);
                let read_only = has("readonly") || has("readnone");
                if !(function.is_kernel && read_only && has("noalias")) {
                    return false;
                }
            }
            "getelementptr" | "bitcast" | "addrspacecast" => match pointer_operand(instruction.text) {
                Some(base) => open.push(base),
                None => return false,
            },
            "phi" => open.extend(instruction.incoming.iter().map(|&(value, ..)| value)),
            "select" => match pointer_operands(instruction.text).into_iter().collect::<Option<Vec<_>>>() {
                Some(choices) => open.extend(choices),
                None => return false,
            },
            _ => return false,
        }
    }
    true
}

/// The variables that are constant.
pub(super) fn constants(ir: &str) -> HashSet<&str> {
    let mut names = HashSet::new();
    for line in ir.lines().filter(|line| line.starts_with('@')) {
        let mut tokens = tokens(line);
        let Some(name) = tokens.next().and_then(|token| token.name()) else { continue };
        if tokens
            .find(|token| matches!(token.text, "global" | "constant" | "alias" | "ifunc"))
            .is_some_and(|word| word.text == "constant")
        {
            names.insert(name);
        }
    }
    names
}

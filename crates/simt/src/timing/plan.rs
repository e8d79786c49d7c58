//! What the replay needs to know of each instruction: its unit and how long it occupies it, when
//! its result is ready, which registers it waits for, and where the compiler would put it.
//!
//! PTX is not what a GPU executes. Two things bring it close enough. A few instructions become long
//! sequences (divisions, roots, 64-bit products), which count as many; all others count as one. And
//! `ptxas` replaces short branches by predicates (`predicates.rs`) and moves loads ahead of what
//! does not need them, so each straight run is put in the order of its longest paths (`order.rs`).

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::RangeInclusive;

use ptx::{
    AsyncOp, BarrierOp, BinaryOp, ComputeOp, ControlOp, Instruction, Kind, MatrixOp, Module, Op, Operand, Precision,
    Space, Special, TernaryOp, TextureOp, Type, UnaryOp, WarpOp,
};

use super::halves;
use super::predicates;
use super::pressure::{self, Register};
use super::step::{Copies, Cost, Meeting, Scheduled, Step, Unit};
use super::unroll::{Body, Unrolled};
use crate::model::Timing;
use crate::program::{BasicBlocks, Code, successors};

/// A kernel with the functions that it may call.
pub(crate) struct Plan {
    /// A step for each place, and then those of copies of loops.
    pub(super) steps: Vec<Step>,
    /// The loops that are unrolled, by their branches back.
    pub(super) loops: HashMap<u32, Unrolled>,
    /// The number of places.
    pub(super) places: usize,
    /// The registers in the scoreboard.
    pub(super) registers: Vec<Register>,
}

impl Plan {
    pub fn new(code: &Code, module: &Module, timing: &Timing) -> Self {
        let mut steps: Vec<Step> = Vec::with_capacity(code.places.len());
        let (mut loops, mut copies) = (HashMap::new(), Vec::new());
        let mut registers: Vec<Register> = Vec::new();
        while steps.len() < code.positions.len() {
            let first = steps.len();
            let (handle, _) = code.positions[first];
            let function = &module.functions[handle];
            let body = function.body.as_deref().unwrap_or_default();
            let base = registers.len() as u32;
            let numbered = |all: &[u32]| all.iter().map(|register| register + base).collect();
            let short = halves::short(body, |index| code.registers.writes(first + index));
            for (index, instruction) in body.iter().enumerate() {
                let place = first + index;
                let cost = match halves::one_half(&instruction.op, &short) && !timing.issue.short_pointers {
                    true => Cost::new(Unit::Integer, 1, timing.issue.integer, timing.latency.arithmetic),
                    false => cost(&instruction.op, timing),
                };
                steps.push(Step {
                    cost,
                    copies: Copies::of(&instruction.op),
                    meeting: Meeting::of(&instruction.op),
                    scheduled: Scheduled::of(&instruction.op, cost.latency),
                    reads: numbered(code.registers.reads(place)),
                    writes: numbered(code.registers.writes(place)),
                    block: (place as u32, place as u32 + 1),
                    third_register: 0,
                    goes_on: false,
                    vanishes: false,
                    is_barrier: matches!(instruction.op, Op::Barrier(BarrierOp::Block { .. })),
                    origin: place as u32,
                });
            }
            // What another access moves is ready with it.
            for place in first..steps.len() {
                let Some(&by) = code.served.get(&(place as u32)) else { continue };
                let writes = std::mem::take(&mut steps[place].writes);
                let by = &mut steps[by as usize];
                by.writes = by.writes.iter().chain(&writes).copied().collect();
                steps[place].cost = NOTHING;
            }
            let successors = successors(body);
            let blocks = BasicBlocks::new(body.len(), &successors);
            for block in 0..blocks.count() {
                let range = blocks.positions(block);
                let (start, end) = (first + range.start, first + range.end);
                steps[start..end].iter_mut().for_each(|step| step.block = (start as u32, end as u32));
            }
            // A guard takes its predicate earlier in the pipeline than an operand.
            let guards: HashSet<u32> =
                body.iter().filter_map(|one| Some(one.guard?.register.index() as u32 + base)).collect();
            for step in steps[first..].iter_mut().filter(|step| step.writes.iter().any(|to| guards.contains(to))) {
                step.cost.latency = step.cost.latency.max(timing.latency.guard);
            }
            for end in predicates::ends(body, &blocks, &successors) {
                let step = &mut steps[first + end];
                (step.goes_on, step.vanishes) = (true, step.cost.unit == Unit::Branch);
            }
            registers.extend(pressure::registers(code, function, &blocks, first, timing.issue.short_pointers));
            let (blocks, successors) = (&blocks, &successors[..]);
            let divergent = divergent_loops(body, &registers[base as usize..]);
            for (step, instruction) in steps[first..].iter_mut().zip(body) {
                if let Op::Compute(ComputeOp::Ternary { op: TernaryOp::FusedMultiplyAdd, ty: Type::F32, .. }) =
                    instruction.op
                {
                    // Elsewhere, what the grid has in common is in the constant bank or in uniform
                    // registers.
                    let in_loop = divergent.iter().any(|range| range.contains(&(step.origin as usize - first)));
                    let in_register = |register: &&u32| in_loop || !registers[**register as usize].uniform;
                    let operands: BTreeSet<&u32> = step.reads.iter().filter(in_register).collect();
                    step.third_register = if operands.len() > 2 { timing.issue.third_register } else { 0 };
                }
            }
            let body_of = Body { code, function, blocks, successors, first, steps: &steps[first..] };
            let found = body_of.unrolled(base, &mut registers, code.positions.len(), &mut copies);
            loops.extend(found.into_iter().map(|found| (found.branch, found)));
            if body.is_empty() {
                break;
            }
        }
        let places = steps.len();
        steps.append(&mut copies);
        Self { steps, loops, places, registers }
    }
}

/// The loops whose branch back not all threads of a block may take alike, as the positions from
/// there to the branch.
fn divergent_loops(body: &[Instruction], registers: &[Register]) -> Vec<RangeInclusive<usize>> {
    let back = |(position, instruction): (usize, &Instruction)| match (&instruction.op, instruction.guard) {
        (Op::Control(ControlOp::Branch { target, .. }), Some(guard)) if *target as usize <= position => {
            (!registers[guard.register.index()].uniform).then_some(*target as usize..=position)
        }
        _ => None,
    };
    body.iter().enumerate().filter_map(back).collect()
}

/// What an instruction costs on a GPU.
fn cost(op: &Op, timing: &Timing) -> Cost {
    let Timing { issue, latency, .. } = timing;
    match op {
        Op::Compute(op) => computed(op, timing),
        Op::Load { space: Space::Parameter, .. } if issue.short_pointers => NOTHING,
        Op::Load { space: Space::Parameter, .. } => Cost::new(Unit::Other, 1, 1, 10),
        Op::Load { .. }
        | Op::Store { .. }
        | Op::Atomic { .. }
        | Op::AtomicVector { .. }
        | Op::Async(AsyncOp::Copy(_)) => ACCESS,
        // An mbarrier is in shared memory.
        Op::Async(AsyncOp::Mbarrier { .. } | AsyncOp::ArriveAfterCopies { .. }) => {
            Cost::new(Unit::Other, 1, 1, latency.shared as u32)
        }
        Op::Matrix(MatrixOp::Load { .. } | MatrixOp::Store { .. }) => ACCESS,
        Op::Matrix(MatrixOp::LoadFragment { .. } | MatrixOp::StoreFragment { .. }) => ACCESS,
        Op::Texture(TextureOp::Query { .. }) => RENAMED,
        Op::Texture(_) => Cost::new(Unit::Texture, 1, issue.texture, 1),
        Op::Warp(op) => match op {
            WarpOp::Shuffle { .. } => Cost::new(Unit::Shuffle, 1, 2 * issue.any, latency.shuffle),
            WarpOp::Reduce { .. } => Cost::new(Unit::Special, 1, issue.special, latency.special),
            WarpOp::Vote { .. } | WarpOp::Match { .. } | WarpOp::ActiveMask { .. } | WarpOp::Elect { .. } => {
                Cost::new(Unit::Integer, 1, issue.integer, 3 * latency.arithmetic)
            }
        },
        Op::Barrier(_) => Cost::new(Unit::Barrier, 1, 1, 1),
        Op::Control(op) => match op {
            ControlOp::Branch { .. } | ControlOp::BranchIndexed { .. } | ControlOp::Call { .. } => {
                Cost::new(Unit::Branch, 1, 2, latency.branch)
            }
            ControlOp::Return | ControlOp::Exit => Cost::new(Unit::Branch, 1, 1, 1),
            ControlOp::Trap | ControlOp::Breakpoint => RENAMED,
        },
        Op::Fence { .. } => Cost::new(Unit::Other, 1, 1, 300),
        _ => RENAMED,
    }
}

const NOTHING: Cost = Cost::new(Unit::Other, 0, 0, 0);
const ACCESS: Cost = Cost::new(Unit::Memory, 1, 0, 1);
/// Moves, conversions of addresses and the like are renamed or folded, but often take a slot.
const RENAMED: Cost = Cost::new(Unit::Fp32, 1, 1, 1);

/// What a lane's arithmetic costs.
#[expect(clippy::too_many_lines, reason = "one arm for each case")]
fn computed(op: &ComputeOp, timing: &Timing) -> Cost {
    let Timing { issue, latency, .. } = timing;
    let arithmetic = latency.arithmetic;
    let integer = Cost::new(Unit::Integer, 1, issue.integer, arithmetic);
    let special = Cost::new(Unit::Special, 1, issue.special, latency.special);
    // A comparison, two products by a predicate, and the function.
    let scaled = Cost::new(Unit::Special, 4, issue.special, latency.special + latency.guard + 3 * arithmetic);
    let pair = Cost { slots: 2, cycles: 2 * issue.integer, ..integer };
    let float = Cost::new(Unit::Fp32, 1, issue.fp32, arithmetic);
    let double = |slots: u32| match slots {
        1 => Cost::new(Unit::Double, 1, issue.double, latency.double),
        _ => Cost::new(Unit::Double, slots, issue.double * slots, 15 * latency.double),
    };
    let two_registers = |ty: Type| ty.bits() == 64 && !issue.short_pointers;
    let sequence = |slots, result| Cost::new(Unit::Fp32, slots, slots * issue.fp32, result);
    match op {
        // A comparison takes another predicate to combine its own with, and a branch two: of the 41
        // in measurements/kernels, none is an instruction of its own on sm_90 (ptxas 13.0).
        ComputeOp::Binary { op: BinaryOp::And | BinaryOp::Or | BinaryOp::Xor, ty: Type::Pred, .. } => NOTHING,
        ComputeOp::ConvertAddress { .. } if issue.short_pointers => NOTHING,
        ComputeOp::Move {
            src: Operand::Special(Special::ThreadIndex(_) | Special::LaneId | Special::WarpId), ..
        } => Cost::new(Unit::Other, 1, 4, 25),
        ComputeOp::Convert { to, from, .. } | ComputeOp::ConvertPair { to, from, .. } => {
            match (to.kind(), from.kind()) {
                (Kind::Float, Kind::Float) if to.bits().max(from.bits()) < 64 => integer,
                (Kind::Float, _) | (_, Kind::Float) => Cost::new(Unit::Special, 1, issue.convert, latency.convert),
                // From a register to itself.
                _ if issue.short_pointers && to.bits().min(from.bits()) == 32 => NOTHING,
                _ => integer,
            }
        }
        ComputeOp::Unary { op, ty: Type::F64, .. } => match op {
            UnaryOp::Absolute | UnaryOp::Negate => double(1),
            _ => double(10),
        },
        ComputeOp::Unary { op, mode, .. } => match (op, mode.precision) {
            (UnaryOp::Reciprocal, Precision::Exact) => sequence(8, 10 * arithmetic),
            (UnaryOp::SquareRoot, Precision::Exact) => sequence(11, 11 * arithmetic),
            // Results that may be subnormal are scaled before and after.
            (UnaryOp::Reciprocal | UnaryOp::SquareRoot | UnaryOp::ReciprocalSquareRoot | UnaryOp::Log2, _)
                if !mode.flush_subnormals =>
            {
                scaled
            }
            (
                UnaryOp::Reciprocal
                | UnaryOp::SquareRoot
                | UnaryOp::ReciprocalSquareRoot
                | UnaryOp::Sine
                | UnaryOp::Cosine
                | UnaryOp::Log2
                | UnaryOp::Exp2
                | UnaryOp::Tanh
                | UnaryOp::PopulationCount
                | UnaryOp::FindLeadingBit { .. }
                | UnaryOp::CountLeadingZeros
                | UnaryOp::BitReverse,
                _,
            ) => special,
            (UnaryOp::Absolute | UnaryOp::Negate | UnaryOp::Not | UnaryOp::LogicalNot, _) => integer,
        },
        // `ptxas` makes products of shifts, which leaves the integer units to others (IMAD.SHL).
        ComputeOp::Binary { op: BinaryOp::ShiftLeft, ty, b: Operand::Integer(_), .. }
            if ty.bits() <= 32 && issue.multiply <= issue.integer =>
        {
            Cost::new(Unit::Multiply, 1, issue.multiply, arithmetic)
        }
        ComputeOp::Binary { op: BinaryOp::MultiplyWide, b: Operand::Integer(by), .. }
            if issue.short_pointers && by.is_power_of_two() =>
        {
            integer
        }
        // Two products of 32 bits, one of twice the width, and a sum.
        ComputeOp::Binary { op: BinaryOp::Multiply, ty, b, .. }
            if two_registers(*ty) && ty.kind() != Kind::Float && !halves::is_short(b) =>
        {
            Cost::new(Unit::Multiply, 4, 2 * issue.multiply + issue.wide, 3 * arithmetic)
        }
        ComputeOp::Binary { op, ty, mode, .. } => binary(*op, *ty, mode.precision, timing, integer, float, &double),
        ComputeOp::Ternary { op, ty, .. } => match op {
            TernaryOp::FusedMultiplyAdd if *ty == Type::F64 => double(1),
            TernaryOp::FusedMultiplyAdd => float,
            TernaryOp::MultiplyAdd if two_registers(*ty) => {
                Cost::new(Unit::Multiply, 4, 4 * issue.multiply, 3 * arithmetic)
            }
            TernaryOp::MultiplyAddWide | TernaryOp::MultiplyAddHigh => {
                Cost::new(Unit::Multiply, 1, issue.wide, arithmetic + 1)
            }
            TernaryOp::MultiplyAdd | TernaryOp::MultiplyAdd24Low | TernaryOp::MultiplyAdd24High => {
                Cost::new(Unit::Multiply, 1, issue.multiply, arithmetic)
            }
            _ => integer,
        },
        ComputeOp::SetPredicate { ty: Type::F64, .. } => double(1),
        ComputeOp::SetPredicate { ty, .. } if ty.bits() == 64 => Cost { latency: 2 * arithmetic + 2, ..pair },
        ComputeOp::SetPredicate { .. } => Cost { latency: arithmetic + 2, ..integer },
        ComputeOp::Select { ty, .. } if ty.bits() == 64 => pair,
        ComputeOp::ScalarVideo(_) | ComputeOp::SimdVideo(_) => {
            Cost::new(Unit::Integer, 4, 4 * issue.integer, 4 * arithmetic)
        }
        ComputeOp::Move { .. } | ComputeOp::MoveVector { .. } | ComputeOp::Pack { .. } | ComputeOp::Unpack { .. } => {
            RENAMED
        }
        ComputeOp::ConvertAddress { .. } | ComputeOp::IsSpace { .. } | ComputeOp::IsType { .. } => RENAMED,
        ComputeOp::MapToBlock { .. } | ComputeOp::RankOfAddress { .. } => RENAMED,
        _ => integer,
    }
}

fn binary(
    op: BinaryOp,
    ty: Type,
    precision: Precision,
    timing: &Timing,
    integer: Cost,
    float: Cost,
    double: &dyn Fn(u32) -> Cost,
) -> Cost {
    let Timing { issue, latency, .. } = timing;
    let arithmetic = latency.arithmetic;
    let wide = ty.bits() == 64 && !issue.short_pointers;
    match (op, ty.kind()) {
        (BinaryOp::Divide, Kind::Float) => match (ty, precision) {
            (Type::F64, _) => double(12),
            (_, Precision::Exact) => Cost::new(Unit::Fp32, 9, 9 * issue.fp32, 11 * arithmetic),
            (_, Precision::Full) => Cost::new(Unit::Special, 4, issue.special, 10 * arithmetic),
            (_, Precision::Approximate) => Cost::new(Unit::Special, 1, issue.special, latency.special + 8),
        },
        (_, Kind::Float) if ty == Type::F64 => double(1),
        (BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply, Kind::Float) => float,
        (_, Kind::Float) => integer,
        (BinaryOp::Divide | BinaryOp::Remainder, _) if wide => Cost::new(Unit::Integer, 70, 70, 450),
        // With products that are several instructions each (Wong et al. 2010: 600 to 700 cycles,
        // not verified).
        (BinaryOp::Divide | BinaryOp::Remainder, _) if issue.short_pointers => {
            Cost::new(Unit::Integer, 30, 30 * issue.integer, 680)
        }
        (BinaryOp::Divide | BinaryOp::Remainder, _) => Cost::new(Unit::Integer, 18, 20, 120),
        (BinaryOp::MultiplyWide | BinaryOp::MultiplyHigh, _) => {
            Cost::new(Unit::Multiply, 1, issue.wide, arithmetic + 1)
        }
        (BinaryOp::Multiply, _) if wide => Cost::new(Unit::Multiply, 3, 3 * issue.multiply, 3 * arithmetic),
        (BinaryOp::Multiply | BinaryOp::Multiply24Low | BinaryOp::Multiply24High, _) => {
            Cost::new(Unit::Multiply, 1, issue.multiply, arithmetic)
        }
        (BinaryOp::Add | BinaryOp::Subtract, _) if wide => Cost::new(Unit::Add, 1, 2 * issue.add, arithmetic + 2),
        (BinaryOp::Add | BinaryOp::Subtract, _) => Cost::new(Unit::Add, 1, issue.add, arithmetic),
        (BinaryOp::Minimum | BinaryOp::Maximum, _) if wide => {
            Cost { slots: 4, cycles: 4 * integer.cycles, latency: 3 * arithmetic, ..integer }
        }
        _ if wide => Cost { cycles: 2 * integer.cycles, ..integer },
        _ => integer,
    }
}

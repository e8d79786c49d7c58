//! Decoded code as text, for people and for snapshot tests: each PTX instruction with the steps
//! that it becomes beneath it.
//!
//! Rows of a frame are numbered: `w` words, `d` 64-bit values, `p` predicates; `r` is any of them:
//! arithmetic (`lanes`) is a function that knows, and whose name is not kept. Operands that it does
//! not take are `r0`. A number sign marks a row that is constant in a launch. Steps are numbered as
//! program counters; one without a count is a helper.

use std::fmt::{Display, Formatter, Result, Write as _};

use super::access::AddressOperand;
use super::access::Order;
use super::asynchronous::{AsyncCopy, Asynchronous, BulkCopy};
use super::code::{Action, Callee, ClusterBarrier, Code, Constant, NEVER_JOINS, RETURN, Rows};
use super::texture::SurfaceAccess;
use crate::address::space_name;
use crate::lanes::{ALWAYS, FIXED, NEGATED, NEVER};

/// A row: what it holds, and its number.
struct Row(char, u32);

impl Display for Row {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        // Some operands of arithmetic are predicates. No pool has as many constants as this number.
        if self.1 == ALWAYS {
            return formatter.write_str("true");
        }
        let number = self.1 & !FIXED;
        match self.1 & FIXED {
            0 if self.1 & NEGATED != 0 => write!(formatter, "!{}{}", self.0, number & !NEGATED),
            0 => write!(formatter, "{}{number}", self.0),
            _ => write!(formatter, "#{}{number}", self.0),
        }
    }
}

/// A predicate operand.
struct Predicate(u32);

impl Display for Predicate {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        match self.0 {
            ALWAYS => formatter.write_str("true"),
            NEVER => formatter.write_str("false"),
            row if row & NEGATED != 0 => write!(formatter, "!p{}", row & !NEGATED),
            row => write!(formatter, "p{row}"),
        }
    }
}

/// A program counter that is a target.
struct Target(u32);

impl Display for Target {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        match self.0 {
            RETURN => formatter.write_str("the end"),
            NEVER_JOINS => formatter.write_str("nowhere"),
            pc => write!(formatter, "{pc}"),
        }
    }
}

/// A list of rows.
struct List<'a>(char, &'a [u32]);

impl Display for List<'_> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        let rows: Vec<String> = self.1.iter().map(|&row| Row(self.0, row).to_string()).collect();
        formatter.write_str(&rows.join(", "))
    }
}

fn word(row: u32) -> Row {
    Row('w', row)
}

fn sized(row: u32, is_wide: bool) -> Row {
    Row(if is_wide { 'd' } else { 'w' }, row)
}

impl Display for Rows {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        match self.count {
            1 => write!(formatter, "w{}", self.first),
            count => write!(formatter, "w{}..w{}", self.first, self.first + count),
        }
    }
}

impl Display for AddressOperand {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        let base = sized(self.address, self.wide);
        let frame = if self.frame { " + frame" } else { "" };
        write!(formatter, "{} [{base}{frame}", space_name(self.space))?;
        match self.offset as i64 {
            0 => {}
            offset => write!(formatter, " {} {:#x}", if offset < 0 { '-' } else { '+' }, offset.unsigned_abs())?,
        }
        formatter.write_char(']')
    }
}

impl Display for Order {
    /// What distinguishes it from that of a plain access.
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        if self.read_only {
            formatter.write_str(" read-only")?;
        }
        match (self.volatile, self.strong) {
            (true, _) => formatter.write_str(" volatile")?,
            (false, true) => write!(formatter, " strong in {:?}", self.scope)?,
            (false, false) => {}
        }
        self.releases.map_or(Ok(()), |scope| write!(formatter, " releases to {scope:?}"))
    }
}

impl Display for SurfaceAccess {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        let rows = List(if self.wide { 'd' } else { 'r' }, &self.rows);
        let texel = List('w', &self.coordinates.rows);
        write!(
            formatter,
            "surface {:?} .{} {rows} at {texel} of {}",
            self.action,
            self.ty.name(),
            Row('d', self.surface)
        )
    }
}

impl Display for Asynchronous {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        match self {
            Self::Copy(AsyncCopy { from, to, bytes, source_bytes, ignore_source, .. }) => write!(
                formatter,
                "copy {bytes} bytes, {} of them read unless {}: {to} <- {from}",
                word(*source_bytes),
                Predicate(*ignore_source)
            ),
            Self::Bulk(BulkCopy { from, to, bytes, barrier, .. }) => {
                write!(formatter, "bulk copy of {} bytes: {to} <- {from}", word(*bytes))?;
                barrier.map_or(Ok(()), |barrier| write!(formatter, ", counted at {barrier}"))
            }
            Self::Mbarrier { reach, action } => write!(formatter, "mbarrier {reach}: {action:?}"),
            Self::ArriveAfterCopies { reach, .. } => write!(formatter, "arrive after copies at {reach}"),
            Self::Commit => formatter.write_str("commit copies"),
            Self::Wait { groups_left: Some(groups) } => write!(formatter, "wait for copies but {groups} groups"),
            Self::Wait { groups_left: None } => formatter.write_str("wait for all copies"),
            Self::CommitBulk => formatter.write_str("commit bulk copies"),
            Self::WaitBulk { groups_left, reads_only } => {
                let what = if *reads_only { "reads of " } else { "" };
                write!(formatter, "wait for {what}bulk copies but {groups_left} groups")
            }
            Self::Tensor(copy) => {
                write!(formatter, "copy of a box at {} by {}", List('w', &copy.coordinates), copy.map)
            }
            Self::ReplaceTensorField { reach, field, wide, value } => {
                write!(formatter, "replace {field:?} of the map {reach} by {}", sized(*value, *wide))
            }
            Self::CopyTensorMap { to, from, .. } => write!(formatter, "copy of a map: {to} <- {from}"),
            Self::AcquireTensorMap { map, .. } => write!(formatter, "acquire the map {map}"),
            Self::RemoteStore(store) => {
                write!(formatter, "store {} at {}, counted at {}", List('r', &store.rows), store.to, store.barrier)
            }
        }
    }
}

impl Display for Action {
    #[expect(clippy::too_many_lines, reason = "one arm for each case")]
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        match self {
            Self::Lanes(_, operands) => {
                let [d, a, b, c] = [operands.d, operands.a, operands.b, operands.c].map(|row| Row('r', row));
                write!(formatter, "lanes {d} <- {a}, {b}, {c}; {:#x}", operands.e)
            }
            Self::Special { which, d, wide } => write!(formatter, "{} <- {which}", sized(*d, *wide)),
            Self::LocalAddress { d, wide, offset } => {
                write!(formatter, "{} <- frame + {offset:#x}", sized(*d, *wide))
            }
            Self::Spill { rows, offset } => write!(formatter, "[frame + {offset:#x}] <- {rows}"),
            Self::Load(load) => {
                let rows = List(if load.wide { 'd' } else { 'w' }, &load.rows[..load.count as usize & 7]);
                let sign = if load.signed { "s" } else { "u" };
                write!(
                    formatter,
                    "load {rows} <- {sign}{} {}{}",
                    8 * load.operation.element,
                    load.reach,
                    load.operation.order
                )
            }
            Self::Store(store) => {
                let rows =
                    List(if store.operation.element == 8 { 'd' } else { 'w' }, &store.rows[..store.count as usize & 7]);
                write!(
                    formatter,
                    "store u{} {} <- {rows}{}",
                    8 * store.operation.element,
                    store.reach,
                    store.operation.order
                )
            }
            Self::Atomic(atomic) => {
                write!(formatter, "atomic {} .{} {}", atomic.update.op.name(), atomic.update.ty.name(), atomic.reach)?;
                for (d, a) in atomic.elements() {
                    write!(formatter, ", {}", Row('r', a))?;
                    d.map_or(Ok(()), |d| write!(formatter, " -> {}", Row('r', d)))?;
                }
                write!(formatter, "{}", atomic.operation.order)
            }
            Self::Fetch(fetch) => {
                let (rows, texel) = (List('w', &fetch.rows), List('w', &fetch.coordinates.rows));
                write!(formatter, "fetch {rows} <- .{} at {texel} of {}", fetch.ty.name(), Row('d', fetch.texture))
            }
            Self::Query(query) => {
                write!(formatter, "query {} <- {} of {}", word(query.d), query.what.name(), Row('d', query.object))
            }
            Self::Surface(access) => access.fmt(formatter),
            Self::Matrix(matrix) => write!(formatter, "matrix {matrix:?}"),
            Self::Asynchronous(action) => action.fmt(formatter),
            Self::Nothing => formatter.write_str("nothing"),
            Self::Fence(fence) => write!(formatter, "fence in {:?}", fence.scope),
            Self::Branch { target, join_at } => {
                write!(formatter, "branch to {}, joins at {}", Target(*target), Target(*join_at))
            }
            Self::BranchIndexed(branch) => {
                let targets: Vec<String> = branch.targets.iter().map(|&target| Target(target).to_string()).collect();
                let (index, join_at) = (word(branch.index), Target(branch.join_at));
                write!(formatter, "branch by {index} to {}, joins at {join_at}", targets.join(", "))
            }
            Self::Call(call) => {
                match &call.callee {
                    Callee::Direct(function) => write!(formatter, "call function {function}")?,
                    Callee::Indirect { address, .. } => write!(formatter, "call {}", Row('d', *address))?,
                }
                passed(formatter, &call.arguments, &call.results)
            }
            Self::CallSystem(call) => {
                write!(formatter, "call the system's {:?}", call.function)?;
                passed(formatter, &call.arguments, &call.results)
            }
            Self::Allocate { d, wide, size, align } => {
                write!(formatter, "{} <- allocate {}, align {align}", sized(*d, *wide), sized(*size, *wide))
            }
            Self::SaveStack { d, wide } => write!(formatter, "{} <- stack", sized(*d, *wide)),
            Self::RestoreStack { source, wide } => write!(formatter, "stack <- {}", sized(*source, *wide)),
            Self::Return { join_at } => write!(formatter, "return, joins at {}", Target(*join_at)),
            Self::Exit => formatter.write_str("exit"),
            Self::Trap => formatter.write_str("trap"),
            Self::Breakpoint => formatter.write_str("breakpoint"),
            Self::Barrier(barrier) => {
                let what = if barrier.waits { "wait" } else { "arrive" };
                write!(formatter, "{what} at barrier {}", word(barrier.number))?;
                barrier.threads.map_or(Ok(()), |threads| write!(formatter, " for {} threads", word(threads)))?;
                barrier.reduction.map_or(Ok(()), |reduction| {
                    let (op, predicate) = (reduction.op.name(), Predicate(reduction.predicate));
                    write!(formatter, ", {op} of {predicate} -> {}", reduction.d)
                })
            }
            Self::ClusterBarrier(ClusterBarrier { waits, .. }) => {
                write!(formatter, "{} at the cluster's barrier", if *waits { "wait" } else { "arrive" })
            }
            Self::WarpBarrier { members } => write!(formatter, "wait for lanes {}", word(*members)),
            Self::Shuffle(shuffle) => write!(
                formatter,
                "shuffle {} {}, p{} <- {}, {}, {} among {}",
                shuffle.mode.name(),
                word(shuffle.d),
                shuffle.in_range,
                word(shuffle.source),
                word(shuffle.lane),
                word(shuffle.clamp),
                word(shuffle.members)
            ),
            Self::Vote { mode, d, predicate, members } => {
                let d = Row(if *mode == ptx::VoteMode::Ballot { 'w' } else { 'p' }, *d);
                write!(formatter, "vote {} {d} <- {} among {}", mode.name(), Predicate(*predicate), word(*members))
            }
            Self::Match(matching) => {
                let source = sized(matching.source, matching.wide);
                let what = if matching.all { "all" } else { "any" };
                write!(formatter, "match {what} {} <- {source} among {}", word(matching.d), word(matching.members))
            }
            Self::WarpReduce { op, ty, d, source, members } => {
                let (d, source) = (word(*d), word(*source));
                write!(formatter, "reduce {} .{} {d} <- {source} among {}", op.name(), ty.name(), word(*members))
            }
            Self::ActiveMask { d } => write!(formatter, "{} <- active lanes", word(*d)),
            Self::Elect { d, leader, members } => {
                write!(formatter, "elect {}, p{leader} among {}", word(*d), word(*members))
            }
        }
    }
}

fn passed(formatter: &mut Formatter<'_>, arguments: &[Rows], results: &[Rows]) -> Result {
    let list = |rows: &[Rows]| rows.iter().map(Rows::to_string).collect::<Vec<_>>().join(", ");
    write!(formatter, "({})", list(arguments))?;
    if results.is_empty() { Ok(()) } else { write!(formatter, " -> {}", list(results)) }
}

/// A decoded kernel and the functions that it may call.
pub(crate) struct Listing<'a>(pub &'a Code);

impl Display for Listing<'_> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        let Code { instructions, origins, places, functions, constant_words, constant_doubles, .. } = self.0;
        let mut shown = None;
        for (pc, (step, &origin)) in instructions.iter().zip(origins).enumerate() {
            if let Some(index) = functions.iter().position(|function| function.entry as usize == pc) {
                let name = places.get(origin as usize).map_or("", |place| &place.function);
                writeln!(formatter, "function {index}: {name}")?;
            }
            let place = places.get(origin as usize);
            if shown.replace(origin) != Some(origin)
                && let Some(place) = place
            {
                writeln!(formatter, "    {}", place.text)?;
            }
            let guard = if step.guard == ALWAYS { String::new() } else { format!("@{} ", Predicate(step.guard)) };
            let helper = if (step.place as usize) < places.len() { ' ' } else { '+' };
            writeln!(formatter, "{pc:6}{helper} {guard}{}", step.action)?;
        }
        for (kind, list) in [('w', constant_words), ('d', constant_doubles)] {
            for (number, constant) in list.iter().enumerate() {
                write!(formatter, "#{kind}{number} = ")?;
                match *constant {
                    Constant::Bits(bits) => writeln!(formatter, "{bits:#x}")?,
                    Constant::Shared(offset) => writeln!(formatter, "shared memory + {offset:#x}")?,
                    Constant::Special(special) => writeln!(formatter, "{special}")?,
                    Constant::Parameter { offset, bytes, signed } => {
                        let sign = if signed { "s" } else { "u" };
                        writeln!(formatter, "{sign}{} at byte {offset} of the parameters", 8 * bytes)?;
                    }
                }
            }
        }
        Ok(())
    }
}

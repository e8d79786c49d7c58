//! Register pressure: which values of a straight run are in registers at a time. `ptxas` limits the
//! registers of a thread so that all warps can be resident, so in a long row of loads it puts the
//! use of the first before the last load. On sm_90, of the 32 unrolled loads of `gemv_columns` in
//! `measurements/kernels`, twelve come before a use, and the thread has 32 registers.

use std::collections::HashMap;

use super::registers::{sizes, uniform};
use super::step::{Step, Unit};
use crate::program::{BasicBlocks, Code};

/// A register of the scoreboard.
#[derive(Clone, Copy, Debug)]
pub(super) struct Register {
    /// Words of a thread's registers: none for what all threads of a block share, which `ptxas`
    /// computes where it is needed, such as the addresses of unrolled loads.
    pub words: u32,
    /// Whether its values are read in the basic block that makes them, and nowhere else.
    pub local: bool,
    /// Whether all threads of a block have the same values in it.
    pub uniform: bool,
}

/// The registers of a function, whose first place is `first`.
pub(super) fn registers(
    code: &Code,
    function: &ptx::Function,
    blocks: &BasicBlocks,
    first: usize,
    old: bool,
) -> Vec<Register> {
    let words = sizes(code, function, first, old);
    let mut homes: Vec<Option<usize>> = vec![None; words.len()];
    let new = |(words, uniform)| Register { words: if uniform { 0 } else { words }, local: true, uniform };
    let mut all: Vec<Register> = words.into_iter().zip(uniform(code, function, first)).map(new).collect();
    for block in 0..blocks.count() {
        for place in blocks.positions(block).map(|position| first + position) {
            for &read in code.registers.reads(place) {
                all[read as usize].local &= homes[read as usize] == Some(block);
            }
            for &written in code.registers.writes(place) {
                let home = *homes[written as usize].get_or_insert(block);
                all[written as usize].local &= home == block;
            }
        }
    }
    all
}

/// Registers with which all warps can be resident, and what a thread has besides its values.
const FULL: u32 = 32;
const OTHER: u32 = 4;
/// Registers beyond those of the values that are live at once, which `ptxas` takes for what it
/// moves up.
const MOVED: u32 = 8;

/// More words than any run has.
const NO_BOUND: u32 = u32::MAX / 2;

/// Words for the values of a run, in a kernel with so many registers a thread.
pub(super) fn room(registers: u32) -> u32 {
    (registers + MOVED).max(FULL) - OTHER
}

/// A value.
#[derive(Clone, Copy)]
struct Value {
    words: u32,
    /// Reads of it that are still to come.
    reads: u32,
    /// Whether nobody reads it after the run.
    ends: bool,
}

/// The values that are live between the instructions that have issued and those that have not.
pub(super) struct Pressure {
    room: u32,
    live: u32,
    values: Vec<Value>,
    /// The values that each instruction reads, and makes.
    reads: Vec<Vec<usize>>,
    makes: Vec<Vec<usize>>,
    /// The instructions that read each value, and those that have issued.
    readers: Vec<Vec<usize>>,
    issued: Vec<bool>,
}

impl Pressure {
    /// Before the first of these instructions. Where there is room for all that they load, nothing
    /// has to wait: `ptxas` then finds registers for the rest, such as addresses, which it computes
    /// when they are needed.
    pub fn new(steps: &[&Step], registers: &[Register], room: u32) -> Self {
        let loads = steps.iter().filter(|step| step.cost.unit == Unit::Memory);
        let loaded: u32 = loads.flat_map(|step| &step.writes).map(|&register| registers[register as usize].words).sum();
        let room = if loaded > room { room } else { NO_BOUND };
        let mut all = Self {
            room,
            live: 0,
            values: Vec::new(),
            reads: Vec::with_capacity(steps.len()),
            makes: Vec::with_capacity(steps.len()),
            readers: Vec::new(),
            issued: vec![false; steps.len()],
        };
        let mut now: HashMap<u32, usize> = HashMap::new();
        for (index, step) in steps.iter().enumerate() {
            let mut reads: Vec<usize> = Vec::with_capacity(step.reads.len());
            for &register in &step.reads {
                let value = *now.entry(register).or_insert_with(|| {
                    all.live += registers[register as usize].words;
                    all.add(registers[register as usize].words, false)
                });
                if !reads.contains(&value) {
                    all.values[value].reads += 1;
                    all.readers[value].push(index);
                    reads.push(value);
                }
            }
            let mut makes = Vec::with_capacity(step.writes.len());
            for &register in &step.writes {
                let Register { words, local, .. } = registers[register as usize];
                let value = all.add(words, local);
                // What it replaces is read no more.
                if let Some(before) = now.insert(register, value) {
                    all.values[before].ends = true;
                }
                makes.push(value);
            }
            all.reads.push(reads);
            all.makes.push(makes);
        }
        all
    }

    fn add(&mut self, words: u32, ends: bool) -> usize {
        self.values.push(Value { words, reads: 0, ends });
        self.readers.push(Vec::new());
        self.values.len() - 1
    }

    /// Words that an instruction takes, and gives back.
    fn change(&self, index: usize) -> (u32, u32) {
        let takes = self.makes[index].iter().map(|&value| self.values[value]);
        let takes = takes.filter(|value| value.reads > 0 || !value.ends).map(|value| value.words).sum();
        let gives = self.reads[index].iter().map(|&value| self.values[value]);
        let gives = gives.filter(|value| value.reads == 1 && value.ends).map(|value| value.words).sum();
        (takes, gives)
    }

    /// Words that an instruction needs besides those that it gives back. The number becomes smaller
    /// while it waits: of the last that reads a value.
    pub fn needs(&self, index: usize) -> i64 {
        let (takes, gives) = self.change(index);
        i64::from(takes) - i64::from(gives)
    }

    /// The most that an instruction may need. One that needs none always has room.
    pub fn room(&self) -> i64 {
        (i64::from(self.room) - i64::from(self.live)).max(0)
    }

    /// An instruction issues. Calls `changed` with each other instruction that now needs another
    /// number of words, and with that number.
    pub fn issue(&mut self, index: usize, mut changed: impl FnMut(usize, i64)) {
        let (takes, gives) = self.change(index);
        self.live = self.live + takes - gives;
        self.issued[index] = true;
        for at in 0..self.reads[index].len() {
            let value = self.reads[index][at];
            self.values[value].reads -= 1;
            if self.values[value].reads == 1 {
                let last = self.readers[value].iter().copied().find(|&reader| !self.issued[reader]);
                last.into_iter().for_each(|last| changed(last, self.needs(last)));
            }
        }
    }
}

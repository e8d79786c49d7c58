//! A second machine for the kernels of [`crate::kernel`], as simple as possible: one thread after
//! another, walking the tree. It is the oracle of the target `machine` and of the tests. Pure.
//!
//! It shares nothing with `ptx` and `simt`: no PTX, no masks, no vectors, no reconvergence.
//! Statements that threads execute together are outermost in a kernel, so all threads of a block
//! execute one such statement before any executes the next. Written from the PTX manual.

mod warp;

use crate::kernel::{
    Access, Atomic, Bank, COMMON_BYTES, Condition, DOUBLE_STEP, Guard, INPUT_BYTES, Kernel, LOCAL_BYTES, OWN_BYTES,
    RECORD_BYTES, REDUCTIONS, Region, Statement, THREAD_STEP, TILE_BYTES, Together, Vote, WORD_STEP,
};

use warp::{cast, in_warp};

/// What a kernel leaves in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Each thread's record.
    pub output: Vec<u8>,
    /// The memory in which all threads count together.
    pub common: Vec<u8>,
}

/// Where a thread goes after a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    Next,
    Break,
    Continue,
    Leave,
}

/// A thread's registers and its own memory.
struct Thread {
    own: Vec<u8>,
    tile: Vec<u8>,
    frame: Frame,
    ended: bool,
}

/// The state of a function call.
struct Frame {
    predicates: [bool; 4],
    halves: [u64; 4],
    words: [u64; 8],
    doubles: [u64; 6],
    local: Vec<u8>,
}

impl Frame {
    fn new(word: u32, double: u64) -> Self {
        let words: [u64; 8] = std::array::from_fn(|i| word.wrapping_add(WORD_STEP.wrapping_mul(i as u32)).into());
        let doubles = std::array::from_fn(|i| double ^ DOUBLE_STEP.wrapping_mul(i as u64));
        Self {
            predicates: std::array::from_fn(|i| (words[i] as i32) < 0),
            halves: std::array::from_fn(|i| words[i] & 0xffff),
            words,
            doubles,
            local: doubles.iter().flat_map(|double: &u64| double.to_le_bytes()).take(LOCAL_BYTES as usize).collect(),
        }
    }

    fn get(&self, bank: Bank, index: u8) -> u64 {
        let index = usize::from(index);
        match bank {
            Bank::Predicate => self.predicates[index].into(),
            Bank::Half => self.halves[index],
            Bank::Word => self.words[index],
            Bank::Double => self.doubles[index],
        }
    }

    fn set(&mut self, bank: Bank, index: u8, value: u64) {
        let (index, value) = (usize::from(index), value & u64::MAX >> (64 - bank.bits()));
        match bank {
            Bank::Predicate => self.predicates[index] = value == 1,
            Bank::Half => self.halves[index] = value,
            Bank::Word => self.words[index] = value,
            Bank::Double => self.doubles[index] = value,
        }
    }

    fn word(&self, index: u8) -> u32 {
        self.words[usize::from(index)] as u32
    }

    fn holds(&self, guard: Guard) -> bool {
        self.predicates[usize::from(guard.predicate)] == guard.wanted
    }

    fn runs(&self, guard: Option<Guard>) -> bool {
        guard.is_none_or(|guard| self.holds(guard))
    }
}

/// What a thread needs to know of the launch.
struct Machine<'k> {
    kernel: &'k Kernel,
    input: &'k [u8],
    common: Vec<u8>,
}

/// Runs the kernel on this input, with these bytes in the output and the common memory.
pub fn run(kernel: &Kernel, input: &[u8], output_byte: u8, common_byte: u8) -> Outcome {
    let mut machine = Machine { kernel, input, common: vec![common_byte; COMMON_BYTES as usize] };
    let mut output = Vec::new();
    for block in 0..kernel.grid.iter().product::<u32>() {
        let first = block * kernel.block_threads();
        let mut threads: Vec<Thread> =
            (first..first + kernel.block_threads()).map(|index| machine.thread(index, output_byte)).collect();
        for statement in &kernel.body {
            match statement {
                Statement::Together(together) => machine.together(together, &mut threads),
                statement => {
                    for thread in threads.iter_mut().filter(|thread| !thread.ended) {
                        thread.ended = machine.statement(statement, thread) == Flow::Leave;
                    }
                }
            }
        }
        for thread in threads {
            output.extend(thread.record());
        }
    }
    Outcome { output, common: machine.common }
}

impl Thread {
    fn record(mut self) -> Vec<u8> {
        if self.ended {
            return self.own;
        }
        let frame = &self.frame;
        let mut bytes: Vec<u8> = frame.doubles.iter().flat_map(|double| double.to_le_bytes()).collect();
        bytes.extend(frame.words.iter().flat_map(|&word| (word as u32).to_le_bytes()));
        bytes.extend(frame.halves.iter().flat_map(|&half| (half as u16).to_le_bytes()));
        let bits = frame.predicates.iter().rev().fold(0_u32, |bits, &predicate| bits << 1 | u32::from(predicate));
        bytes.extend(bits.to_le_bytes());
        self.own[OWN_BYTES as usize..][..bytes.len()].copy_from_slice(&bytes);
        self.own
    }

    fn memory(&mut self, region: Region) -> &mut Vec<u8> {
        match region {
            Region::Local => &mut self.frame.local,
            Region::Tile => &mut self.tile,
            Region::Own | Region::Input => &mut self.own,
        }
    }
}

/// A number of `size` bytes in memory.
fn read(memory: &[u8], at: u32, size: u32) -> u64 {
    memory[at as usize..(at + size) as usize].iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte))
}

fn write(memory: &mut [u8], at: u32, size: u32, value: u64) {
    memory[at as usize..(at + size) as usize].copy_from_slice(&value.to_le_bytes()[..size as usize]);
}

impl Machine<'_> {
    fn thread(&self, index: u32, output_byte: u8) -> Thread {
        let double = read(self.input, index % (INPUT_BYTES / 8) * 8, 8);
        let word = THREAD_STEP.wrapping_mul(index).wrapping_add(double as u32);
        let frame = Frame::new(word, double);
        let tile = frame.doubles.iter().flat_map(|double| double.to_le_bytes()).take(TILE_BYTES as usize).collect();
        Thread { own: vec![output_byte; RECORD_BYTES as usize], tile, frame, ended: false }
    }

    fn list(&mut self, list: &[Statement], thread: &mut Thread) -> Flow {
        for statement in list {
            match self.statement(statement, thread) {
                Flow::Next => {}
                other => return other,
            }
        }
        Flow::Next
    }

    fn statement(&mut self, statement: &Statement, thread: &mut Thread) -> Flow {
        let frame = &mut thread.frame;
        match statement {
            Statement::Operate { operation, result, operands, guard } => {
                if frame.runs(*guard) {
                    let operands: Vec<u64> =
                        operation.operands.iter().zip(operands).map(|(&bank, &index)| frame.get(bank, index)).collect();
                    frame.set(operation.result, *result, (operation.evaluate)(&operands));
                }
            }
            Statement::Constant { bank, result, value } => frame.set(*bank, *result, *value),
            Statement::Load(access) => self.load(access, thread),
            Statement::Store(access) => store(access, thread),
            Statement::Atomic { atomic, region, index, values, result, guard } => {
                if frame.runs(*guard) {
                    let bytes = atomic.bank().bits() / 8;
                    let values = values.map(|value| frame.get(atomic.bank(), value));
                    let at = frame.word(*index) & (region.bytes() - bytes);
                    let old = read(thread.memory(*region), at, bytes);
                    write(thread.memory(*region), at, bytes, updated(*atomic, old, values));
                    thread.frame.set(atomic.bank(), *result, old);
                }
            }
            Statement::Reduce { reduction, index, value, guard } => {
                if frame.runs(*guard) {
                    let atomic = REDUCTIONS[usize::from(*reduction)];
                    let bytes = atomic.bank().bits() / 8;
                    let at = 32 * u32::from(*reduction) + 8 * (frame.word(*index) & 3);
                    let old = read(&self.common, at, bytes);
                    let value = frame.get(atomic.bank(), *value);
                    write(&mut self.common, at, bytes, updated(atomic, old, [value, 0]));
                }
            }
            Statement::If { condition, then, otherwise } => {
                let holds = match *condition {
                    Condition::One(guard) => frame.holds(guard),
                    Condition::Both(first, second) => frame.holds(first) && frame.holds(second),
                    Condition::Either(first, second) => frame.holds(first) || frame.holds(second),
                };
                return self.list(if holds { then } else { otherwise }, thread);
            }
            Statement::Loop { count, most, test_at_end, body, .. } => {
                let turns = frame.word(*count) & most;
                for _ in 0..turns + u32::from(*test_at_end) {
                    match self.list(body, thread) {
                        Flow::Next | Flow::Continue => {}
                        Flow::Break => break,
                        Flow::Leave => return Flow::Leave,
                    }
                }
            }
            Statement::Break(guard) if frame.holds(*guard) => return Flow::Break,
            Statement::Continue(guard) if frame.holds(*guard) => return Flow::Continue,
            Statement::Leave(guard) if frame.holds(*guard) => return Flow::Leave,
            Statement::Break(_) | Statement::Continue(_) | Statement::Leave(_) => {}
            Statement::Switch { index, arms } => {
                let arm = frame.word(*index) as usize % arms.len();
                return self.list(&arms[arm], thread);
            }
            Statement::Call { functions: [first, second], choice, word, double } => {
                let function = if frame.runs(*choice) { *first } else { *second };
                let inner = Frame::new(frame.word(*word), frame.get(Bank::Double, *double));
                let outer = std::mem::replace(frame, inner);
                // An early return from the function comes back here, too.
                let kernel = self.kernel;
                self.list(&kernel.functions[usize::from(function)], thread);
                let inner = std::mem::replace(&mut thread.frame, outer);
                thread.frame.set(Bank::Word, *word, inner.words[0] ^ inner.words[7]);
                thread.frame.set(Bank::Double, *double, inner.doubles[0].wrapping_add(inner.doubles[1]));
            }
            // Only wild kernels have them here, and this machine does not run those.
            Statement::Together(_) | Statement::Wild { .. } => unreachable!("{statement:?} in a thread of its own"),
        }
        Flow::Next
    }

    fn load(&self, access: &Access, thread: &mut Thread) {
        if !thread.frame.runs(access.guard) {
            return;
        }
        let (at, bytes, bank) = (offset(access, thread), access.element.bytes, access.element.bank);
        for index in 0..access.vector {
            let value = match access.region {
                Region::Input => read(self.input, at + index * bytes, bytes),
                region => read(thread.memory(region), at + index * bytes, bytes),
            };
            let shift = 64 - 8 * bytes;
            let value = if access.element.signed { ((value << shift) as i64 >> shift) as u64 } else { value };
            thread.frame.set(bank, (access.register + index as u8) % bank.registers(), value);
        }
    }

    /// What all threads of the block do together.
    fn together(&mut self, together: &Together, threads: &mut [Thread]) {
        let count = threads.len();
        if let Together::Exchange { value, from, result } = together {
            for thread in threads.iter_mut() {
                write(&mut thread.tile, 0, 4, thread.frame.words[usize::from(*value)]);
            }
            for index in 0..count {
                let source = threads[index].frame.word(*from) as usize % count;
                let value = read(&threads[source].tile, 0, 4);
                threads[index].frame.set(Bank::Word, *result, value);
            }
        } else if let Together::Vote {
            vote: vote @ (Vote::BlockAnd | Vote::BlockOr | Vote::BlockCount),
            guard,
            result,
        } = together
        {
            cast(*vote, *guard, *result, threads);
        } else {
            threads.chunks_mut(32).for_each(|warp| in_warp(together, warp));
        }
    }
}

fn store(access: &Access, thread: &mut Thread) {
    if !thread.frame.runs(access.guard) {
        return;
    }
    let (at, bytes, bank) = (offset(access, thread), access.element.bytes, access.element.bank);
    for index in 0..access.vector {
        let value = thread.frame.get(bank, (access.register + index as u8) % bank.registers());
        write(thread.memory(access.region), at + index * bytes, bytes, value);
    }
}

fn offset(access: &Access, thread: &Thread) -> u32 {
    let half = access.region.bytes() / 2;
    (thread.frame.word(access.index) & (half - access.element.bytes * access.vector))
        + if access.upper { half } else { 0 }
}

/// The value that an atomic operation leaves in memory.
fn updated(atomic: Atomic, old: u64, [value, other]: [u64; 2]) -> u64 {
    let (signed_old, signed_value) = match atomic.wide {
        true => (old as i64, value as i64),
        false => (i64::from(old as i32), i64::from(value as i32)),
    };
    let signed = atomic.ty.starts_with('s');
    match atomic.name {
        "add" => old.wrapping_add(value),
        "min" if signed => signed_old.min(signed_value) as u64,
        "max" if signed => signed_old.max(signed_value) as u64,
        "min" => old.min(value),
        "max" => old.max(value),
        "and" => old & value,
        "or" => old | value,
        "xor" => old ^ value,
        "exch" => value,
        "cas" => {
            if old == value {
                other
            } else {
                old
            }
        }
        "inc" => {
            if old >= value {
                0
            } else {
                old + 1
            }
        }
        "dec" => {
            if old == 0 || old > value {
                value
            } else {
                old - 1
            }
        }
        name => unreachable!("there is no operation {name}"),
    }
}

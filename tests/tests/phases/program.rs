//! A random kernel, as a tree.

use common::random::Random;

/// Threads of a block: 32 x 2.
pub const THREADS: u32 = 64;
/// Blocks of a launch.
pub const BLOCKS: u32 = 3;
/// Tiles that are arrays with an element for each thread.
pub const ARRAYS: usize = 3;
/// Rows of the tile with rows. They are no multiple of the block's two.
pub const ROWS: u32 = 5;
/// Columns that belong to threads.
pub const COLS: u32 = 32;

/// A kernel: phases, after all tiles are filled.
pub struct Program {
    pub phases: Vec<Phase>,
}

/// A phase, or what is between phases.
pub enum Phase {
    /// `block.fill`, of an array.
    Fill { array: usize, value: Value },
    /// `block.update`, of arrays: threads whose number is `skip` modulo 3 write nothing.
    Update { arrays: Vec<usize>, skip: u32, value: Value },
    /// `block.update`, of the tile with rows.
    UpdateRows { value: Value },
    /// `block.pairs`: the second is added to the first.
    Pairs { array: usize, distance: u32 },
    /// `block.each`: adds to the thread's variable.
    Each { skip: u32, value: Value },
    /// `Shared::swap`.
    Swap(usize, usize),
    /// `block.warp_reduce` of the thread's variable.
    WarpReduce,
    /// A loop, the same in all threads.
    Repeat { times: u32, phases: Vec<Phase> },
    /// A branch, the same in all threads of a block.
    InBlock { block: u32, phases: Vec<Phase> },
}

/// What a thread computes in a phase, modulo 2^32.
pub enum Value {
    Constant(u32),
    /// The thread's number in the block.
    Number,
    /// The thread's variable.
    Kept,
    /// The thread's element of the input.
    Input,
    /// The element of an array at an index, modulo its length.
    Array(usize, Box<Value>),
    /// The element of the tile with rows, at a row and a column.
    Rows(Box<Value>, Box<Value>),
    Sum(Box<Value>, Box<Value>),
    Product(Box<Value>, u32),
}

/// Makes a program.
struct Maker<'r>(&'r mut Random);

/// The tiles that a phase may read.
#[derive(Clone, Copy)]
struct Readable {
    arrays: [bool; ARRAYS],
    rows: bool,
}

const ALL: Readable = Readable { arrays: [true; ARRAYS], rows: true };

impl Program {
    pub fn random(random: &mut Random) -> Self {
        Self { phases: Maker(random).phases(6, 2) }
    }
}

impl Maker<'_> {
    fn below(&mut self, limit: u32) -> u32 {
        (self.0.next_u64() % u64::from(limit)) as u32
    }

    fn phases(&mut self, count: u32, depth: u32) -> Vec<Phase> {
        (0..1 + self.below(count)).map(|_| self.phase(depth)).collect()
    }

    fn phase(&mut self, depth: u32) -> Phase {
        let array = self.below(ARRAYS as u32) as usize;
        let skip = self.below(4);
        match self.below(if depth > 0 { 10 } else { 8 }) {
            0 => Phase::Fill { array, value: self.value(without(&[array]), 3) },
            1 | 2 => {
                let other = (array + 1) % ARRAYS;
                let arrays = if self.below(2) == 0 { vec![array] } else { vec![array, other] };
                let value = self.value(without(&arrays), 3);
                Phase::Update { arrays, skip, value }
            }
            3 => Phase::UpdateRows { value: self.value(Readable { rows: false, ..ALL }, 3) },
            4 => Phase::Pairs { array, distance: self.below(70) },
            5 => Phase::Each { skip, value: self.value(ALL, 3) },
            6 => Phase::Swap(array, (array + 1 + self.below(2) as usize) % ARRAYS),
            7 => Phase::WarpReduce,
            8 => Phase::Repeat { times: 1 + self.below(4), phases: self.phases(3, depth - 1) },
            _ => Phase::InBlock { block: self.below(BLOCKS), phases: self.phases(3, depth - 1) },
        }
    }

    fn value(&mut self, readable: Readable, depth: u32) -> Value {
        let boxed = |maker: &mut Self| Box::new(maker.value(readable, depth - 1));
        let array = self.below(ARRAYS as u32) as usize;
        match self.below(if depth > 0 { 9 } else { 4 }) {
            0 => Value::Constant(self.below(1000)),
            1 => Value::Number,
            2 => Value::Kept,
            3 => Value::Input,
            4 | 5 if readable.arrays[array] => Value::Array(array, boxed(self)),
            6 if readable.rows => Value::Rows(boxed(self), boxed(self)),
            7 => Value::Product(boxed(self), self.below(100)),
            _ => Value::Sum(boxed(self), boxed(self)),
        }
    }
}

fn without(arrays: &[usize]) -> Readable {
    Readable { arrays: std::array::from_fn(|array| !arrays.contains(&array)), rows: true }
}

//! What a random kernel computes: block by block, phase by phase, thread by thread.

use super::program::{ARRAYS, BLOCKS, COLS, Phase, Program, ROWS, THREADS, Value};

const COUNT: usize = THREADS as usize;

/// A block's tiles, and its threads' variables.
struct Block<'i> {
    number: u32,
    input: &'i [u32],
    arrays: [[u32; COUNT]; ARRAYS],
    rows: [[u32; COLS as usize]; ROWS as usize],
    kept: [u32; COUNT],
}

/// The output of all blocks: a row for each y of a block, and a column for each x of the grid.
pub fn output(program: &Program, input: &[u32]) -> Vec<u32> {
    let sums: Vec<[u32; COUNT]> = (0..BLOCKS)
        .map(|number| {
            let mut block = Block {
                number,
                input,
                arrays: [std::array::from_fn(|t| t as u32), [1; COUNT], [2; COUNT]],
                rows: std::array::from_fn(|row| [row as u32; COLS as usize]),
                kept: [0; COUNT],
            };
            block.run(&program.phases);
            std::array::from_fn(|t| block.sum(t))
        })
        .collect();
    (0..COUNT / 32).flat_map(|y| sums.iter().flat_map(move |sums| sums[32 * y..][..32].to_vec())).collect()
}

impl Block<'_> {
    /// What a thread writes at the end.
    fn sum(&self, t: usize) -> u32 {
        let sum = self.arrays.iter().fold(self.kept[t], |sum, array| sum.wrapping_add(array[t]));
        sum.wrapping_add(self.rows[t % ROWS as usize][t % COLS as usize])
    }

    fn run(&mut self, phases: &[Phase]) {
        for phase in phases {
            self.phase(phase);
        }
    }

    fn phase(&mut self, phase: &Phase) {
        match phase {
            Phase::Fill { array, value } => self.arrays[*array] = self.values(value),
            Phase::Update { arrays, skip, value } => {
                let values = self.values(value);
                for t in (0..COUNT).filter(|t| *t as u32 % 3 != *skip) {
                    for (i, array) in arrays.iter().enumerate() {
                        self.arrays[*array][t] = if i == 0 { values[t] } else { !values[t] };
                    }
                }
            }
            Phase::UpdateRows { value } => {
                let values = self.values(value);
                for (row, elements) in self.rows.iter_mut().enumerate() {
                    for (col, element) in elements.iter_mut().enumerate() {
                        *element = values[row % 2 * 32 + col].wrapping_add(row as u32);
                    }
                }
            }
            Phase::Pairs { array, distance } => {
                let (array, distance) = (&mut self.arrays[*array], *distance as usize);
                for first in (0..distance).take_while(|first| first + distance < COUNT) {
                    array[first] = array[first].wrapping_add(array[first + distance]);
                }
            }
            Phase::Each { skip, value } => {
                let values = self.values(value);
                for t in (0..COUNT).filter(|t| *t as u32 % 3 != *skip) {
                    self.kept[t] = self.kept[t].wrapping_add(values[t]);
                }
            }
            Phase::Swap(a, b) => self.arrays.swap(*a, *b),
            Phase::WarpReduce => {
                for distance in [16, 8, 4, 2, 1] {
                    let old = self.kept;
                    for (t, kept) in self.kept.iter_mut().enumerate() {
                        // A lane beyond the last gives a lane its own value.
                        let from = if t % 32 + distance < 32 { t + distance } else { t };
                        *kept = kept.wrapping_add(old[from]);
                    }
                }
            }
            Phase::Repeat { times, phases } => (0..*times).for_each(|_| self.run(phases)),
            Phase::InBlock { block, phases } if *block == self.number => self.run(phases),
            Phase::InBlock { .. } => {}
        }
    }

    fn values(&self, value: &Value) -> [u32; COUNT] {
        std::array::from_fn(|t| self.value(value, t))
    }

    fn value(&self, value: &Value, t: usize) -> u32 {
        match value {
            Value::Constant(constant) => *constant,
            Value::Number => t as u32,
            Value::Kept => self.kept[t],
            Value::Input => self.input[self.number as usize * COUNT + t],
            Value::Array(array, index) => self.arrays[*array][self.value(index, t) as usize % COUNT],
            Value::Rows(row, col) => {
                self.rows[(self.value(row, t) % ROWS) as usize][(self.value(col, t) % COLS) as usize]
            }
            Value::Sum(a, b) => self.value(a, t).wrapping_add(self.value(b, t)),
            Value::Product(a, factor) => self.value(a, t).wrapping_mul(*factor),
        }
    }
}

//! Which registers are live: those that an instruction with an effect depends on.

use ptx::{Handle, Register};

use super::body::Body;

/// The registers that matter.
pub(super) struct Live {
    needed: Vec<bool>,
}

impl Live {
    pub fn new(body: &Body<'_>) -> Self {
        let mut writers: Vec<Vec<usize>> = vec![Vec::new(); body.registers];
        for (position, writes) in body.writes.iter().enumerate() {
            writes.iter().for_each(|register| writers[register.index()].push(position));
        }
        let mut needed = vec![false; body.registers];
        let mut is_made: Vec<bool> =
            body.instructions.iter().map(|instruction| !instruction.op.effect().may_be_unused()).collect();
        let mut waiting: Vec<usize> = (0..is_made.len()).filter(|&position| is_made[position]).collect();
        while let Some(position) = waiting.pop() {
            for register in &body.reads[position] {
                if std::mem::replace(&mut needed[register.index()], true) {
                    continue;
                }
                for &writer in &writers[register.index()] {
                    if !std::mem::replace(&mut is_made[writer], true) {
                        waiting.push(writer);
                    }
                }
            }
        }
        Self { needed }
    }

    pub fn is_needed(&self, register: Handle<Register>) -> bool {
        self.needed[register.index()]
    }
}

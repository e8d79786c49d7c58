//! Registers that a product of a warpgroup (`wgmma`) holds, from the instruction until the warp has waited for its
//! group: at any time in between the accumulators may be written and the fragment of A may be read. Products of the
//! same shape may follow each other on the same accumulators. Any other register that was written since the last
//! `wgmma.fence` needs another before it is an operand (PTX ISA, "wgmma.mma_async", "wgmma.fence").
//!
//! Called functions and code for a debugger (`nvcc -G`) are left out, because there `ptxas` waits for each product. It
//! does so in plain code, too, where it sees the mistake, and warns (C7517).

use std::collections::VecDeque;

use crate::program::{Held, HeldRegisters};
use crate::sanitizer::ProductPart;
use crate::site::AccessAction;

/// A product: its number in the warp, from 1, and its instruction.
#[derive(Clone, Copy, Debug, Default)]
struct Product {
    number: u32,
    place: u32,
    shape: [u32; 2],
}

/// What is known of a register.
#[derive(Clone, Copy, Debug, Default)]
struct Register {
    /// The last product that writes it, and the last that reads it as a part of A; number 0 is none.
    writer: Product,
    reader: Product,
    /// The instruction that has written it since the last `wgmma.fence`.
    touched: Option<u32>,
}

/// The registers of a warp that products may hold.
#[derive(Default)]
pub(crate) struct HeldByProducts {
    registers: Vec<Register>,
    /// Products so far, and those of them that the warp has waited for.
    begun: u32,
    awaited: u32,
    /// The last product of each group that it has not waited for.
    groups: VecDeque<u32>,
}

/// What to report: the register, what is done to it, and the product (or other instruction) before.
pub(crate) enum Wrong {
    Held { register: u32, action: AccessAction, part: ProductPart, before: u32 },
    Unfenced { register: u32, before: u32 },
}

impl HeldByProducts {
    /// A block starts, whose kernel has so many such registers.
    pub fn reset(&mut self, registers: usize) {
        *self = Self::default();
        self.registers.resize(registers, Register::default());
    }

    fn is_held(&self, product: Product) -> bool {
        product.number > self.awaited
    }

    /// An instruction at a place reads a register, or writes it.
    fn access(&self, register: u32, action: AccessAction, wrong: &mut Vec<Wrong>) {
        let Register { writer, reader, .. } = self.registers[register as usize];
        if self.is_held(writer) {
            wrong.push(Wrong::Held { register, action, part: ProductPart::Sum, before: writer.place });
        } else if self.is_held(reader) && action == AccessAction::Write {
            wrong.push(Wrong::Held { register, action, part: ProductPart::Factor, before: reader.place });
        }
    }

    fn multiply(&mut self, &HeldRegisters { ref sums, ref factors, shape }: &HeldRegisters, place: u32) -> Vec<Wrong> {
        let mut wrong = Vec::new();
        for &register in factors {
            self.access(register, AccessAction::Read, &mut wrong);
        }
        for &register in sums {
            // Products of one shape come in their order.
            if self.registers[register as usize].writer.shape != shape {
                self.access(register, AccessAction::Write, &mut wrong);
            }
        }
        for &register in sums.iter().chain(factors) {
            if let Some(before) = self.registers[register as usize].touched.take() {
                wrong.push(Wrong::Unfenced { register, before });
            }
        }
        self.begun += 1;
        let product = Product { number: self.begun, place, shape };
        sums.iter().for_each(|&sum| self.registers[sum as usize].writer = product);
        factors.iter().for_each(|&factor| self.registers[factor as usize].reader = product);
        wrong
    }

    pub fn follow(&mut self, held: &Held, place: u32) -> Vec<Wrong> {
        let mut wrong = Vec::new();
        match *held {
            Held::Touches { ref reads, ref writes } => {
                for &register in reads {
                    self.access(register, AccessAction::Read, &mut wrong);
                }
                for &register in writes {
                    self.access(register, AccessAction::Write, &mut wrong);
                    self.registers[register as usize] = Register { touched: Some(place), ..Register::default() };
                }
            }
            Held::Sets { to } => {
                self.access(to, AccessAction::Write, &mut wrong);
                self.registers[to as usize] = Register::default();
            }
            Held::Moves { to, from } => self.registers[to as usize] = self.registers[from as usize],
            Held::Multiplies(ref registers) => return self.multiply(registers, place),
            Held::Fence => self.registers.iter_mut().for_each(|register| register.touched = None),
            Held::Commit => self.groups.push_back(self.begun),
            Held::Await { groups_left } => {
                while self.groups.len() > groups_left as usize {
                    self.awaited = self.groups.pop_front().unwrap_or(self.awaited);
                }
            }
        }
        wrong
    }
}

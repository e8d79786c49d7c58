//! Registers that a product of a warpgroup (`wgmma`) holds, from the instruction until the warp has
//! waited for its group. In between, the product may write the accumulators and read the fragment
//! of A at any time. Products of the same shape may follow each other on the same accumulators. Any
//! other register that was written since the last `wgmma.fence` needs another fence before it is an
//! operand (PTX ISA, "wgmma.mma_async", "wgmma.fence"). A warp owns this; `inspection` updates it
//! and reports what is wrong.
//!
//! Called functions and debug code (`nvcc -G`) are not tracked, because `ptxas` waits for each
//! product there. It also does so in other code if it detects the mistake, and warns (C7517).
//! Triton relies on that: it unpacks f16 accumulators before it waits. So an accumulator that is
//! only unpacked is reported under `strict` alone.

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

/// The last accesses of products to a register.
#[derive(Clone, Copy, Debug, Default)]
struct Register {
    /// The last product that writes it, and the last that reads it as a part of A; number 0 is
    /// none.
    writer: Product,
    reader: Product,
    /// The instruction that has written it since the last `wgmma.fence`.
    touched: Option<u32>,
}

/// The registers of a warp that products may hold.
#[derive(Default)]
pub(crate) struct HeldByProducts {
    registers: Vec<Register>,
    /// How many products have begun, and how many of them the warp has waited for.
    begun: u32,
    awaited: u32,
    /// The last product of each group that the warp has not waited for.
    groups: VecDeque<u32>,
}

/// A fault to report: the register, what is done to it, and the earlier product or instruction.
pub(crate) enum Wrong {
    Held { register: u32, action: AccessAction, part: ProductPart, before: u32, unpacked: bool },
    Unfenced { register: u32, before: u32 },
}

impl HeldByProducts {
    /// A block starts; its kernel has `registers` such registers.
    pub fn reset(&mut self, registers: usize) {
        *self = Self::default();
        self.registers.resize(registers, Register::default());
    }

    fn is_held(&self, product: Product) -> bool {
        product.number > self.awaited
    }

    /// An instruction reads or writes a register.
    fn access(&self, register: u32, action: AccessAction, wrong: &mut Vec<Wrong>) {
        let Register { writer, reader, .. } = self.registers[register as usize];
        if self.is_held(writer) {
            wrong.push(Wrong::Held { register, action, part: ProductPart::Sum, before: writer.place, unpacked: false });
        } else if self.is_held(reader) && action == AccessAction::Write {
            wrong.push(Wrong::Held {
                register,
                action,
                part: ProductPart::Factor,
                before: reader.place,
                unpacked: false,
            });
        }
    }

    fn multiply(&mut self, &HeldRegisters { ref sums, ref factors, shape }: &HeldRegisters, place: u32) -> Vec<Wrong> {
        let mut wrong = Vec::new();
        for &register in factors {
            self.access(register, AccessAction::Read, &mut wrong);
        }
        for &register in sums {
            // Products of the same shape execute in order.
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
            Held::Touches { ref reads, ref writes, unpacks } => {
                for &register in reads {
                    self.access(register, AccessAction::Read, &mut wrong);
                }
                for wrong in &mut wrong {
                    if let Wrong::Held { unpacked, .. } = wrong {
                        *unpacked = unpacks;
                    }
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

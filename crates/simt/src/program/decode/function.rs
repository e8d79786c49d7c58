//! The state of decoding a kernel and one of its functions: rows, places of variables, and the
//! steps so far. All files of this folder add to it.

use std::collections::{HashMap, HashSet};

use ptx::{Function, Handle, Module, Type, Variable};

use super::uses::Uses;
use crate::CountsDiffer;
use crate::address::LOCAL_LIMIT;
use crate::error::LoadErrorReason;
use crate::instruction::AccessKind;
use crate::lanes::{ALWAYS, Handler, Operands};
use crate::program::code::{Action, Constant, FunctionCode, Instruction, NEVER_JOINS, Rows};
use crate::program::inspection::{Inspections, Rule};
use crate::program::layout;
use crate::program::order::RegisterOf;
use crate::program::registers::PlaceRegisters;

/// A result of decoding, or why the machine cannot run the instruction.
pub(super) type Decoded<T> = Result<T, LoadErrorReason>;

/// What there is, or the error that it is not supported.
pub(super) fn found<T>(handler: Option<T>, what: impl Fn() -> String) -> Decoded<T> {
    handler.ok_or_else(|| LoadErrorReason::Unsupported { what: what() })
}

/// The most registers of one width, and the most parameters, of a function: more than compilers
/// use, and little enough for memory.
const REGISTER_LIMIT: u32 = 1 << 16;

/// The largest parameter, in bytes (PTX ISA: 32,764).
const PARAMETER_LIMIT: u64 = 1 << 15;

/// Marks a counted instruction until the number of places is known.
pub(super) const COUNTED: u32 = 0;

pub(super) const HELPER: u32 = 1;

/// The constants of one width, without duplicates.
#[derive(Default)]
pub(super) struct Pool {
    pub list: Vec<Constant>,
    pub index: HashMap<Constant, u32>,
}

impl Pool {
    pub fn row(&mut self, constant: Constant) -> u32 {
        *self.index.entry(constant).or_insert_with(|| {
            self.list.push(constant);
            self.list.len() as u32 - 1
        })
    }
}

/// The kernel decoded so far.
pub(super) struct Builder<'m> {
    pub module: &'m Module,
    pub addresses: &'m [Option<u64>],
    pub shared: HashMap<Handle<Variable>, u64>,
    /// The sizes of parameters that are declared without one.
    pub variable_parameters: HashMap<Handle<Variable>, u64>,
    pub by_handle: HashMap<usize, u32>,
    pub instructions: Vec<Instruction>,
    pub origins: Vec<u32>,
    pub positions: Vec<(Handle<Function>, u32)>,
    pub registers: PlaceRegisters,
    pub functions: Vec<FunctionCode>,
    pub words: Pool,
    pub doubles: Pool,
    /// The number of instructions so far that access memory.
    pub accesses: u32,
    pub inspections: Inspections,
    pub read: HashSet<RegisterOf>,
    /// [`Code::served`](crate::program::code::Code::served).
    pub served: HashMap<u32, u32>,
    /// How the hardware makes atomic operations, by place.
    pub kinds: HashMap<u32, AccessKind>,
    /// Branches after which a GPU can count accesses otherwise, by place.
    pub differs: HashMap<u32, CountsDiffer>,
}

/// Where a variable of the function is stored.
#[derive(Clone, Copy)]
pub(super) enum Storage {
    /// The parameters of the kernel, from this byte on.
    Kernel(u64),
    /// Rows of the frame.
    Rows(Rows),
    /// The frame's local memory.
    Local(u64),
}

/// Decodes one function.
pub(super) struct FunctionDecoder<'b, 'm> {
    pub builder: &'b mut Builder<'m>,
    pub handle: Handle<Function>,
    pub function: &'m Function,
    /// The row of each register.
    pub rows: Vec<u32>,
    pub storage: HashMap<Handle<Variable>, Storage>,
    pub frame: FunctionCode,
    /// The rows of registers and parameters.
    pub settled: Rowcount,
    /// The rows with those that helpers of the current instruction use.
    pub temporary: Rowcount,
    /// The instruction being decoded.
    pub origin: u32,
    pub guard: u32,
    pub join_at: u32,
    /// The predicate that stands for the carry flag.
    pub carry: u32,
    /// What registers are read for.
    pub uses: Uses,
}

/// Rows of a frame.
#[derive(Clone, Copy, Default)]
pub(super) struct Rowcount {
    pub words: u32,
    pub doubles: u32,
    pub predicates: u32,
}

impl<'b, 'm> FunctionDecoder<'b, 'm> {
    pub fn new(builder: &'b mut Builder<'m>, handle: Handle<Function>) -> Self {
        let function = &builder.module.functions[handle];
        Self {
            builder,
            handle,
            function,
            rows: Vec::new(),
            storage: HashMap::new(),
            frame: FunctionCode::default(),
            settled: Rowcount::default(),
            temporary: Rowcount::default(),
            origin: 0,
            guard: ALWAYS,
            join_at: NEVER_JOINS,
            carry: 0,
            uses: Uses::default(),
        }
    }

    /// Assigns rows and storage to registers, parameters and local variables.
    pub fn lay_out(&mut self) -> Decoded<()> {
        for (_, register) in self.function.registers.iter() {
            let (next, count) = match register.ty {
                Type::Pred => (&mut self.settled.predicates, 1),
                ty if ty.bits() <= 32 => (&mut self.settled.words, 1),
                ty => (&mut self.settled.doubles, ty.bits() / 64),
            };
            self.rows.push(*next);
            *next += count;
        }
        let module = self.builder.module;
        let function = self.function;
        let addressed = layout::addressed_parameters(module, function);
        if function.is_kernel {
            let (offsets, _) = layout::parameters(module, function);
            for (&variable, offset) in function.parameters.iter().zip(offsets) {
                self.storage.insert(variable, Storage::Kernel(offset));
            }
        } else {
            for &variable in &function.parameters {
                let rows = self.reserve_rows(self.bytes_of(variable))?;
                self.frame.parameters.push(rows);
                self.storage.insert(variable, Storage::Rows(rows));
            }
            for &variable in &function.results {
                let rows = self.reserve_rows(self.bytes_of(variable))?;
                self.frame.results.push(rows);
                self.storage.insert(variable, Storage::Rows(rows));
            }
        }
        for &variable in &function.variables {
            match module.variables[variable].space {
                ptx::Space::Local => {
                    let offset = self.reserve_local(variable);
                    self.storage.insert(variable, Storage::Local(offset));
                }
                ptx::Space::Parameter => {
                    let rows = self.reserve_rows(self.bytes_of(variable))?;
                    self.storage.insert(variable, Storage::Rows(rows));
                }
                _ => {}
            }
        }
        for variable in addressed {
            let Some(&Storage::Rows(rows)) = self.storage.get(&variable) else { continue };
            if !function.parameters.contains(&variable) {
                let what = format!("the address of `{}`, which only calls may use", module.variables[variable].name);
                return Err(LoadErrorReason::Misplaced { what });
            }
            let offset = self.reserve_local(variable);
            self.storage.insert(variable, Storage::Local(offset));
            self.emit(HELPER, Action::Spill { rows, offset });
        }
        // The carry flag.
        self.carry = self.settled.predicates;
        self.settled.predicates += 1;
        let Rowcount { words, doubles, predicates } = self.settled;
        if words.max(doubles).max(predicates) > REGISTER_LIMIT {
            return Err(LoadErrorReason::Unsupported { what: format!("more than {REGISTER_LIMIT} registers") });
        }
        if self.frame.local > LOCAL_LIMIT {
            let what = format!("{} bytes of local memory per thread (at most {LOCAL_LIMIT})", self.frame.local);
            return Err(LoadErrorReason::Unsupported { what });
        }
        (self.frame.words, self.frame.doubles, self.frame.predicates) = (words, doubles, predicates);
        Ok(())
    }

    pub fn bytes_of(&self, variable: Handle<Variable>) -> u64 {
        let size = self.builder.module.variables[variable].size;
        size.or_else(|| self.builder.variable_parameters.get(&variable).copied()).unwrap_or(0)
    }

    pub fn reserve_rows(&mut self, bytes: u64) -> Decoded<Rows> {
        if bytes > PARAMETER_LIMIT {
            return Err(LoadErrorReason::Unsupported { what: format!("a parameter of {bytes} bytes") });
        }
        let rows = Rows { first: self.settled.words, count: bytes.div_ceil(4) as u32 };
        self.settled.words += rows.count;
        Ok(rows)
    }

    pub fn reserve_local(&mut self, variable: Handle<Variable>) -> u64 {
        let align = self.builder.module.variables[variable].align.max(4);
        let offset = layout::align_up(self.frame.local, align);
        self.frame.local = offset.saturating_add(self.bytes_of(variable));
        offset
    }

    /// A row of words for a helper, until the next instruction.
    pub fn temporary_words(&mut self, count: u32) -> u32 {
        let first = self.temporary.words;
        self.temporary.words += count;
        self.frame.words = self.frame.words.max(self.temporary.words);
        first
    }

    /// A 64-bit row for a helper, until the next instruction.
    pub fn temporary_double(&mut self) -> u32 {
        self.temporary.doubles += 1;
        self.frame.doubles = self.frame.doubles.max(self.temporary.doubles);
        self.temporary.doubles - 1
    }

    /// A predicate for a helper, until the next instruction.
    pub fn temporary_predicate(&mut self) -> u32 {
        self.temporary.predicates += 1;
        self.frame.predicates = self.frame.predicates.max(self.temporary.predicates);
        self.temporary.predicates - 1
    }

    pub fn emit(&mut self, counted: u32, action: Action) {
        self.builder.instructions.push(Instruction { action, guard: self.guard, place: counted });
        self.builder.origins.push(self.origin);
    }

    /// Adds a rule that the sanitizer checks before the last emitted step.
    pub fn inspect(&mut self, rule: Rule) {
        let last = self.builder.instructions.len() as u32 - 1;
        self.builder.inspections.entry(last).rule = Some(rule);
    }

    /// Emits the instruction itself, as arithmetic.
    pub fn lanes(&mut self, handler: Handler, operands: Operands) {
        self.emit(COUNTED, Action::Lanes(handler, operands));
    }

    /// Emits the instruction itself, as control flow, a barrier or an exchange between lanes.
    pub fn control(&mut self, action: Action) -> Decoded<()> {
        self.emit(COUNTED, action);
        Ok(())
    }

    /// Emits the instruction itself, as arithmetic.
    pub fn arithmetic(&mut self, handler: Handler, operands: Operands) -> Decoded<()> {
        self.lanes(handler, operands);
        Ok(())
    }
}

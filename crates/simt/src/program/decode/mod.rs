//! Decodes a kernel's PTX into [`Code`]. `instruction` sends each PTX instruction to its family,
//! which turns it into steps (`moves`, `addresses`, `arithmetic`, `memory`, `texture`, `matrix`,
//! `asynchronous`, `control`), with operands as rows (`operands`). `copied`, `expected`, `flows`,
//! `unwritten`, `tracked`, `uses` and `held` find what the sanitizer needs to know, `counted` which
//! requests the hardware makes.

mod addresses;
mod arithmetic;
mod asynchronous;
mod control;
mod copied;
mod counted;
mod expected;
mod flows;
mod function;
mod held;
mod instruction;
mod matrix;
mod memory;
mod moves;
mod operands;
mod texture;
mod tracked;
mod unwritten;
mod uses;

use std::collections::{HashMap, HashSet};

use ptx::{Callee, ControlOp, Function, Handle, Module, Op, Span};

use super::code::{Action, Code, NEVER_JOINS, RETURN};
use super::inspection::Inspections;
use super::registers::PlaceRegisters;
use super::{control_flow, layout, listing, order, system};
use crate::LoadError;
use crate::error::LoadErrorReason;
use crate::lanes::ALWAYS;
use function::{Builder, COUNTED, FunctionDecoder, HELPER, Pool};
use unwritten::Searched;

/// Rejects functions that launch kernels. This comes first, because errors about what they pass
/// would say less.
fn refuse_launches(module: &Module, functions: &[Handle<Function>]) -> Result<(), Box<LoadError>> {
    for instruction in functions.iter().flat_map(|&handle| module.functions[handle].body.iter().flatten()) {
        let Op::Control(ControlOp::Call { callee: Callee::Direct(callee), .. }) = instruction.op else { continue };
        let callee = &module.functions[callee];
        if system::is_of_device_runtime(callee) {
            let reason = LoadErrorReason::DeviceRuntime { name: callee.name.clone() };
            return Err(Box::new(LoadError::new(module, instruction.span, reason)));
        }
    }
    Ok(())
}

/// Decodes a kernel and the functions that it may call. `addresses` are those of the module's
/// variables.
pub(super) fn kernel(
    module: &Module,
    addresses: &[Option<u64>],
    kernel: Handle<Function>,
) -> Result<Code, Box<LoadError>> {
    let functions = layout::reachable(module, kernel);
    refuse_launches(module, &functions)?;
    let (shared, static_shared) = layout::shared(module, &functions);
    let mut builder = Builder {
        module,
        addresses,
        shared,
        variable_parameters: layout::variable_parameters(module, &functions),
        by_handle: functions.iter().enumerate().map(|(index, handle)| (handle.index(), index as u32)).collect(),
        instructions: Vec::new(),
        origins: Vec::new(),
        positions: Vec::new(),
        registers: PlaceRegisters::default(),
        functions: Vec::new(),
        words: Pool::default(),
        doubles: Pool::default(),
        accesses: 0,
        inspections: Inspections::default(),
        read: HashSet::new(),
        served: HashMap::new(),
        kinds: HashMap::new(),
        differs: HashMap::new(),
    };
    let mut searched = Vec::new();
    for &handle in &functions {
        searched.push(FunctionDecoder::new(&mut builder, handle).decode()?);
    }
    expected::mark(&mut builder, &searched);
    unwritten::track(&mut builder, searched);
    let Builder {
        mut instructions,
        origins,
        positions,
        registers,
        functions: decoded,
        words,
        doubles,
        accesses,
        by_handle,
        inspections,
        served,
        kinds,
        differs,
        ..
    } = builder;
    let count = positions.len() as u32;
    for (instruction, origin) in instructions.iter_mut().zip(&origins) {
        instruction.place = if instruction.place == COUNTED { *origin } else { count };
    }
    Ok(Code {
        instructions,
        origins,
        places: listing::places(module, &positions, &kinds, &differs),
        positions,
        registers,
        functions: decoded,
        by_handle,
        constant_words: words.list,
        constant_doubles: doubles.list,
        static_shared,
        accesses,
        served,
        inspections,
        ordered: order::matters(module, &functions, &builder.read),
        writes: order::writes(module, &functions),
    })
}

impl<'b, 'm> FunctionDecoder<'b, 'm> {
    fn decode(mut self) -> Result<Searched<'m>, Box<LoadError>> {
        let module = self.builder.module;
        let fail = |span: Span, reason| Box::new(LoadError::new(module, span, reason));
        let Some(body) = &self.function.body else {
            return Err(fail(self.function.span, LoadErrorReason::NoBody { name: self.function.name.clone() }));
        };
        self.frame.entry = self.builder.instructions.len() as u32;
        self.origin = self.builder.positions.len() as u32;
        self.lay_out().map_err(|reason| fail(self.function.span, reason))?;
        let successors = control_flow::successors(body);
        let joins = control_flow::reconvergence_points(body, &successors);
        let first = self.builder.instructions.len();
        let mut starts = Vec::with_capacity(body.len() + 1);
        for (index, instruction) in body.iter().enumerate() {
            starts.push(self.builder.instructions.len() as u32);
            self.origin = self.builder.positions.len() as u32;
            self.builder.positions.push((self.handle, index as u32));
            self.join_at = joins[index].unwrap_or(NEVER_JOINS);
            self.guard = ALWAYS;
            self.temporary = self.settled;
            let guard = match instruction.guard {
                None => Ok(ALWAYS),
                Some(predicate) => self.predicate_register(predicate),
            };
            guard
                .and_then(|guard| {
                    self.guard = guard;
                    self.uses.begin(&instruction.op);
                    let decoded = self.instruction(&instruction.op);
                    self.uses.end();
                    decoded
                })
                .map_err(|reason| fail(instruction.span, reason))?;
        }
        for (index, instruction) in body.iter().enumerate() {
            let guard = instruction.guard.map(|guard| guard.register);
            let reads = guard.iter().chain(self.uses.reads(index)).map(|register| register.index());
            let writes = self.uses.writes(index).iter().map(|register| register.index());
            self.builder.registers.push(reads, writes);
        }
        held::track(&mut self, body, &starts);
        self.uses.mark_loads(&mut self.builder.instructions);
        copied::mark(&mut self, body, &successors, &starts);
        counted::mark(&mut self, body, counted::Paths { successors: &successors, joins: &joins }, &starts);
        let searched = Searched::new(&mut self, body, &successors, &starts);
        // The end of the body is a `ret`.
        starts.push(self.builder.instructions.len() as u32);
        self.guard = ALWAYS;
        self.join_at = RETURN;
        self.emit(HELPER, Action::Return { join_at: RETURN });
        let target = |position: &mut u32| *position = starts.get(*position as usize).copied().unwrap_or(RETURN);
        let end = body.len() as u32;
        let join = |position: &mut u32| match *position {
            NEVER_JOINS | RETURN => {}
            at if at == end => *position = RETURN,
            at => *position = starts[at as usize],
        };
        for instruction in &mut self.builder.instructions[first..] {
            let (targets, join_at) = instruction.action.targets_mut();
            targets.iter_mut().for_each(target);
            join_at.into_iter().for_each(join);
        }
        self.builder.functions.push(self.frame);
        Ok(searched)
    }
}

//! From a kernel's PTX to [`Code`].

mod addresses;
mod arithmetic;
mod asynchronous;
mod control;
mod copied;
mod expected;
mod flows;
mod held;
mod matrix;
mod memory;
mod moves;
mod operands;
mod texture;
mod unwritten;
mod uses;

use std::collections::{HashMap, HashSet};

use ptx::{Callee, Function, Handle, Module, Op, Span, Type, Variable};

use super::code::{Action, Code, Constant, FunctionCode, Instruction, NEVER_MEET, RETURN, Rows};
use super::inspection::{Inspections, Rule};
use super::listing::Lines;
use super::order::RegisterOf;
use super::{control_flow, layout, listing, order, system};
use crate::lanes::{ALWAYS, Handler, Operands};
use crate::machine::LOCAL_LIMIT;
use crate::{LoadError, LoadErrorReason};
use unwritten::Searched;
use uses::Uses;

/// A failure: the machine cannot run the instruction.
type Decoded<T> = Result<T, LoadErrorReason>;

/// Rejects functions that launch kernels. Before all else: what they pass is rejected as well, and says less.
fn refuse_launches(module: &Module, functions: &[Handle<Function>]) -> Result<(), Box<LoadError>> {
    for instruction in functions.iter().flat_map(|&handle| module.functions[handle].body.iter().flatten()) {
        let Op::Call { callee: Callee::Direct(callee), .. } = instruction.op else { continue };
        let callee = &module.functions[callee];
        if system::is_of_device_runtime(callee) {
            let reason = LoadErrorReason::DeviceRuntime { name: callee.name.clone() };
            return Err(Box::new(LoadError::new(module, instruction.span, reason)));
        }
    }
    Ok(())
}

/// Decodes a kernel and the functions that it may call. `addresses` are those of the module's variables.
pub(super) fn kernel(
    module: &Module,
    lines: &Lines,
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
        functions: Vec::new(),
        words: Pool::default(),
        doubles: Pool::default(),
        accesses: 0,
        inspections: Inspections::default(),
        read: HashSet::new(),
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
        functions: decoded,
        words,
        doubles,
        accesses,
        by_handle,
        inspections,
        ..
    } = builder;
    let count = positions.len() as u32;
    for (instruction, origin) in instructions.iter_mut().zip(&origins) {
        instruction.counter = if instruction.counter == COUNTED { *origin } else { count };
    }
    Ok(Code {
        instructions,
        origins,
        places: listing::places(module, lines, &positions),
        positions,
        functions: decoded,
        by_handle,
        constant_words: words.list,
        constant_doubles: doubles.list,
        static_shared,
        accesses,
        inspections,
        ordered: order::matters(module, &functions, &builder.read),
    })
}

/// Registers of one width, and parameters, that a function may have: beyond what compilers make, within what fits memory.
const REGISTER_LIMIT: u32 = 1 << 16;
/// Bytes of a parameter (PTX ISA: 32,764).
const PARAMETER_LIMIT: u64 = 1 << 15;

/// Marks a counted instruction until the number of places is known.
const COUNTED: u32 = 0;
const HELPER: u32 = 1;

/// Constants of one width, each once.
#[derive(Default)]
struct Pool {
    list: Vec<Constant>,
    index: HashMap<Constant, u32>,
}

impl Pool {
    fn row(&mut self, constant: Constant) -> u32 {
        *self.index.entry(constant).or_insert_with(|| {
            self.list.push(constant);
            self.list.len() as u32 - 1
        })
    }
}

/// What is decoded so far.
struct Builder<'m> {
    module: &'m Module,
    addresses: &'m [Option<u64>],
    shared: HashMap<Handle<Variable>, u64>,
    /// The bytes of parameters of any size.
    variable_parameters: HashMap<Handle<Variable>, u64>,
    by_handle: HashMap<usize, u32>,
    instructions: Vec<Instruction>,
    origins: Vec<u32>,
    positions: Vec<(Handle<Function>, u32)>,
    functions: Vec<FunctionCode>,
    words: Pool,
    doubles: Pool,
    /// Instructions so far that access memory.
    accesses: u32,
    inspections: Inspections,
    read: HashSet<RegisterOf>,
}

/// Where a variable of the function lies.
#[derive(Clone, Copy)]
enum Place {
    /// The parameters of the kernel, from this byte on.
    Kernel(u64),
    /// Rows of the frame.
    Rows(Rows),
    /// The frame's local memory.
    Local(u64),
}

/// Decodes one function.
struct FunctionDecoder<'b, 'm> {
    builder: &'b mut Builder<'m>,
    handle: Handle<Function>,
    function: &'m Function,
    /// The row of each register.
    rows: Vec<u32>,
    places: HashMap<Handle<Variable>, Place>,
    frame: FunctionCode,
    /// Rows that registers and parameters take.
    settled: Rowcount,
    /// The same, with those that helpers of the current instruction use.
    temporary: Rowcount,
    /// The instruction being decoded.
    origin: u32,
    guard: u32,
    meet: u32,
    /// The predicate that stands for the carry flag.
    carry: u32,
    /// What registers are read for.
    uses: Uses,
}

/// Rows of a frame.
#[derive(Clone, Copy, Default)]
struct Rowcount {
    words: u32,
    doubles: u32,
    predicates: u32,
}

impl<'b, 'm> FunctionDecoder<'b, 'm> {
    fn new(builder: &'b mut Builder<'m>, handle: Handle<Function>) -> Self {
        let function = &builder.module.functions[handle];
        Self {
            builder,
            handle,
            function,
            rows: Vec::new(),
            places: HashMap::new(),
            frame: FunctionCode::default(),
            settled: Rowcount::default(),
            temporary: Rowcount::default(),
            origin: 0,
            guard: ALWAYS,
            meet: NEVER_MEET,
            carry: 0,
            uses: Uses::default(),
        }
    }

    fn decode(mut self) -> Result<Searched<'m>, Box<LoadError>> {
        let module = self.builder.module;
        let fail = |span: Span, reason| Box::new(LoadError::new(module, span, reason));
        let Some(body) = &self.function.body else {
            return Err(fail(self.function.span, LoadErrorReason::NoBody { name: self.function.name.clone() }));
        };
        self.frame.entry = self.builder.instructions.len() as u32;
        self.origin = self.builder.positions.len() as u32;
        self.lay_out().map_err(|reason| fail(self.function.span, reason))?;
        let ways = control_flow::successors(body);
        let meets = control_flow::meeting_points(body, &ways);
        let first = self.builder.instructions.len();
        let mut starts = Vec::with_capacity(body.len() + 1);
        for (index, instruction) in body.iter().enumerate() {
            starts.push(self.builder.instructions.len() as u32);
            self.origin = self.builder.positions.len() as u32;
            self.builder.positions.push((self.handle, index as u32));
            self.meet = meets[index].unwrap_or(NEVER_MEET);
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
        held::track(&mut self, body, &starts);
        self.uses.mark_loads(&mut self.builder.instructions);
        copied::mark(&mut self, body, &ways, &starts);
        let searched = Searched::new(&mut self, body, &ways, &starts);
        // The end of the body is a `ret`.
        starts.push(self.builder.instructions.len() as u32);
        self.guard = ALWAYS;
        self.meet = RETURN;
        self.emit(HELPER, Action::Return { meet: RETURN });
        let target = |position: &mut u32| *position = starts.get(*position as usize).copied().unwrap_or(RETURN);
        let end = body.len() as u32;
        let meeting = |position: &mut u32| match *position {
            NEVER_MEET | RETURN => {}
            at if at == end => *position = RETURN,
            at => *position = starts[at as usize],
        };
        for instruction in &mut self.builder.instructions[first..] {
            match &mut instruction.action {
                Action::Branch { target: to, meet } => {
                    target(to);
                    meeting(meet);
                }
                Action::BranchIndexed(branch) => {
                    branch.targets.iter_mut().for_each(target);
                    meeting(&mut branch.meet);
                }
                Action::Return { meet } => meeting(meet),
                _ => {}
            }
        }
        self.builder.functions.push(self.frame);
        Ok(searched)
    }

    /// Gives registers, parameters and local variables their places.
    fn lay_out(&mut self) -> Decoded<()> {
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
                self.places.insert(variable, Place::Kernel(offset));
            }
        } else {
            for &variable in &function.parameters {
                let rows = self.reserve_rows(self.bytes_of(variable))?;
                self.frame.parameters.push(rows);
                self.places.insert(variable, Place::Rows(rows));
            }
            for &variable in &function.results {
                let rows = self.reserve_rows(self.bytes_of(variable))?;
                self.frame.results.push(rows);
                self.places.insert(variable, Place::Rows(rows));
            }
        }
        for &variable in &function.variables {
            match module.variables[variable].space {
                ptx::Space::Local => {
                    let offset = self.reserve_local(variable);
                    self.places.insert(variable, Place::Local(offset));
                }
                ptx::Space::Parameter => {
                    let rows = self.reserve_rows(self.bytes_of(variable))?;
                    self.places.insert(variable, Place::Rows(rows));
                }
                _ => {}
            }
        }
        for variable in addressed {
            let Some(&Place::Rows(rows)) = self.places.get(&variable) else { continue };
            if !function.parameters.contains(&variable) {
                let what = format!("the address of `{}`, which only calls may use", module.variables[variable].name);
                return Err(LoadErrorReason::Misplaced { what });
            }
            let offset = self.reserve_local(variable);
            self.places.insert(variable, Place::Local(offset));
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

    fn bytes_of(&self, variable: Handle<Variable>) -> u64 {
        let size = self.builder.module.variables[variable].size;
        size.or_else(|| self.builder.variable_parameters.get(&variable).copied()).unwrap_or(0)
    }

    fn reserve_rows(&mut self, bytes: u64) -> Decoded<Rows> {
        if bytes > PARAMETER_LIMIT {
            return Err(LoadErrorReason::Unsupported { what: format!("a parameter of {bytes} bytes") });
        }
        let rows = Rows { first: self.settled.words, count: bytes.div_ceil(4) as u32 };
        self.settled.words += rows.count;
        Ok(rows)
    }

    fn reserve_local(&mut self, variable: Handle<Variable>) -> u64 {
        let align = self.builder.module.variables[variable].align.max(4);
        let offset = layout::align_up(self.frame.local, align);
        self.frame.local = offset.saturating_add(self.bytes_of(variable));
        offset
    }

    /// A row of words for a helper, until the next instruction.
    fn temporary_words(&mut self, count: u32) -> u32 {
        let first = self.temporary.words;
        self.temporary.words += count;
        self.frame.words = self.frame.words.max(self.temporary.words);
        first
    }

    /// The same for 64-bit rows.
    fn temporary_double(&mut self) -> u32 {
        self.temporary.doubles += 1;
        self.frame.doubles = self.frame.doubles.max(self.temporary.doubles);
        self.temporary.doubles - 1
    }

    /// The same for predicates.
    fn temporary_predicate(&mut self) -> u32 {
        self.temporary.predicates += 1;
        self.frame.predicates = self.frame.predicates.max(self.temporary.predicates);
        self.temporary.predicates - 1
    }

    fn emit(&mut self, counted: u32, action: Action) {
        self.builder.instructions.push(Instruction { action, guard: self.guard, counter: counted });
        self.builder.origins.push(self.origin);
    }

    /// What the sanitizer looks at before the step that was emitted last.
    fn inspect(&mut self, rule: Rule) {
        let last = self.builder.instructions.len() as u32 - 1;
        self.builder.inspections.entry(last).rule = Some(rule);
    }

    /// The instruction itself: arithmetic.
    fn lanes(&mut self, handler: Handler, operands: Operands) {
        self.emit(COUNTED, Action::Lanes(handler, operands));
    }
}

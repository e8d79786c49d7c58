//! Reads a litmus test from text. Instructions are PTX's own, one thread after another:
//!
//! ```text
//! name: message passing
//! data = 0
//! flag = 0
//!
//! thread in block 0:
//!     st.weak.global.u32 [data], 1;
//!     st.release.gpu.global.u32 [flag], 1;
//!
//! thread in block 1:
//!     ld.acquire.gpu.global.u32 r0, [flag];
//!     ld.weak.global.u32 r1, [data];
//!
//! ask: 1:r0 = 1, 1:r1 = 0
//! ```
//!
//! Variables are words of global memory. Each thread has registers `r0` to `r31` and predicates
//! `p0` to `p7`. A block is in a cluster of its own, on GPU 0, unless the line says `of cluster 1`
//! or `on gpu 1`. `ask` names an outcome: registers as `THREAD:REGISTER`, and variables, as they
//! are at the end. `//` starts a comment.

use std::collections::BTreeMap;

use ptx::{
    AddressBase, AtomicOp, BarrierAction, BarrierOp, BinaryOp, Comparison, ComputeOp, Function, Handle, Instruction,
    Module, Op, Operand, Ordering, Register, Scope as PtxScope, Space,
};

use crate::program::{
    Access, Action, OWN_CLUSTERS, Operation, Part, Place, Program, Question, Scope, Step, Thread, Update, Value,
};

/// What is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// In a line.
    #[error("{file}:{line}: {problem}")]
    Line {
        /// The file.
        file: String,
        /// The line, from 1.
        line: u32,
        /// What is wrong, and what to do.
        problem: String,
    },
    /// In the PTX of a thread; a line for each error, which names the file and the line.
    #[error("{0}")]
    Ptx(String),
}

type Result<T> = std::result::Result<T, Error>;

/// Threads, at most.
const MOST_THREADS: usize = 8;

struct Reader<'a> {
    file: &'a str,
    program: Program,
}

/// A thread's lines: the first, and the text.
struct Body {
    place: Place,
    line: u32,
    text: String,
}

/// Reads a litmus test; `file` names it in errors.
///
/// # Errors
///
/// [`Error`].
pub fn read(file: &str, text: &str) -> Result<Program> {
    let name = file.rsplit('/').next().unwrap_or(file).trim_end_matches(".litmus").to_owned();
    let program = Program { name, variables: Vec::new(), threads: Vec::new(), questions: Vec::new() };
    let mut reader = Reader { file, program };
    let (mut bodies, mut questions): (Vec<Body>, Vec<(u32, &str)>) = (Vec::new(), Vec::new());
    for (line, number) in text.lines().zip(1..) {
        let said = line.split("//").next().unwrap_or_default().trim();
        let is_thread = said.strip_prefix("thread").filter(|rest| rest.starts_with([' ', ':']));
        if let Some(place) = is_thread {
            let place = place.strip_suffix(':').ok_or_else(|| reader.error(number, "a thread's line ends with `:`"))?;
            let place = reader.place(number, place)?;
            bodies.push(Body { place, line: number, text: String::new() });
        } else if let Some(question) = said.strip_prefix("ask:") {
            questions.push((number, question.trim()));
        } else if let Some(body) = bodies.last_mut() {
            let is_over = !questions.is_empty() && !said.is_empty();
            if is_over {
                return Err(reader.error(number, "instructions come before the first `ask:`"));
            }
            body.text += said;
            body.text.push('\n');
        } else if let Some(name) = said.strip_prefix("name:") {
            reader.program.name = name.trim().to_owned();
        } else if !said.is_empty() {
            reader.variable(number, said)?;
        }
    }
    let last = text.lines().count().max(1) as u32;
    if bodies.is_empty() {
        return Err(reader.error(last, "there is no thread: begin one with `thread in block 0:`"));
    }
    if bodies.len() > MOST_THREADS {
        return Err(reader.error(bodies[MOST_THREADS].line, format!("there are more than {MOST_THREADS} threads")));
    }
    for body in &bodies {
        let thread = reader.thread(body)?;
        reader.program.threads.push(thread);
    }
    for (line, question) in questions {
        let question = reader.question(line, question)?;
        reader.program.questions.push(question);
    }
    Ok(reader.program)
}

impl Reader<'_> {
    fn error(&self, line: u32, problem: impl ToString) -> Error {
        Error::Line { file: self.file.to_owned(), line, problem: problem.to_string() }
    }

    /// ` in block 0 of cluster 1 on gpu 2`.
    fn place(&self, line: u32, text: &str) -> Result<Place> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let mut place = Place { block: 0, cluster: 0, gpu: 0 };
        let (mut block, mut cluster) = (None, None);
        for part in words.chunks(3) {
            let number =
                part.get(2).and_then(|number| number.parse::<u32>().ok().filter(|number| *number < OWN_CLUSTERS));
            match (part, number) {
                (["in", "block", _], Some(number)) => block = Some(number),
                (["of", "cluster", _], Some(number)) => cluster = Some(number),
                (["on", "gpu", _], Some(number)) => place.gpu = number,
                _ => {
                    let problem = "a thread is `in block 0`, and perhaps `of cluster 0` and `on gpu 0`";
                    return Err(self.error(line, problem));
                }
            }
        }
        place.block = block.ok_or_else(|| self.error(line, "the thread is in no block: write `thread in block 0:`"))?;
        place.cluster = cluster.unwrap_or(OWN_CLUSTERS + place.block);
        Ok(place)
    }

    /// `data = 0`.
    fn variable(&mut self, line: u32, text: &str) -> Result<()> {
        let parts = text.split_once('=').map(|(name, value)| (name.trim(), value.trim()));
        let (name, value) = parts.ok_or_else(|| {
            self.error(
                line,
                format!("`{text}` is no variable (`data = 0`), no thread (`thread in block 0:`) and no `name:`"),
            )
        })?;
        let good = name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && !(name.starts_with(['r', 'p']) && name[1..].chars().all(|c| c.is_ascii_digit()));
        if !good {
            return Err(self.error(line, format!("`{name}` cannot be a variable: give a word that is no register's")));
        }
        if self.program.variables.iter().any(|(known, _)| known == name) {
            return Err(self.error(line, format!("`{name}` is there twice")));
        }
        let value = value.parse().map_err(|_| self.error(line, format!("`{value}` is no number of 32 bits")))?;
        self.program.variables.push((name.to_owned(), value));
        Ok(())
    }

    fn thread(&self, body: &Body) -> Result<Thread> {
        // The header stands in the thread's own line, so that the lines are those of the file.
        let variables: String =
            self.program.variables.iter().map(|(name, _)| format!(".visible .global .align 4 .u32 {name}; ")).collect();
        let text = format!(
            "{}.version 8.5 .target sm_90 .address_size 64 {variables}.visible .entry thread() {{ .reg .b32 r<32>; \
             .reg .pred p<8>;\n{}ret; }}\n",
            "\n".repeat(body.line as usize - 1),
            body.text
        );
        let module = ptx::parse(self.file, &text).map_err(|errors| Error::Ptx(errors.to_string()))?;
        let function = module.functions.iter().map(|(_, function)| function).find(|function| function.is_kernel);
        let function = function.ok_or_else(|| self.error(body.line, "the thread has no instructions"))?;
        let mut lines =
            Lines { reader: self, module: &module, function, values: BTreeMap::new(), loads: 0, steps: Vec::new() };
        for instruction in function.body.as_deref().unwrap_or_default() {
            lines.instruction(instruction)?;
        }
        let registers = lines.values.iter().filter_map(|(register, value)| {
            let mut loads = Vec::new();
            value.loads(&mut loads);
            let name = &function.registers[*register].name;
            (!loads.is_empty() && name.starts_with('r')).then(|| (name.clone(), value.clone()))
        });
        Ok(Thread { place: body.place, registers: registers.collect(), body: body.text.clone(), steps: lines.steps })
    }

    /// `1:r0 = 1, data = 2`.
    fn question(&self, line: u32, text: &str) -> Result<Question> {
        let part = |part: &str| {
            let (what, value) =
                part.split_once('=').map(|(what, value)| (what.trim(), value.trim())).ok_or_else(|| {
                    self.error(line, format!("`{part}` is no `THREAD:REGISTER = VALUE` and no `VARIABLE = VALUE`"))
                })?;
            let value = value.parse().map_err(|_| self.error(line, format!("`{value}` is no number of 32 bits")))?;
            let Some((thread, register)) = what.split_once(':') else {
                let variable = self.program.variables.iter().position(|(name, _)| name == what);
                let variable = variable.ok_or_else(|| self.error(line, format!("there is no variable `{what}`")))?;
                return Ok(Part::Variable { variable, value });
            };
            let thread: usize =
                thread.parse().map_err(|_| self.error(line, format!("`{thread}` is no thread's number")))?;
            let known = self.program.threads.get(thread).map(|thread| thread.registers.contains_key(register));
            match known {
                None => Err(self.error(line, format!("there is no thread {thread}: they are numbered from 0"))),
                Some(false) => Err(self.error(line, format!("thread {thread} loads nothing into `{register}`"))),
                Some(true) => Ok(Part::Register { thread, register: register.to_owned(), value }),
            }
        };
        Ok(Question { text: text.to_owned(), parts: text.split(',').map(part).collect::<Result<_>>()? })
    }
}

/// A thread's instructions, as they are read.
struct Lines<'a> {
    reader: &'a Reader<'a>,
    module: &'a Module,
    function: &'a Function,
    values: BTreeMap<Handle<Register>, Value>,
    loads: usize,
    steps: Vec<Step>,
}

impl Lines<'_> {
    fn line(&self, instruction: &Instruction) -> u32 {
        1 + self.module.text[..instruction.span.start as usize].matches('\n').count() as u32
    }

    fn text(&self, instruction: &Instruction) -> &str {
        self.module.text[instruction.span.start as usize..instruction.span.end as usize].trim_end_matches(';')
    }

    fn refused<T>(&self, instruction: &Instruction, problem: &str) -> Result<T> {
        Err(self.reader.error(self.line(instruction), format!("`{}`: {problem}", self.text(instruction))))
    }

    fn instruction(&mut self, instruction: &Instruction) -> Result<()> {
        let action = match &instruction.op {
            Op::Compute(operation) => return self.compute(instruction, operation),
            Op::Control(_) if self.text(instruction) == "ret" => return Ok(()),
            Op::Load { space, ordering, scope, ty, dsts, address, .. } => {
                let [Some(register)] = dsts[..] else { return self.refused(instruction, "load one register") };
                let variable = self.variable(instruction, *space, address.base, address.offset, ty.bits())?;
                let action = Action::Load { variable, access: access(*ordering, *scope), result: self.loads };
                self.result(register);
                action
            }
            Op::Store { space, ordering, scope, ty, srcs, address, .. } => {
                let [source] = srcs[..] else { return self.refused(instruction, "store one register") };
                let variable = self.variable(instruction, *space, address.base, address.offset, ty.bits())?;
                Action::Store { variable, access: access(*ordering, *scope), value: self.value(instruction, &source)? }
            }
            Op::Atomic { space, op, ordering, scope, ty, dst, address, a, b, .. } => {
                let variable = self.variable(instruction, *space, address.base, address.offset, ty.bits())?;
                let (a, b) = (self.value(instruction, a)?, b.as_ref().map(|b| self.value(instruction, b)).transpose()?);
                let update = match (op, b) {
                    (AtomicOp::CompareAndSwap, Some(new)) => Update::Swap(a, new),
                    (AtomicOp::Exchange, _) => Update::Operation(Operation::Exchange, a),
                    (AtomicOp::Add, _) => Update::Operation(Operation::Add, a),
                    (AtomicOp::And, _) => Update::Operation(Operation::And, a),
                    (AtomicOp::Or, _) => Update::Operation(Operation::Or, a),
                    (AtomicOp::Xor, _) => Update::Operation(Operation::Xor, a),
                    (AtomicOp::Minimum, _) => Update::Operation(Operation::Min, a),
                    (AtomicOp::Maximum, _) => Update::Operation(Operation::Max, a),
                    _ => {
                        return self.refused(
                            instruction,
                            "of atomic operations, litmus tests have exch, cas, add, and, or, xor, min and max",
                        );
                    }
                };
                let action = Action::Atomic { variable, access: access(*ordering, *scope), result: self.loads, update };
                match dst {
                    Some(register) => self.result(*register),
                    None => self.loads += 1,
                }
                action
            }
            Op::Fence { ordering, scope, proxies: None } => {
                let sequential = *ordering == Ordering::SequentiallyConsistent;
                Action::Fence { scope: scope_of(*scope), sequential }
            }
            Op::Barrier(BarrierOp::Block { action: BarrierAction::Synchronize, threads: None, .. }) => Action::Barrier,
            _ => {
                let known = "litmus tests have ld, st, atom, red, fence, bar.sync and simple arithmetic";
                return self.refused(instruction, known);
            }
        };
        let condition = match instruction.guard {
            None => None,
            Some(guard) if matches!(action, Action::Store { .. }) => {
                Some((self.register(instruction, guard.register)?, guard.negated))
            }
            Some(_) => return self.refused(instruction, "only stores can have a predicate"),
        };
        let (text, line) = (self.text(instruction).to_owned(), self.line(instruction));
        self.steps.push(Step { text, line, condition, action });
        Ok(())
    }

    fn result(&mut self, register: Handle<Register>) {
        self.values.insert(register, Value::Loaded(self.loads));
        self.loads += 1;
    }

    /// Arithmetic: a value that depends on others.
    fn compute(&mut self, instruction: &Instruction, operation: &ComputeOp) -> Result<()> {
        if instruction.guard.is_some() {
            return self.refused(instruction, "only stores can have a predicate");
        }
        let (dst, value) = match operation {
            ComputeOp::Move { dst, src, .. } => (*dst, self.value(instruction, src)?),
            ComputeOp::Binary { op, ty, dst, a, b, .. } if ty.bits() == 32 => {
                let operation = match op {
                    BinaryOp::Add => Operation::Add,
                    BinaryOp::Subtract => Operation::Subtract,
                    BinaryOp::And => Operation::And,
                    BinaryOp::Or => Operation::Or,
                    BinaryOp::Xor => Operation::Xor,
                    _ => {
                        return self.refused(
                            instruction,
                            "of arithmetic, litmus tests have mov, add, sub, and, or, xor and setp.eq",
                        );
                    }
                };
                let (a, b) = (self.value(instruction, a)?, self.value(instruction, b)?);
                (*dst, Value::Operation(operation, Box::new(a), Box::new(b)))
            }
            ComputeOp::SetPredicate {
                comparison: Comparison::Equal, dst, dst_not: None, combine: None, a, b, ..
            } => {
                let (a, b) = (self.value(instruction, a)?, self.value(instruction, b)?);
                (*dst, Value::Operation(Operation::Equal, Box::new(a), Box::new(b)))
            }
            _ => {
                return self
                    .refused(instruction, "of arithmetic, litmus tests have mov, add, sub, and, or, xor and setp.eq");
            }
        };
        if let Some(register) = dst {
            self.values.insert(register, value);
        }
        Ok(())
    }

    fn value(&self, instruction: &Instruction, operand: &Operand) -> Result<Value> {
        match operand {
            Operand::Integer(value) => Ok(Value::Constant(*value as u32)),
            Operand::Register(register) => self.register(instruction, *register),
            _ => self.refused(instruction, "operands are registers and numbers"),
        }
    }

    fn register(&self, instruction: &Instruction, register: Handle<Register>) -> Result<Value> {
        match self.values.get(&register) {
            Some(value) => Ok(value.clone()),
            None => {
                let name = &self.function.registers[register].name;
                self.refused(instruction, &format!("`{name}` has no value yet"))
            }
        }
    }

    /// The variable at an address.
    fn variable(
        &self,
        instruction: &Instruction,
        space: Space,
        base: AddressBase,
        offset: i64,
        bits: u32,
    ) -> Result<usize> {
        let named = match base {
            AddressBase::Variable(variable) if offset == 0 && bits == 32 => Some(&self.module.variables[variable].name),
            _ => None,
        };
        let found = named.and_then(|name| self.reader.program.variables.iter().position(|(known, _)| known == name));
        match found {
            Some(variable) if space == Space::Global => Ok(variable),
            _ => self.refused(
                instruction,
                "accesses are to 32 bits of a variable in global memory: `ld.relaxed.gpu.global.u32 r0, [data];`",
            ),
        }
    }
}

fn scope_of(scope: PtxScope) -> Scope {
    match scope {
        PtxScope::Block => Scope::Block,
        PtxScope::Cluster => Scope::Cluster,
        PtxScope::Device => Scope::Gpu,
        PtxScope::System => Scope::System,
    }
}

fn access(ordering: Ordering, scope: PtxScope) -> Access {
    let strong = Some(scope_of(scope));
    let both = matches!(ordering, Ordering::AcquireRelease | Ordering::SequentiallyConsistent);
    match ordering {
        Ordering::Weak => Access { scope: None, acquires: false, releases: false },
        // As relaxed for the whole system.
        Ordering::Volatile | Ordering::MemoryMapped => {
            Access { scope: Some(Scope::System), acquires: false, releases: false }
        }
        _ => Access {
            scope: strong,
            acquires: both || ordering == Ordering::Acquire,
            releases: both || ordering == Ordering::Release,
        },
    }
}

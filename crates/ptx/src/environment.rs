//! What the parser knows while it reads: the module so far, the names in scope, and the function
//! being read.
//!
//! `parser` opens and closes scopes and declares names here; `typing` looks names up, and adds the
//! registers and pending branches of the function being read. It is the only mutable state of a
//! parse besides the parser's own: it knows neither tokens nor opcodes.

use crate::errors::{DeclarationError, NameError, NameKind, Parsed, fault};
use crate::syntax::cursor::Word;
use crate::{Arena, Function, Handle, Instruction, Location, Module, Op, Register, Span, Type, Variable};
use std::collections::HashMap;

/// What a name stands for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Entity {
    Variable(Handle<Variable>),
    Function(Handle<Function>),
    Register(Handle<Register>),
    /// A vector register: its parts, and how many of them it has.
    Vector([Handle<Register>; 4], u8),
    /// Index into [`FunctionBuilder::branch_targets`].
    BranchTargets(usize),
    /// Index into [`FunctionBuilder::call_targets`].
    CallTargets(usize),
    /// Index into [`FunctionBuilder::prototypes`].
    CallPrototype(usize),
}

impl Entity {
    /// The register itself, or the parts of a vector register.
    pub fn registers(&self) -> Vec<Handle<Register>> {
        match self {
            Entity::Register(register) => vec![*register],
            Entity::Vector(parts, length) => parts[..usize::from(*length)].to_vec(),
            _ => Vec::new(),
        }
    }

    pub fn kind(self) -> NameKind {
        match self {
            Entity::Variable(_) => NameKind::Variable,
            Entity::Function(_) => NameKind::Function,
            Entity::Register(_) => NameKind::Register,
            Entity::Vector(..) => NameKind::VectorRegister,
            Entity::BranchTargets(_) => NameKind::BranchTargets,
            Entity::CallTargets(_) => NameKind::CallTargets,
            Entity::CallPrototype(_) => NameKind::CallPrototype,
        }
    }
}

/// `.reg .b32 %r<11>;`. A register is created when it is first named, so a huge count costs
/// nothing.
#[derive(Clone, Copy, Debug)]
struct Range<'t> {
    prefix: &'t str,
    count: u32,
    ty: Type,
    vector: u8,
}

/// The names between two braces.
#[derive(Debug)]
struct Scope<'t> {
    names: HashMap<&'t str, Entity>,
    ranges: Vec<Range<'t>>,
    /// Index into [`FunctionBuilder::parents`].
    id: u32,
}

/// The sizes of a call's results and parameters, in bytes; `None` is a parameter `[]` of any size.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Signature {
    pub results: Vec<Option<u64>>,
    pub parameters: Vec<Option<u64>>,
}

impl Module {
    /// The sizes of a function's results and parameters.
    pub(crate) fn signature(&self, function: &Function) -> Signature {
        let sizes = |list: &[Handle<Variable>]| list.iter().map(|&item| self.variables[item].size).collect();
        Signature { results: sizes(&function.results), parameters: sizes(&function.parameters) }
    }
}

/// A use of a label that may come later.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Pending<'t> {
    /// The branch at this position goes to this label.
    Branch { at: usize, label: Word<'t>, scope: u32 },
    /// The indexed branch at this position goes to this list of labels.
    Indexed { at: usize, targets: usize },
}

/// The function being read.
#[derive(Debug, Default)]
pub(crate) struct FunctionBuilder<'t> {
    pub registers: Arena<Register>,
    pub variables: Vec<Handle<Variable>>,
    pub body: Vec<Instruction>,
    pub location: Option<Handle<Location>>,
    /// Operations to insert before and after the instruction being read, under its guard.
    pub before: Vec<Op>,
    pub after: Vec<Op>,
    /// The results that are registers, and the variables in which to store them before each return.
    pub register_results: Vec<(Vec<Handle<Register>>, Handle<Variable>)>,
    pub pending: Vec<Pending<'t>>,
    pub branch_targets: Vec<(Vec<Word<'t>>, u32)>,
    pub call_targets: Vec<Vec<Handle<Function>>>,
    pub prototypes: Vec<Signature>,
    /// Positions of calls whose candidates are all functions with a given signature.
    pub indirect_calls: Vec<(usize, Signature)>,
    labels: HashMap<(u32, &'t str), u32>,
    /// The enclosing scope of each scope.
    parents: Vec<u32>,
}

/// The module so far, the names in scope, and the function being read.
pub(crate) struct Environment<'t> {
    pub module: Module,
    pub function: FunctionBuilder<'t>,
    /// The module's scope first, the innermost last.
    scopes: Vec<Scope<'t>>,
    /// How much of [`COPIES`] is left.
    copies: u64,
}

/// The most items that a module may have beyond what its text spells out; an instruction counts as
/// 64. Some short texts expand to long modules: a list of targets that many branches use, an alias
/// of a long function, the padding in an initial value. No compiler comes near the limit.
const COPIES: u64 = 1 << 24;

impl<'t> Environment<'t> {
    pub fn new(module: Module) -> Self {
        let scope = Scope { names: HashMap::new(), ranges: Vec::new(), id: 0 };
        Self { module, function: FunctionBuilder::default(), scopes: vec![scope], copies: COPIES }
    }

    /// Accounts for `items` in the module that the text does not spell out.
    pub fn spend(&mut self, items: u64, span: Span) -> Parsed<()> {
        match self.copies.checked_sub(items) {
            Some(left) => {
                self.copies = left;
                Ok(())
            }
            None => fault(span, DeclarationError::TooManyCopies),
        }
    }

    /// The number of open scopes, the module's included.
    pub fn depth(&self) -> usize {
        self.scopes.len()
    }

    pub fn open_scope(&mut self) {
        let id = self.function.parents.len() as u32;
        let parent = self.scopes.last().map_or(0, |scope| scope.id);
        self.function.parents.push(parent);
        self.scopes.push(Scope { names: HashMap::new(), ranges: Vec::new(), id });
    }

    /// Closes the innermost scope, unless it is the module's.
    pub fn close_scope(&mut self) {
        if self.scopes.len() > 1 {
            self.scopes.pop();
        }
    }

    fn innermost(&mut self) -> &mut Scope<'t> {
        self.scopes.last_mut().expect("the module's scope is always open")
    }

    /// What the name stands for in the innermost scope itself, not in the scopes around it.
    pub fn declared_here(&self, name: &str) -> Option<Entity> {
        self.scopes.last().and_then(|scope| scope.names.get(name).copied())
    }

    /// Declares a name in the innermost scope.
    pub fn declare(&mut self, name: &'t str, entity: Entity) {
        self.innermost().names.insert(name, entity);
    }

    /// Declares a name in the module's scope.
    pub fn declare_in_module(&mut self, name: &'t str, entity: Entity) {
        self.scopes[0].names.insert(name, entity);
    }

    /// `.reg .b32 %r<11>;`: declares the range and returns whether its prefix was free.
    pub fn declare_range(&mut self, prefix: &'t str, count: u32, ty: Type, vector: u8) -> bool {
        let ranges = &mut self.innermost().ranges;
        let free = ranges.iter().all(|range| range.prefix != prefix);
        ranges.push(Range { prefix, count, ty, vector });
        free
    }

    /// Adds one register, or the parts of a vector register.
    pub fn new_register(&mut self, name: &str, ty: Type, vector: u8) -> Entity {
        let registers = &mut self.function.registers;
        if vector == 1 {
            return Entity::Register(registers.append(Register { name: name.to_owned(), ty }));
        }
        let mut part = |letter| registers.append(Register { name: format!("{name}.{letter}"), ty });
        let (x, y) = (part("x"), part("y"));
        let (z, w) = if vector == 4 { (part("z"), part("w")) } else { (x, y) };
        Entity::Vector([x, y, z, w], vector)
    }

    /// What a name stands for.
    pub fn lookup(&mut self, name: &'t str, span: Span) -> Parsed<Entity> {
        match self.find(name) {
            Ok(Some(entity)) => Ok(entity),
            Ok(None) => fault(span, NameError::Undeclared(name.to_owned())),
            Err(error) => fault(span, error),
        }
    }

    /// What a name stands for, or `None` if it is not declared.
    pub fn find(&mut self, name: &'t str) -> Result<Option<Entity>, NameError> {
        let mut beyond = None;
        for index in (0..self.scopes.len()).rev() {
            let scope = &self.scopes[index];
            if let Some(&entity) = scope.names.get(name) {
                return Ok(Some(entity));
            }
            let fitting =
                scope.ranges.iter().find_map(|range| Some((*range, number(name.strip_prefix(range.prefix)?)?)));
            let Some((range, number)) = fitting else { continue };
            if number < u64::from(range.count) {
                let entity = self.new_register(name, range.ty, range.vector);
                self.scopes[index].names.insert(name, entity);
                return Ok(Some(entity));
            }
            beyond.get_or_insert(range);
        }
        match beyond {
            Some(Range { prefix, count, .. }) => {
                Err(NameError::BeyondRange { name: name.to_owned(), prefix: prefix.to_owned(), count })
            }
            None => Ok(None),
        }
    }

    /// The number of the innermost scope, in which a label is looked up.
    pub fn scope_id(&self) -> u32 {
        self.scopes.last().map_or(0, |scope| scope.id)
    }

    /// Declares a label at the next position, and returns whether its name was free in its scope.
    pub fn declare_label(&mut self, name: &'t str) -> bool {
        let at = self.function.body.len() as u32;
        self.function.labels.insert((self.scope_id(), name), at).is_none()
    }

    /// The position of a label, as seen from a scope.
    pub fn label(&self, label: Word<'t>, mut scope: u32) -> Parsed<u32> {
        loop {
            if let Some(&at) = self.function.labels.get(&(scope, label.text)) {
                return Ok(at);
            }
            let parent = self.function.parents[scope as usize];
            if parent == scope {
                return fault(label.span, NameError::NoLabel(label.text.to_owned()));
            }
            scope = parent;
        }
    }

    /// Starts a new function; its parameters' scope is open afterwards.
    pub fn start_function(&mut self) {
        self.function = FunctionBuilder::default();
        self.scopes.truncate(1);
        self.open_scope();
    }

    /// Ends a function: only the module's scope stays open.
    pub fn end_function(&mut self) -> FunctionBuilder<'t> {
        self.scopes.truncate(1);
        std::mem::take(&mut self.function)
    }
}

/// The number at the end of a register's name: digits without leading zeros.
fn number(digits: &str) -> Option<u64> {
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    (plain && (digits == "0" || !digits.starts_with('0'))).then(|| digits.parse().ok())?
}

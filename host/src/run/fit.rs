//! Notes on arguments whose type is probably wrong. PTX passes bits, so an integer passed for a
//! float is accepted silently and becomes another number. How the kernel uses a parameter often
//! shows its type where the declaration (`.b32`, `.u64`) does not. [`super`] prints them before the
//! launch. Reads the module and the arguments.

use std::collections::{HashMap, HashSet};

use ptx::{AddressBase, Function, Handle, Module, Op, Operand, Register, Space, Type, Variable};

use super::argument::Argument;
use super::value;
use crate::check::type_of;

/// How a parameter is used. Several may be true.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Uses {
    float: bool,
    integer: bool,
    address: bool,
}

/// A note for each argument whose type does not match its parameter's.
pub(super) fn notes(module: &Module, function: &Function, arguments: &[Argument]) -> Vec<String> {
    let uses = uses(function);
    let mut notes = Vec::new();
    let arguments = arguments.iter().enumerate().filter(|(_, argument)| argument.is_parameter);
    for (index, ((number, argument), handle)) in arguments.zip(&function.parameters).enumerate() {
        let parameter = &module.variables[*handle];
        let Some(given) = argument.value_type() else { continue };
        let used = declared(parameter).unwrap_or_else(|| uses.get(handle).copied().unwrap_or_default());
        let text = &argument.text;
        let name = format!("parameter {index} ({} {})", type_of(parameter), parameter.name);
        let suggestion = |is_float| {
            let number = text.split_once(':').map_or("", |(_, number)| number);
            // There is no suggestion if the text is not a number of that type, as `u32:0.5`.
            let ty = value::Type::of_kind(is_float, given.bytes()).filter(|ty| ty.parse(&[number]).is_ok());
            ty.map_or(String::new(), |ty| format!("; {}:{number} passes the number", ty.name()))
        };
        let bits = "its bits are passed unchanged";
        match used {
            Uses { float: true, integer: false, address: false } if !given.is_float() && !argument.is_zero() => {
                let note = format!("argument {number}, {text}, is an integer, but {name} is a float: {bits}");
                notes.push(note + &suggestion(true));
            }
            Uses { float: false, integer: true, address: false } if given.is_float() && !argument.is_zero() => {
                let note = format!("argument {number}, {text}, is a float, but {name} is an integer: {bits}");
                notes.push(note + &suggestion(false));
            }
            Uses { float: false, address: true, .. } if !argument.is_zero() => notes.push(format!(
                "argument {number}, {text}, is a number, but {name} is an address; a buffer is written as in f32[1024]"
            )),
            _ => {}
        }
    }
    notes
}

/// What the parameter's declared type implies: floats only, since integers stand for anything of their size.
fn declared(parameter: &Variable) -> Option<Uses> {
    match parameter.ty {
        Type::F32 | Type::F64 => Some(Uses { float: true, ..Uses::default() }),
        _ if parameter.points_to.is_some() => Some(Uses { address: true, ..Uses::default() }),
        _ => None,
    }
}

/// How the function uses its parameters.
fn uses(function: &Function) -> HashMap<Handle<Variable>, Uses> {
    let body = function.body.as_deref().unwrap_or_default();
    let mut found: HashMap<Handle<Variable>, Uses> = HashMap::new();
    // Registers that hold a parameter and are written only once.
    let mut holds: HashMap<Handle<Register>, Handle<Variable>> = HashMap::new();
    let mut written: HashSet<Handle<Register>> = HashSet::new();
    for instruction in body {
        if let Some((source, register)) = copied(&instruction.op, &holds) {
            if written.insert(register) {
                holds.insert(register, source);
            } else {
                holds.remove(&register);
            }
            if let Op::Load { ty: Type::F32 | Type::F64, .. } = instruction.op {
                found.entry(source).or_default().float = true;
            }
        } else if let Some(register) = computed(&instruction.op) {
            written.insert(register);
            holds.remove(&register);
        }
    }
    for instruction in body {
        let mut used = |operand: &Operand, as_what: Uses| {
            if let Operand::Register(register) = operand
                && let Some(parameter) = holds.get(register)
            {
                let uses = found.entry(*parameter).or_default();
                uses.float |= as_what.float;
                uses.integer |= as_what.integer;
                uses.address |= as_what.address;
            }
        };
        let address = Uses { address: true, ..Uses::default() };
        match &instruction.op {
            Op::Unary { ty, a, .. } | Op::TestProperty { ty, a, .. } => used(a, of_type(*ty)),
            Op::Convert { from, src, .. } => used(src, of_type(*from)),
            Op::Binary { ty, a, b, .. } | Op::SetPredicate { ty, a, b, .. } | Op::Set { ty, a, b, .. } => {
                [a, b].into_iter().for_each(|operand| used(operand, of_type(*ty)));
            }
            Op::Ternary { ty, a, b, c, .. } => {
                [a, b, c].into_iter().for_each(|operand| used(operand, of_type(*ty)));
            }
            Op::Store { ty, srcs, address: to, .. } => {
                srcs.iter().for_each(|operand| used(operand, of_type(*ty)));
                if let AddressBase::Register(register) = to.base {
                    used(&Operand::Register(register), address);
                }
            }
            Op::Load { address: from, .. } => {
                if let AddressBase::Register(register) = from.base {
                    used(&Operand::Register(register), address);
                }
            }
            Op::ConvertAddress { src, .. } => used(src, address),
            _ => {}
        }
    }
    found
}

/// The parameter that an instruction loads whole into a register.
fn copied(
    op: &Op,
    holds: &HashMap<Handle<Register>, Handle<Variable>>,
) -> Option<(Handle<Variable>, Handle<Register>)> {
    match op {
        Op::Load { space: Space::Parameter, dsts, address, .. } => match (address.base, dsts.as_slice()) {
            (AddressBase::Variable(parameter), [Some(register)]) if address.offset == 0 => Some((parameter, *register)),
            _ => None,
        },
        Op::Move { dst: Some(register), src: Operand::Register(from), .. } => Some((*holds.get(from)?, *register)),
        _ => None,
    }
}

/// The register that arithmetic writes.
fn computed(op: &Op) -> Option<Handle<Register>> {
    match op {
        Op::Unary { dst, .. }
        | Op::Binary { dst, .. }
        | Op::Ternary { dst, .. }
        | Op::Convert { dst, .. }
        | Op::ConvertAddress { dst, .. }
        | Op::Select { dst, .. }
        | Op::Move { dst, .. } => *dst,
        _ => None,
    }
}

/// What an operand's type implies: `.b32` and the like imply nothing.
fn of_type(ty: Type) -> Uses {
    let float = matches!(ty, Type::F32 | Type::F64);
    let integer =
        matches!(ty, Type::U8 | Type::U16 | Type::U32 | Type::U64 | Type::S8 | Type::S16 | Type::S32 | Type::S64);
    Uses { float, integer, address: false }
}

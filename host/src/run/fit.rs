//! Whether arguments fit what the kernel does with its parameters. PTX passes bits, so an integer
//! passed for a float is accepted silently and becomes another number. How the kernel uses a
//! parameter often shows its type where the declaration (`.b32`, `.u64`) does not: it gives a
//! number without a type its type, and refuses a buffer in place of a texture, and a file of 8-byte
//! numbers where the kernel accesses 4-byte ones. Where only a type is unlikely there is a note,
//! which [`super`] prints before the launch. Reads the module and the arguments.

use std::collections::{HashMap, HashSet};

use ptx::{
    AddressBase, BinaryOp, ComputeOp, Function, Handle, Module, Op, Opaque, Operand, Register, Space, TextureOp, Type,
    Variable,
};

use super::argument::Argument;
use super::value;
use crate::check::type_of;

/// How a parameter is used. Several may be true.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Uses {
    float: bool,
    integer: bool,
    address: bool,
    texture: bool,
    surface: bool,
    /// The sizes of the numbers that are accessed at the address, as a set of bits: all are powers
    /// of two.
    pointees: u32,
}

/// The arguments, whose numbers without a type have the type of their parameters.
///
/// # Errors
///
/// A message about a number that its parameter cannot be, or about a buffer in place of a texture.
pub(super) fn fitted(module: &Module, function: &Function, arguments: &[Argument]) -> Result<Vec<Argument>, String> {
    let uses = uses(function);
    let mut handles = function.parameters.iter().enumerate();
    let fit = |(number, argument): (usize, &Argument)| {
        let parameter = if argument.is_parameter { handles.next() } else { None };
        let Some((index, handle)) = parameter else { return Ok(argument.clone()) };
        let parameter = &module.variables[*handle];
        let used = uses.get(handle).copied().unwrap_or_default();
        let name = || format!("parameter {index} ({} {})", type_of(parameter), parameter.name);
        let refuse = |problem: String| Err(format!("argument {number}, {}: {problem}", argument.text));
        if argument.is_linear() && !used.address && (used.texture || used.surface) {
            let (what, form) =
                if used.texture { ("texture", "tex2d:f32[64x48]") } else { ("surface", "surf2d:f32[64x48]") };
            return refuse(format!("{} is a {what}, not a buffer; a {what} is written as in {form}", name()));
        }
        match argument.number() {
            Some(text) => match type_of_number(parameter, used, text) {
                Ok(ty) => argument.as_number(ty).or_else(|problem| refuse(format!("{}: {problem}", name()))),
                Err(problem) => refuse(format!("{} {problem}", name())),
            },
            None => Ok(argument.clone()),
        }
    };
    arguments.iter().enumerate().map(fit).collect()
}

/// The type of a number that is given without one. PTX has the parameter's size; whether it is a
/// float follows from the declaration, else from what the kernel does with it, else from the text.
fn type_of_number(parameter: &Variable, used: Uses, text: &str) -> Result<value::Type, String> {
    let whole = text.parse::<i128>().ok();
    let is_accessed = parameter.size == Some(8) && used.pointees != 0;
    let is_address = (used.address || is_accessed || parameter.points_to.is_some()) && !used.float;
    if is_address && whole != Some(0) {
        return Err("is an address; a buffer is written as in f32[1024]".to_owned());
    }
    let bytes = parameter.size.and_then(|size| usize::try_from(size).ok()).unwrap_or(0);
    let is_float = parameter.ty.kind() == ptx::Kind::Float || used.float && !used.integer;
    if !is_float && whole.is_none() && used.integer {
        return Err(format!("is an integer, and {text} is not whole"));
    }
    let found = match whole {
        Some(number) if !is_float => value::Type::of_whole(number < 0, bytes),
        _ => value::Type::of_kind(true, bytes),
    };
    found.ok_or_else(|| format!("has {bytes} bytes, which no number fits; give its type, or bytes:00ff"))
}

/// Fails if a file, whose type is its own, holds numbers of 8 bytes, and the kernel accesses only
/// smaller ones at that address: NumPy makes 8-byte numbers unless told otherwise.
///
/// # Errors
///
/// A message that says how to convert them.
pub(super) fn check_file(function: &Function, index: usize, text: &str, ty: value::Type) -> Result<(), String> {
    let used = function.parameters.get(index).and_then(|handle| uses(function).get(handle).copied());
    let pointees = used.unwrap_or_default().pointees;
    // Bytes alone may be those of any number.
    if ty.bytes() != 8 || pointees <= 1 || pointees >= 8 {
        return Ok(());
    }
    let bytes = 1 << pointees.ilog2();
    let (default, numpy) = if ty.is_float() { ("float64", "float") } else { ("int64", "int") };
    Err(format!(
        "{text} holds numbers of 8 bytes, such as {default}, NumPy's default, but the kernel accesses numbers of {bytes} \
         bytes there; M.astype(numpy.{numpy}{}) converts them, and {}[LENGTH]={text} passes them as they are",
        8 * bytes,
        ty.name()
    ))
}

/// A note for each argument whose type does not match its parameter's.
pub(super) fn notes(module: &Module, function: &Function, arguments: &[Argument]) -> Vec<String> {
    let uses = uses(function);
    let mut notes = Vec::new();
    let arguments = arguments.iter().enumerate().filter(|(_, argument)| argument.is_parameter);
    for (index, ((number, argument), handle)) in arguments.zip(&function.parameters).enumerate() {
        let parameter = &module.variables[*handle];
        let Some(given) = argument.value_type() else { continue };
        if !argument.text.contains(':') {
            // Its type is the parameter's.
            continue;
        }
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
            Uses { float: true, integer: false, address: false, .. } if !given.is_float() && !argument.is_zero() => {
                let note = format!("argument {number}, {text}, is an integer, but {name} is a float: {bits}");
                notes.push(note + &suggestion(true));
            }
            Uses { float: false, integer: true, address: false, .. } if given.is_float() && !argument.is_zero() => {
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

/// What the parameter's declared type implies: floats only, since integers stand for anything of
/// their size.
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
                uses.texture |= as_what.texture;
                uses.surface |= as_what.surface;
            }
        };
        let address = Uses { address: true, ..Uses::default() };
        let texture = Uses { texture: true, ..Uses::default() };
        let surface = Uses { surface: true, ..Uses::default() };
        match &instruction.op {
            Op::Compute(ComputeOp::Unary { ty, a, .. } | ComputeOp::TestProperty { ty, a, .. }) => {
                used(a, of_type(*ty))
            }
            Op::Compute(ComputeOp::Convert { from, src, .. }) => used(src, of_type(*from)),
            Op::Compute(
                ComputeOp::Binary { ty, a, b, .. }
                | ComputeOp::SetPredicate { ty, a, b, .. }
                | ComputeOp::Set { ty, a, b, .. },
            ) => {
                [a, b].into_iter().for_each(|operand| used(operand, of_type(*ty)));
            }
            Op::Compute(ComputeOp::Ternary { ty, a, b, c, .. }) => {
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
            Op::Compute(ComputeOp::ConvertAddress { src, .. }) => used(src, address),
            Op::Texture(TextureOp::Fetch(fetch)) => used_as(fetch.texture, texture, &mut used),
            Op::Texture(TextureOp::Query { object, of_surface, .. }) => {
                used_as(*object, if *of_surface { surface } else { texture }, &mut used);
            }
            Op::Texture(
                TextureOp::SurfaceLoad { surface: object, .. } | TextureOp::SurfaceStore { surface: object, .. },
            ) => {
                used_as(*object, surface, &mut used);
            }
            _ => {}
        }
    }
    for (parameter, bytes) in pointees(body, holds) {
        found.entry(parameter).or_default().pointees |= bytes;
    }
    found
}

/// Adds the use of a texture or surface by its handle.
fn used_as(object: Opaque, as_what: Uses, used: &mut impl FnMut(&Operand, Uses)) {
    if let Opaque::Register(register) = object {
        used(&Operand::Register(register), as_what);
    }
}

/// The sizes of the numbers that are accessed at addresses which follow from a parameter, as sets
/// of bits. `holds` are the registers that hold a parameter.
fn pointees(
    body: &[ptx::Instruction],
    holds: HashMap<Handle<Register>, Handle<Variable>>,
) -> HashMap<Handle<Variable>, u32> {
    let mut follows = holds;
    // Twice, for addresses that a loop advances.
    for _ in 0..2 {
        for instruction in body {
            let of = |operand: &Operand| match operand {
                Operand::Register(register) => follows.get(register).copied(),
                _ => None,
            };
            let found = match &instruction.op {
                Op::Compute(
                    ComputeOp::ConvertAddress { dst: Some(dst), src, .. } | ComputeOp::Move { dst: Some(dst), src, .. },
                ) => of(src).map(|parameter| (*dst, parameter)),
                Op::Compute(ComputeOp::Binary { op: BinaryOp::Add, dst: Some(dst), a, b, .. }) => {
                    match (of(a), of(b)) {
                        (Some(parameter), None) | (None, Some(parameter)) => Some((*dst, parameter)),
                        _ => None,
                    }
                }
                Op::Compute(ComputeOp::Ternary { dst: Some(dst), c, .. }) => of(c).map(|parameter| (*dst, parameter)),
                _ => None,
            };
            follows.extend(found);
        }
    }
    let mut sizes: HashMap<Handle<Variable>, u32> = HashMap::new();
    for instruction in body {
        let (Op::Load { ty, address, .. } | Op::Store { ty, address, .. } | Op::Atomic { ty, address, .. }) =
            &instruction.op
        else {
            continue;
        };
        if let AddressBase::Register(register) = address.base
            && let Some(parameter) = follows.get(&register)
        {
            *sizes.entry(*parameter).or_default() |= ty.bytes();
        }
    }
    sizes
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
        Op::Compute(ComputeOp::Move { dst: Some(register), src: Operand::Register(from), .. }) => {
            Some((*holds.get(from)?, *register))
        }
        _ => None,
    }
}

/// The register that arithmetic writes.
fn computed(op: &Op) -> Option<Handle<Register>> {
    match op {
        Op::Compute(
            ComputeOp::Unary { dst, .. }
            | ComputeOp::Binary { dst, .. }
            | ComputeOp::Ternary { dst, .. }
            | ComputeOp::Convert { dst, .. }
            | ComputeOp::ConvertAddress { dst, .. }
            | ComputeOp::Select { dst, .. }
            | ComputeOp::Move { dst, .. },
        ) => *dst,
        _ => None,
    }
}

/// What an operand's type implies: `.b32` and the like imply nothing.
fn of_type(ty: Type) -> Uses {
    let float = matches!(ty, Type::F32 | Type::F64);
    let integer =
        matches!(ty, Type::U8 | Type::U16 | Type::U32 | Type::U64 | Type::S8 | Type::S16 | Type::S32 | Type::S64);
    Uses { float, integer, ..Uses::default() }
}

//! The module's variables that `--set`, `--print` and `--save` refer to: which symbol is meant, its
//! size, and the type in which its elements are shown. `validate` resolves them, `launch` reads and
//! writes them on the device. Only the module is read here.

use device::names::{self, Found};
use device::{Error, Result};
use ptx::{Kind, Module, Space, Type as PtxType};

use super::argument::{Fill, Prepared};
use super::flags::Set;
use super::value::Type;
use crate::check::type_of;

/// A variable in `.global` or `.const` memory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Variable {
    /// Its name in the PTX.
    pub(super) symbol: String,
    /// Its size.
    pub(super) bytes: u64,
}

/// A variable, and the bytes that are written to it before a launch.
pub(super) struct Setting {
    pub(super) variable: Variable,
    pub(super) bytes: Vec<u8>,
    /// The type of the elements, if the value has one.
    pub(super) ty: Option<Type>,
}

/// The variables that the host can reach.
fn variables(module: &Module) -> impl Iterator<Item = &ptx::Variable> {
    module.variables.iter().map(|(_, variable)| variable).filter(|variable| {
        matches!(variable.space, Space::Global | Space::Constant)
            && variable.ty.kind() != Kind::Opaque
            && variable.size.is_some_and(|bytes| bytes > 0)
    })
}

/// The variable that `name` refers to.
fn find<'a>(module: &'a Module, flag: &str, name: &str) -> Result<Option<&'a ptx::Variable>> {
    let symbols: Vec<&str> = variables(module).map(|variable| variable.name.as_str()).collect();
    match names::find(name, &symbols) {
        Found::One(symbol) => Ok(variables(module).find(|variable| variable.name == symbol)),
        Found::Several(several) => Err(Error::request(
            flag,
            format!("'{name}' is ambiguous: {}; give one of them", names::listed(several.into_iter(), true)),
        )),
        Found::None => Ok(None),
    }
}

fn missing(module: &Module, flag: &str, name: &str) -> Error {
    let names = names::listed(variables(module).map(|variable| variable.name.as_str()), false);
    let there = if names.is_empty() { "the module has none".to_owned() } else { format!("the module has {names}") };
    Error::request(flag, format!("'{name}' is not a variable of the module in .global or .const memory; {there}"))
}

fn described(variable: &ptx::Variable) -> Variable {
    Variable { symbol: variable.name.clone(), bytes: variable.size.unwrap_or(0) }
}

/// The variable and value of `--set`. The value must have the variable's size.
///
/// # Errors
///
/// [`Error::Request`] if there is no such variable or it has another size, and the errors of the
/// value's file.
pub(super) fn setting(module: &Module, set: &Set) -> Result<Setting> {
    let Set { name, value } = set;
    let variable = find(module, "--set", name)?.ok_or_else(|| missing(module, "--set", name))?;
    let found = described(variable);
    let fits = |given: u64| match given == found.bytes {
        true => Ok(()),
        false => Err(Error::request(
            "--set",
            format!(
                "{} has {} bytes ({}), but {} has {given}",
                names::shown(&found.symbol),
                found.bytes,
                type_of(variable),
                value.text
            ),
        )),
    };
    // Checked before the elements are made, if their number is known.
    value.buffer_bytes().map_or(Ok(()), fits)?;
    let (bytes, ty) = match value.prepare()? {
        Prepared::Value(bytes) => (bytes, value.value_type()),
        Prepared::Buffer(data) => match data.fill {
            Fill::Values(values) => (values.bytes().to_vec(), Some(data.ty)),
            Fill::Zeros | Fill::Nothing => (vec![0; data.length * data.ty.bytes()], Some(data.ty)),
        },
        // The command line accepts no others: see `Argument::is_contents`.
        Prepared::Object(..) | Prepared::Tensor(..) | Prepared::Again(..) | Prepared::Struct(_) => (Vec::new(), None),
    };
    fits(bytes.len() as u64)?;
    Ok(Setting { variable: found, bytes, ty })
}

/// The variable that `--print` or `--save` names, and the type of its elements: the one after the
/// name, else the type of the value that it was set to, else the PTX's.
///
/// # Errors
///
/// [`Error::Request`] if there is no such variable, or its size is not a multiple of an element's.
pub(super) fn shown<'a>(
    module: &Module,
    flag: &str,
    name: &str,
    settings: impl Iterator<Item = &'a Setting>,
) -> Result<(Variable, Type)> {
    let typed = || {
        let (name, ty) = name.rsplit_once(':')?;
        Some((name, Type::of_name(ty)?))
    };
    let (variable, given) = match (find(module, flag, name)?, typed()) {
        (Some(variable), _) => (variable, None),
        (None, Some((name, ty))) => (find(module, flag, name)?.ok_or_else(|| missing(module, flag, name))?, Some(ty)),
        (None, None) => return Err(missing(module, flag, name)),
    };
    let found = described(variable);
    let set = || settings.filter(|setting| setting.variable == found).filter_map(|setting| setting.ty).last();
    let ty = given.or_else(set).unwrap_or_else(|| element(variable.ty));
    if !found.bytes.is_multiple_of(ty.bytes() as u64) {
        return Err(Error::request(
            flag,
            format!(
                "the {} bytes of {} do not divide into elements of {}",
                found.bytes,
                names::shown(&found.symbol),
                ty.name()
            ),
        ));
    }
    Ok((found, ty))
}

/// The type in which elements of a variable are shown: as unsigned integers if Rust does not have
/// theirs.
fn element(ty: PtxType) -> Type {
    match (ty.kind(), ty.bytes()) {
        (Kind::Signed, 1) => Type::I8,
        (Kind::Signed, 2) => Type::I16,
        (Kind::Signed, 4) => Type::I32,
        (Kind::Signed, 8) => Type::I64,
        (Kind::Float, 4) if ty == PtxType::F32 => Type::F32,
        (Kind::Float, 8) => Type::F64,
        (_, 2) => Type::U16,
        (_, 4) => Type::U32,
        (_, 8 | 16) => Type::U64,
        _ => Type::U8,
    }
}

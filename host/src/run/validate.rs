//! Validates a request against the module, before a device is opened: the kernels, their arguments
//! and limits, and the files to write. [`super`] calls it. It reads the module and probes the
//! files; it changes nothing.

use std::path::PathBuf;

use common::output_file;
use device::names::{self, Found};
use device::{Error, PtxFile, Result};
use ptx::{Function, Module};

use super::argument::Argument;
use super::argument_id::{ArgumentId, Named};
use super::fit;
use super::flags::{Flags, LaunchFlags, Save};
use super::value::Type;
use super::variables::{self, Setting, Variable};
use crate::check::{may_be_slice, may_be_tensor_map, type_of};

/// A valid launch.
pub(super) struct Launch<'a> {
    /// The kernel.
    pub(super) function: &'a Function,
    /// Its flags: the shape, and the arguments.
    pub(super) flags: LaunchFlags,
    /// The variables to set first.
    pub(super) settings: Vec<Setting>,
}

/// A buffer or variable to print or save at the end.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Output {
    /// Its name in the flag.
    pub(super) name: String,
    pub(super) source: Source,
    /// The file to write it to; `None` to print it.
    pub(super) file: Option<PathBuf>,
}

/// What it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// The buffer of an argument that does not refer to another.
    Argument(ArgumentId),
    Variable(Variable, Type),
}

/// The requested launches, if they are valid.
///
/// # Errors
///
/// [`Error::Launch`] and [`Error::Request`]; those of the files of `--set`.
pub(super) fn launches<'a>(module: &'a Module, file: &PtxFile, mut all: Vec<LaunchFlags>) -> Result<Vec<Launch<'a>>> {
    let functions = all.iter().map(|flags| kernel(module, file, &flags.kernel)).collect::<Result<Vec<_>>>()?;
    for (flags, function) in all.iter_mut().zip(&functions) {
        let refuse = |problem| Error::Launch { kernel: function.name.clone(), problem };
        flags.arguments = fit::fitted(module, function, &flags.arguments).map_err(refuse)?;
    }
    for (launch, &function) in functions.iter().enumerate() {
        check_references(function, launch, &all)?;
        check_arguments(module, function, launch, &all)?;
        check_block(function, all[launch].block)?;
        check_cluster(function, &all[launch])?;
    }
    let launch = |(function, flags): (_, LaunchFlags)| {
        let settings = flags.set.iter().map(|set| variables::setting(module, set)).collect::<Result<_>>()?;
        Ok(Launch { function, flags, settings })
    };
    functions.into_iter().zip(all).map(launch).collect()
}

/// The kernel of this name.
fn kernel<'a>(module: &'a Module, file: &PtxFile, name: &str) -> Result<&'a Function> {
    let symbols: Vec<&str> = module.kernels().map(|(_, function)| function.name.as_str()).collect();
    let refuse = |problem: String| Err(Error::Launch { kernel: name.to_owned(), problem });
    match names::find(name, &symbols) {
        Found::One(symbol) => match module.kernels().find(|(_, function)| function.name == symbol) {
            Some((_, function)) => Ok(function),
            None => refuse(format!("is not in {}", file.name())),
        },
        Found::Several(several) => {
            refuse(format!("is ambiguous: {}; give one of them", names::listed(several.into_iter(), true)))
        }
        Found::None => refuse(names::not_among(&file.name(), &symbols)),
    }
}

/// The argument with this id, if there is one.
fn at(launches: &[LaunchFlags], id: ArgumentId) -> Option<&Argument> {
    launches.get(id.launch)?.arguments.get(id.argument)
}

/// Follows references to the argument that has the data. Each refers to an earlier one: see
/// [`check_references`].
fn resolved(launches: &[LaunchFlags], id: ArgumentId) -> ArgumentId {
    let mut id = id;
    while let Some((earlier, _)) = at(launches, id).and_then(Argument::again).filter(|&(earlier, _)| earlier < id) {
        id = earlier;
    }
    id
}

/// Checks that arguments refer only to earlier ones.
fn check_references(function: &Function, launch: usize, all: &[LaunchFlags]) -> Result<()> {
    let refuse = |problem: String| Err(Error::Launch { kernel: function.name.clone(), problem });
    for (index, argument) in all[launch].arguments.iter().enumerate() {
        let here = ArgumentId { launch, argument: index };
        let text = &argument.text;
        for (earlier, offset) in argument.references() {
            let Some(target) = at(all, resolved(all, earlier)).filter(|_| earlier < here && at(all, earlier).is_some())
            else {
                return refuse(format!("argument {here}, {text}: there is no argument {earlier} before it"));
            };
            if target.is_freed() {
                return refuse(format!("argument {here}, {text}: {} is freed before its launch", target.text));
            }
            if offset > 0 && !target.is_linear() || argument.again().is_none() && !target.is_address() {
                return refuse(format!("argument {here}, {text}: {} is not a buffer with an address", target.text));
            }
        }
    }
    Ok(())
}

/// Checks that there is one argument of the right size for each parameter.
fn check_arguments(module: &Module, function: &Function, launch: usize, all: &[LaunchFlags]) -> Result<()> {
    let refuse = |problem: String| Err(Error::Launch { kernel: function.name.clone(), problem });
    let parameters: Vec<_> = function.parameters.iter().map(|&parameter| &module.variables[parameter]).collect();
    let arguments = || all[launch].arguments.iter().enumerate().filter(|(_, argument)| argument.is_parameter);
    let given = arguments().count();
    if given != parameters.len() {
        let types: Vec<String> = parameters.iter().map(|parameter| type_of(parameter)).collect();
        let listed = |types: &[String]| names::listed(types.iter().map(String::as_str), false);
        let takes = match types.as_slice() {
            [] => "takes no arguments".to_owned(),
            [one] => format!("takes 1 argument ({one})"),
            several => format!("takes {} arguments ({})", several.len(), listed(several)),
        };
        let were = if given == 1 { "was" } else { "were" };
        let slices =
            if parameters.windows(2).any(may_be_slice) { "; a Rust slice takes 2, address and length" } else { "" };
        return refuse(format!("{takes}, but {given} {were} given{slices}"));
    }
    for (index, ((number, argument), parameter)) in arguments().zip(parameters).enumerate() {
        let id = ArgumentId { launch, argument: number };
        let bytes = at(all, resolved(all, id)).map_or(0, Argument::bytes);
        let (given, wanted) = (bytes as u64, parameter.size.unwrap_or(0));
        if given != wanted {
            let hint = match may_be_tensor_map(parameter) {
                true => "; a tensor map is written as in tensor:f32[64x32],box:32x8",
                false if wanted > 8 => "; a struct is written as in bytes:{arg:0}{u32:5}00000000",
                false => "",
            };
            return refuse(format!(
                "parameter {index} ({} {}) has {wanted} bytes, but argument {id}, {}, has {given}{hint}",
                type_of(parameter),
                parameter.name,
                argument.text
            ));
        }
    }
    Ok(())
}

/// Checks the block's shape against the kernel's limits. A GPU's driver rejects a wrong one without
/// giving the reason.
fn check_block(function: &Function, block: [u32; 3]) -> Result<()> {
    let refuse = |problem: String| Err(Error::Launch { kernel: function.name.clone(), problem });
    let shape = |[x, y, z]: [u32; 3]| format!("{x} x {y} x {z}");
    let threads = |extents: [u32; 3]| extents.iter().fold(1_u64, |all, &extent| all.saturating_mul(extent.into()));
    if let Some(required) = function.required_threads.filter(|&required| required != block) {
        return refuse(format!(
            "is compiled for blocks of {} threads (.reqntid), but --block asks for {}",
            shape(required),
            shape(block)
        ));
    }
    match function.max_threads {
        Some(most) if threads(block) > threads(most) => refuse(format!(
            "is compiled for blocks of at most {} threads (.maxntid), but --block asks for {}",
            threads(most),
            threads(block)
        )),
        _ => Ok(()),
    }
}

/// Checks the cluster's shape against the kernel's limits.
fn check_cluster(function: &Function, flags: &LaunchFlags) -> Result<()> {
    let refuse = |problem: String| Err(Error::Launch { kernel: function.name.clone(), problem });
    let shape = |[x, y, z]: [u32; 3]| format!("{x} x {y} x {z}");
    let cluster = match (flags.cluster, function.required_cluster) {
        (None, None) if function.explicit_cluster => {
            return refuse("runs in clusters (.explicitcluster): give their size with --cluster".to_owned());
        }
        (Some(given), Some(required)) if given != required => {
            return refuse(format!(
                "is compiled for clusters of {} blocks (.reqnctapercluster), but --cluster asks for {}",
                shape(required),
                shape(given)
            ));
        }
        (given, required) => given.or(required),
    };
    let blocks = |extents: [u32; 3]| extents.iter().fold(1_u64, |all, &extent| all.saturating_mul(extent.into()));
    if let (Some(cluster), Some(most)) = (cluster, function.max_cluster_blocks)
        && blocks(cluster) > most.into()
    {
        let given = blocks(cluster);
        return refuse(format!(
            "is compiled for clusters of at most {most} blocks (.maxclusterrank), but --cluster asks for {given}"
        ));
    }
    match cluster {
        // With .blocksareclusters, the grid is counted in clusters.
        _ if function.grid_in_clusters => Ok(()),
        Some(cluster) if flags.grid.iter().zip(cluster).any(|(all, of_one)| !all.is_multiple_of(of_one)) => refuse(
            format!("a grid of {} blocks cannot be divided into clusters of {}", shape(flags.grid), shape(cluster)),
        ),
        _ => Ok(()),
    }
}

/// The outputs of `--print` and `--save`: first those to print, arguments before variables.
///
/// # Errors
///
/// [`Error::Request`] if there is no such argument or variable, [`Error::File`] if a file cannot be
/// written.
pub(super) fn outputs(module: &Module, flags: &Flags, launches: &[Launch<'_>]) -> Result<Vec<Output>> {
    let all: Vec<LaunchFlags> = launches.iter().map(|launch| launch.flags.clone()).collect();
    let output = |flag: &str, what: &Named, file: Option<PathBuf>| {
        let (name, source) = match what {
            Named::Argument(id) => (id.to_string(), Source::Argument(buffer(flag, &all, *id)?)),
            Named::Variable(name) => {
                let settings = launches.iter().flat_map(|launch| &launch.settings);
                let (variable, ty) = variables::shown(module, flag, name, settings)?;
                (name.clone(), Source::Variable(variable, ty))
            }
        };
        Ok(Output { name, source, file })
    };
    let mut printed = flags.print.clone();
    printed.sort();
    printed.dedup();
    let printed = printed.iter().map(|what| output("--print", what, None));
    let saved = flags.save.iter().map(|Save { what, file }| output("--save", what, Some(file.clone())));
    let outputs = printed.chain(saved).collect::<Result<_>>()?;
    check_files(flags)?;
    Ok(outputs)
}

/// The id of the argument that owns an argument's buffer.
fn buffer(flag: &str, all: &[LaunchFlags], id: ArgumentId) -> Result<ArgumentId> {
    let refuse = |problem: String| Err(Error::request(flag, problem));
    let Some(given) = at(all, id) else {
        return refuse(match all.len() {
            1 => format!("there is no argument {id}; arguments count from 0"),
            _ => format!("there is no argument {id}; launches and arguments count from 0, as in 1.0"),
        });
    };
    let id_of_buffer = resolved(all, id);
    match at(all, id_of_buffer) {
        Some(argument) if argument.is_freed() => {
            refuse(format!("argument {id}, {}, is freed before the launch", argument.text))
        }
        Some(argument) if argument.is_buffer() => Ok(id_of_buffer),
        _ => refuse(format!("argument {id}, {}, is not a buffer", given.text)),
    }
}

/// Checks that the files to save can be written.
fn check_files(flags: &Flags) -> Result<()> {
    let ptx = PtxFile::from(flags.file.clone());
    let ptx = ptx.path().map(output_file::identity);
    let mut targets = Vec::new();
    for Save { file, .. } in &flags.save {
        output_file::check(file)?;
        let target = output_file::identity(file);
        if ptx.as_ref() == Some(&target) {
            return Err(Error::request("--save", format!("{} is the PTX file", file.display())));
        }
        if targets.contains(&target) {
            return Err(Error::request("--save", format!("{} is named twice", file.display())));
        }
        targets.push(target);
    }
    Ok(())
}

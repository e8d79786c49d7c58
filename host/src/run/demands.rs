//! Whether what is asked for can be run at all, as far as the kernel, its parameters and the files say before a device is opened.

use ptx::{Function, Module};

use super::flags::{Flags, Save};
use crate::check::{may_be_slice, may_be_tensor_map, type_of};
use crate::error::{Error, Result};
use crate::output_file;

/// Kernels and arguments that an error names before it stops.
const NAMED: usize = 8;

/// The kernel that is to run.
pub(super) fn kernel<'a>(module: &'a Module, flags: &Flags) -> Result<&'a Function> {
    let found = module.kernels().find(|(_, function)| function.name == flags.kernel);
    found.map(|(_, function)| function).ok_or_else(|| {
        let names: Vec<&str> = module.kernels().map(|(_, function)| function.name.as_str()).collect();
        let kernels = if names.is_empty() { "no kernels".to_owned() } else { listed(&names) };
        Error::Launch {
            kernel: flags.kernel.clone(),
            problem: format!("is not in {}, which has {kernels}", flags.file.display()),
        }
    })
}

/// The first few of many.
fn listed(names: &[&str]) -> String {
    let shown = names.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Whether there is one argument of the right size for each parameter.
pub(super) fn check_arguments(module: &Module, function: &Function, flags: &Flags) -> Result<()> {
    let refuse = |problem: String| Err(Error::Launch { kernel: flags.kernel.clone(), problem });
    let parameters: Vec<_> = function.parameters.iter().map(|&parameter| &module.variables[parameter]).collect();
    let given = flags.arguments.len();
    if given != parameters.len() {
        let types: Vec<String> = parameters.iter().map(|parameter| type_of(parameter)).collect();
        let types: Vec<&str> = types.iter().map(String::as_str).collect();
        let takes = match types.as_slice() {
            [] => "takes no arguments".to_owned(),
            [one] => format!("takes 1 argument ({one})"),
            several => format!("takes {} arguments ({})", several.len(), listed(several)),
        };
        let were = if given == 1 { "was" } else { "were" };
        let slices =
            if parameters.windows(2).any(may_be_slice) { "; a Rust slice takes 2, address and length" } else { "" };
        return refuse(format!("{takes}, and {given} {were} given{slices}"));
    }
    for (index, (argument, parameter)) in flags.arguments.iter().zip(parameters).enumerate() {
        let (given, wanted) = (argument.bytes() as u64, parameter.size.unwrap_or(0));
        if given != wanted {
            let hint = match may_be_tensor_map(parameter) {
                true => "; a tensor map is written as in tensor:f32[64x32],box:32x8",
                false => "",
            };
            return refuse(format!(
                "parameter {index} ({} {}) has {wanted} bytes, and argument {index}, {}, has {given}{hint}",
                type_of(parameter),
                parameter.name,
                argument.text
            ));
        }
    }
    let named = flags.save.iter().map(|save| ("--save", save.argument));
    for (flag, index) in named.chain(flags.print.iter().map(|&index| ("--print", index))) {
        match flags.arguments.get(index) {
            Some(argument) if argument.is_freed() => {
                return Err(Error::flag(
                    flag,
                    format!("argument {index}, {}, is freed before the launch", argument.text),
                ));
            }
            Some(argument) if argument.is_buffer() => {}
            Some(argument) => {
                return Err(Error::flag(flag, format!("argument {index}, {}, is no buffer", argument.text)));
            }
            None => return Err(Error::flag(flag, format!("there is no argument {index}; they count from 0"))),
        }
    }
    Ok(())
}

/// Whether the kernel was compiled for such blocks. A GPU's driver would refuse others without saying why.
pub(super) fn check_block(function: &Function, block: [u32; 3]) -> Result<()> {
    let refuse = |problem: String| Err(Error::Launch { kernel: function.name.clone(), problem });
    let shape = |[x, y, z]: [u32; 3]| format!("{x} x {y} x {z}");
    let threads = |extents: [u32; 3]| extents.iter().fold(1_u64, |all, &extent| all.saturating_mul(extent.into()));
    if let Some(required) = function.required_threads.filter(|&required| required != block) {
        return refuse(format!(
            "is compiled for blocks of {} threads (.reqntid), and --block asks for {}",
            shape(required),
            shape(block)
        ));
    }
    match function.max_threads {
        Some(most) if threads(block) > threads(most) => refuse(format!(
            "is compiled for blocks of at most {} threads (.maxntid), and --block asks for {}",
            threads(most),
            threads(block)
        )),
        _ => Ok(()),
    }
}

/// Whether the kernel can be launched in such clusters, as far as it says itself.
pub(super) fn check_cluster(function: &Function, flags: &Flags) -> Result<()> {
    let refuse = |problem: String| Err(Error::Launch { kernel: function.name.clone(), problem });
    let shape = |[x, y, z]: [u32; 3]| format!("{x} x {y} x {z}");
    let cluster = match (flags.cluster, function.required_cluster) {
        (None, None) if function.explicit_cluster => {
            return refuse("runs in clusters (.explicitcluster): give their blocks with --cluster".to_owned());
        }
        (Some(given), Some(required)) if given != required => {
            return refuse(format!(
                "is compiled for clusters of {} blocks (.reqnctapercluster), and --cluster asks for {}",
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
            "is compiled for clusters of at most {most} blocks (.maxclusterrank), and --cluster asks for {given}"
        ));
    }
    match cluster {
        // Its grid counts clusters.
        _ if function.grid_in_clusters => Ok(()),
        Some(cluster) if flags.grid.iter().zip(cluster).any(|(all, of_one)| !all.is_multiple_of(of_one)) => refuse(
            format!("a grid of {} blocks cannot be parted into clusters of {}", shape(flags.grid), shape(cluster)),
        ),
        _ => Ok(()),
    }
}

/// Whether what is to be saved can be.
pub(super) fn check_outputs(flags: &Flags) -> Result<()> {
    let mut targets = Vec::new();
    for Save { file, .. } in &flags.save {
        output_file::check(file)?;
        let target = output_file::identity(file);
        if target == output_file::identity(&flags.file) {
            return Err(Error::flag("--save", format!("{} is the PTX file", file.display())));
        }
        if targets.contains(&target) {
            return Err(Error::flag("--save", format!("{} is named twice", file.display())));
        }
        targets.push(target);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_are_cut() {
        assert_eq!(listed(&["a", "b"]), "a, b");
        assert_eq!(listed(&["x"; 10]), "x, x, x, x, x, x, x, x and 2 more");
    }
}

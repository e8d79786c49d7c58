//! The PTX of a side: a file of it, or the PTX in a program or library, as nvcc and Rust crates put
//! it there. Nothing of the program runs.

use std::path::Path;

use coalesce_driver::image;
use ptx::Module;

/// How often the end of a text is looked for, among the closing brackets of what follows it.
const MOST_ENDS: usize = 64;

/// The module of a file that has these kernels, by their names in the PTX or in the source.
pub fn of_file(file: &Path, bytes: &[u8], kernels: &[&str]) -> Result<Module, String> {
    let name = file.display().to_string();
    if file.extension().is_some_and(|ending| ending == "ptx") {
        let text = std::str::from_utf8(bytes).map_err(|error| format!("{name}: {error}"))?;
        return ptx::parse(&name, text).map_err(|errors| errors.to_string());
    }
    let may_have = |text: &String| kernels.iter().all(|kernel| text.contains(kernel.rsplit("::").next().unwrap_or("")));
    let modules = image::texts(bytes).into_iter().filter(may_have).filter_map(|text| whole(&name, &text));
    let mut modules = modules.filter(|module| kernels.iter().all(|kernel| kernel_named(module, kernel).is_some()));
    modules.next().ok_or_else(|| {
        format!(
            "{name}: there is no PTX in it with {}; nvcc puts PTX into a program with -gencode \
             arch=compute_80,code=compute_80",
            kernels.join(", ")
        )
    })
}

/// A kernel's name in the PTX, by that or by the source's, without parameters.
pub fn kernel_named<'m>(module: &'m Module, name: &str) -> Option<&'m str> {
    let names = || module.functions.iter().filter(|(_, it)| it.is_kernel).map(|(_, it)| &*it.name);
    let of_source = |known: &&str| device::names::shown(known).split('(').next() == Some(name);
    names().find(|known| *known == name).or_else(|| names().find(of_source))
}

/// The longest module that a text begins with. It ends with a bracket; what follows it in a program
/// may be any text.
fn whole(name: &str, text: &str) -> Option<Module> {
    let ends = text.rmatch_indices("\n}").map(|(at, end)| at + end.len()).take(MOST_ENDS);
    [text.len()].into_iter().chain(ends).find_map(|end| ptx::parse(name, &text[..end]).ok())
}

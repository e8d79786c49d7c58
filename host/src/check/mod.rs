//! `host check FILE.ptx`: validates a PTX file and lists its kernels. It runs nothing and opens no
//! device. `cli` calls it; `run` shares its listing of parameters and types.
//!
//! If the file has errors, all are reported, each with its line and a mark under the wrong text,
//! and the exit code is 2. A kernel that the simulator does not support is not an error: it may run
//! on a GPU.
//!
//! As JSON: `{"file", "valid", "version", "target", "kernels": [{"name", "demangled", "parameters":
//! [{"name", "type", "bytes", "align"}], "shared", "local", "max_threads", "required_threads",
//! "min_blocks", "max_registers", "instructions", "never_written", "simulator"}], "errors":
//! [{"line", "column", "message", "statement", "help"}]}`. `"valid"` is true if this program
//! understands the whole file; sizes are in bytes; `"never_written"` lists registers that are read
//! but never written; `"simulator"` is null, or the reason why the simulator does not run the
//! kernel; `"demangled"` is the name of a kernel in C++ or Rust, else null.
//!
//! With `--decoded KERNEL`, it shows the steps that the simulator executes instead; as JSON:
//! `{"file", "kernel", "decoded"}`, with a list of lines.

mod mark;

use std::collections::HashMap;
use std::io::Write;
use std::path::PathBuf;

use clap::{ArgMatches, Args, Command, FromArgMatches};
use device::names::{self, Found};
use device::{Error, PtxFile, Result};
use ptx::{Errors, Function, InstructionError, Module, Problem, Type, Variable};
use serde_json::{Value, json};
use wording::{one_line, printable};

use crate::listing;
use crate::progress::Progress;
use crate::report::Format;
use crate::units::counted;

/// Explains the "perhaps a slice" hints, for those who want to run the kernel.
const SLICES: &str = "
A Rust slice is two parameters, its address and its length in elements. For `host run`, a slice
`&[f32]` of 1024 elements is the two arguments f32[1024] u64:1024.
";

/// The flags of `host check`.
#[derive(Args, Clone, Debug)]
struct Flags {
    /// PTX from any compiler; - reads it from the standard input
    #[arg(value_name = "FILE.ptx")]
    file: PathBuf,
    /// Show what the simulator executes for each instruction of this kernel
    #[arg(long, value_name = "KERNEL")]
    decoded: Option<String>,
}

/// The subcommand.
pub(crate) fn command() -> Command {
    Flags::augment_args(Command::new("check"))
        .about("Parse and validate a PTX file from any compiler, and list its kernels")
}

/// Checks the file that the arguments name, and writes the result.
///
/// # Errors
///
/// [`Error::File`] when it cannot be read, [`Error::Ptx`] when it is not valid, [`Error::Output`].
pub(crate) fn main(matches: &ArgMatches, format: Format, out: &mut dyn Write) -> Result<()> {
    let Flags { file, decoded } =
        Flags::from_arg_matches(matches).map_err(|error| Error::request("FILE.ptx", one_line(&error.to_string())))?;
    let file = PtxFile::from(file);
    let name = file.name();
    let text = file.text()?;
    let progress = Progress::on_terminal();
    progress.begin(|| format!("reading {name}"));
    let parsed = ptx::parse(&name, text);
    drop(progress);
    match parsed {
        Ok(module) => match decoded {
            Some(kernel) => write_decoded(&name, &module, &kernel, format, out),
            None => write_kernels(&name, &module, format, out),
        },
        Err(errors) => {
            write_errors(&errors, format, out)?;
            let unsupported =
                |error: &ptx::Error| matches!(error.problem, Problem::Instruction(InstructionError::Unsupported(_)));
            let what = match errors.iter().all(unsupported) {
                true => "uses PTX that this program does not support",
                false => "is not valid PTX",
            };
            let problem = match (errors.iter().len(), errors.is_complete()) {
                (1, true) => format!("{what}: 1 error"),
                (count, true) => format!("{what}: {count} errors"),
                (count, false) => format!("{what}: the first {count} errors"),
            };
            Err(Error::Ptx { name, problem })
        }
    }
}

/// What the simulator executes for a kernel.
fn write_decoded(name: &str, module: &Module, kernel: &str, format: Format, out: &mut dyn Write) -> Result<()> {
    let failed = |error: String| Error::request("--decoded", one_line(&error));
    let symbols: Vec<&str> = module.kernels().map(|(_, function)| function.name.as_str()).collect();
    let kernel = match names::find(kernel, &symbols) {
        Found::One(symbol) => symbol,
        Found::Several(several) => {
            let listed = names::listed(several.into_iter(), true);
            return Err(failed(format!("`{kernel}` is ambiguous: {listed}; give one of them")));
        }
        Found::None => return Err(failed(format!("`{kernel}` {}", names::not_among(name, &symbols)))),
    };
    let mut memory = simt::Memory::new(u64::MAX / 2);
    let program = simt::Program::load(module, &mut memory).map_err(|error| failed(error.to_string()))?;
    let text = program.decoded(kernel).map_err(|error| failed(error.to_string()))?;
    if format == Format::Table {
        for line in text.lines() {
            writeln!(out, "{}", printable(line))?;
        }
        return Ok(out.flush()?);
    }
    let rows = text.lines().map(|line| vec![line.to_owned()]).collect();
    let json = json!({"file": name, "kernel": kernel, "decoded": text.lines().collect::<Vec<_>>()});
    listing::write(format, &["decoded"], rows, json, out)
}

/// The errors of a file that is not valid.
fn write_errors(errors: &Errors, format: Format, out: &mut dyn Write) -> Result<()> {
    if format == Format::Table {
        for error in errors {
            write!(out, "{}", mark::marked(errors.name(), errors.text(), error))?;
        }
        return Ok(out.flush()?);
    }
    let rows = errors.iter().map(|error| {
        [error.line.to_string(), error.column.to_string(), error.problem.to_string(), error.statement.clone()].into()
    });
    let list = errors.iter().map(|error| {
        json!({
            "line": error.line,
            "column": error.column,
            "message": error.problem.to_string(),
            "statement": error.statement,
            "help": error.problem.help(),
        })
    });
    let json = json!({
        "file": errors.name(),
        "valid": false,
        "version": null,
        "target": null,
        "kernels": [],
        "errors": list.collect::<Value>(),
    });
    listing::write(format, &["line", "column", "message", "statement"], rows.collect(), json, out)
}

/// A kernel as it is listed.
struct Kernel<'a> {
    function: &'a Function,
    parameters: Vec<&'a Variable>,
    /// Static shared memory of a block and local memory of a thread in bytes, where the simulator
    /// runs it.
    shared_and_local: Option<(u64, u64)>,
    /// Registers that are read but never written.
    never_written: Vec<String>,
    /// Why the simulator does not support it.
    refused: Option<String>,
}

/// The kernels of a module, in the order of the text.
fn kernels(module: &Module) -> Vec<Kernel<'_>> {
    // The module's variables must fit; memory is allocated only when it is needed.
    let mut memory = simt::Memory::new(u64::MAX / 2);
    let program = simt::Program::load(module, &mut memory);
    let unsupported: HashMap<&str, &simt::LoadError> =
        program.iter().flat_map(simt::Program::unsupported).map(|(info, error)| (info.name.as_str(), error)).collect();
    let kernel = |name: &str| match &program {
        Ok(program) => match unsupported.get(name) {
            Some(error) => (None, Some(error.to_string())),
            None => (program.kernel(name).map(|info| (info.static_shared, info.local)), None),
        },
        Err(error) => (None, Some(error.to_string())),
    };
    let described = module.kernels().map(|(_, function)| {
        let (shared_and_local, refused) = kernel(&function.name);
        let info = program.as_ref().ok().and_then(|program| program.kernel(&function.name));
        Kernel {
            function,
            parameters: function.parameters.iter().map(|&parameter| &module.variables[parameter]).collect(),
            shared_and_local,
            never_written: info.map_or(Vec::new(), |info| info.never_written.clone()),
            refused: refused.map(|refused| one_line(&refused)),
        }
    });
    described.collect()
}

/// The type of a parameter: `u64`, or `b8[24]` for an array or a struct.
pub(crate) fn type_of(variable: &Variable) -> String {
    let vector = if variable.vector > 1 { format!("v{}.", variable.vector) } else { String::new() };
    let element = u64::from(variable.ty.bytes()) * u64::from(variable.vector.max(1));
    match variable.size {
        Some(size) if size == element => format!("{vector}{}", variable.ty.name()),
        Some(size) => format!("{vector}{}[{}]", variable.ty.name(), size / element),
        None => format!("{vector}{}[]", variable.ty.name()),
    }
}

/// Whether a parameter has the size and alignment of a tensor map: 128 bytes, aligned to 64.
pub(crate) fn may_be_tensor_map(variable: &Variable) -> bool {
    variable.size == Some(simt::tensors::TENSOR_MAP_BYTES as u64) && variable.align >= 64
}

/// Whether a parameter and the next look like rustc's slice: an address of known alignment, then a
/// length. (Raw pointers and slices of bytes have no known alignment.)
pub(crate) fn may_be_slice(pair: &[&Variable]) -> bool {
    let [address, length] = pair else { return false };
    let is_whole = matches!(length.ty, Type::B64 | Type::U64 | Type::S64) && length.size == Some(8);
    address.points_to.is_some_and(|pointee| pointee.align > 1) && is_whole && length.points_to.is_none()
}

impl Kernel<'_> {
    fn instructions(&self) -> usize {
        self.function.body.as_ref().map_or(0, Vec::len)
    }

    /// The limits on blocks and clusters that the kernel was compiled with, as text.
    fn bounds(&self) -> String {
        let shape = |[x, y, z]: [u32; 3]| format!("{x} x {y} x {z}");
        let bounds = [
            self.function.required_threads.map(|threads| format!("blocks of {}", shape(threads))),
            self.function
                .max_threads
                .map(|threads| format!("blocks of at most {}", counted(product(threads), "thread"))),
            self.function
                .min_blocks_per_multiprocessor
                .map(|blocks| format!("{} a multiprocessor", counted(blocks.into(), "block"))),
            self.function.required_cluster.map(|cluster| format!("clusters of {} blocks", shape(cluster))),
            self.function
                .max_cluster_blocks
                .map(|blocks| format!("clusters of at most {}", counted(blocks.into(), "block"))),
            self.function.explicit_cluster.then(|| "launched in clusters".to_owned()),
            self.function.grid_in_clusters.then(|| "its grid is counted in clusters".to_owned()),
            self.function
                .max_registers
                .map(|registers| format!("at most {} per thread", counted(registers.into(), "register"))),
        ];
        bounds.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    fn json(&self) -> Value {
        let parameters = self.parameters.iter().map(|parameter| {
            json!({
                "name": parameter.name,
                "type": type_of(parameter),
                "bytes": parameter.size,
                "align": parameter.align,
            })
        });
        json!({
            "name": self.function.name,
            "demangled": names::demangled(&self.function.name),
            "parameters": parameters.collect::<Value>(),
            "shared": self.shared_and_local.map(|(shared, _)| shared),
            "local": self.shared_and_local.map(|(_, local)| local),
            "max_threads": self.function.max_threads,
            "required_threads": self.function.required_threads,
            "min_blocks": self.function.min_blocks_per_multiprocessor,
            "max_registers": self.function.max_registers,
            "cluster": self.function.required_cluster,
            "max_cluster": self.function.max_cluster_blocks,
            "grid_in_clusters": self.function.grid_in_clusters,
            "instructions": self.instructions(),
            "never_written": self.never_written,
            "simulator": self.refused,
        })
    }

    /// Its lines of the table for people.
    fn text(&self) -> String {
        let mut facts = vec![counted(self.instructions() as u64, "instruction")];
        if let Some((shared, local)) = self.shared_and_local {
            facts.extend((shared > 0).then(|| format!("{} of shared memory", counted(shared, "byte"))));
            facts.extend((local > 0).then(|| format!("{} of local memory per thread", counted(local, "byte"))));
        }
        facts.extend(Some(self.bounds()).filter(|bounds| !bounds.is_empty()));
        let symbol = &self.function.name;
        let mut text = match names::demangled(symbol) {
            Some(name) => format!("\n{}: {}\n  {symbol}\n", printable(&name), facts.join(", ")),
            None => format!("\n{symbol}: {}\n", facts.join(", ")),
        };
        let types: Vec<_> = self.parameters.iter().map(|parameter| type_of(parameter)).collect();
        let width = types.iter().map(String::len).max().unwrap_or(0);
        for (index, (parameter, ty)) in self.parameters.iter().zip(types).enumerate() {
            let size = counted(parameter.size.unwrap_or(0), "byte");
            let slice_at = |first: usize| self.parameters.get(first..first + 2).is_some_and(may_be_slice);
            let hint = match index {
                _ if may_be_tensor_map(parameter) => " (perhaps a tensor map)".to_owned(),
                _ if slice_at(index) => format!(" (perhaps a slice's address, with its length in {})", index + 1),
                1.. if slice_at(index - 1) => " (its length)".to_owned(),
                _ => String::new(),
            };
            text += &format!("  {index}: {ty:width$}  {size}, align {}  {}{hint}\n", parameter.align, parameter.name);
        }
        if !self.never_written.is_empty() {
            text += &format!("  used but never written: {}\n", self.never_written.join(", "));
        }
        if let Some(refused) = &self.refused {
            text += &format!("  not supported by the simulator: {}\n", printable(refused));
        }
        text
    }
}

/// The kernels of a file that is valid.
fn write_kernels(name: &str, module: &Module, format: Format, out: &mut dyn Write) -> Result<()> {
    let kernels = kernels(module);
    let (major, minor) = module.version;
    let target = format!("sm_{}{}", module.target, module.target_suffix.map_or(String::new(), String::from));
    if format == Format::Table {
        let count = counted(kernels.len() as u64, "kernel");
        writeln!(out, "{}: valid PTX {major}.{minor} for {target}, {count}", printable(name))?;
        for kernel in &kernels {
            write!(out, "{}", kernel.text())?;
        }
        if kernels.iter().any(|kernel| kernel.parameters.windows(2).any(may_be_slice)) {
            write!(out, "{SLICES}")?;
        }
        return Ok(out.flush()?);
    }
    let titles = ["kernel", "name", "parameters", "shared", "bounds", "instructions", "simulator"];
    let rows = kernels.iter().map(|kernel| {
        let parameters: Vec<_> = kernel.parameters.iter().map(|parameter| type_of(parameter)).collect();
        vec![
            kernel.function.name.clone(),
            names::shown(&kernel.function.name).into_owned(),
            parameters.join(", "),
            kernel.shared_and_local.map_or(String::new(), |(shared, _)| shared.to_string()),
            kernel.bounds(),
            kernel.instructions().to_string(),
            kernel.refused.clone().unwrap_or_default(),
        ]
    });
    let json = json!({
        "file": name,
        "valid": true,
        "version": format!("{major}.{minor}"),
        "target": target,
        "kernels": kernels.iter().map(Kernel::json).collect::<Value>(),
        "errors": [],
    });
    listing::write(format, &titles, rows.collect(), json, out)
}

/// Threads of a block.
fn product(shape: [u32; 3]) -> u64 {
    shape.iter().map(|&extent| u64::from(extent)).fold(1, u64::saturating_mul)
}

#[cfg(test)]
mod tests;

//! `host run FILE.ptx KERNEL ...`: any kernel of a PTX file of any compiler, on either device.
//!
//! Data goes one way: flags -> arguments (see [`argument`]) -> a launch -> a report -> a format. The arguments
//! are held against the kernel's parameters before anything is opened; buffers that `--save` names are written when the kernel
//! has come to its end, each file whole or not at all.

pub mod argument;
mod output;
mod placed;
pub mod texture;
pub mod value;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{ArgMatches, Args, Command, FromArgMatches};
use cuda_std::launch::Arguments;
use ptx::{Function, Module};
use simt::Checks;

use argument::{Argument, Data, Prepared};
use placed::Placed;
use value::Values;

use crate::check::type_of;
use crate::device::{self, Counters, Device, DeviceChoice, LaunchConfig};
use crate::error::{Error, Result, one_line};
use crate::faults::{CheckFlags, Fault, Findings};
use crate::limits::Limits;
use crate::lines::{LineFlags, Lines};
use crate::output_file;
use crate::progress::Progress;
use crate::report::Format;

/// Kernels and arguments that an error names before it stops.
const NAMED: usize = 8;

const AFTER_HELP: &str = "\
Arguments, in the order of the kernel's parameters (`host check FILE.ptx` lists them):
  u32:5 i64:-1 f32:0.5     a number: u8 to u64, i8 to i64, f32, f64
  bytes:00ff10             bytes, for a parameter that is a struct
  f32[1024]                the address of a buffer of 1024 zeros
  f32[1024]=1.5            ... in which each element is 1.5
  u8[4]=1,2,3,4            ... of these elements
  f32[1024]=rand:7         ... of random elements, decided by the seed 7
  f32[1024]=ramp           ... of 0, 1, 2, ...
  u32[65536]=@idx.npy      ... of what the file holds; @idx.npy alone takes type and length from it
  f32[1024]=uninit         ... that nothing has written
  f32[1024]+8=ramp         the address 8 bytes into the buffer
  freed:f32[1024]          the address of a buffer that is freed before the launch
  tex2d:f32[64x48]=ramp    a texture of an array of 64 columns and 48 rows, filled as a buffer; tex1d, tex3d; texa1d, texa2d: the
                           last extent counts layers; texlin:f32[1024]: of linear memory
  tex2d:u8x4[64x48],linear,wrap,norm,float=@image.npy
                           texels of 4 components, and how they are read: point or linear; clamp, wrap, mirror, border or
                           border:VALUE, one for all dimensions or wrap/clamp; norm: coordinates from 0 to 1; float: integers
                           as floats up to 1; srgb
  surf2d:f32[64x48]        a surface, which the kernel may write; surf1d, surf3d, surfa1d, surfa2d
Buffers start on multiples of 256 bytes. --save and --print show the whole buffer, from its start.";

/// What is to run.
#[derive(Args, Clone, Debug)]
struct Flags {
    /// PTX of any compiler
    #[arg(value_name = "FILE.ptx")]
    file: PathBuf,
    /// The kernel to launch
    #[arg(value_name = "KERNEL")]
    kernel: String,
    /// One argument for each of the kernel's parameters; see below
    #[arg(value_name = "ARG", allow_negative_numbers = true)]
    arguments: Vec<Argument>,
    /// Blocks of the grid
    #[arg(long, value_name = "X[,Y,Z]", value_parser = extents)]
    grid: [u32; 3],
    /// Threads of a block
    #[arg(long, value_name = "X[,Y,Z]", value_parser = extents)]
    block: [u32; 3],
    /// Blocks of a cluster [default: what the kernel demands, else 1]
    #[arg(long, value_name = "X[,Y,Z]", value_parser = extents)]
    cluster: Option<[u32; 3]>,
    /// Dynamic shared memory of a block
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    shared: u32,
    /// Write the buffer of argument I (from 0) to this file when the kernel is done
    #[arg(long, value_name = "I=FILE.npy")]
    save: Vec<Save>,
    /// The part of a multiprocessor's memory that should be shared memory, in percent (0 to 100)
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(0..=100))]
    carveout: Option<u8>,
    /// On a model of the simulator: registers of a thread, which limit how many blocks are resident
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=255))]
    registers: Option<u32>,
    /// Print the elements of the buffer of argument I (from 0)
    #[arg(long, value_name = "I", value_delimiter = ',')]
    print: Vec<usize>,
    /// On a GPU: also run on the simulator, for its counters
    #[arg(long)]
    counters: bool,
    #[command(flatten)]
    lines: LineFlags,
    #[command(flatten)]
    checks: CheckFlags,
}

/// A buffer to write to a file.
#[derive(Clone, Debug, PartialEq)]
struct Save {
    argument: usize,
    file: PathBuf,
}

impl FromStr for Save {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let parts = text.split_once('=').and_then(|(index, file)| Some((index.parse().ok()?, file)));
        match parts {
            Some((argument, file)) if !file.is_empty() => Ok(Self { argument, file: PathBuf::from(file) }),
            _ => Err("give the number of an argument and a file, as in 2=out.npy".to_owned()),
        }
    }
}

/// The extents of a grid or a block: one to three numbers; those left out are 1.
fn extents(text: &str) -> std::result::Result<[u32; 3], String> {
    let wrong = || "give one to three whole numbers from 1, as in 16 or 16,16 or 8,8,4".to_owned();
    let mut extents = [1; 3];
    let parts: Vec<&str> = text.split(',').collect();
    if parts.len() > 3 {
        return Err(wrong());
    }
    for (extent, part) in extents.iter_mut().zip(parts) {
        *extent = part.parse().ok().filter(|&extent| extent > 0).ok_or_else(wrong)?;
    }
    Ok(extents)
}

/// The subcommand.
pub(crate) fn command() -> Command {
    Flags::augment_args(Command::new("run"))
        .about("Run a kernel of a PTX file of any compiler, on a GPU or the simulator")
        .after_help(AFTER_HELP)
}

/// Runs what the arguments say on the device and writes what came of it.
///
/// # Errors
///
/// All that a device and a file can say; [`Error::Fault`] when the kernel misbehaved, after the report with the fault is written.
pub(crate) fn main(
    matches: &ArgMatches,
    choice: DeviceChoice,
    limits: Limits,
    format: Format,
    out: &mut dyn Write,
) -> Result<()> {
    let flags = Flags::from_arg_matches(matches).map_err(|error| Error::flag("run", one_line(&error.to_string())))?;
    flags.lines.check_format(format)?;
    let module = device::load_ptx(&flags.file)?;
    let function = kernel(&module, &flags)?;
    check_arguments(&module, function, &flags)?;
    check_block(function, flags.block)?;
    check_cluster(function, &flags)?;
    check_outputs(&flags)?;

    let progress = Progress::on_terminal();
    progress.begin(|| "opening the device".to_owned());
    let device = device::open(choice, &device::Options { ptx: Some(flags.file.clone()), limits })?;
    let simulated = flags.counters || !device.properties().is_gpu();
    flags.lines.check_counted(simulated)?;
    flags.checks.check_simulated(simulated)?;
    let config = LaunchConfig {
        cluster: flags.cluster,
        dynamic_shared: flags.shared,
        checks: flags.checks.or(Checks::ALL),
        carveout: flags.carveout,
        registers: flags.registers,
        ..LaunchConfig::new(flags.grid, flags.block)
    };
    config.check(&flags.kernel, None, device.properties())?;
    let prepared = prepare(&device, &flags)?;
    // Not before: a request that cannot be met is one line.
    if let Some(why) = device.fallback() {
        progress.note(&format!("running on the simulator: {why}"));
    }
    progress.add_steps(1);
    progress.begin(|| flags.kernel.clone());
    let launched = launch(&device, &progress, &flags, &config, &prepared);
    // The bar must be gone before the report is written.
    drop(progress);

    let mut report = output::Report {
        file: flags.file.display().to_string(),
        kernel: &flags.kernel,
        config: &config,
        device: device.properties(),
        counters: None,
        lines: None,
        faults: Vec::new(),
        stopped: false,
        printed: device.take_printed(),
        buffers: BTreeMap::new(),
    };
    match launched {
        Ok(mut launched) => {
            for Save { argument, file } in &flags.save {
                if let (Some(values), Some(data)) = (launched.buffers.get(argument), prepared[*argument].data()) {
                    values.write(file, &data.shape)?;
                }
            }
            launched.buffers.retain(|argument, _| flags.print.contains(argument));
            report.counters = launched.counters;
            report.lines = launched.lines;
            report.buffers = launched.buffers;
            report.faults = launched.findings.faults();
            report.write(format, out)?;
            launched.findings.tell(format);
            launched.findings.error().map_or(Ok(()), Err)
        }
        Err(error) => {
            if let Error::Fault { trap, .. } = &error {
                let before = Findings::before(trap.as_deref());
                report.faults = before.faults().into_iter().chain(Fault::of(&error)).collect();
                report.stopped = true;
                report.write(format, out)?;
                before.tell(format);
            }
            Err(error)
        }
    }
}

/// The kernel that is to run.
fn kernel<'a>(module: &'a Module, flags: &Flags) -> Result<&'a Function> {
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
fn check_arguments(module: &Module, function: &Function, flags: &Flags) -> Result<()> {
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
        return refuse(format!("{takes}, and {given} {were} given"));
    }
    for (index, (argument, parameter)) in flags.arguments.iter().zip(parameters).enumerate() {
        let (given, wanted) = (argument.bytes() as u64, parameter.size.unwrap_or(0));
        if given != wanted {
            return refuse(format!(
                "parameter {index} ({} {}) has {wanted} bytes, and argument {index}, {}, has {given}",
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
fn check_block(function: &Function, block: [u32; 3]) -> Result<()> {
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
fn check_cluster(function: &Function, flags: &Flags) -> Result<()> {
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
        Some(cluster) if flags.grid.iter().zip(cluster).any(|(all, of_one)| !all.is_multiple_of(of_one)) => refuse(
            format!("a grid of {} blocks cannot be parted into clusters of {}", shape(flags.grid), shape(cluster)),
        ),
        _ => Ok(()),
    }
}

/// Whether what is to be saved can be.
fn check_outputs(flags: &Flags) -> Result<()> {
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

/// Makes the arguments' data, once there is room for it. What is to be put out must be allowed.
fn prepare(device: &Device, flags: &Flags) -> Result<Vec<Prepared>> {
    for argument in &flags.arguments {
        if let Some(bytes) = argument.buffer_bytes() {
            device.check_buffer(&format!("argument {}", argument.text), bytes)?;
        }
    }
    let prepared: Vec<Prepared> = flags.arguments.iter().map(Argument::prepare).collect::<Result<_>>()?;
    let bytes_of = |argument: usize| prepared[argument].data().map_or(0, Data::bytes);
    let put_out = flags.save.iter().map(|save| save.argument).chain(flags.print.iter().copied());
    let bytes = put_out.map(bytes_of).fold(0, u64::saturating_add);
    device.limits().check_output("what is to be saved and printed", bytes)?;
    Ok(prepared)
}

/// What a launch left.
struct Launched {
    counters: Option<Counters>,
    findings: Findings,
    lines: Option<Lines>,
    /// The buffers that are to be saved or printed, by the numbers of their arguments.
    buffers: BTreeMap<usize, Values>,
}

/// Launches the kernel and reads the buffers that are wanted.
fn launch(
    device: &Device,
    progress: &Progress,
    flags: &Flags,
    config: &LaunchConfig,
    prepared: &[Prepared],
) -> Result<Launched> {
    let mut launched = launch_on(device, progress, flags, config, prepared)?;
    if flags.counters && device.properties().is_gpu() {
        let counted = launch_on(&device.simulator()?, progress, flags, config, prepared)?;
        (launched.counters, launched.lines) = (counted.counters, counted.lines);
        launched.findings = counted.findings;
    }
    Ok(launched)
}

fn launch_on(
    device: &Device,
    progress: &Progress,
    flags: &Flags,
    config: &LaunchConfig,
    prepared: &[Prepared],
) -> Result<Launched> {
    device.watch(progress);
    let name = |index: usize| format!("argument {}", flags.arguments[index].text);
    let place = |(index, argument)| Placed::new(device, argument, &name(index));
    let mut placed: Vec<Placed> = prepared.iter().enumerate().map(place).collect::<Result<_>>()?;
    let mut arguments = Arguments::new();
    let mut handles = Vec::new();
    // Not before all are allocated: the next buffer would get the address of one that is freed.
    for ((argument, given), placed) in prepared.iter().zip(&flags.arguments).zip(&mut placed) {
        if given.is_freed() {
            placed.push(device, argument, &mut arguments)?;
            *placed = Placed::Nothing;
        } else {
            handles.extend(placed.push(device, argument, &mut arguments)?);
        }
    }
    let counters = device.launch_untyped(&flags.kernel, config, &arguments)?;
    device.synchronize()?;
    device.watch(&Progress::default());
    drop(handles);

    let mut wanted = BTreeMap::new();
    for (index, (argument, placed)) in prepared.iter().zip(&placed).enumerate() {
        let saved = flags.save.iter().any(|save| save.argument == index);
        if let Some(data) = argument.data()
            && (saved || flags.print.contains(&index))
            && let Some(values) = placed.read(data, &name(index))?
        {
            wanted.insert(index, values);
        }
    }
    let lines = flags.lines.of(device, &flags.file.display().to_string());
    let mut findings = device.last_report().map(|report| Findings::of(&report)).unwrap_or_default();
    if flags.checks.or(Checks::ALL).memory {
        findings.list.extend(device.leaks());
    }
    Ok(Launched { counters, findings, lines, buffers: wanted })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extents_are_one_to_three_numbers() {
        assert_eq!(extents("7"), Ok([7, 1, 1]));
        assert_eq!(extents("7,8"), Ok([7, 8, 1]));
        assert_eq!(extents("7,8,9"), Ok([7, 8, 9]));
        for text in ["", "0", "-1", "7,", "7,x", "1,2,3,4", "4294967296"] {
            assert_eq!(
                extents(text),
                Err("give one to three whole numbers from 1, as in 16 or 16,16 or 8,8,4".into()),
                "{text}"
            );
        }
    }

    #[test]
    fn what_to_save_is_an_argument_and_a_file() {
        assert_eq!("2=a=b.npy".parse(), Ok(Save { argument: 2, file: "a=b.npy".into() }));
        for text in ["", "2", "2=", "x=a.npy", "-1=a.npy", "a.npy"] {
            assert_eq!(
                text.parse::<Save>(),
                Err("give the number of an argument and a file, as in 2=out.npy".into()),
                "{text}"
            );
        }
    }

    #[test]
    fn arguments_are_no_flags() {
        let parsed = |words: &str| {
            let matches = command().try_get_matches_from(words.split_whitespace()).unwrap();
            Flags::from_arg_matches(&matches).unwrap()
        };
        let flags = parsed("run k.ptx k i32:-1 --grid 2 f32[4]=-1 --block 32 f32:-0.5 --print 0,1 --print 2");
        let texts: Vec<&str> = flags.arguments.iter().map(|argument| argument.text.as_str()).collect();
        assert_eq!(texts, ["i32:-1", "f32[4]=-1", "f32:-0.5"]);
        assert_eq!(flags.print, [0, 1, 2]);
        let error = command().try_get_matches_from("run k.ptx k --grid 1 --block 1 -1".split_whitespace()).unwrap_err();
        assert!(error.to_string().contains("give a value (u32:5)"), "{error}");
    }

    #[test]
    fn long_lists_are_cut() {
        assert_eq!(listed(&["a", "b"]), "a, b");
        assert_eq!(listed(&["x"; 10]), "x, x, x, x, x, x, x, x and 2 more");
    }
}

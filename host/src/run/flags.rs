//! The flags of `host run`, their help, and their division into launches at `--then`. `cli` parses
//! them; the rest of `run` only reads them.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use crate::flag_values::{bytes32, seconds, some_bytes, whole_number};
use clap::builder::{NonEmptyStringValueParser, OsStringValueParser, TypedValueParser};
use clap::{ArgMatches, Args, Command};
use device::{Error, Predict, Result};
use simt::Checks;

use super::argument::{Argument, parse::split_os};
use super::argument_id::Named;
use crate::ci::CiFlags;
use crate::faults::{SanitizerFlags, checks_by_default};
use crate::lines::LineFlags;
use crate::orders::{ExploreFlags, OrderFlags};
use crate::predicted::PredictFlags;
use crate::requirements::{RequireFlags, Requirements};

const AFTER_HELP: &str = "\
Arguments, in the order of the kernel's parameters (`host check FILE.ptx` lists those):
  5 -1 0.5                 a number of the parameter's type, which follows from its declaration and
                           from what the kernel does with it
  u32:5 i64:-1 f32:0.5     a number of this type: u8 to u64, i8 to i64, f16, f32, f64; or C's name,
                           as in int:5 and float:0.5
  bytes:00ff10             bytes, for a parameter that is a struct
  bytes:{arg:0}{u32:5}0000 ... with the address of argument 0 (8 bytes; +8 and launches as below)
                           and a number, without padding between them
  data:f32[1024]           a buffer (texture, ...) that is no parameter: for addresses in structs.
                           It counts as an argument in arg:, --print and --save
  f32[1024]                the address of a buffer of 1024 zeros
  f32[1024]=1.5            ... in which each element is 1.5
  u8[4]=1,2,3,4            ... of these elements
  f32[1024]=rand:7         ... of random elements, with the seed 7
  f32[1024]=ramp           ... of 0, 1, 2, ...
  u32[65536]=@idx.npy      ... of the file's elements; @idx.npy alone takes type and length from it
  f32[1024]=uninit         ... uninitialised. On the simulator with the check init, elements that
                           nothing wrote are printed as ?, saved as memory holds them, and named in
                           a note; the exit code stays 0
  f32[1024]+8=ramp         the address 8 bytes into the buffer
  freed:f32[1024]          the address of a buffer that is freed before the launch
  arg:1                    the buffer, texture, surface or tensor of argument 1 again
  arg:1+8                  the address 8 bytes into its buffer
  arg:1.0                  that of argument 0 of launch 1 (launches and arguments count from 0)
  tex2d:f32[64x48]=ramp    a texture of an array of 64 columns and 48 rows, filled like a buffer
                           tex1d, tex3d: with one and three extents
                           texa1d, texa2d: layered; the last extent is the number of layers
                           texlin:f32[1024]: of linear memory
  tex2d:u8x4[64x48],linear,wrap,norm,float=@image.npy
                           texels of 4 components, and how they are read:
                           point or linear
                           clamp, wrap, mirror, border or border:VALUE, for all dimensions,
                           or one for each, as in wrap/clamp
                           norm: coordinates from 0 to 1
                           float: integers are read as floats up to 1
                           srgb
  surf2d:f32[64x48]        a surface, which the kernel may write; surf1d, surf3d, surfa1d, surfa2d
  tensor:f32[64x32],box:32x8=ramp
                           the tensor map, 128 bytes by value, of 32 rows and 64 columns, filled
                           like a buffer (f16 and bf16: as u16), in boxes of 8 rows and 32 columns;
                           and after the box, with commas:
                           swizzle:32, swizzle:64 or swizzle:128; interleave:16 or interleave:32
                           stride:512: bytes from row to row; 512x4096: and from plane to plane
                           every:1x2: every second row of a box; fill:nan; l2:64, l2:128 or l2:256
                           lower:-1x-1,upper:-1x-1,channels:8,pixels:64 instead of a box: im2col
  tensor_at:f32[64x32],box:32x8
                           the address of such a map in device memory
A Rust slice is two parameters, its address and its length in elements: `data: &[f32]` of 1024
elements is f32[1024]=ramp u64:1024.

Blocks can wait for each other only if they are resident together. --cooperative makes them so, and
grid.sync() works: on a GPU or a model of the simulator for as many blocks as fit, on the plain
simulator for up to 16384 blocks, 1048576 threads, 1 GiB of shared memory and 8 GiB of local memory
(with the check race: 16384 threads). Without it, the plain simulator runs a later block beside one
that waits for it, but only with --check none.

Buffers start on multiples of 256 bytes. --save and --print show the whole buffer, from its start.

Names of kernels and variables may be demangled ones: saxpy, ns::saxpy or saxpy(float, float*) for
_ZN2ns5saxpyEfPf, if only one symbol matches.

Variables of the module, in .global or .const memory: --set gives them a value before the launch,
--print and --save show them after the last one. The value is a number (u32:5) or the elements of
a buffer (f32[4]=ramp, @table.npy), and must have as many bytes as the variable. Elements are shown
as the type of --set or of the PTX, or as the type after the name: --print table:f32.

Several launches: --then KERNEL starts the next one on the same memory. The arguments
and options of a launch follow its kernel: --grid, --block, --cluster, --shared, --carveout,
--registers, --bytes and --set. The other flags apply to all launches, wherever they are.
A sum in two steps:

  host run sum.ptx block_sums --grid 4 --block 64 f32[256]=ramp f32[4] \\
    --then total --grid 1 --block 32 arg:1 f32[1] --print 1.1";

/// The flags. The lists hold the values for all launches, in the order of the command line: see
/// [`Flags::launches`].
#[derive(Args, Clone, Debug)]
pub(super) struct Flags {
    /// PTX from any compiler; - reads it from the standard input
    #[arg(value_name = "FILE.ptx")]
    pub(super) file: PathBuf,
    /// The kernel to launch
    #[arg(value_name = "KERNEL", value_parser = NonEmptyStringValueParser::new())]
    kernel: String,
    /// One argument for each of the kernel's parameters; see below
    #[arg(value_name = "ARG", allow_negative_numbers = true, value_parser = OsStringValueParser::new().try_map(argument))]
    arguments: Vec<Argument>,
    /// Blocks in the grid; clusters if the kernel is .blocksareclusters
    #[arg(long, value_name = "X[,Y,Z]", value_parser = extents, required = true)]
    grid: Vec<[u32; 3]>,
    /// Threads in a block
    #[arg(long, value_name = "X[,Y,Z]", value_parser = extents, required = true)]
    block: Vec<[u32; 3]>,
    /// Blocks in a cluster [default: what the kernel requires, else 1]
    #[arg(long, value_name = "X[,Y,Z]", value_parser = extents)]
    cluster: Vec<[u32; 3]>,
    /// Launch cooperatively: all blocks are resident at once and can wait for each other, as in
    /// grid.sync() of cooperative groups
    #[arg(long)]
    pub(super) cooperative: bool,
    /// Dynamic shared memory per block, such as 48K [default: 0]
    #[arg(long, value_name = "BYTES", value_parser = bytes32)]
    shared: Vec<u32>,
    /// Set a variable of the module before the launch; see below
    #[arg(long, value_name = "NAME=VALUE", value_parser = OsStringValueParser::new().try_map(set))]
    set: Vec<Set>,
    /// Launch this kernel next, on the same memory; see below
    #[arg(long, value_name = "KERNEL", value_parser = NonEmptyStringValueParser::new())]
    then: Vec<String>,
    /// Write a buffer or a variable to this file at the end. I is the argument's number, from 0, or
    /// L.I in launch L
    #[arg(long, value_name = "I=FILE.npy", value_parser = OsStringValueParser::new().try_map(save))]
    pub(super) save: Vec<Save>,
    /// The share of a multiprocessor's L1 memory to use as shared memory, in percent (0 to 100)
    #[arg(long, value_name = "PERCENT", value_parser = whole_number(0, 100u8))]
    carveout: Vec<u8>,
    /// On a model of the simulator: registers per thread, which limit how many blocks are resident
    #[arg(long, value_name = "NUMBER", value_parser = whole_number(1, 255u32))]
    registers: Vec<u32>,
    /// Bytes that the kernel has to read and write, such as 512M: GB/s follow from them and the
    /// measured or predicted time
    #[arg(long, value_name = "BYTES", value_parser = some_bytes)]
    bytes: Vec<u64>,
    /// Time a launch on a GPU for at most this many seconds
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = seconds)]
    pub(super) time_limit: Duration,
    /// On a GPU: launch once, untimed, for a profiler or a kernel that must not run twice
    #[arg(long, conflicts_with = "time_limit")]
    pub(super) once: bool,
    /// Print the elements of a buffer or a variable. I is the argument's number, from 0, or L.I in
    /// launch L
    #[arg(long, value_name = "I", value_delimiter = ',')]
    pub(super) print: Vec<Named>,
    /// Also write this web page: the counters, pictures of the accesses, and the source with its
    /// counts
    #[arg(long, value_name = "FILE.html")]
    pub(super) report: Option<PathBuf>,
    /// Also show sources below this folder, which the PTX names by whatever path. Without it those
    /// below the PTX's folder, the current one and their projects (with Cargo.toml or .git) are
    /// shown
    #[arg(long, value_name = "DIR")]
    pub(super) sources: Vec<PathBuf>,
    /// On a GPU: also run on the simulator, for its counters
    #[arg(long)]
    pub(super) counters: bool,
    #[command(flatten)]
    pub(super) lines: LineFlags,
    #[command(flatten)]
    pub(super) checks: SanitizerFlags,
    #[command(flatten)]
    pub(super) predicted: PredictFlags,
    #[command(flatten)]
    pub(super) orders: OrderFlags,
    #[command(flatten)]
    pub(super) exploring: ExploreFlags,
    /// The seed of --schedules; the same seed gives the same orders everywhere
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = whole_number(0, u64::MAX))]
    pub(super) seed: u64,
    #[command(flatten)]
    pub(super) required: RequireFlags,
    #[command(flatten)]
    pub(super) ci: CiFlags,
    /// The goals, read.
    #[arg(skip)]
    pub(super) goals: Option<Requirements>,
    /// How many requests of each access a page steps through.
    #[arg(skip)]
    pub(super) steps: u32,
}

/// The flags of one launch.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LaunchFlags {
    pub(super) kernel: String,
    pub(super) arguments: Vec<Argument>,
    pub(super) grid: [u32; 3],
    pub(super) block: [u32; 3],
    pub(super) cluster: Option<[u32; 3]>,
    pub(super) shared: u32,
    pub(super) carveout: Option<u8>,
    pub(super) registers: Option<u32>,
    /// Bytes to move.
    pub(super) bytes: Option<u64>,
    pub(super) set: Vec<Set>,
}

impl Flags {
    /// What is checked: everything by default, and nothing if only times are predicted, or in
    /// another order.
    pub(super) fn checks(&self) -> Checks {
        let none = self.predicted.predict || self.orders.schedule.is_some();
        self.checks.or(if none { Checks::NONE } else { Checks::ALL })
    }

    /// Which times are predicted: none in another order.
    pub(super) fn predict(&self) -> Predict {
        match self.orders.schedule {
            Some(_) => Predict::Nothing,
            None => self.predicted.simulated(),
        }
    }

    /// Fails if a path of `--sources` is not a folder.
    ///
    /// # Errors
    ///
    /// [`Error::Request`].
    pub(super) fn check_sources(&self) -> Result<()> {
        match self.sources.iter().find(|folder| !folder.is_dir()) {
            Some(other) => Err(Error::request("--sources", format!("{}: there is no such folder", other.display()))),
            None => Ok(()),
        }
    }

    /// Whether there will be a page, which shows each line and access.
    pub(super) fn has_page(&self) -> bool {
        self.report.is_some() || self.steps > 0
    }

    /// The flags of each launch. `matches` has their positions relative to each `--then`.
    ///
    /// # Errors
    ///
    /// [`Error::Request`] if a launch lacks a flag, or has it twice.
    pub(super) fn launches(&self, matches: &ArgMatches) -> Result<Vec<LaunchFlags>> {
        let kernels: Vec<&String> = std::iter::once(&self.kernel).chain(&self.then).collect();
        let starts: Vec<usize> = matches.indices_of("then").into_iter().flatten().collect();
        let parts = Parts { matches, starts, kernels };
        let launch = |index: usize| {
            let missing =
                |flag: &str| Error::request(flag, format!("{} has none; give it after the kernel", parts.name(index)));
            Ok(LaunchFlags {
                kernel: parts.kernels[index].clone(),
                arguments: parts.of("arguments", &self.arguments, index),
                grid: parts.one("grid", &self.grid, index)?.ok_or_else(|| missing("--grid"))?,
                block: parts.one("block", &self.block, index)?.ok_or_else(|| missing("--block"))?,
                cluster: parts.one("cluster", &self.cluster, index)?,
                shared: parts.one("shared", &self.shared, index)?.unwrap_or(0),
                carveout: parts.one("carveout", &self.carveout, index)?,
                registers: parts.one("registers", &self.registers, index)?,
                bytes: parts.one("bytes", &self.bytes, index)?,
                set: parts.of("set", &self.set, index),
            })
        };
        (0..parts.kernels.len()).map(launch).collect()
    }
}

/// The parts of the command line, one for each launch.
struct Parts<'a> {
    matches: &'a ArgMatches,
    /// Where the second and each later launch start.
    starts: Vec<usize>,
    kernels: Vec<&'a String>,
}

impl Parts<'_> {
    /// The launch's name in errors.
    fn name(&self, launch: usize) -> String {
        format!("launch {launch} ({})", self.kernels[launch])
    }

    /// The values of a flag in this launch's part.
    fn of<T: Clone>(&self, flag: &str, values: &[T], launch: usize) -> Vec<T> {
        let places = self.matches.indices_of(flag).into_iter().flatten();
        let part = |place: usize| self.starts.iter().take_while(|&&start| start < place).count();
        places.zip(values).filter(|&(place, _)| part(place) == launch).map(|(_, value)| value.clone()).collect()
    }

    /// The value of a flag in this launch's part, which may occur at most once.
    fn one<T: Copy>(&self, flag: &str, values: &[T], launch: usize) -> Result<Option<T>> {
        match *self.of(flag, values, launch) {
            [] => Ok(None),
            [value] => Ok(Some(value)),
            _ => Err(Error::request(format!("--{flag}"), format!("{} has it more than once", self.name(launch)))),
        }
    }
}

/// A variable to set before a launch.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Set {
    pub(super) name: String,
    pub(super) value: Argument,
}

fn argument(text: OsString) -> std::result::Result<Argument, String> {
    Argument::from_os(&text)
}

fn set(text: OsString) -> std::result::Result<Set, String> {
    let parts = split_os(&text, b'=').and_then(|(name, value)| Some((name.to_str()?, value)));
    match parts {
        Some((name, value)) if !name.is_empty() => {
            let value = Argument::from_os(value)?;
            if !value.is_contents() {
                return Err("give a value (u32:5) or elements (f32[4]=ramp, @v.npy)".to_owned());
            }
            Ok(Set { name: name.to_owned(), value })
        }
        _ => Err("give the name of a variable and a value, as in count=u32:5".to_owned()),
    }
}

/// A buffer or variable, and the file to write it to.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Save {
    pub(super) what: Named,
    pub(super) file: PathBuf,
}

fn save(text: OsString) -> std::result::Result<Save, String> {
    let parts = split_os(&text, b'=').and_then(|(what, file)| Some((what.to_str()?, file)));
    match parts {
        Some((what, file)) if !file.is_empty() => Ok(Save { what: what.parse()?, file: PathBuf::from(file) }),
        _ => Err("give an argument or a variable and a file, as in 2=out.npy".to_owned()),
    }
}

/// The extents of a grid or a block: one to three numbers; those left out are 1.
fn extents(text: &str) -> std::result::Result<[u32; 3], String> {
    let wrong = || "give one to three whole numbers from 1 to 4294967295, as in 16 or 16,16 or 8,8,4".to_owned();
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
        .mut_arg("check", |flag| checks_by_default(flag, "all; with --predict or --schedule none"))
        // Of labs alone; `run` says so.
        .mut_arg("compare_models", |flag| flag.hide(true))
        .mut_arg("thread_registers", |flag| flag.conflicts_with("registers"))
        .about("Run a kernel of a PTX file from any compiler, on a GPU or the simulator")
        .after_help(AFTER_HELP)
}

/// The folders of `--sources`; none if these are the arguments of another subcommand.
pub(crate) fn sources(matches: &ArgMatches) -> Vec<PathBuf> {
    let of_run = matches.subcommand_matches("run");
    let named = of_run.and_then(|run| run.get_many::<PathBuf>("sources"));
    named.into_iter().flatten().cloned().collect()
}

#[cfg(test)]
mod tests {
    use clap::FromArgMatches;

    use super::*;
    use crate::run::argument_id::ArgumentId;

    #[test]
    fn extents_are_one_to_three_numbers() {
        assert_eq!(extents("7"), Ok([7, 1, 1]));
        assert_eq!(extents("7,8"), Ok([7, 8, 1]));
        assert_eq!(extents("7,8,9"), Ok([7, 8, 9]));
        for text in ["", "0", "-1", "7,", "7,x", "1,2,3,4", "4294967296"] {
            assert_eq!(
                extents(text),
                Err("give one to three whole numbers from 1 to 4294967295, as in 16 or 16,16 or 8,8,4".into()),
                "{text}"
            );
        }
    }

    #[test]
    fn what_to_save_is_an_argument_or_a_variable_and_a_file() {
        let saved = |text: &str| save(text.into());
        let argument = Named::Argument(ArgumentId { launch: 0, argument: 2 });
        assert_eq!(saved("2=a=b.npy"), Ok(Save { what: argument, file: "a=b.npy".into() }));
        assert_eq!(saved("x=a.npy"), Ok(Save { what: Named::Variable("x".into()), file: "a.npy".into() }));
        for text in ["", "2", "2=", "a.npy"] {
            assert_eq!(saved(text), Err("give an argument or a variable and a file, as in 2=out.npy".into()), "{text}");
        }
        assert!(saved("-1=a.npy").is_err());
    }

    #[cfg(unix)]
    #[test]
    fn files_may_have_names_that_are_no_unicode() {
        use std::os::unix::ffi::OsStrExt;
        let text = |bytes: &[u8]| OsString::from(std::ffi::OsStr::from_bytes(bytes));
        assert_eq!(save(text(b"0=\xff=.npy")).unwrap().file, PathBuf::from(text(b"\xff=.npy")));
        let debug = format!("{:?}", argument(text(b"f32[4]+4=@\xff@.npy")).unwrap());
        assert!(debug.contains(r"\xFF@.npy"), "{debug}");
        let debug = format!("{:?}", set(text(b"x=@\xfe.npy")).unwrap());
        assert!(debug.contains(r"\xFE.npy"), "{debug}");
        for wrong in [&b"f32[\xff]=ramp"[..], b"\xff", b"u32:\xff", b"f32[4]=\xff"] {
            assert!(argument(text(wrong)).is_err());
        }
        assert!(save(text(b"\xff=a.npy")).is_err() && set(text(b"\xff=u32:1")).is_err());
    }

    fn parsed(words: &str) -> (Flags, Result<Vec<LaunchFlags>>) {
        let matches = command().try_get_matches_from(words.split_whitespace()).unwrap();
        let flags = Flags::from_arg_matches(&matches).unwrap();
        let launches = flags.launches(&matches);
        (flags, launches)
    }

    #[test]
    fn arguments_are_not_flags() {
        let (flags, launches) =
            parsed("run k.ptx k i32:-1 --grid 2 f32[4]=-1 --block 32 f32:-0.5 -1 --print 0,1 --print 1.2");
        let launches = launches.unwrap();
        let texts: Vec<&str> = launches[0].arguments.iter().map(|argument| argument.text.as_str()).collect();
        assert_eq!(texts, ["i32:-1", "f32[4]=-1", "f32:-0.5", "-1"]);
        let id = |launch, argument| Named::Argument(ArgumentId { launch, argument });
        assert_eq!(flags.print, [id(0, 0), id(0, 1), id(1, 2)]);
    }

    #[test]
    fn what_stands_behind_a_kernel_is_its_launchs() {
        let (_, launches) = parsed(
            "run --grid 3 --set a=u32:1 k.ptx k u32:1 --block 32 u32:2 --then l --shared 48K --grid 4 u32:3 --block 64 \
             --print 0 --set b=u32:2 --set c=u32:3 --then m --block 1 --grid 2,2 --registers 32",
        );
        let found: Vec<_> = launches
            .unwrap()
            .into_iter()
            .map(|launch| {
                let arguments: Vec<String> = launch.arguments.into_iter().map(|argument| argument.text).collect();
                let sets: Vec<String> = launch.set.into_iter().map(|set| set.name).collect();
                (
                    launch.kernel,
                    launch.grid,
                    launch.block[0],
                    launch.shared,
                    launch.registers,
                    arguments.join(" "),
                    sets.join(" "),
                )
            })
            .collect();
        let expected = [
            ("k", [3, 1, 1], 32, 0, None, "u32:1 u32:2", "a"),
            ("l", [4, 1, 1], 64, 48 << 10, None, "u32:3", "b c"),
            ("m", [2, 2, 1], 1, 0, Some(32), "", ""),
        ];
        let expected = expected.map(|(kernel, grid, block, shared, registers, arguments, sets)| {
            (kernel.to_owned(), grid, block, shared, registers, arguments.to_owned(), sets.to_owned())
        });
        assert_eq!(found, expected);
        let error = |words: &str| parsed(words).1.unwrap_err().to_string();
        assert_eq!(
            error("run k.ptx k --grid 1 --block 1 --then l --grid 1"),
            "--block: launch 1 (l) has none; give it after the kernel"
        );
        assert_eq!(error("run k.ptx k --grid 1 --block 1 --grid 2"), "--grid: launch 0 (k) has it more than once");
    }

    #[test]
    fn help_on_arguments_is_not_wrapped() {
        let widest = AFTER_HELP.lines().max_by_key(|line| line.len()).unwrap();
        assert!(widest.len() <= 100, "clap wraps at 100 columns: {widest}");
    }
}

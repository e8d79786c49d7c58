//! What `host run` is asked for: its flags and their help.

use std::path::PathBuf;
use std::str::FromStr;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Command};

use super::argument::Argument;
use crate::faults::CheckFlags;
use crate::flag_values::{bytes32, whole_number};
use crate::lines::LineFlags;

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
  tex2d:f32[64x48]=ramp    a texture of an array of 64 columns and 48 rows, filled as a buffer is
                           tex1d, tex3d: of one and three extents
                           texa1d, texa2d: of layers, which the last extent counts
                           texlin:f32[1024]: of linear memory
  tex2d:u8x4[64x48],linear,wrap,norm,float=@image.npy
                           texels of 4 components, and how they are read:
                           point or linear
                           clamp, wrap, mirror, border or border:VALUE, for all dimensions,
                           or one for each, as in wrap/clamp
                           norm: coordinates from 0 to 1
                           float: integers as floats up to 1
                           srgb
  surf2d:f32[64x48]        a surface, which the kernel may write; surf1d, surf3d, surfa1d, surfa2d
  tensor:f32[64x32],box:32x8=ramp
                           the tensor map, 128 bytes by value, of 32 rows and 64 columns, filled
                           as a buffer is (f16 and bf16: as u16), in boxes of 8 rows and 32 columns;
                           and behind the box, with commas:
                           swizzle:32, swizzle:64 or swizzle:128; interleave:16 or interleave:32
                           stride:512: bytes from row to row; 512x4096: and from plane to plane
                           every:1x2: every second row of a box; fill:nan; l2:64, l2:128 or l2:256
                           lower:-1x-1,upper:-1x-1,channels:8,pixels:64 instead of a box: im2col
  tensor_at:f32[64x32],box:32x8
                           the address of such a map in device memory
A Rust slice is two parameters, its address and its length in elements: `data: &[f32]` of 1024
elements is f32[1024]=ramp u64:1024.
Buffers start on multiples of 256 bytes. --save and --print show the whole buffer, from its start.";

/// What is to run.
#[derive(Args, Clone, Debug)]
pub(super) struct Flags {
    /// PTX of any compiler
    #[arg(value_name = "FILE.ptx")]
    pub(super) file: PathBuf,
    /// The kernel to launch
    #[arg(value_name = "KERNEL", value_parser = NonEmptyStringValueParser::new())]
    pub(super) kernel: String,
    /// One argument for each of the kernel's parameters; see below
    #[arg(value_name = "ARG", allow_negative_numbers = true)]
    pub(super) arguments: Vec<Argument>,
    /// Blocks of the grid; of a kernel that is .blocksareclusters, clusters
    #[arg(long, value_name = "X[,Y,Z]", value_parser = extents)]
    pub(super) grid: [u32; 3],
    /// Threads of a block
    #[arg(long, value_name = "X[,Y,Z]", value_parser = extents)]
    pub(super) block: [u32; 3],
    /// Blocks of a cluster [default: what the kernel demands, else 1]
    #[arg(long, value_name = "X[,Y,Z]", value_parser = extents)]
    pub(super) cluster: Option<[u32; 3]>,
    /// Dynamic shared memory of a block, such as 48K
    #[arg(long, value_name = "BYTES", default_value_t = 0, value_parser = bytes32)]
    pub(super) shared: u32,
    /// Write the buffer of argument I (from 0) to this file when the kernel is done
    #[arg(long, value_name = "I=FILE.npy")]
    pub(super) save: Vec<Save>,
    /// The part of a multiprocessor's memory that should be shared memory, in percent (0 to 100)
    #[arg(long, value_name = "PERCENT", value_parser = whole_number(0, 100u8))]
    pub(super) carveout: Option<u8>,
    /// On a model of the simulator: registers of a thread, which limit how many blocks are resident
    #[arg(long, value_name = "NUMBER", value_parser = whole_number(1, 255u32))]
    pub(super) registers: Option<u32>,
    /// Print the elements of the buffer of argument I (from 0)
    #[arg(long, value_name = "I", value_delimiter = ',', value_parser = whole_number(0, usize::MAX))]
    pub(super) print: Vec<usize>,
    /// On a GPU: also run on the simulator, for its counters
    #[arg(long)]
    pub(super) counters: bool,
    #[command(flatten)]
    pub(super) lines: LineFlags,
    #[command(flatten)]
    pub(super) checks: CheckFlags,
}

/// A buffer to write to a file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Save {
    pub(super) argument: usize,
    pub(super) file: PathBuf,
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
        .about("Run a kernel of a PTX file of any compiler, on a GPU or the simulator")
        .after_help(AFTER_HELP)
}

#[cfg(test)]
mod tests {
    use clap::FromArgMatches;

    use super::*;

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
    fn help_on_arguments_is_not_wrapped() {
        let widest = AFTER_HELP.lines().max_by_key(|line| line.len()).unwrap();
        assert!(widest.len() <= 100, "clap wraps at 100 columns: {widest}");
    }
}

//! Writes random safe kernels, as Rust: their forms, and statements; `phases` and `values` have the
//! rest.
//!
//! They are well typed and well borrowed, but nothing else: barriers and phases are in any control
//! flow. What `cuda_builder` lets through has to be free of faults in every launch.

mod phases;
mod values;

use common::random::Random;

/// The parameters that a launch passes to all kernels.
const PARAMETERS: &str = "    n: u32,
    input: &[u32],
    bytes: &[u8],
    grid: Matrix<u32>,
    mut out: DisjointSlice<u32>,
    mut words: DisjointSlice<u32x4>,
";

/// One that linear kernels do not have.
const PLANE: &str = "    mut plane: DisjointMatrix<u32>,\n";

/// What stands before the kernels.
pub const PRELUDE: &str = "#![no_std]
#![cfg_attr(target_arch = \"nvptx64\", feature(abi_ptx))]
#![forbid(unsafe_code)]
#![allow(unused, clippy::all)]

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
use cuda_std::phases::{Block, BlockSlice, Shared, TransposedMatrix};
use cuda_std::prelude::*;

/// What all blocks of all launches count in.
static TALLY: AtomicU32 = AtomicU32::new(0);

#[inline(always)]
fn at<const N: usize>(array: &[u32; N], index: u32) -> u32 {
    array[index as usize % N]
}

/// A barrier behind a function.
fn agreed(value: u32) -> u32 {
    thread::sync_threads_or(value & 1)
}

/// One behind a closure, for whom it suits.
fn twice(mut run: impl FnMut(u32)) {
    run(1);
    run(2);
}
";

/// How a kernel may be launched.
#[derive(Clone, Copy)]
pub enum Shape {
    /// Grid and block in x only.
    Linear,
    /// Any.
    Free,
    /// Blocks of exactly this shape.
    Block([u32; 3]),
    /// Both.
    LinearBlock(u32),
}

/// A kernel.
pub struct Kernel {
    pub source: String,
    pub shape: Shape,
    /// Whether `plane` comes after the other parameters.
    pub has_plane: bool,
    /// Whether then come `sums` and `turned`.
    pub phased: bool,
}

/// Blocks of kernels in phases.
const PHASED: [[u32; 2]; 5] = [[64, 1], [32, 2], [16, 4], [48, 1], [8, 8]];

impl Kernel {
    /// The kernel of this seed.
    pub fn random(name: &str, seed: u64) -> Self {
        let mut writer =
            Writer { random: Random::new(seed), names: 0, tiles: Vec::new(), block: [0; 2], has_plane: false };
        if writer.below(2) == 0 { writer.plain(name) } else { writer.phased(name) }
    }
}

/// A tile of a kernel in phases.
#[derive(Clone)]
struct Tile {
    name: String,
    form: Form,
    /// Whether a phase that is being written has borrowed it.
    borrowed: bool,
}

/// What a tile is.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    /// `[u32; N]`
    Array(u32),
    /// `[[u32; COLS]; ROWS]`
    Rows(u32, u32),
    /// `[AtomicU32; N]`
    Atomics(u32),
    /// `[u32; WARPS]`
    Warps(u32),
}

impl Form {
    fn ty(self) -> String {
        match self {
            Self::Array(n) | Self::Warps(n) => format!("[u32; {n}]"),
            Self::Rows(rows, cols) => format!("[[u32; {cols}]; {rows}]"),
            Self::Atomics(n) => format!("[AtomicU32; {n}]"),
        }
    }
}

/// Where a statement stands.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    /// In a kernel without phases.
    Plain,
    /// Between phases.
    Between,
    /// Outside of phases, where a branch has separated the threads.
    Apart,
    /// In a phase, which has a `thread`.
    Phase,
}

struct Writer {
    random: Random,
    /// How many names are taken.
    names: u32,
    tiles: Vec<Tile>,
    /// The block of a kernel in phases.
    block: [u32; 2],
    has_plane: bool,
}

impl Writer {
    fn below(&mut self, limit: u32) -> u32 {
        (self.random.next_u64() % u64::from(limit)) as u32
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        let place = self.below(of.len() as u32) as usize;
        of[place]
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("x{}", self.names)
    }

    /// A kernel without phases.
    fn plain(&mut self, name: &str) -> Kernel {
        let (attribute, shape) = match self.below(5) {
            0 => ("#[kernel(linear)]".to_owned(), Shape::Linear),
            1 => ("#[kernel]".to_owned(), Shape::Free),
            2 => {
                let [x, y, z] = self.one(&[[32, 2, 1], [7, 3, 2], [64, 1, 1], [1, 1, 1], [16, 8, 1]]);
                (format!("#[kernel(block({x}, {y}, {z}))]"), Shape::Block([x, y, z]))
            }
            3 => {
                let x = self.one(&[32, 50, 96, 128]);
                (format!("#[kernel(block({x}), linear, min_blocks(2))]"), Shape::LinearBlock(x))
            }
            _ => ("#[kernel(launch_bounds(256), linear)]".to_owned(), Shape::Linear),
        };
        self.has_plane = !attribute.contains("linear");
        let plane = if self.has_plane { PLANE } else { "" };
        let body = self.statements(Place::Plain, 6, 3);
        let source = format!(
            "\n{attribute}\npub fn {name}(\n{PARAMETERS}{plane}) {{\n    let (mut a, mut b) = (n, 1_u32);\n{body}}}\n"
        );
        Kernel { source, shape, has_plane: self.has_plane, phased: false }
    }

    fn statements(&mut self, place: Place, count: u32, depth: u32) -> String {
        (0..1 + self.below(count)).map(|_| self.statement(place, depth) + "\n").collect()
    }

    fn statement(&mut self, place: Place, depth: u32) -> String {
        let kind = if depth > 0 { self.below(18) } else { self.below(12) };
        match kind {
            0..=2 => {
                let to = self.one(&["a", "b"]);
                format!("{to} = {};", self.number(place, 3))
            }
            3..=5 => self.store(place),
            6..=8 => match place {
                Place::Plain => self.barrier(),
                Place::Between => self.phase(depth),
                Place::Apart | Place::Phase => self.counted(place),
            },
            9 => match place {
                Place::Between => self.phase(depth),
                _ => self.counted(place),
            },
            10 => match place {
                Place::Between if self.below(3) > 0 => self.phase(depth),
                _ => self.one(&["thread::block_fence();", "thread::device_fence();", "let mut a = a ^ b;"]).to_owned(),
            },
            11 if self.below(3) == 0 => self.leaving(place),
            11 => self.store(place),
            12 | 13 => {
                let (condition, place) = self.branch(place);
                let then = self.statements(place, 2, depth - 1);
                let other = match self.below(3) {
                    0 => format!(" else {{\n{}}}", self.statements(place, 2, depth - 1)),
                    _ => String::new(),
                };
                format!("if {condition} {{\n{then}}}{other}")
            }
            14 => {
                let i = self.name();
                let (end, place) = self.decision(place);
                format!("for {i} in 0..({end}) % 5 {{\na ^= {i};\n{}}}", self.statements(place, 2, depth - 1))
            }
            15 => {
                let i = self.name();
                let (condition, place) = self.branch(place);
                let body = self.statements(place, 2, depth - 1);
                format!("let mut {i} = 0_u32;\nwhile {i} < 4 {{\n{i} += 1;\nif {condition} {{ break; }}\n{body}}}")
            }
            16 => {
                let (value, place) = self.decision(place);
                let (first, second) = (self.statements(place, 2, depth - 1), self.statements(place, 1, depth - 1));
                format!("match ({value}) % 3 {{\n0 => {{\n{first}}}\n1 => a = b,\n_ => {{\n{second}}}\n}}")
            }
            _ => match place {
                Place::Plain => {
                    let (condition, barrier) = (self.branch(place).0, self.barrier());
                    format!("twice(|time| {{ if {condition} {{ b ^= time; return; }} {barrier} }});")
                }
                _ => format!("{{\n{}}}", self.statements(place, 2, depth - 1)),
            },
        }
    }

    /// A barrier without phases.
    fn barrier(&mut self) -> String {
        let value = self.number(Place::Plain, 1);
        match self.below(5) {
            0 => "thread::sync_threads();".to_owned(),
            1 => format!("a = thread::sync_threads_count({value});"),
            2 => format!("b = thread::sync_threads_and({value});"),
            3 => format!("a = agreed({value});"),
            _ => format!("if thread::sync_threads_or({value}) > 0 {{ thread::sync_threads(); b = 7; }}"),
        }
    }

    /// A way out. Between phases and before barriers it may be one that the builder refuses.
    fn leaving(&mut self, place: Place) -> String {
        let (condition, _) = self.branch(place);
        let way = self.one(&["return", "return", "return", "special::exit()"]);
        format!("if {condition} {{ {way}; }}")
    }

    /// A store to an output.
    fn store(&mut self, place: Place) -> String {
        let value = self.number(place, 2);
        let to = self.name();
        let index = self.one(&["thread::linear_index()", "thread::linear_index().ahead((b % 3) as usize)"]);
        match self.below(if place == Place::Phase && self.block != [0; 2] { 9 } else { 7 }) {
            0 | 1 => format!("if let Some({to}) = out.get_mut({}) {{ *{to} = {value}; }}", self.index(place, index)),
            2 => format!("if let Some({to}) = out.get_mut({}) {{ *{to} ^= {value}; }}", self.index(place, index)),
            3 => {
                let steps = self.one(&["", ".step_by(2)", ".skip(1)", ".take(2)"]);
                format!(
                    "for {to} in thread::grid_stride(out.len()){steps} {{ if let Some(to) = out.get_mut({to}) {{ *to = \
                     to.wrapping_add({value}); }} }}"
                )
            }
            4 if self.has_plane => {
                let position = if place == Place::Phase { "thread.position()" } else { "thread::position()" };
                format!("if let Some({to}) = plane.get_mut({position}) {{ *{to} = {to}.rotate_left(3) ^ ({value}); }}")
            }
            5 => format!(
                "if let Some({to}) = words.get_mut({}) {{ *{to} = u32x4::new(a, b, {value}, {to}.to_array()[0]); }}",
                self.index(place, "thread::linear_index()")
            ),
            6 => format!(
                "if let (Some(from), Some({to})) = (input.get(a as usize), out.get_mut({})) {{ *{to} = from ^ {value}; }}",
                self.index(place, "thread::linear_index()")
            ),
            7 => format!("if let Some({to}) = sums.get_mut(thread) {{ *{to} = {to}.wrapping_add({value}); }}"),
            8 if self.block[0].is_multiple_of(self.block[1]) => {
                format!("turned.each(thread, |line, {to}| *{to} ^= line ^ ({value}));")
            }
            _ => format!("a ^= {value};"),
        }
    }
}

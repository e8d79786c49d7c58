//! Writes random safe kernels, as Rust.
//!
//! They are well typed and well borrowed, but nothing else: barriers and phases are in any control
//! flow. What `cuda_builder` lets through has to be free of faults in every launch.

use device::random::Random;

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

    /// A kernel in phases.
    fn phased(&mut self, name: &str) -> Kernel {
        let [x, y] = self.one(&PHASED);
        self.block = [x, y];
        let threads = x * y;
        let more = self.one(&[0, 0, 13, 70]);
        let mut forms = vec![Form::Array(threads), Form::Array(threads + more), Form::Atomics(16)];
        forms.push(Form::Rows(1 + self.below(3 * y), x + self.below(3)));
        if threads.is_multiple_of(32) {
            forms.push(Form::Warps(threads / 32));
        }
        let tile = |(i, form)| Tile { name: format!("t{i}"), form, borrowed: false };
        self.tiles = forms.into_iter().enumerate().map(tile).collect();
        let linear = y == 1 && self.below(2) == 0;
        let (words, shape) = if linear { (", linear", Shape::LinearBlock(x)) } else { ("", Shape::Block([x, y, 1])) };
        self.has_plane = !linear;
        let plane = if self.has_plane { PLANE } else { "" };
        let tiles: String =
            self.tiles.iter().map(|tile| format!("    mut {}: Shared<{}>,\n", tile.name, tile.form.ty())).collect();
        let first: String = self.tiles.clone().iter().map(|tile| self.filled(tile)).collect();
        let body = self.statements(Place::Between, 7, 2);
        let last = self.last(threads);
        let source = format!(
            "\n#[kernel(block({x}, {y}){words})]\npub fn {name}(\n    mut block: Block<{x}, {y}>,\n{tiles}{PARAMETERS}{plane}    \
             mut sums: BlockSlice<u32>,\n    mut turned: TransposedMatrix<u32, {x}>,\n) {{\n    let (mut a, mut b) = (n, \
             1_u32);\n{first}{body}{last}}}\n"
        );
        Kernel { source, shape, has_plane: self.has_plane, phased: true }
    }

    /// The phase that first writes a tile: shared memory has no value before.
    fn filled(&mut self, tile: &Tile) -> String {
        let name = &tile.name;
        match tile.form {
            Form::Array(_) => format!("    block.fill(&mut {name}, |thread, i| i + thread.x());\n"),
            Form::Rows(..) => format!("    block.update(&mut {name}, |_, mut own| own.each(|row, to| *to = row));\n"),
            Form::Atomics(_) => {
                format!("    block.update(&mut {name}, |_, mut own| own.each(|i, to| *to = AtomicU32::new(i)));\n")
            }
            Form::Warps(_) => format!("    block.fill_by_warp(&mut {name}, |thread| thread.number());\n"),
        }
    }

    /// The last phase, if there is one.
    fn last(&mut self, threads: u32) -> String {
        match self.below(4) {
            0 => String::new(),
            1 if threads.is_multiple_of(32) => {
                let value = self.number(Place::Phase, 2);
                format!(
                    "    block.finish_in_warp(|thread| {value}, u32::wrapping_add, |thread, value| if let Some(to) = \
                     sums.get_mut(thread) {{ *to = value; }});\n"
                )
            }
            _ => {
                let body = self.statements(Place::Phase, 4, 1);
                format!("    block.finish(|thread| {{\n{body}    }});\n")
            }
        }
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

    /// A number that decides where threads go, and where the statements stand that it decides about.
    /// Now and then it is the builder that has to say that not all threads come there.
    fn decision(&mut self, place: Place) -> (String, Place) {
        match place {
            Place::Plain | Place::Between => match self.below(20) {
                0 => (self.number(place, 2), place),
                1..=5 => (self.number(place, 2), Place::Apart),
                _ => (self.uniform(), place),
            },
            Place::Apart | Place::Phase => (self.number(place, 2), place),
        }
    }

    /// As [`Writer::decision`], a condition.
    fn branch(&mut self, place: Place) -> (String, Place) {
        let (number, place) = self.decision(place);
        let compare = self.one(&["<", "==", ">=", "!="]);
        (format!("({number}) % 4 {compare} {}", self.below(4)), place)
    }

    /// A number that is the same in all threads of a block.
    fn uniform(&mut self) -> String {
        const LEAVES: [&str; 9] = [
            "n",
            "thread::block_idx_x()",
            "thread::block_idx_y()",
            "thread::grid_dim_x()",
            "thread::block_dim_y()",
            "input.len() as u32",
            "grid.rows()",
            "input.first().copied().unwrap_or(2)",
            "grid.get(1, 2).copied().unwrap_or(3)",
        ];
        let (p, q) = (self.one(&LEAVES), self.one(&LEAVES));
        match self.below(4) {
            0 => p.to_owned(),
            1 => format!("({p}) ^ ({q})"),
            2 => format!("({p}) + {}", self.below(9)),
            _ => format!("(({p}) >> ({q}) % 32)"),
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

    /// What all threads count in.
    fn counted(&mut self, place: Place) -> String {
        let value = self.number(place, 1);
        let atomics = self.tiles.iter().find(|tile| matches!(tile.form, Form::Atomics(_)) && !tile.borrowed).cloned();
        match (place, atomics) {
            (Place::Phase, Some(Tile { name, form: Form::Atomics(n), .. })) => {
                let index = self.number(place, 1);
                let method = self.one(&["fetch_add", "fetch_max", "fetch_xor", "swap"]);
                format!("b ^= {name}.read(thread)[({index}) as usize % {n}].{method}({value}, Relaxed);")
            }
            _ => format!("b ^= TALLY.fetch_add({value}, Relaxed);"),
        }
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

    /// In a phase, `thread` is the phase's.
    fn index(&self, place: Place, index: &str) -> String {
        match place {
            Place::Phase => index.replace("thread::", "thread."),
            _ => index.to_owned(),
        }
    }

    /// A phase.
    fn phase(&mut self, depth: u32) -> String {
        let [x, y] = self.block;
        let arrays: Vec<usize> = self.places(|form| matches!(form, Form::Array(_)));
        match self.below(11) {
            0 => {
                let array = self.one(&arrays);
                let value = self.borrowing(&[array], |writer| writer.number(Place::Phase, 3));
                format!("block.fill(&mut t{array}, |thread, i| i ^ ({value}));")
            }
            1 | 2 => {
                let array = self.one(&arrays);
                let body = self.borrowing(&[array], |writer| writer.statements(Place::Phase, 3, depth.min(1)));
                format!("block.update(&mut t{array}, |thread, mut own| {{\n{body}own.each(|i, to| *to ^= a ^ i);\n}});")
            }
            3 => {
                let [first, second] = [arrays[0], arrays[1]];
                let value = self.borrowing(&[first, second], |writer| writer.number(Place::Phase, 2));
                format!(
                    "block.update((&mut t{first}, &mut t{second}), |thread, (mut p, mut q)| {{ let value = {value}; p.each(|i, \
                     to| *to = value ^ i); q.each(|_, to| *to = to.wrapping_mul(value)); }});"
                )
            }
            4 => {
                let rows = self.places(|form| matches!(form, Form::Rows(..)))[0];
                let value = self.borrowing(&[rows], |writer| writer.number(Place::Phase, 2));
                format!(
                    "block.update(&mut t{rows}, |thread, mut own| {{ let value = {value}; own.each(|row, to| *to = row ^ value); \
                     if let Some(to) = own.get_mut(a) {{ *to = b; }} }});"
                )
            }
            5 => {
                let (array, distance) = (self.one(&arrays), self.decision(Place::Between).0);
                format!("block.pairs(&mut t{array}, ({distance}) % 40, |p, q| *p = p.wrapping_add(*q));")
            }
            6 => format!("block.each(|thread| {{\n{}}});", self.statements(Place::Phase, 3, depth.min(1))),
            7 if self.tiles[arrays[0]].form == self.tiles[arrays[1]].form => "t0.swap(&mut t1);".to_owned(),
            8 if (x * y).is_multiple_of(32) => {
                let value = self.number(Place::Between, 2);
                format!("a = block.warp_reduce({value}, |p: u32, q| p.wrapping_add(q));")
            }
            9 if (x * y).is_multiple_of(32) => {
                let warps = self.places(|form| matches!(form, Form::Warps(_)))[0];
                let value = self.borrowing(&[warps], |writer| writer.number(Place::Phase, 2));
                format!("block.fill_by_warp(&mut t{warps}, |thread| {value});")
            }
            _ => "block.each(|_| ());".to_owned(),
        }
    }

    fn places(&self, wanted: impl Fn(Form) -> bool) -> Vec<usize> {
        (0..self.tiles.len()).filter(|&tile| wanted(self.tiles[tile].form)).collect()
    }

    /// What `write` writes while the phase has these tiles.
    fn borrowing(&mut self, tiles: &[usize], write: impl FnOnce(&mut Self) -> String) -> String {
        tiles.iter().for_each(|&tile| self.tiles[tile].borrowed = true);
        let text = write(self);
        tiles.iter().for_each(|&tile| self.tiles[tile].borrowed = false);
        text
    }

    /// A number, modulo 2^32.
    fn number(&mut self, place: Place, depth: u32) -> String {
        if depth == 0 || self.below(4) == 0 {
            return self.leaf(place);
        }
        let (p, q) = (self.number(place, depth - 1), self.number(place, depth - 1));
        match self.below(if place == Place::Phase { 16 } else { 13 }) {
            0 | 1 => format!("({p}).wrapping_add({q})"),
            2 => format!("({p}).wrapping_mul({q})"),
            3 => format!("(({p}) ^ ({q}))"),
            4 => format!("(({p}) >> (({q}) % 32))"),
            5 => format!("({p}).min({q})"),
            6 => format!("(({p}) / (({q}) | 1))"),
            7 | 8 => format!("input.get(({p}) as usize % (input.len() + 3)).copied().unwrap_or({q})"),
            9 => format!("bytes.get(({p}) as usize % 300).map_or({q}, |byte| u32::from(*byte))"),
            10 => format!("grid.get(({p}) % 9, ({q}) % 40).copied().unwrap_or(5)"),
            11 => format!(
                "grid.row(({p}) % 9).map_or(1, |row| row.iter().take(3).fold({q}, |sum, x| sum.wrapping_add(*x)))"
            ),
            12 => format!("grid.column(({p}) % 40).take(3).fold(0, |sum: u32, x| sum ^ *x)"),
            _ => self.read(&p, &q),
        }
    }

    /// An element of a tile.
    fn read(&mut self, p: &str, q: &str) -> String {
        let free: Vec<usize> = (0..self.tiles.len()).filter(|&tile| !self.tiles[tile].borrowed).collect();
        if free.is_empty() {
            return format!("({p}) & ({q})");
        }
        let tile = self.one(&free);
        let Tile { name, form, .. } = self.tiles[tile].clone();
        match form {
            Form::Array(_) | Form::Warps(_) => format!("at({name}.read(thread), {p})"),
            Form::Atomics(n) => format!("{name}.read(thread)[({p}) as usize % {n}].load(Relaxed)"),
            // Columns beyond the block are padding, which nobody writes.
            Form::Rows(rows, _) => {
                format!("{name}.read(thread)[({p}) as usize % {rows}][({q}) as usize % {}]", self.block[0])
            }
        }
    }

    fn leaf(&mut self, place: Place) -> String {
        const ANYWHERE: [&str; 14] = [
            "a",
            "b",
            "n",
            "thread::block_idx_x()",
            "thread::block_idx_y()",
            "thread::grid_dim_x()",
            "thread::block_dim_x()",
            "thread::thread_idx_x()",
            "thread::thread_idx_y()",
            "thread::lane_id()",
            "thread::index_1d()",
            "TALLY.load(Relaxed)",
            "thread::block_row()",
            "input.len() as u32",
        ];
        match self.below(6) {
            0 => self.below(100).to_string() + "_u32",
            1 if place == Place::Phase => "thread.x()".to_owned(),
            2 if place == Place::Phase => "thread.number()".to_owned(),
            _ => self.one(&ANYWHERE).to_owned(),
        }
    }
}

//! `host pattern 'tile[x*33 + y]'`: what a warp's access with such an index costs, without a
//! kernel. `cli` calls it, and the page that one types into.
//!
//! ```text
//! text ──index──▶ Index ──for each lane──▶ simt::Request ──service(model)──▶ Scene ──▶ text, SVG, JSON
//! ```
//!
//! The simulator's own rules count; the array begins at a line of 128 bytes.

pub mod index;

use std::io::Write;
use std::path::PathBuf;

use clap::{ArgMatches, Args, Command, FromArgMatches};
use common::output_file;
use device::{DeviceChoice, Error, LoadCaching, Model, Result};
use picture::{Scene, access_svg, access_text, file, playing};
use serde_json::{Value, json};
use simt::counts::AccessKind;
use simt::requests::{Request, RequestedMemory, Service, Unit};

use crate::flag_values::whole_number;
use crate::report::Format;
use crate::{listing, terminal};
use index::{Index, Thread, Wrong};

/// Its subject, in a line.
pub const ABOUT: &str = "Draw what an index costs: a warp's access to a[...], without a kernel";

/// The lanes of a warp.
const LANES: u32 = 32;
/// The most shared memory of a block on any GPU.
const MOST_SHARED: i64 = 227 << 10;
/// Arrays in global memory end here: far more than a GPU has.
const MOST_GLOBAL: i64 = 1 << 40;
/// The characters of an index that a title has room for.
const LONGEST_TITLE: usize = 28;
/// Where an array in global memory begins.
const BASE: u64 = 0x7000_0000_0000;

/// The types of an element, and their bytes.
const TYPES: [(&str, u32); 13] = [
    ("u8", 1),
    ("i8", 1),
    ("u16", 2),
    ("i16", 2),
    ("f16", 2),
    ("u32", 4),
    ("i32", 4),
    ("f32", 4),
    ("u64", 8),
    ("i64", 8),
    ("f64", 8),
    ("f32x2", 8),
    ("f32x4", 16),
];

/// Its flags.
#[derive(Args, Clone, Debug)]
pub struct Flags {
    /// The index, with or without the array's name, as in 'tile[x*33 + y]' or 'i*2': whole numbers;
    /// x, y and z of the thread in its block, its lane, warp and block, and its number i in the
    /// grid; + - * / % << >> & ^ | and brackets
    #[arg(value_name = "INDEX", allow_hyphen_values = true)]
    index: String,
    /// Where the array is: global or shared
    #[arg(long, value_name = "MEMORY", default_value = "global", value_parser = memory)]
    memory: RequestedMemory,
    /// The type of an element: u8, i8, u16, i16, f16, u32, i32, f32, u64, i64, f64, f32x2 or f32x4
    #[arg(long = "type", value_name = "TYPE", default_value = "f32", value_parser = element)]
    element: (&'static str, u32),
    /// Store to the element instead of loading it
    #[arg(long)]
    store: bool,
    /// The shape of a block: threads in x, y and z
    #[arg(long, value_name = "X,Y,Z", default_value = "32", value_parser = shape)]
    block: [u32; 3],
    /// The warp of the block that is drawn, from 0
    #[arg(long, value_name = "NUMBER", default_value_t = 0, value_parser = whole_number(0, 31u32))]
    warp: u32,
    /// The number of its block, which is `block` in the index
    #[arg(long, value_name = "NUMBER", default_value_t = 0, value_parser = whole_number(0, u32::MAX))]
    block_number: u32,
    /// The GPU: sim for what Volta and later have in common, or sim:MODEL, as `host devices` lists
    /// them
    #[arg(long, value_name = "DEVICE", default_value = "sim")]
    device: DeviceChoice,
    /// Also write the drawing to this file
    #[arg(long, value_name = "FILE.svg")]
    svg: Option<PathBuf>,
    /// The written drawing plays its wavefronts, if there are several, one after the other
    #[arg(long, requires = "svg")]
    play: bool,
}

/// The subcommand.
pub(crate) fn command() -> Command {
    Flags::augment_args(Command::new("pattern")).about(ABOUT).long_about(None)
}

fn memory(text: &str) -> std::result::Result<RequestedMemory, String> {
    match text {
        "global" => Ok(RequestedMemory::Global),
        "shared" => Ok(RequestedMemory::Shared),
        _ => Err("give global or shared".to_owned()),
    }
}

fn element(text: &str) -> std::result::Result<(&'static str, u32), String> {
    let names = || TYPES.map(|(name, _)| name).join(", ");
    TYPES.into_iter().find(|(name, _)| *name == text).ok_or_else(|| format!("give one of {}", names()))
}

fn shape(text: &str) -> std::result::Result<[u32; 3], String> {
    let wrong = || "give one to three numbers from 1, of at most 1024 threads together, as in 16,16".to_owned();
    let mut shape = [1; 3];
    let parts: Vec<&str> = text.split(',').collect();
    if parts.len() > 3 {
        return Err(wrong());
    }
    for (side, part) in shape.iter_mut().zip(parts) {
        *side = whole_number(1, 1024u32)(part).map_err(|_| wrong())?;
    }
    let threads: u64 = shape.iter().map(|side| u64::from(*side)).product();
    if threads <= 1024 { Ok(shape) } else { Err(wrong()) }
}

/// What an index costs.
pub struct Pattern {
    flags: Flags,
    index: Index,
    /// The threads of the warp, by lane, each with its element.
    threads: Vec<(Thread, i64)>,
    service: Service,
    scene: Scene,
}

impl Pattern {
    /// That of these flags.
    fn new(flags: Flags) -> Result<Self> {
        let wrong = |wrong: Wrong| Error::request("INDEX", wrong.to_string());
        let (model, caching) = model(flags.device)?;
        let index = Index::parse(&flags.index).map_err(wrong)?;
        let threads = threads(&flags, &index)?;
        let (_, bytes) = flags.element;
        let base = if flags.memory == RequestedMemory::Global { BASE } else { 0 };
        let mut addresses = [base; LANES as usize];
        for ((_, element), address) in threads.iter().zip(&mut addresses) {
            *address = base + element.unsigned_abs() * u64::from(bytes);
        }
        let mask = u32::MAX >> (LANES as usize - threads.len());
        let kind = if flags.store { AccessKind::Store } else { AccessKind::Load };
        let request = Request::new(kind, flags.memory, bytes, mask, addresses);
        let service = request.service(model, caching);
        let scene =
            Scene { title: format!("{}: {}", shown(&flags.index), what(&flags).0), ..Scene::new(&request, &service) };
        Ok(Self { flags, index, threads, service, scene })
    }

    /// HTML: what it costs, in a sentence.
    pub fn says(&self) -> String {
        maud::html! { p { (webpage::numbers(&self.scene.sentence)) } }.into_string()
    }

    /// The drawing.
    pub fn svg(&self) -> String {
        access_svg(&self.scene)
    }

    /// Where the last number of the index stands, and how long it is, in characters from 0.
    pub fn last_number(&self) -> Option<(usize, usize)> {
        self.index.last_number
    }

    /// The unit of the cost, in one word.
    fn unit(&self) -> &'static str {
        match self.service.unit {
            Unit::Sector => "sectors",
            Unit::Line => "lines",
            Unit::Transaction => "transactions",
            Unit::Wavefront => "wavefronts",
            Unit::Address => "addresses",
            Unit::Request => "requests",
        }
    }

    /// The least cost of as many bytes, where the unit says it.
    fn fewest(&self) -> Option<u32> {
        match self.service.unit {
            Unit::Sector => Some(self.service.bytes_asked.div_ceil(32)),
            Unit::Wavefront => Some(self.service.count - self.service.conflicts),
            _ => None,
        }
    }

    /// The costs, by name.
    pub fn costs(&self) -> Vec<(&'static str, u32)> {
        let mut costs = vec![(self.unit(), self.service.count)];
        costs.extend(self.fewest().map(|fewest| ("fewest possible", fewest)));
        match self.service.unit {
            Unit::Wavefront => costs.push(("bank conflicts", self.service.conflicts)),
            _ => costs.push(("bytes moved", self.service.bytes_moved)),
        }
        costs.push(("bytes asked for", self.service.bytes_asked));
        costs
    }

    /// What each lane asks for: the lane, its x and y, the element, where that is, and its pass.
    pub fn lanes(&self) -> Vec<[i64; 6]> {
        let (_, bytes) = self.flags.element;
        let pass = |lane: i64| {
            let of_lane = self.service.asks.iter().filter(|ask| i64::from(ask.lane) == lane);
            of_lane.map(|ask| i64::from(ask.pass)).max().unwrap_or(0)
        };
        let place = |element: i64| match self.service.banks {
            Some(banks) => element * i64::from(bytes) / i64::from(banks.bytes) % i64::from(banks.count),
            None => element * i64::from(bytes) / 32,
        };
        let row = |(thread, element): &(Thread, i64)| {
            [thread.lane, thread.x, thread.y, *element, place(*element), pass(thread.lane) + 1]
        };
        self.threads.iter().map(row).collect()
    }

    /// The titles of these columns.
    pub fn columns(&self) -> [&'static str; 6] {
        ["lane", "x", "y", "index", if self.service.banks.is_some() { "bank" } else { "sector" }, "pass"]
    }

    fn json(&self) -> Value {
        let Flags { index, element: (element, bytes), block, warp, block_number, store, .. } = &self.flags;
        let columns = self.columns();
        let lane = |row: [i64; 6]| {
            columns.into_iter().map(str::to_owned).zip(row.map(Value::from)).collect::<serde_json::Map<_, _>>()
        };
        json!({
            "index": index,
            "memory": self.memory(),
            "access": if *store { "store" } else { "load" },
            "type": element,
            "element_bytes": bytes,
            "block": block,
            "warp": warp,
            "block_number": block_number,
            "device": device(self.flags.device),
            "sentence": self.scene.sentence,
            "unit": self.unit(),
            "count": self.service.count,
            "fewest": self.fewest(),
            "bank_conflicts": self.service.banks.map(|_| self.service.conflicts),
            "bytes_asked": self.service.bytes_asked,
            "bytes_moved": self.service.banks.is_none().then_some(self.service.bytes_moved),
            "lanes": self.lanes().into_iter().map(lane).collect::<Vec<_>>(),
        })
    }

    fn memory(&self) -> &'static str {
        if self.flags.memory == RequestedMemory::Global { "global" } else { "shared" }
    }

    /// Writes it.
    fn write(&self, format: Format, out: &mut dyn Write) -> Result<()> {
        let width = terminal::width();
        if format == Format::Table {
            writeln!(out, "{}", wording::wrapped(&self.scene.title, width, "", "  "))?;
            writeln!(out, "{}; on {}\n", what(&self.flags).1, device(self.flags.device))?;
            write!(out, "{}", access_text(&self.scene, width, terminal::paint()))?;
            out.flush()?;
            return Ok(());
        }
        let rows = self.lanes().into_iter().map(|row| row.map(|number| number.to_string()).to_vec()).collect();
        listing::write(format, &self.columns(), rows, self.json(), out)
    }
}

/// The index as a title has room for it.
fn shown(index: &str) -> String {
    let text = wording::printable(index.trim());
    match text.char_indices().nth(LONGEST_TITLE) {
        Some((end, _)) => text[..end].to_owned() + "…",
        None => text,
    }
}

/// What the access is, in words, and who makes it.
fn what(flags: &Flags) -> (String, String) {
    let (element, _) = flags.element;
    let memory = if flags.memory == RequestedMemory::Global { "global" } else { "shared" };
    let access = if flags.store { "store to" } else { "load from" };
    let [x, y, z] = flags.block;
    let block = match (y, z) {
        (1, 1) => format!("{x} threads"),
        (_, 1) => format!("{x} x {y} threads"),
        _ => format!("{x} x {y} x {z} threads"),
    };
    let warp = match (flags.warp, flags.block_number) {
        (0, 0) => String::new(),
        (warp, 0) => format!(", warp {warp}"),
        (warp, block) => format!(", warp {warp} of block {block}"),
    };
    (format!("{access} {memory} memory, {element}"), format!("{block} a block{warp}"))
}

/// The device in words.
fn device(choice: DeviceChoice) -> String {
    match choice {
        DeviceChoice::Model(model, _) => format!("the simulator of {}", model.chip),
        _ => "the simulator, as Volta and later GPUs".into(),
    }
}

/// Whose rules count.
fn model(choice: DeviceChoice) -> Result<(Option<&'static Model>, LoadCaching)> {
    match choice {
        DeviceChoice::Simulator => Ok((None, LoadCaching::Default)),
        DeviceChoice::Model(model, caching) => Ok((Some(model), caching)),
        DeviceChoice::Auto | DeviceChoice::Gpu(_) => {
            Err(Error::request("--device", "no kernel runs here; give sim or sim:MODEL"))
        }
    }
}

/// The threads of the warp, each with its element.
fn threads(flags: &Flags, index: &Index) -> Result<Vec<(Thread, i64)>> {
    let [width, height, depth] = flags.block.map(i64::from);
    let all = width * height * depth;
    let first = i64::from(flags.warp * LANES);
    if first >= all {
        let problem = format!("a block of {all} threads has warps 0 to {}", (all - 1) / i64::from(LANES));
        return Err(Error::request("--warp", problem));
    }
    let bytes = i64::from(flags.element.1);
    let (most, room) = match flags.memory {
        RequestedMemory::Shared => (MOST_SHARED, "the 227 KiB that a block can have"),
        _ => (MOST_GLOBAL, "1 TiB, which no GPU has"),
    };
    let of = |lane: i64| {
        let number = first + lane;
        let block = i64::from(flags.block_number);
        let thread = Thread {
            x: number % width,
            y: number / width % height,
            z: number / (width * height),
            lane,
            warp: flags.warp.into(),
            block,
            i: block * all + number,
        };
        let element = index.of(thread).map_err(|wrong| Error::request("INDEX", wrong.to_string()))?;
        let place = || format!("lane {lane} asks for {}[{element}]", index.array);
        if element < 0 {
            return Err(Error::request("INDEX", format!("{}, before the array", place())));
        }
        match element.checked_mul(bytes).and_then(|at| at.checked_add(bytes)) {
            Some(end) if end <= most => Ok((thread, element)),
            _ => Err(Error::request("INDEX", format!("{}, beyond {room}", place()))),
        }
    };
    (0..i64::from(LANES).min(all - first)).map(of).collect()
}

/// What these flags ask for.
pub(crate) fn of(matches: &ArgMatches) -> Result<Pattern> {
    let flags = Flags::from_arg_matches(matches)
        .map_err(|error| Error::request("flags", wording::one_line(&error.to_string())))?;
    Pattern::new(flags)
}

/// Runs the subcommand.
pub(crate) fn main(matches: &ArgMatches, format: Format, out: &mut dyn Write) -> Result<()> {
    let pattern = of(matches)?;
    if let Some(path) = &pattern.flags.svg {
        output_file::check(path)?;
        let drawing = if pattern.flags.play { playing(&pattern.svg()) } else { pattern.svg() };
        output_file::write_whole(path, |out| out.write_all(file(&drawing).as_bytes()))?;
    }
    pattern.write(format, out)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use simt::Model;

    use crate::cli;

    /// Its cost: the number, and the unit.
    fn cost(arguments: &str) -> Result<(&'static str, u32), String> {
        let pattern = cli::pattern(arguments.split(' ').map(OsString::from))?;
        Ok(pattern.costs()[0])
    }

    #[test]
    fn an_index_costs_what_a_kernel_with_it_does() {
        for (arguments, expected) in [
            ("i", ("sectors", 4)),
            ("i+1", ("sectors", 5)),
            ("i*2", ("sectors", 8)),
            ("i*8", ("sectors", 32)),
            ("0", ("sectors", 1)),
            ("i --type f64", ("sectors", 8)),
            ("i --type u8", ("sectors", 1)),
            ("i --block 20", ("sectors", 3)),
            ("i --device sim:fermi:ca", ("lines", 1)),
            ("i --device sim:g80", ("transactions", 2)),
            ("x*16+y --block 16,16", ("sectors", 16)),
            ("y*16+x --block 16,16 --warp 3", ("sectors", 4)),
            ("tile[x*32+y] --memory shared", ("wavefronts", 32)),
            ("tile[x*33+y] --memory shared", ("wavefronts", 1)),
            ("tile[x*2] --memory shared --store", ("wavefronts", 2)),
            ("i --memory shared --type f32x4", ("wavefronts", 4)),
            ("tile[lane*2] --memory shared --device sim:g80", ("wavefronts", 4)),
        ] {
            assert_eq!(cost(arguments), Ok(expected), "{arguments}");
        }
    }

    #[test]
    fn what_cannot_be_drawn_is_one_line() {
        for (arguments, says) in [
            ("i-1", "INDEX: lane 0 asks for a[-1], before the array"),
            (
                "tile[i*65536] --memory shared",
                "INDEX: lane 1 asks for tile[65536], beyond the 227 KiB that a block can have",
            ),
            ("i<<40", "INDEX: lane 1 asks for a[1099511627776], beyond 1 TiB, which no GPU has"),
            ("i/x", "INDEX: column 2: lane 0 divides by zero"),
            ("i --warp 1", "--warp: a block of 32 threads has warps 0 to 0"),
            ("i --device gpu", "--device: no kernel runs here; give sim or sim:MODEL"),
        ] {
            assert_eq!(cost(arguments), Err(says.to_owned()), "{arguments}");
        }
        for arguments in ["i --block 0", "i --block 33,32", "i --block 1,1,1,1", "i --memory local", "i --type bool"] {
            let error = cost(arguments).unwrap_err();
            assert!(error.starts_with("invalid value") && !error.contains('\n'), "{error}");
        }
    }

    #[test]
    fn every_model_memory_and_type_is_drawn() {
        let models = Model::all().iter().map(|model| format!("sim:{}", model.name)).chain(["sim".to_owned()]);
        for model in models {
            for memory in ["global", "shared", "shared --store", "global --store"] {
                for (element, _) in super::TYPES {
                    let line = format!("(lane*7)%32 --device {model} --memory {memory} --type {element}");
                    let pattern = cli::pattern(line.split(' ').map(OsString::from)).unwrap();
                    assert!(pattern.svg().starts_with("<svg") && pattern.lanes().len() == 32, "{line}");
                    assert!(pattern.costs()[0].1 > 0, "{line}");
                }
            }
        }
    }
}

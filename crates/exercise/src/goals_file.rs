//! The contents of `goals.toml` as data, parsed with `serde`. [`crate::files`] reads the file and
//! checks its parts against each other; `data`, `run` and judges carry out what it says. Keys and
//! values are described in `docs/WRITING_EXERCISES.md`.

use indexmap::IndexMap;
use serde::{Deserialize, Deserializer};
use simt::transfers::{Engine, Operation, Schedule, microseconds};

use goals::expression::Expression;
use goals::goal::{Counted, Goal};

/// `goals.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Goals {
    /// The title, in a few words.
    pub title: String,
    /// The kind of task.
    pub task: Task,
    /// About how long it takes.
    pub minutes: u32,
    /// The lab that shows the same effect, if there is one.
    #[serde(default)]
    pub lab: Option<String>,
    /// Words that the report on the starter must contain. Not shown to students. (A starter without
    /// predictions needs none.)
    #[serde(default)]
    pub starter_fails: String,
    /// Whether to report also what works on a GPU but is a mistake here, such as volatile accesses
    /// in place of barriers.
    #[serde(default)]
    pub strict: bool,
    /// The sizes, whose names all expressions may use.
    #[serde(default)]
    pub sizes: IndexMap<String, Size>,
    /// The sizes at which goals are counted; those left out are drawn from `sizes`.
    #[serde(default)]
    pub measured: IndexMap<String, Size>,
    /// The sizes at which a GPU is timed, which are far larger; those left out are as in
    /// `measured`.
    #[serde(default)]
    pub timed: IndexMap<String, Size>,
    /// The sizes at which times are predicted, if there are any; those left out are as in
    /// `measured`.
    #[serde(default)]
    pub predicted: IndexMap<String, Size>,
    /// The sizes of the largest run, at which an index of 16 bits is too short; those left out are
    /// drawn from `sizes`. Without them, an exercise of one size has one that is chosen for it; an
    /// empty table says that none is to be tried.
    pub large: Option<IndexMap<String, Size>>,
    /// Buffers and textures, in the order in which they are allocated.
    #[serde(default)]
    pub data: IndexMap<String, Data>,
    /// The launches, in order. A host exercise has none: the student's program launches.
    #[serde(default)]
    pub launch: Vec<Launch>,
    /// How the driver behaves, in a host exercise.
    #[serde(default)]
    pub driver: Driver,
    /// How the right results are computed.
    #[serde(rename = "answer")]
    pub reference: Option<ReferenceLaunch>,
    /// The goals for what is counted.
    #[serde(default)]
    pub goal: Vec<GoalPlan>,
    /// What the student predicts.
    #[serde(default)]
    pub question: Vec<Question>,
    /// What is given of an open exercise.
    pub open: Option<Open>,
}

impl Goals {
    /// The kernels that are launched, each once.
    pub fn kernels(&self) -> impl Iterator<Item = &str> {
        let is_first =
            move |&(at, launch): &(usize, &Launch)| self.launch[..at].iter().all(|it| it.kernel != launch.kernel);
        self.launch.iter().enumerate().filter(is_first).map(|(_, launch)| launch.kernel.as_str())
    }
}

/// The kind of task.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Task {
    /// The kernel is wrong.
    Right,
    /// The kernel is right but wasteful.
    Fast,
    /// The kernel is given; the student predicts what it does.
    #[serde(rename = "explain")]
    Predict,
    /// The kernels are given; the student writes the program that launches them.
    Host,
    /// Only the result is given; kernels and launches are the student's ([`Open`]).
    Open,
}

/// What is given of an open exercise.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Open {
    /// The parameters of every kernel.
    pub arguments: Vec<Argument>,
    /// The most launches.
    pub launches: usize,
    /// What a copy moves, in bytes, whose time the kernels' is compared with.
    pub bytes: Expression,
    /// The grades, and how many times as long as that copy the kernels may take for each. The first
    /// is the least that solves the exercise.
    pub grades: IndexMap<String, f64>,
    /// The multiprocessors of the GPU whose times are predicted, for the student's grids.
    #[serde(skip)]
    pub multiprocessors: u32,
}

/// How the simulator's driver behaves while a host exercise runs.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Driver {
    /// Whether a kernel's fault shows at the next synchronisation, as on a GPU, and is no failure.
    #[serde(default)]
    pub faults: bool,
}

/// The range from which a size is drawn.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Size {
    /// Sizes that every run tries.
    #[serde(default)]
    pub always: Vec<u64>,
    /// The smallest.
    pub from: u64,
    /// The largest.
    pub to: u64,
    /// The number that it is a multiple of.
    #[serde(default = "one")]
    pub multiple_of: u64,
}

fn one() -> u64 {
    1
}

/// A buffer, or a texture.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Data {
    /// The type of its elements.
    #[serde(rename = "type")]
    pub element: Element,
    /// The number of elements, if it has no rows.
    pub length: Option<Expression>,
    /// Rows, of a matrix.
    pub rows: Option<Expression>,
    /// Columns, of a matrix.
    pub columns: Option<Expression>,
    /// Whether rows start on the device's preferred alignment.
    #[serde(default)]
    pub pitched: bool,
    /// Its contents before the launches.
    pub values: Option<Values>,
    /// Whether the kernels write it. All other data must stay unchanged.
    #[serde(default)]
    pub output: bool,
    /// Whether it is the kernels' scratch memory: it starts undefined and is not compared.
    #[serde(default)]
    pub scratch: bool,
    /// How it is read, if it is a texture.
    pub texture: Option<Texture>,
}

/// The type of elements.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Element {
    F32,
    F64,
    I32,
    U32,
    I64,
    U64,
    U8,
}

impl Element {
    /// Its size in bytes.
    pub fn bytes(self) -> usize {
        match self {
            Self::U8 => 1,
            Self::F32 | Self::I32 | Self::U32 => 4,
            Self::F64 | Self::I64 | Self::U64 => 8,
        }
    }
}

/// The contents of a buffer before the launches.
#[derive(Clone, Debug)]
pub enum Values {
    /// Floats from -1 up to, but not including, 1; integers with any bits.
    Random,
    /// Integers in a range, both ends included.
    Between(i64, i64),
    /// A random permutation of 0, 1, 2, ...
    Permutation,
    /// An expression of the index `i`.
    Formula(Expression),
}

impl<'de> Deserialize<'de> for Values {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(
            untagged,
            expecting = "values are \"random\", \"zeros\", \"permutation\", { from, to } or an expression of i"
        )]
        enum Written {
            Text(String),
            Between { from: i64, to: i64 },
        }
        Ok(match Written::deserialize(deserializer)? {
            Written::Between { from, to } if from <= to => Self::Between(from, to),
            Written::Between { .. } => return Err(serde::de::Error::custom("'from' is above 'to'")),
            Written::Text(text) => match text.as_str() {
                "random" => Self::Random,
                "zeros" => Self::Between(0, 0),
                "permutation" => Self::Permutation,
                formula => Self::Formula(formula.parse().map_err(serde::de::Error::custom)?),
            },
        })
    }
}

/// How a texture is read.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Texture {
    /// Between texels: the filter.
    pub filter: Filter,
    /// Beyond the edges: the address mode.
    pub address: Address,
}

/// A texture's filter.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Filter {
    Nearest,
    Linear,
}

/// A texture's address mode.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Address {
    Clamp,
    Wrap,
    Mirror,
    Border,
}

/// The one to three extents of a grid or a block.
#[derive(Clone, Debug)]
pub struct Extents(pub Vec<Expression>);

impl Extents {
    fn one() -> Self {
        Self(vec!["1".parse().expect("it is a number")])
    }
}

impl<'de> Deserialize<'de> for Extents {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        // Parsed afterwards: an untagged enum loses the error of what is in it.
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Part {
            Number(f64),
            Text(String),
        }
        #[derive(Deserialize)]
        #[serde(
            untagged,
            expecting = "a grid or a block must be a number, an expression in quotes, or a list of up to three"
        )]
        enum Written {
            One(Part),
            Several(Vec<Part>),
        }
        let parts = match Written::deserialize(deserializer)? {
            Written::One(one) => vec![one],
            Written::Several(several) => several,
        };
        if !(1..=3).contains(&parts.len()) {
            return Err(serde::de::Error::custom("a grid and a block have one to three extents"));
        }
        let parsed = parts.into_iter().map(|part| match part {
            Part::Number(number) => number.to_string().parse::<Expression>(),
            Part::Text(text) => text.parse(),
        });
        parsed.collect::<std::result::Result<_, String>>().map(Self).map_err(serde::de::Error::custom)
    }
}

/// A launch of one of the student's kernels.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Launch {
    /// The kernel's name.
    pub kernel: String,
    /// Blocks.
    pub grid: Extents,
    /// Threads of a block, or `launch_bounds` for the kernel's own bounds.
    pub block: Extents,
    /// Bytes of dynamic shared memory.
    pub shared: Option<Expression>,
    /// The kernel's parameters.
    pub arguments: Vec<Argument>,
    /// Whether the student may leave this kernel out.
    #[serde(default)]
    pub optional: bool,
    /// The line of the student's file that asks for it, in an open exercise.
    #[serde(skip)]
    pub line: Option<u32>,
}

/// The launch of the reference, with one thread unless it says more.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReferenceLaunch {
    /// The kernel's name.
    pub kernel: String,
    /// The kernel's parameters.
    pub arguments: Vec<Argument>,
    /// The allowed distance of a float from the reference, relative to one plus its magnitude.
    #[serde(default)]
    pub tolerance: f64,
    /// Blocks.
    #[serde(default = "Extents::one")]
    pub grid: Extents,
    /// Threads of a block.
    #[serde(default = "Extents::one")]
    pub block: Extents,
}

/// One parameter of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// `NAME`: a buffer's address, a texture's handle, or a size. `NAME.values`: the address of a
    /// texture's values.
    Value(Expression),
    /// `&NAME`: a slice (address and length), or a matrix (address, rows, columns and pitch) if the
    /// data has rows.
    Reference(String),
    /// `f32: 2.5`.
    F32(Expression),
    /// `f64: 2.5`.
    F64(Expression),
}

impl<'de> Deserialize<'de> for Argument {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "an argument is the name of data, &NAME, a number or an expression")]
        enum Written {
            Text(String),
            Number(Expression),
        }
        let text = match Written::deserialize(deserializer)? {
            Written::Text(text) => text,
            Written::Number(number) => return Ok(Self::Value(number)),
        };
        let expression = |text: &str| text.parse::<Expression>().map_err(serde::de::Error::custom);
        if let Some(name) = text.strip_prefix('&') {
            return Ok(Self::Reference(name.trim().to_owned()));
        }
        Ok(match text.split_once(':') {
            Some(("f32", value)) => Self::F32(expression(value)?),
            Some(("f64", value)) => Self::F64(expression(value)?),
            Some(("u32" | "u64" | "usize", value)) => Self::Value(expression(value)?),
            _ => Self::Value(expression(&text)?),
        })
    }
}

/// A bound on something that is counted.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GoalPlan {
    /// The condition.
    pub that: Goal,
    /// The explanation if it does not hold.
    pub why: String,
    /// Whether the starter already meets it.
    #[serde(default)]
    pub also: bool,
}

/// Something to predict.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// Its name in `predict.toml`.
    pub name: String,
    /// The question.
    pub ask: String,
    /// The counted metric.
    pub count: Option<Counted>,
    /// In place of it: a litmus test, as `host litmus` reads it. The answer is how many of the
    /// outcomes that it asks for PTX's memory model allows.
    pub litmus: Option<String>,
    /// In place of both: copies and kernels in streams. The answer is how many microseconds they take.
    pub transfers: Option<Transfers>,
    /// The GPU that the question is about.
    pub on: Option<String>,
    /// The explanation, shown after a prediction.
    pub why: String,
}

/// Chunks that are copied to a device, worked on and copied back, in streams.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Transfers {
    /// The kernel that works on them.
    pub kernel: String,
    /// How many chunks.
    pub chunks: u32,
    /// How many streams, which get the chunks in turn.
    pub streams: u32,
    /// Bytes of a chunk.
    pub bytes: u64,
    /// The link's rate in each direction, in GB/s.
    pub gbps: f64,
    /// What each copy costs beside its bytes, in microseconds.
    pub copy_us: f64,
    /// The kernel's time for a chunk, in microseconds. With 0 there is no kernel, and nothing is copied
    /// back.
    pub kernel_us: f64,
    /// Whether the host's memory is pageable, so that the host waits for each copy.
    #[serde(default)]
    pub pageable: bool,
}

impl Transfers {
    /// How long all of it takes, in microseconds.
    pub fn us(&self) -> f64 {
        let copy_us = self.copy_us + microseconds(self.bytes, self.gbps);
        let engines = match self.kernel_us > 0.0 {
            true => [Engine::ToDevice, Engine::Kernels, Engine::ToHost].as_slice(),
            false => &[Engine::ToDevice],
        };
        let of_chunk = |chunk: u32| {
            engines.iter().map(move |&engine| {
                let is_copy = engine != Engine::Kernels;
                let us = if is_copy { copy_us } else { self.kernel_us };
                let stream = chunk % self.streams.max(1);
                Operation { stream, engine, chunk, us, waits: is_copy && self.pageable }
            })
        };
        Schedule::of((0..self.chunks).flat_map(of_chunk).collect()).end_us()
    }
}

impl Question {
    /// How many kinds of answers it has: 1.
    pub fn kinds(&self) -> usize {
        [self.count.is_some(), self.litmus.is_some(), self.transfers.is_some()].into_iter().filter(|&is| is).count()
    }

    /// The kernel that it is about: a litmus test has the kernel's name.
    pub fn kernel(&self) -> Option<&str> {
        match (&self.count, &self.transfers) {
            (Some(count), _) => count.kernel.as_deref(),
            (None, Some(transfers)) => Some(&transfers.kernel),
            (None, None) => Some(&self.name),
        }
    }
}

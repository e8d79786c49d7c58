//! The interface of labs: a lab consists of its flags, its data on a device, and a table of
//! variants.
//!
//! ```text
//! Lab::new   flags ──▶ inputs on the host              once
//! Lab::plan  inputs ──▶ data on a device, variants     once for each device that runs them
//! Variant    launch(data) ──▶ outcome(data)            what the flow does with each variant
//! ```
//!
//! A lab defines what to run and which result is right. [`super::flow`] does the rest: memory,
//! timing, counting, faults, reports. Its variants are a table ([`super::variants`]), its sentences
//! another ([`Lab::CONCLUSIONS`]).
//!
//! A variant is a name, a function that launches, one that compares, and facts: its group, its
//! place on the axes of a sweep, bytes, operations, cache preferences. So a lab never handles
//! counters, times or formats. If a variant launches several kernels, their counts are added up,
//! and their lines and findings merged.

use std::ops::Range;
use std::path::Path;
use std::rc::Rc;

use clap::Args;
use device::peers::Peers;
use device::{Device, Result};
use picture::TileOrder;
use serde_json::Value;

use super::compare::{self, Expected, Reference, Shape};
use super::inputs::DefaultSize;
use super::launcher::{Launcher, Preferences};
use super::settings::Settings;
use super::showcase::Showcase;
use crate::npy;
use crate::peers::Peer;
use crate::report::{Comparison, Conclusion, Fact, FirstScreen, Grid, Meaning, Subject, Sweep, Tolerance};

/// A lab: one subcommand of `host`.
pub trait Lab: Sized + Sync {
    /// Its name: the subcommand, and the prefix of its kernels' names.
    const NAME: &'static str;
    /// Its subject, in one line.
    const ABOUT: &'static str;
    /// Which counters its table shows, the most important first. The other formats have all
    /// counters.
    const SUBJECTS: &'static [Subject];
    /// What a terminal shows first.
    const FIRST: FirstScreen;
    /// What the numbers show, in sentences with the numbers in them. The most
    /// important first; the others only with `--legend`. Said only if every variant was right.
    const CONCLUSIONS: &'static [Conclusion];
    /// What `--plot` draws. A lab without any, and without a roofline, refuses that flag.
    const SWEEPS: &'static [Sweep] = &[];
    /// Whether `--plot` and pages show its rows below the roofs of the GPU.
    const ROOFLINE: bool = false;
    /// What its page in a browser begins with.
    const SHOWCASE: Showcase = Showcase::DEFAULTS;
    /// The default of each flag that depends on the device, for the help.
    const SIZES: &'static [(&'static str, DefaultSize)] = &[];
    /// Which libraries have rows in its table with `--peer`. A lab without any does not have that
    /// flag.
    const PEERS: &'static [Peer] = &[];
    /// Whether its launches depend on [`Device::multiprocessors`]. If so, its report has the
    /// number, and `--multiprocessors` changes it.
    const SHAPED: bool = false;
    /// Whether a report shows how often threads load each element, or update it by atomic
    /// operations, beside the counters.
    const COUNTS_WORDS: bool = false;
    /// Whether some of its rows race on purpose, so that a check of all labs leaves the race check
    /// out.
    const RACES: bool = false;
    /// What the names and positions of its rows mean, in the order of the table's columns.
    const MEANINGS: fn() -> Vec<Meaning> = Vec::new;
    /// Its own flags.
    type Options: Args;
    /// Its data on a device.
    type Data;

    /// Reads or generates the inputs. `device` is the report's device, which decides default sizes.
    /// Invalid input is rejected here, before anything is allocated.
    ///
    /// # Errors
    ///
    /// [`device::Error::Request`], [`device::Error::File`] and [`device::Error::OutOfMemory`].
    fn new(device: &Device, options: Self::Options, settings: &Settings) -> Result<Self>;

    /// The parameters that all variants share, as an object, for the report's first line. Nulls are
    /// omitted; the seed is added.
    fn parameters(&self) -> Value;

    /// Whether flags choose rows: then a terminal shows all of them first.
    fn chooses_rows(&self) -> bool {
        false
    }

    /// Allocates the data on a device and returns the variants to run there.
    ///
    /// # Errors
    ///
    /// Those of the device.
    fn plan<'a>(&'a self, device: &Device) -> Result<Plan<'a, Self::Data>>;

    /// The libraries' variants on the same data, shown below the lab's own. Called only on a GPU,
    /// with `--peer`.
    ///
    /// # Errors
    ///
    /// Those of the device and of the libraries, and [`device::Error::Request`] if no library does
    /// what the flags request.
    fn peers<'a>(
        &'a self,
        _device: &Device,
        _peers: &Rc<Peers>,
        _data: &Self::Data,
    ) -> Result<Vec<Variant<'a, Self::Data>>> {
        Ok(Vec::new())
    }

    /// Overwrites all outputs, so that no earlier variant's result remains. A lab that works in
    /// place restores its input.
    ///
    /// # Errors
    ///
    /// Those of the device.
    fn reset(&self, data: &mut Self::Data) -> Result<()>;
}

/// The data and variants of a lab on one device.
pub struct Plan<'a, D> {
    /// The data on the device.
    pub data: D,
    /// The variants, which are the rows of the table, in the order in which they run.
    pub variants: Vec<Variant<'a, D>>,
    /// Sweeps of two axes to show as grids, below the table.
    pub grids: Vec<Grid>,
    /// Whether the grids show everything, so that the table lists variants only if something is
    /// wrong.
    pub compact: bool,
}

impl<'a, D> Plan<'a, D> {
    /// These variants on this data.
    pub fn new(data: D, variants: Vec<Variant<'a, D>>) -> Self {
        Self { data, variants, grids: Vec::new(), compact: false }
    }

    /// Shows only the grids unless something is wrong, for sweeps of many variants.
    pub fn compact(mut self) -> Self {
        self.compact = true;
        self
    }

    /// Also shows a sweep of two axes as a grid.
    pub fn grid(mut self, grid: Grid) -> Self {
        self.grids.push(grid);
        self
    }
}

/// How a variant is launched.
type Launch<'a, D> = Box<dyn Fn(&mut D, &mut Launcher<'_>) -> Result<()> + 'a>;
/// What is done before it is timed by the host's clock.
type Before<'a, D> = Box<dyn Fn(&mut D, &mut Launcher<'_>) -> Result<()> + 'a>;
/// How its result is read and compared.
type ReadOutcome<'a, D> = Box<dyn Fn(&mut D) -> Result<Outcome> + 'a>;

/// A row of a lab's table: something to launch, and how to compare its result.
pub struct Variant<'a, D> {
    pub(super) name: String,
    pub(super) group: String,
    pub(super) facts: Vec<Fact>,
    pub(super) useful_bytes: u64,
    pub(super) operations: u64,
    pub(super) computes: Option<Computed>,
    pub(super) one_of_several: bool,
    pub(super) again: Option<Again>,
    pub(super) tiles: Option<TileOrder>,
    pub(super) preferences: Preferences,
    pub(super) device: Option<Device>,
    pub(super) before: Option<Before<'a, D>>,
    pub(super) launch: Launch<'a, D>,
    pub(super) outcome: ReadOutcome<'a, D>,
}

impl<'a, D> Variant<'a, D> {
    /// A variant called `name`. `launch` may launch any number of kernels; `outcome` reads the
    /// result and compares it.
    pub fn new(
        name: impl Into<String>,
        launch: impl Fn(&mut D, &mut Launcher<'_>) -> Result<()> + 'a,
        outcome: impl Fn(&mut D) -> Result<Outcome> + 'a,
    ) -> Self {
        Self {
            name: name.into(),
            group: String::new(),
            facts: Vec::new(),
            useful_bytes: 0,
            operations: 0,
            computes: None,
            one_of_several: false,
            again: None,
            tiles: None,
            preferences: Preferences::default(),
            device: None,
            before: None,
            launch: Box::new(launch),
            outcome: Box::new(outcome),
        }
    }

    /// Compares it with the first variant of this group, not with the first of all.
    pub fn group(mut self, group: impl Into<String>) -> Self {
        self.group = group.into();
        self
    }

    /// Adds a parameter, which every format but the table shows.
    pub fn fact(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.facts.push(Fact { name, value: value.into(), axis: false });
        self
    }

    /// Adds its position on an axis of a sweep, which is a column of every format.
    pub fn axis(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.facts.push(Fact { name, value: value.into(), axis: true });
        self
    }

    /// The bytes that the task itself reads and writes, for the report's GB/s.
    pub fn bytes(mut self, useful: u64) -> Self {
        self.useful_bytes = useful;
        self
    }

    /// The task's own floating-point operations, for the report's GFLOP/s.
    pub fn operations(mut self, operations: u64) -> Self {
        self.operations = operations;
        self
    }

    /// Names its result and the result's size in bytes, for `--output`. Variants with the same
    /// result use the same name.
    pub fn computes(mut self, what: impl Into<String>, bytes: u64) -> Self {
        self.computes = Some(Computed { what: what.into(), bytes });
        self
    }

    /// Says in the report which kernel this was: other sizes and devices have others.
    pub fn one_of_several_kernels(mut self) -> Self {
        self.one_of_several = true;
        self
    }

    /// Launches it with these preferences, unless the flags set others.
    pub fn preferences(mut self, preferences: Preferences) -> Self {
        self.preferences = preferences;
        self
    }

    /// Draws which tiles its blocks take.
    pub fn takes_tiles(mut self, order: TileOrder) -> Self {
        self.tiles = Some(order);
        self
    }

    /// Also runs it this often again, on the simulator in drawn orders, and counts the wrong results.
    /// If they are `allowed`, a wrong result on a GPU is no fault: the usual order has none.
    pub fn again(mut self, times: u32, allowed: bool) -> Self {
        self.again = Some(Again { times, allowed });
        self
    }

    /// Times it on a GPU by the host's clock, from the first call until all work has ended, each time
    /// after this.
    pub fn by_host_clock(mut self, before: impl Fn(&mut D, &mut Launcher<'_>) -> Result<()> + 'a) -> Self {
        self.before = Some(Box::new(before));
        self
    }

    /// Runs it on this device instead of the lab's: on a model of the simulator.
    pub fn on(mut self, device: Device) -> Self {
        self.device = Some(device);
        self
    }
}

/// How often a variant runs again: see [`Variant::again`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Again {
    /// How often.
    pub times: u32,
    /// Whether a wrong result is no fault on a GPU.
    pub allowed: bool,
}

/// A variant's result, for `--output`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Computed {
    /// Its name.
    pub what: String,
    /// Its size.
    pub bytes: u64,
}

/// A variant's result: whether it is right, and the values for `--output`.
pub struct Outcome {
    pub(super) comparison: Option<Comparison>,
    pub(super) values: Box<dyn Values>,
}

impl Outcome {
    /// Right if it equals the reference bit by bit: see [`compare::exact`].
    pub fn exact<T: npy::Element + Into<f64> + Sync>(
        shape: Shape,
        found: Vec<T>,
        expected: impl Fn(usize, usize) -> T + Sync,
    ) -> Self {
        let comparison = compare::exact(shape, &found, expected);
        Self { comparison: Some(comparison), values: Saved::whole(shape, found) }
    }

    /// Right if it is within the error of f32 arithmetic: see [`compare::near`].
    pub fn near(
        shape: Shape,
        found: Vec<f32>,
        tolerance: Tolerance,
        expected: impl Fn(usize, usize) -> Reference + Sync,
    ) -> Self {
        let comparison = compare::near(shape, &found, tolerance, expected);
        Self { comparison: Some(comparison), values: Saved::whole(shape, found) }
    }

    /// Says that the simulator computes it more exactly than a GPU does.
    pub fn too_exact(mut self, too_exact: bool) -> Self {
        self.comparison.iter_mut().for_each(|comparison| comparison.too_exact = too_exact);
        self
    }

    /// As [`Outcome::near`], if not every element has a reference: see [`compare::near_where`].
    pub fn near_where(
        shape: Shape,
        found: Vec<f32>,
        tolerance: Tolerance,
        expected: impl Fn(usize, usize) -> Expected + Sync,
    ) -> Self {
        let comparison = compare::near_where(shape, &found, tolerance, expected);
        Self { comparison: Some(comparison), values: Saved::whole(shape, found) }
    }

    /// Not compared with anything.
    pub fn unchecked<T: npy::Element>(shape: Shape, found: Vec<T>) -> Self {
        Self { comparison: None, values: Saved::whole(shape, found) }
    }

    /// As [`Outcome::exact`] for a vector whose result is only a part of it. The rest is compared,
    /// but not saved.
    pub fn exact_part<T: npy::Element + Into<f64> + Sync>(
        found: Vec<T>,
        part: Range<usize>,
        expected: impl Fn(usize, usize) -> T + Sync,
    ) -> Self {
        let comparison = compare::exact(Shape::Vector(found.len()), &found, expected);
        Self { comparison: Some(comparison), values: Box::new(Saved { shape: Shape::Vector(part.len()), found, part }) }
    }
}

/// Values of any element type, to be saved.
pub(super) trait Values {
    /// Writes them as a NumPy file, whole or not at all.
    fn write(&self, path: &Path) -> Result<()>;
}

struct Saved<T> {
    /// The shape of the part.
    shape: Shape,
    found: Vec<T>,
    part: Range<usize>,
}

impl<T: npy::Element> Saved<T> {
    /// All values.
    fn whole(shape: Shape, found: Vec<T>) -> Box<dyn Values> {
        let part = 0..found.len();
        Box::new(Self { shape, found, part })
    }
}

impl<T: npy::Element> Values for Saved<T> {
    fn write(&self, path: &Path) -> Result<()> {
        npy::write(path, &self.shape.extents(), &self.found[self.part.clone()])
    }
}

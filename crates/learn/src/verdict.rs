//! The verdict on a student's file: all that a report, a mark or a test needs. [`crate::judge`]
//! makes it. Plain data: `report`, `marks` and `check` read it.

use exercise::data::Sizes;
use exercise::fault::Fault;
use exercise::questions::PredictionResult;
use goals::goal::Goal;
use goals::metric::Blamed;
use goals::seen::Seen;
use simt::orders::DrawnOrder;
use simt::prediction::Queue;
use timeline::Timeline;

use crate::lines::Lines;
use crate::rating::Rating;
use crate::schedule::Schedule;

/// The verdict on a student's file.
#[derive(Debug)]
pub struct Verdict {
    /// What is wrong; `None` if it is right and meets all goals.
    pub failure: Option<Failure>,
    /// The sizes at which the results were right.
    pub right_at: Vec<Sizes>,
    /// The goals, if they were counted.
    pub goals: Vec<GoalResult>,
    /// The predictions, if there are.
    pub predictions: Vec<PredictionResult>,
    /// The seed, with which the run can be repeated.
    pub seed: u64,
    /// What the student's kernels gain, if that is predicted.
    pub gain: Option<Gain>,
    /// The times on a GPU.
    pub times: Option<Times>,
    /// How fast the kernels of an open exercise are, if they are right.
    pub rating: Option<Rating>,
    /// What each line did, if that was asked for and the kernels were right.
    pub lines: Option<Lines>,
}

/// The student's predicted time beside the starter's: of all launches of the exercise, with nothing
/// useful in L2.
#[derive(Debug)]
pub struct Gain {
    /// The sizes.
    pub sizes: Sizes,
    /// The student's, or what is not predicted.
    pub student: Result<Queue, &'static str>,
    /// The starter's.
    pub starter: Queue,
}

/// Times on a GPU, in milliseconds: medians of all launches of the exercise.
#[derive(Debug)]
pub struct Times {
    /// The sizes.
    pub sizes: Sizes,
    /// The student's time.
    pub student: f64,
    /// The solution's time.
    pub solution: f64,
}

impl Verdict {
    /// Whether the exercise is solved.
    pub fn passed(&self) -> bool {
        self.failure.is_none()
    }
}

/// What is wrong.
#[derive(Debug)]
pub enum Failure {
    /// The file contains something that is unsafe to compile and that no exercise needs.
    Refused(String),
    /// It does not compile: rustc's messages.
    DoesNotCompile(String),
    /// Predictions that cannot be read.
    Unreadable(String),
    /// A kernel is missing, or has other parameters.
    Signature(String),
    /// The kernels have faults at these sizes. Also holds what is wrong with the results, if there
    /// are any.
    Faults(Sizes, Vec<Fault>, Option<Box<Wrong>>),
    /// The time was up while the kernels ran at these sizes. Also holds the faults that were found
    /// until then.
    OutOfTime(Sizes, Vec<Fault>),
    /// The results are wrong.
    Wrong(Sizes, Box<Wrong>),
    /// The kernels changed their input.
    InputChanged(Sizes, Position),
    /// The results are right in the usual order of blocks and warps, but not in others.
    OtherOrders(Box<OtherOrders>),
    /// A student's program ended badly at these sizes.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "host code runs on Linux alone"))]
    Program(Sizes, Box<Ended>),
    /// Goals are missed, or no grade of an open exercise is reached.
    Goals,
    /// Predictions are wrong.
    Predictions,
}

/// How a student's program ended badly.
#[derive(Debug)]
pub struct Ended {
    /// What it did.
    pub what: String,
    /// What it printed.
    pub said: String,
}

/// What other orders of blocks and warps show.
#[derive(Debug)]
pub struct OtherOrders {
    /// The sizes.
    pub sizes: Sizes,
    /// In how many orders the results are wrong, or a kernel faults.
    pub wrong: usize,
    /// The number of orders that were tried.
    pub of: usize,
    /// The first of the wrong ones.
    pub first: Schedule,
    /// What is wrong in it.
    pub failure: Box<Failure>,
    /// How it comes about, if few accesses show it.
    pub story: Option<Story>,
}

/// How a wrong result comes about in an order with few interruptions.
#[derive(Debug)]
pub struct Story {
    /// The order.
    pub order: DrawnOrder,
    /// How often warps are interrupted in it.
    pub interruptions: u64,
    /// What the threads that matter do.
    pub timeline: Option<Timeline>,
}

/// An element of a buffer.
#[derive(Clone, Debug, PartialEq)]
pub struct Position {
    /// The buffer's name.
    pub buffer: String,
    /// The row, if it is a matrix.
    pub row: Option<usize>,
    /// The column, or the index.
    pub column: usize,
}

impl std::fmt::Display for Position {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.row {
            Some(row) => write!(f, "{}[{row}][{}]", self.buffer, self.column),
            None => write!(f, "{}[{}]", self.buffer, self.column),
        }
    }
}

/// Wrong results in one buffer.
#[derive(Clone, Debug, PartialEq)]
pub struct Wrong {
    /// The first wrong element.
    pub first: Position,
    /// Its value; `None` if nothing was written there.
    pub is: Option<String>,
    /// The expected value.
    pub should_be: String,
    /// How many elements of this buffer are wrong.
    pub count: usize,
    /// How many of these were never written.
    pub unwritten: usize,
    /// The number of elements.
    pub of: usize,
}

/// The result of a goal.
#[derive(Clone, Debug)]
pub struct GoalResult {
    /// The goal.
    pub goal: Goal,
    /// The counted value; `None` if there was nothing to count.
    pub value: Option<f64>,
    /// The solution's value, if there was nothing to count and the solution has something.
    pub avoided: Option<f64>,
    /// The bound's value.
    pub bound: f64,
    /// Whether it is met.
    pub met: bool,
    /// The line to blame, with its share.
    pub blamed: Option<Blamed>,
    /// The costliest access there, if it is missed.
    pub seen: Option<Seen>,
    /// The costliest access of the solution that is counted as this, if the goal compares with it.
    pub solution_seen: Option<Seen>,
    /// What limits the occupancy or the predicted time, if that was counted.
    pub limiter: Option<String>,
    /// The explanation if it is missed.
    pub why: String,
    /// Whether the starter meets it already.
    pub also: bool,
}

//! Orders of blocks and warps that are drawn instead of the usual one: what a launch asks for
//! ([`DrawnOrder`]), its text form, and what the run did ([`Drawn`]).
//!
//! A GPU promises no order: which blocks are resident together, which warp runs next, and, since
//! Volta, which lanes of a warp run first are the hardware's choice. A kernel that is right in the
//! usual order of the simulator may be right by luck. So a caller runs it again in other orders,
//! and compares.

use std::fmt;
use std::str::FromStr;

use crate::switches::Switches;

/// How the warp that goes on is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::large_enum_variant, reason = "orders are few, and copied as plain data")]
pub enum Strategy {
    /// Any warp that can go on, all with the same probability, for this many accesses on average.
    Random {
        /// The mean length of a turn, in accesses that other threads may see.
        every: u32,
    },
    /// Probabilistic concurrency testing (Burckhardt et al., ASPLOS 2010): each warp has a drawn
    /// priority, and the highest goes on. At `depth` - 1 accesses, the running warp gets the
    /// lowest.
    Priorities {
        /// The number of ordered events that a bug may need.
        depth: u32,
        /// The number of accesses among which those `depth` - 1 are drawn: those of an earlier run
        /// ([`Drawn::points`]).
        points: u64,
    },
    /// One warp after another, as in the usual order.
    Usual,
    /// All blocks are resident, and one warp goes on after another, but for these switches. Nothing
    /// is drawn.
    Switches(Switches),
}

/// The order in which blocks start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Start {
    /// From the first to the last.
    Up,
    /// From the last to the first.
    Down,
    /// In any order.
    Shuffled,
}

/// Asks for a drawn order. The same request gives the same run, on any machine and number of cores.
///
/// As text: `random:EVERY:SEED`, `pct:DEPTH:POINTS:SEED` or `usual:SEED`, then, if given,
/// `,lanes=N`, `,weak=N`, `,late=N`, `,stale=N`, `,at=strong`,
/// `,resident=N` and `,start=up`, `down` or `shuffled`. Or
/// `switch:` and a list, in which `0.1@3-2.0+` says: in place of the third access of block 0's
/// warp 1, block 2's warp 0 goes on.
///
/// ```
/// let order: simt::orders::DrawnOrder = "random:1:7,lanes=8,start=down".parse()?;
/// assert_eq!((order.seed, order.lanes, order.resident), (7, 8, None));
/// assert_eq!(order.to_string(), "random:1:7,lanes=8,start=down");
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DrawnOrder {
    /// Everything that is not given is drawn from this number; so is what shared memory begins
    /// with.
    pub seed: u64,
    /// How the warp that goes on is drawn.
    pub strategy: Strategy,
    /// At most this many clusters, usually single blocks, are resident together, unless they wait
    /// for others; `None`: drawn.
    pub resident: Option<u32>,
    /// The order in which clusters start; `None`: drawn, half of the time upwards.
    pub start: Option<Start>,
    /// One in this many accesses separates the lanes of its warp until the end of the straight
    /// code, as GPUs since Volta may do; 0: none does.
    pub lanes: u32,
    /// Other warps see one in this many stores to global memory, or to the block's own shared
    /// memory, late, as GPUs may let them unless a fence, a barrier or a release is between; 0:
    /// none.
    pub weak: u32,
    /// Other warps see the stores of half of the store instructions late. These have numbers, in
    /// the order of the text: with 1, those with odd numbers are late; with 2, the others; with 3
    /// and 4, 5 and 6, ... the same for the next bit of the number; 0: none. So up to twice the
    /// bits of the largest number, each two instructions are apart in both directions.
    pub late: u32,
    /// One in this many reads finds an older value, where nothing makes the reading thread know of
    /// the newer one: no acquire, fence or barrier since, and no read of its block; 0: none does.
    pub stale: u32,
    /// Whether warps are interrupted only at accesses that may conflict with others without a race:
    /// those that are volatile, relaxed or atomic, if the kernel has any.
    pub strong: bool,
}

/// What a run in a drawn order did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drawn {
    /// Accesses that other threads may see, by warps: where a warp may be interrupted.
    pub points: u64,
    /// How often a warp was interrupted there.
    pub interruptions: u64,
    /// Clusters that could be resident together at the end.
    pub resident: u64,
    /// The order in which clusters started.
    pub start: Start,
    /// With values of [`DrawnOrder::late`] up to this one, each two store instructions are apart; 0
    /// if no thread can notice a late store without a race.
    pub late: u32,
}

/// The portfolio of [`DrawnOrder::nth`], which repeats: no strategy finds all bugs.
const PORTFOLIO: [Kind; 12] = [
    Kind::Lanes(2),
    Kind::Long { every: 16, strong: false },
    Kind::Priorities { strong: true },
    Kind::Lanes(8),
    Kind::Lanes(2),
    Kind::Long { every: 4, strong: true },
    Kind::Priorities { strong: false },
    Kind::Lanes(8),
    Kind::Weak(2, 4),
    Kind::Weak(4, 2),
    Kind::Weak(2, 4),
    Kind::Weak(4, 2),
];

#[derive(Clone, Copy)]
enum Kind {
    /// Interrupted at each access, and at one in this many lanes separate: small kernels have few
    /// accesses, and large ones take longer with many separations.
    Lanes(u32),
    /// Long turns; `strong` as in [`DrawnOrder`].
    Long {
        every: u32,
        strong: bool,
    },
    Priorities {
        strong: bool,
    },
    /// Interrupted at each access; one in this many stores is seen late, and one in this many reads
    /// finds an older value.
    Weak(u32, u32),
}

/// A launch in a drawn order may take this many times as many warp instructions as in the usual
/// one, since warps that wait for others poll more often, and this many more.
const TIMES_STEPS: u64 = 16;
const MORE_STEPS: u64 = 1 << 20;

impl DrawnOrder {
    /// This strategy and nothing unusual besides: what else is not given is drawn.
    pub const fn new(seed: u64, strategy: Strategy) -> Self {
        Self { seed, strategy, resident: None, start: None, lanes: 0, weak: 0, late: 0, stale: 0, strong: false }
    }

    /// A limit of warp instructions for a launch in a drawn order, which took `usual` in the usual
    /// one.
    pub fn step_limit(usual: u64) -> u64 {
        usual.saturating_mul(TIMES_STEPS).saturating_add(MORE_STEPS)
    }

    /// The order of number `index` among those to try with `seed`: the first starts with the last
    /// block; the others are drawn by several strategies, each with its own seed. `points` is what
    /// an earlier run of this portfolio passed, or an estimate: see [`Strategy::Priorities`].
    pub fn nth(seed: u64, index: u64, points: u64) -> Self {
        let Some(drawn) = index.checked_sub(1) else {
            return Self { resident: Some(1), start: Some(Start::Down), ..Self::new(seed, Strategy::Usual) };
        };
        // A short number that differs for each order: people copy it.
        let seed = seed.wrapping_mul(1000).wrapping_add(index);
        let priorities = || Strategy::Priorities { depth: 1 + Dice::new(seed).below(10) as u32, points };
        let random = |every| Self::new(seed, Strategy::Random { every });
        match PORTFOLIO[(drawn % PORTFOLIO.len() as u64) as usize] {
            Kind::Lanes(lanes) => Self { lanes, ..random(1) },
            Kind::Long { every, strong } => Self { strong, ..random(every) },
            Kind::Priorities { strong } => Self { strong, ..Self::new(seed, priorities()) },
            Kind::Weak(weak, stale) => Self { weak, stale, ..random(1) },
        }
    }

    /// The order that these switches describe.
    pub fn of_switches(switches: Switches) -> Self {
        Self::new(0, Strategy::Switches(switches))
    }

    /// After each access the next warp is drawn, and the stores of the instructions that `late`
    /// stands for are seen late: see [`DrawnOrder::late`]. One read in two finds an older value.
    pub fn of_late_stores(seed: u64, late: u32) -> Self {
        Self { late, stale: 2, ..Self::new(seed, Strategy::Random { every: 1 }) }
    }

    /// The order in words, as the end of a sentence: which warp goes on, and what else is unusual.
    pub fn described(&self) -> String {
        let mut words = match self.strategy {
            Strategy::Usual => "one block after another, and in each one warp after another".to_owned(),
            Strategy::Switches(switches) => match switches.iter().count() {
                0 => "all blocks are resident, and one warp runs after another".to_owned(),
                1 => "one warp runs after another, but one goes on early".to_owned(),
                count => format!("one warp runs after another, but {count} times another goes on first"),
            },
            Strategy::Random { every: 1 } => "after each access to memory, the next warp is drawn".to_owned(),
            Strategy::Random { every } => {
                format!("after about {every} accesses to memory, the next warp is drawn")
            }
            Strategy::Priorities { depth, .. } => format!(
                "warps run in the order of drawn priorities, which {}",
                match depth {
                    1 => "never change".to_owned(),
                    2 => "change once".to_owned(),
                    _ => format!("change {} times", depth - 1),
                }
            ),
        };
        if self.strong {
            words += ", but only before those that are volatile, relaxed or atomic";
        }
        if self.start == Some(Start::Down) {
            words += ", the last block first";
        }
        if self.lanes > 0 {
            words += "; lanes of a warp may run separately";
        }
        if self.weak > 0 {
            words += &format!("; other warps see one store in {} late, as weak memory allows", self.weak);
        }
        if self.late > 0 {
            words += "; other warps see the stores of some instructions late, as weak memory allows";
        }
        if self.stale > 0 {
            words += &format!("; one read in {} may find an older value, as weak memory allows", self.stale);
        }
        words
    }
}

impl fmt::Display for DrawnOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, strategy, resident, start, lanes, weak, late, stale, strong } = self;
        match strategy {
            Strategy::Random { every } => write!(f, "random:{every}:{seed}")?,
            Strategy::Priorities { depth, points } => write!(f, "pct:{depth}:{points}:{seed}")?,
            Strategy::Usual => write!(f, "usual:{seed}")?,
            Strategy::Switches(switches) => return write!(f, "switch:{switches}"),
        }
        if *lanes > 0 {
            write!(f, ",lanes={lanes}")?;
        }
        if *weak > 0 {
            write!(f, ",weak={weak}")?;
        }
        if *late > 0 {
            write!(f, ",late={late}")?;
        }
        if *stale > 0 {
            write!(f, ",stale={stale}")?;
        }
        if *strong {
            f.write_str(",at=strong")?;
        }
        if let Some(resident) = resident {
            write!(f, ",resident={resident}")?;
        }
        match start {
            None => Ok(()),
            Some(Start::Up) => f.write_str(",start=up"),
            Some(Start::Down) => f.write_str(",start=down"),
            Some(Start::Shuffled) => f.write_str(",start=shuffled"),
        }
    }
}

impl FromStr for DrawnOrder {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || {
            format!(
                "'{text}' is no order: give random:EVERY:SEED, pct:DEPTH:POINTS:SEED or usual:SEED, then, if you like, \
                 ,lanes=N ,weak=N ,late=N ,stale=N ,at=strong ,resident=N ,start=up|down|shuffled; or switch:0.1@3-2.0 and so on"
            )
        };
        fn number<T: FromStr>(word: &str) -> Option<T> {
            word.parse().ok().filter(|_| word.bytes().all(|byte| byte.is_ascii_digit()))
        }
        let parsed = || -> Option<Self> {
            if let Some(switches) = text.strip_prefix("switch:") {
                return switches.parse().ok().map(Self::of_switches);
            }
            let mut parts = text.split(',');
            let words: Vec<&str> = parts.next()?.split(':').collect();
            let (strategy, seed) = match *words.as_slice() {
                ["random", every, seed] => {
                    (Strategy::Random { every: number(every).filter(|&every| every > 0)? }, number(seed)?)
                }
                ["pct", depth, points, seed] => {
                    let depth = number(depth).filter(|depth| (1..=MOST_DEPTH).contains(depth))?;
                    (Strategy::Priorities { depth, points: number(points)? }, number(seed)?)
                }
                ["usual", seed] => (Strategy::Usual, number(seed)?),
                _ => return None,
            };
            let mut order = Self::new(seed, strategy);
            for part in parts {
                match part.split_once('=')? {
                    ("lanes", lanes) => order.lanes = number(lanes)?,
                    ("weak", weak) => order.weak = number(weak)?,
                    ("late", late) => order.late = number(late)?,
                    ("stale", stale) => order.stale = number(stale)?,
                    ("at", "strong") => order.strong = true,
                    ("resident", resident) => order.resident = Some(number(resident).filter(|&it: &u32| it > 0)?),
                    ("start", "up") => order.start = Some(Start::Up),
                    ("start", "down") => order.start = Some(Start::Down),
                    ("start", "shuffled") => order.start = Some(Start::Shuffled),
                    _ => return None,
                }
            }
            Some(order)
        };
        parsed().ok_or_else(wrong)
    }
}

/// The deepest bug that priorities look for: each level is a number that is drawn and kept.
const MOST_DEPTH: u32 = 1 << 16;

/// Draws numbers from a seed: SplitMix64.
pub(crate) struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed ^ 0x6a09_e667_f3bc_c909)
    }

    pub fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A number below this one.
    pub fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.roll()) * u128::from(end)) >> 64) as u64
    }

    pub fn one_in(&mut self, many: u64) -> bool {
        self.below(many) == 0
    }

    /// Some lanes of a warp.
    pub fn lanes(&mut self) -> u32 {
        const HALVES: [u32; 5] = [0xaaaa_aaaa, 0xcccc_cccc, 0xf0f0_f0f0, 0xff00_ff00, 0xffff_0000];
        let lanes = match self.below(4) {
            0 => self.roll() as u32,
            1 => 1 << self.below(32),
            _ => HALVES[self.below(5) as usize],
        };
        if self.one_in(2) { !lanes } else { lanes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_read_as_it_is_written() {
        for text in [
            "random:1:7",
            "random:16:18446744073709551615,lanes=8",
            "pct:3:640:12,resident=4,start=shuffled",
            "usual:0,resident=1,start=down",
            "usual:5,lanes=2,start=up",
            "random:1:3,lanes=2,weak=4,stale=2",
            "pct:3:40:9,at=strong,start=down",
            "switch:",
            "switch:0.0@3-1.0+1.0@2-0.0.16",
        ] {
            let order: DrawnOrder = text.parse().unwrap();
            assert_eq!(order.to_string(), text);
        }
        for seed in [0, 7, u64::MAX] {
            for index in 0..20 {
                let order = DrawnOrder::nth(seed, index, 100);
                assert_eq!(order.to_string().parse(), Ok(order));
            }
        }
    }

    #[test]
    fn what_is_no_order_is_an_error() {
        for text in [
            "",
            "random",
            "random:0:1",
            "random:1",
            "random:1:2:3",
            "random:-1:2",
            "random:+1:2",
            "pct:0:1:1",
            "pct:65537:1:1",
            "usual",
            "usual:1,",
            "usual:1,lanes",
            "usual:1,lanes=x",
            "usual:1,resident=0",
            "usual:1,start=left",
            "usual:1,weak",
            "Usual:1",
            "random:1:18446744073709551616",
            "switch",
            "switch:0.0@3-1.0,lanes=2",
        ] {
            assert!(text.parse::<DrawnOrder>().unwrap_err().contains("is no order"), "{text}");
        }
    }

    #[test]
    fn the_portfolio_begins_with_the_last_block_and_has_all_strategies() {
        let orders: Vec<DrawnOrder> = (0..13).map(|index| DrawnOrder::nth(3, index, 100)).collect();
        assert_eq!(orders[0].to_string(), "usual:3,resident=1,start=down");
        let count = |is: fn(&DrawnOrder) -> bool| orders[1..].iter().filter(|order| is(order)).count();
        assert_eq!(count(|order| order.lanes > 0 && order.strategy == Strategy::Random { every: 1 }), 4);
        assert_eq!(count(|order| matches!(order.strategy, Strategy::Random { every: 4 | 16 })), 2);
        assert_eq!(count(|order| order.strong), 2);
        assert_eq!(count(|order| matches!(order.strategy, Strategy::Priorities { depth: 1..=10, points: 100 })), 2);
        assert_eq!(count(|order| order.weak > 0 && order.lanes == 0), 4);
        assert!(orders[..9].iter().all(|order| order.weak + order.late == 0));
        let mut seeds: Vec<u64> = orders.iter().map(|order| order.seed).collect();
        seeds.dedup();
        assert_eq!(seeds.len(), 13);
    }
}

//! The table of the lab: its ways to say that a message is there, its flags, and what it concludes.

use clap::Args;

use crate::flag_values::whole_number;
use crate::labs::inputs::DefaultSize;
use crate::labs::showcase::{Showcase, Slider};
use crate::labs::variants::{Chosen, VariantSpec, Variants, variant};
use crate::report::Gap::Of;
use crate::report::measures::{STALE_AGAIN, STALE_ALLOWED};
use crate::report::{Bound, Conclusion, FirstScreen, Goal, Holds, Row, Target};

/// Few on the simulator, where each order is short; on a GPU as many as are surely resident.
pub(super) const BLOCKS: DefaultSize = DefaultSize { on_gpu: 64, on_simulator: 4 };

pub(super) const LAUNCHES: DefaultSize = DefaultSize { on_gpu: 1000, on_simulator: 100 };

/// The fact that says whether an old message is allowed.
pub(super) const STALE: &str = "old_message";

/// How a block says that its message is there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Volatile,
    Relaxed,
    BlockFence,
    DeviceFence,
    Release,
    Packed,
    LookBackRelaxed,
    LookBackRelease,
    LookBackPacked,
}

/// What for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    Message,
    LookBack,
}

impl Use {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Message => "message",
            Self::LookBack => "look-back",
        }
    }
}

impl Variants for Way {
    const TITLE: &'static str = "Flags";
    const TABLE: &'static [VariantSpec<Self>] = &[
        variant("volatile", "A volatile flag, without fences", Self::Volatile),
        variant("relaxed", "A relaxed flag, without fences", Self::Relaxed),
        variant(
            "block-fence",
            "A relaxed flag, with fences for the threads of a block (`membar.cta`)",
            Self::BlockFence,
        ),
        variant("device-fence", "A relaxed flag, with fences for the device (`membar.gl`)", Self::DeviceFence),
        variant("release", "A flag that is released and acquired (`st.release.gpu`, `ld.acquire.gpu`)", Self::Release),
        variant("packed", "Message and flag in one relaxed word of 64 bits", Self::Packed),
        variant(
            "lookback-relaxed",
            "Running sums by decoupled look-back, with a relaxed status",
            Self::LookBackRelaxed,
        ),
        variant("lookback-release", "The same with a status that is released and acquired", Self::LookBackRelease),
        variant("lookback-packed", "The same with status and sum in one relaxed word", Self::LookBackPacked),
    ];
}

/// Message and flag in one word: 3 is both, and 2 is the flag without the message.
const ONE_WORD: &str = "
word = 0
thread in block 0:
    st.relaxed.gpu.global.u32 [word], 3;
thread in block 1:
    ld.relaxed.gpu.global.u32 r0, [word];
ask: 1:r0 = 2
";

impl Way {
    pub(super) fn used_in(self) -> Use {
        match self {
            Self::LookBackRelaxed | Self::LookBackRelease | Self::LookBackPacked => Use::LookBack,
            _ => Use::Message,
        }
    }

    /// The litmus test of the accesses: its name and its text. Its first question is whether the
    /// flag can be seen without the message.
    pub(super) fn test(self) -> (&'static str, &'static str) {
        let name = match self {
            Self::Volatile => "mp-volatile",
            Self::Relaxed | Self::LookBackRelaxed => "mp-relaxed",
            Self::BlockFence => "mp-fence-too-small",
            Self::DeviceFence => "mp-fence-sc",
            Self::Release | Self::LookBackRelease => "mp-release-acquire",
            Self::Packed | Self::LookBackPacked => return ("one word", ONE_WORD),
        };
        (name, litmus::named(name).unwrap_or_default())
    }
}

/// The flags of `host consistency`.
#[derive(Args, Clone, Debug)]
pub struct Options {
    #[command(flatten)]
    pub(super) ways: Chosen<Way>,
    /// Blocks of a launch; two exchange a message
    #[arg(long, value_name = "NUMBER", value_parser = whole_number(2, 64u32))]
    pub(super) blocks: Option<u32>,
    /// How often each row runs again: on a GPU as it comes, on the simulator in orders drawn from
    /// --seed
    #[arg(long, value_name = "NUMBER", value_parser = whole_number(1, 1_000_000u32))]
    pub(super) launches: Option<u32>,
}

const RELAXED: Row = Row::Named("relaxed");
const BLOCK_FENCE: Row = Row::Named("block-fence");
const RELEASE: Row = Row::Named("release");

/// What a terminal shows first.
pub(super) const FIRST: FirstScreen = FirstScreen {
    axes: &[],
    columns: &[STALE_ALLOWED, STALE_AGAIN],
    words: &[
        ("volatile", "no fence"),
        ("relaxed", "no fence"),
        ("block-fence", "with block scope"),
        ("device-fence", "on both sides"),
        ("release", "and acquire, scope gpu"),
        ("packed", "one word for both"),
        ("lookback-relaxed", "no fence"),
        ("lookback-release", "and acquire"),
        ("lookback-packed", "one word for both"),
    ],
    removes: &[],
    left_out: &[],
};

pub(super) const CONCLUSIONS: &[Conclusion] = &[
    Conclusion::new(
        "A reader that sees a relaxed flag may still read an old message: {} runs show it. Fences for a block do not help another \
         block ({}). With release and acquire for the device it is forbidden: {}.",
        &[Of(RELAXED, &STALE_AGAIN), Of(BLOCK_FENCE, &STALE_AGAIN), Of(RELEASE, &STALE_AGAIN)],
    )
    .holds(&[Holds::More(0, 2), Holds::More(1, 2)]),
    Conclusion::new(
        "A look-back with a relaxed status gives wrong sums in {} runs; with status and sum in one word, in {}.",
        &[Of(Row::Named("lookback-relaxed"), &STALE_AGAIN), Of(Row::Named("lookback-packed"), &STALE_AGAIN)],
    )
    .holds(&[Holds::More(0, 1)]),
];

pub(super) const SHOWCASE: Showcase = Showcase {
    start: &[("device", "sim")],
    row: "relaxed",
    tabled: true,
    slider: Some(Slider { flag: "launches", title: "drawn orders", range: (1, 100, 4), other: 100, with: "" }),
    goals: &[Goal {
        ask: "Show that fences for a block are not enough: let an order end with an old message.",
        row: BLOCK_FENCE,
        measure: &STALE_AGAIN,
        unit: " orders",
        bound: Bound::AtLeast(Target::Number(1.0)),
        except: &[],
    }],
    ..Showcase::DEFAULTS
};

//! What is compared, with what was measured of it: `page` and `peers` make their tables of it.
//! Pure.

use super::measurements::{Results, Run};
use super::plan::{Goal, Pair, Size};

/// One comparison: a pair at a size.
pub(super) struct Compared<'a> {
    pub pair: &'a Pair,
    pub size: &'a Size,
    /// What was measured, if it was.
    pub times: Option<Times>,
}

/// The times of a pair in milliseconds: of ours, and of the faster peer.
#[derive(Clone, Copy)]
pub(super) struct Times {
    pub cold: [f64; 2],
    pub warm: Option<[f64; 2]>,
    pub percent_of_limit: Option<f64>,
}

impl Compared<'_> {
    /// Its first cell.
    pub fn name(&self) -> String {
        match self.pair.what {
            "" => self.size.name.to_owned(),
            what => format!("{what}, {}", self.size.name),
        }
    }

    /// Whether the words mean this row.
    pub fn is_called(&self, name: &str) -> bool {
        name == self.name() || name == self.size.name
    }

    /// Whether it reaches its target, if it was measured.
    pub fn met(&self) -> Option<bool> {
        let times = self.times?;
        Some(times.ratios().all(|ratio| rounded(ratio) >= self.size.least))
    }

    /// Whether the library is faster, cold or warm.
    pub fn is_slower(&self) -> bool {
        self.least().is_some_and(|ratio| ratio < 1.0)
    }

    /// The library's time over ours: the smaller of cold and warm.
    pub fn least(&self) -> Option<f64> {
        self.times.map(|times| times.ratios().fold(f64::INFINITY, f64::min))
    }
}

impl Times {
    fn of(pair: &Pair, run: &Run) -> Option<Self> {
        let ours = run.get(pair.ours)?;
        let peers: Option<Vec<_>> = pair.peers.iter().map(|name| run.get(*name)).collect();
        let peers = peers?;
        let least = |times: Vec<f64>| times.into_iter().fold(f64::INFINITY, f64::min);
        let warm: Option<Vec<f64>> = peers.iter().map(|peer| peer.warm_time_ms).collect();
        Some(Self {
            cold: [ours.time_ms, least(peers.iter().map(|peer| peer.time_ms).collect())],
            warm: ours.warm_time_ms.zip(warm).map(|(ours, peers)| [ours, least(peers)]),
            percent_of_limit: ours.percent_of_limit,
        })
    }

    /// The peer's time over ours: cold, and warm where that was measured.
    pub fn ratios(self) -> impl Iterator<Item = f64> {
        std::iter::once(self.cold).chain(self.warm).map(|[ours, peer]| peer / ours)
    }
}

/// Rounded to two digits: the medians allow no finer distinction.
pub(super) fn rounded(ratio: f64) -> f64 {
    (ratio * 100.0).round() / 100.0
}

/// The rows of a goal: for each pair each size.
pub(super) fn rows<'a>(goal: &'a Goal, results: &Results) -> Vec<Compared<'a>> {
    let row = |pair: &'a Pair, size: &'a Size| {
        let run = results.runs.get(&goal.arguments(size));
        Compared { pair, size, times: run.and_then(|run| Times::of(pair, run)) }
    };
    goal.pairs.iter().flat_map(|pair| goal.sizes.iter().map(move |size| row(pair, size))).collect()
}

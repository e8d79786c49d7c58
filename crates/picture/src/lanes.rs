//! Which lanes of a block are active in each of a reduction's additions: a row of lanes for each
//! addition, of several kernels. Plain data, with the sentence that says what it shows.

/// The lanes of some kernels.
#[derive(Clone, Debug, PartialEq)]
pub struct LaneChart {
    /// The kernels.
    pub panels: Vec<LanePanel>,
}

/// The lanes of a kernel's block.
#[derive(Clone, Debug, PartialEq)]
pub struct LanePanel {
    /// The kernel's name, or those of all that have these lanes.
    pub name: String,
    /// For each addition, the active lanes of each warp; 0 where a warp does not execute it.
    pub steps: Vec<Vec<u32>>,
}

/// The lanes of a warp.
pub(crate) const WARP: usize = 32;

impl LanePanel {
    /// The active lanes of an addition, and all lanes of the warps that execute it.
    pub(crate) fn of_step(warps: &[u32]) -> (u32, usize) {
        let active = warps.iter().map(|mask| mask.count_ones()).sum();
        (active, WARP * warps.iter().filter(|mask| **mask != 0).count())
    }

    /// The same of all additions.
    pub(crate) fn all(&self) -> (u32, usize) {
        let steps = self.steps.iter().map(|warps| Self::of_step(warps));
        steps.fold((0, 0), |(active, lanes), step| (active + step.0, lanes + step.1))
    }
}

impl LaneChart {
    /// How many lanes add in each kernel, in a sentence.
    pub fn sentence(&self) -> String {
        let said = |panel: &LanePanel| {
            let (active, lanes) = panel.all();
            format!("{active} of {lanes} in {}", panel.name)
        };
        format!("Active lanes of a block's additions: {}.", self.panels.iter().map(said).collect::<Vec<_>>().join("; "))
    }
}

//! The rule: which verdict two medians with their uncertainties allow. `pairs` calls it for each
//! variant. Pure.

use serde::{Serialize, Serializer};

use super::read::Series;
use crate::timing::relative_error_of_median;

/// Differences up to this count as none: two runs of one kernel differ by as much, for reasons that
/// no sample within a run shows.
const SAME_WITHIN: f64 = 0.01;

/// The uncertainty in standard errors: a 95 % confidence interval.
const STANDARD_ERRORS: f64 = 1.96;

/// How the later run compares with the earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Faster,
    Slower,
    Same,
    CannotTell,
}

impl Verdict {
    /// All verdicts.
    pub const ALL: [Self; 4] = [Self::Faster, Self::Slower, Self::Same, Self::CannotTell];

    /// The verdict's name, the same in every format.
    pub fn words(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::Same => "same",
            Self::CannotTell => "can't tell",
        }
    }
}

impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.words())
    }
}

/// The comparison of two series of times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Judgement {
    /// The later median over the earlier one.
    pub ratio: f64,
    /// The relative uncertainty of the ratio.
    pub uncertainty: f64,
    /// The verdict.
    pub verdict: Verdict,
}

/// Compares two series. The uncertainty of the ratio is that of both medians together, and these
/// follow from the quartiles and the number of samples.
pub(super) fn judge(before: &Series, after: &Series) -> Judgement {
    let ratio = after.time_ms / before.time_ms;
    let error = |series: &Series| {
        let (lower, upper) = (series.time_lower_quartile_ms, series.time_upper_quartile_ms);
        relative_error_of_median(lower, series.time_ms, upper, series.samples)
    };
    let uncertainty = STANDARD_ERRORS * error(before).hypot(error(after));
    let difference = (ratio - 1.0).abs();
    let verdict = if uncertainty > SAME_WITHIN && uncertainty > difference {
        Verdict::CannotTell
    } else if difference <= SAME_WITHIN {
        Verdict::Same
    } else if ratio < 1.0 {
        Verdict::Faster
    } else {
        Verdict::Slower
    };
    Judgement { ratio, uncertainty, verdict }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A median with quartiles at this relative distance on either side.
    fn series(time_ms: f64, spread: f64, samples: usize) -> Series {
        Series {
            time_ms,
            time_lower_quartile_ms: time_ms * (1.0 - spread),
            time_upper_quartile_ms: time_ms * (1.0 + spread),
            samples,
            cache: "exceeded".into(),
            steady: true,
            throttled_by: None,
        }
    }

    fn verdict(after_ms: f64, spread: f64, samples: usize) -> Verdict {
        judge(&series(1.0, spread, samples), &series(after_ms, spread, samples)).verdict
    }

    #[test]
    fn exact_times_are_judged_by_their_difference() {
        let exact = |after| verdict(after, 0.001, 11);
        assert_eq!([0.5, 0.98, 0.995].map(exact), [Verdict::Faster, Verdict::Faster, Verdict::Same]);
        assert_eq!([1.0, 1.009, 1.02].map(exact), [Verdict::Same, Verdict::Same, Verdict::Slower]);
    }

    #[test]
    fn noise_hides_small_differences_and_no_large_ones() {
        // Quartiles at +- 10 % of 11 samples: the ratio is known to about 15 %.
        let noisy = |after| verdict(after, 0.1, 11);
        assert_eq!(
            [0.5, 0.9, 1.0, 1.1, 2.0].map(noisy),
            [Verdict::Faster, Verdict::CannotTell, Verdict::CannotTell, Verdict::CannotTell, Verdict::Slower]
        );
        // A hundred times the samples, a tenth of the uncertainty.
        assert_eq!(verdict(1.1, 0.1, 1100), Verdict::Slower);
        let judgement = judge(&series(1.0, 0.1, 11), &series(1.1, 0.1, 11));
        assert!((judgement.uncertainty - 0.155).abs() < 0.001, "{judgement:?}");
    }
}

//! Medians, quartiles, and the standard error of a median. [`super`], `clock` and
//! `compare_times::verdict` call it. Pure.

/// For normally distributed samples the quartiles are this many standard deviations apart.
const QUARTILES_IN_DEVIATIONS: f64 = 1.349;

/// The standard error of the median over that of the mean, for normally distributed samples:
/// sqrt(pi / 2).
const MEDIAN_OVER_MEAN: f64 = 1.2533;

/// The relative standard error of the median of this many samples, estimated from the quartiles,
/// which outliers do not move.
pub fn relative_error_of_median(lower_quartile: f64, median: f64, upper_quartile: f64, samples: usize) -> f64 {
    if median <= 0.0 || samples == 0 {
        return 0.0;
    }
    let deviation = (upper_quartile - lower_quartile) / QUARTILES_IN_DEVIATIONS;
    MEDIAN_OVER_MEAN * deviation / (samples as f64).sqrt() / median
}

/// The lower quartile, the median and the upper quartile of at least one sample.
///
/// A short launch takes a few ticks of the clock that events are timed by: 6 us are 188 ticks of 32
/// ns on an H200, and hundreds of samples have the same ten values. An ordinary median is one of
/// these, so two kernels would differ by half a percent or not at all. So these are
/// mid-distribution quantiles (Ma, Genton and Parzen, "Asymptotic properties of sample quantiles of
/// discrete distributions", 2011): samples of one value stand at the middle of their ranks, and
/// quantiles are interpolated between values. Without equal samples the median is the ordinary one.
pub(super) fn quartiles(samples: &[f64]) -> [f64; 3] {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    [0.25, 0.5, 0.75].map(|part| quantile(&sorted, part))
}

/// A mid-distribution quantile of the sorted samples.
fn quantile(sorted: &[f64], part: f64) -> f64 {
    let place = part * sorted.len() as f64;
    let mut before = None;
    let mut rank = 0.0;
    for equal in sorted.chunk_by(|a, b| a == b) {
        let (value, middle) = (equal[0], rank + equal.len() as f64 / 2.0);
        if middle >= place {
            return before.map_or(value, |(lower, lower_middle)| {
                lower + (value - lower) * (place - lower_middle) / (middle - lower_middle)
            });
        }
        before = Some((value, middle));
        rank += equal.len() as f64;
    }
    // Above the middle of the highest value.
    sorted[sorted.len() - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_interpolate() {
        let sorted = [1.0, 2.0, 3.0, 10.0];
        assert_eq!(quantile(&sorted, 0.5), 2.5);
        assert_eq!(quantile(&sorted, 0.25), 1.5);
        assert_eq!(quantile(&sorted, 0.0), 1.0);
        assert_eq!(quantile(&sorted, 1.0), 10.0);
        assert_eq!(quartiles(&[10.0, 1.0, 3.0]), [1.5, 3.0, 8.25]);
        assert_eq!(quartiles(&[7.0]), [7.0; 3]);
    }

    #[test]
    fn equal_samples_share_their_ranks() {
        assert_eq!(quartiles(&[7.0; 100]), [7.0; 3]);
        // As many of one tick as of the next.
        assert_eq!(quartiles(&[2.0, 1.0, 2.0, 1.0]), [1.0, 1.5, 2.0]);
        // An ordinary median would be 2 for all of these.
        let ticks = |ones, twos, threes| [vec![1.0; ones], vec![2.0; twos], vec![3.0; threes]].concat();
        let medians = [ticks(40, 55, 5), ticks(30, 50, 20), ticks(25, 50, 25), ticks(20, 50, 30)]
            .map(|ticks| quartiles(&ticks)[1]);
        assert!(medians.is_sorted_by(|a, b| a < b), "{medians:?}");
        assert_eq!(medians[2], 2.0);
    }

    #[test]
    fn a_median_of_ticks_is_finer_than_a_tick() {
        // Times spread over four ticks, as cold launches are; each is read as the tick that it
        // falls in.
        for exact in [188.0, 188.2, 188.5, 188.7] {
            let ticks: Vec<f64> = (0..1000).map(|i| (exact + 4.0 * (f64::from(i) / 999.0 - 0.5)).round()).collect();
            assert!((quartiles(&ticks)[1] - exact).abs() < 0.1, "{exact}: {:?}", quartiles(&ticks));
        }
    }

    #[test]
    fn the_error_falls_with_the_root_of_the_samples() {
        let error = |samples| relative_error_of_median(0.99, 1.0, 1.01, samples);
        assert!((error(100) / error(400) - 2.0).abs() < 1e-9);
        assert!((error(100) - 0.00186).abs() < 1e-5);
        assert_eq!(relative_error_of_median(0.0, 0.0, 1.0, 11), 0.0);
    }
}

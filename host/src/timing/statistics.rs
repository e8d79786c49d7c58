//! Medians, quartiles, and the standard error of a median. [`super`], `clock` and `compare_times::verdict` call it. Pure.

/// For normally distributed samples the quartiles are this many standard deviations apart.
const QUARTILES_IN_DEVIATIONS: f64 = 1.349;

/// The standard error of the median over that of the mean, for normally distributed samples: sqrt(pi / 2).
const MEDIAN_OVER_MEAN: f64 = 1.2533;

/// The relative standard error of the median of this many samples, estimated from the quartiles, which outliers do not move.
pub fn relative_error_of_median(lower_quartile: f64, median: f64, upper_quartile: f64, samples: usize) -> f64 {
    if median <= 0.0 || samples == 0 {
        return 0.0;
    }
    let deviation = (upper_quartile - lower_quartile) / QUARTILES_IN_DEVIATIONS;
    MEDIAN_OVER_MEAN * deviation / (samples as f64).sqrt() / median
}

/// The lower quartile, the median and the upper quartile of at least one sample.
pub(super) fn quartiles(samples: &[f64]) -> [f64; 3] {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    [0.25, 0.5, 0.75].map(|part| quantile(&sorted, part))
}

/// A quantile of the sorted samples, interpolated between neighbours.
fn quantile(sorted: &[f64], part: f64) -> f64 {
    let place = part * (sorted.len() - 1) as f64;
    let below = sorted[place.floor() as usize];
    let above = sorted[place.ceil() as usize];
    below + (above - below) * place.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_interpolate() {
        let sorted = [1.0, 2.0, 3.0, 10.0];
        assert_eq!(quantile(&sorted, 0.5), 2.5);
        assert_eq!(quantile(&sorted, 0.25), 1.75);
        assert_eq!(quantile(&sorted, 1.0), 10.0);
        assert_eq!(quartiles(&[7.0]), [7.0; 3]);
    }

    #[test]
    fn the_error_falls_with_the_root_of_the_samples() {
        let error = |samples| relative_error_of_median(0.99, 1.0, 1.01, samples);
        assert!((error(100) / error(400) - 2.0).abs() < 1e-9);
        assert!((error(100) - 0.00186).abs() < 1e-5);
        assert_eq!(relative_error_of_median(0.0, 0.0, 1.0, 11), 0.0);
    }
}

//! A sweep as a [`Plot`]: how a cost or a speed changes with one quantity. Plain data, with the
//! arithmetic of axes that both drawings share.

/// A sweep, ready to be drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    /// What is shown: `Sectors of each load request, by offset`.
    pub title: String,
    /// The quantity that is swept, with its unit.
    pub x: String,
    /// What is measured or counted, with its unit.
    pub y: String,
    /// The scale of `x`.
    pub x_scale: Scale,
    /// The scale of `y`.
    pub y_scale: Scale,
    /// What was measured or counted.
    pub series: Vec<Series>,
    /// Lines to compare with.
    pub reference_lines: Vec<ReferenceLine>,
    /// The least possible cost: a bar is orange above it. `None` if `y` is not a cost.
    pub best: Option<f64>,
}

/// How an axis is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// By equal steps; bars start at 0.
    Linear,
    /// By equal factors.
    Log,
    /// By names, one beside the other.
    Names,
}

/// One curve, or one set of bars.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Its name; empty if it is the only one.
    pub name: String,
    /// Its points, in the order of `x`.
    pub points: Vec<Point>,
}

/// One measurement or count.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// What the swept quantity is called here.
    pub label: String,
    /// The swept quantity.
    pub x: f64,
    /// What was measured or counted.
    pub y: f64,
}

/// A value to compare with: the copy's bandwidth, the device's peak.
#[derive(Clone, Debug, PartialEq)]
pub struct ReferenceLine {
    /// What it is.
    pub name: String,
    /// Its value on the axis of `y`.
    pub value: f64,
}

impl Plot {
    /// The points of all series that can be drawn: finite, and positive where the scale is
    /// logarithmic.
    pub(crate) fn drawn(&self) -> impl Iterator<Item = (usize, &Point)> {
        let all = self
            .series
            .iter()
            .enumerate()
            .flat_map(|(index, series)| series.points.iter().map(move |point| (index, point)));
        all.filter(|(_, point)| self.y_scale.can(point.y) && self.x_scale.can(point.x))
    }

    /// The labels of `x`, each once, from left to right.
    pub(crate) fn labels(&self) -> Vec<&str> {
        let mut points: Vec<&Point> = Vec::new();
        for (_, point) in self.drawn() {
            if !points.iter().any(|known| known.label == point.label) {
                points.push(point);
            }
        }
        points.sort_by(|one, other| one.x.total_cmp(&other.x));
        points.into_iter().map(|point| point.label.as_str()).collect()
    }

    /// Whether a value is more than the best cost.
    pub(crate) fn is_price(&self, y: f64) -> bool {
        self.best.is_some_and(|best| y > best * (1.0 + 1e-9))
    }

    /// The axis of `y`, which holds all points and reference lines.
    pub(crate) fn y_axis(&self) -> Axis {
        let reference_lines = self.reference_lines.iter().map(|reference| reference.value);
        Axis::of(
            self.y_scale,
            self.drawn().map(|(_, point)| point.y).chain(reference_lines.filter(|&value| self.y_scale.can(value))),
        )
    }

    /// The axis of `x`, from the first point to the last.
    pub(crate) fn x_axis(&self) -> Axis {
        let xs = || self.drawn().map(|(_, point)| point.x);
        let (low, high) = (xs().fold(f64::INFINITY, f64::min), xs().fold(f64::NEG_INFINITY, f64::max));
        let scale = self.x_scale;
        if low < high { Axis { scale, low, high } } else { Axis { scale, low: low * 0.5, high: (low * 1.5).max(1.0) } }
    }
}

impl Scale {
    fn can(self, value: f64) -> bool {
        value.is_finite() && (self != Scale::Log || value > 0.0)
    }
}

/// The most powers of two that an axis marks.
const MOST_POWERS: usize = 12;

/// An axis: which values it holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Axis {
    scale: Scale,
    pub low: f64,
    pub high: f64,
}

impl Axis {
    pub fn of(scale: Scale, values: impl Iterator<Item = f64>) -> Self {
        let (low, high) = values.fold((f64::INFINITY, 0.0f64), |(low, high), value| (low.min(value), high.max(value)));
        match scale {
            Scale::Log if low.is_finite() => {
                // Whole powers of ten that hold all, or of two within one decade.
                let base = if high / low > 8.0 { 10.0f64 } else { 2.0 };
                let (first, last) = ((low.ln() / base.ln()).floor(), (high.ln() / base.ln()).ceil());
                let last = if last > first { last } else { first + 1.0 };
                Self { scale, low: base.powf(first), high: base.powf(last) }
            }
            Scale::Log => Self { scale, low: 1.0, high: 10.0 },
            _ => {
                let step = step(high);
                Self { scale, low: 0.0, high: if high > 0.0 { (high / step - 1e-9).ceil() * step } else { 1.0 } }
            }
        }
    }

    /// A logarithmic axis between powers of two that hold all values.
    pub fn of_powers_of_two(values: impl Iterator<Item = f64>) -> Self {
        let (low, high) = values
            .filter(|&value| Scale::Log.can(value))
            .fold((f64::INFINITY, 0.0f64), |(low, high), value| (low.min(value), high.max(value)));
        let (first, last) = if low <= high { (low.log2().floor(), high.log2().ceil()) } else { (0.0, 1.0) };
        Self { scale: Scale::Log, low: first.exp2(), high: last.max(first + 1.0).exp2() }
    }

    /// The powers of two on it; every second one, or third, and so on, if there are many.
    pub fn powers_of_two(&self) -> Vec<f64> {
        let (first, last) = (self.low.log2().ceil() as i32, self.high.log2().floor() as i32);
        let step = (last - first).max(0) as usize / MOST_POWERS + 1;
        (first..=last).step_by(step).map(|power| f64::from(power).exp2()).collect()
    }

    /// The value at a place from 0 to 1 of a logarithmic axis.
    pub fn value(&self, place: f64) -> f64 {
        self.low * (self.high / self.low).powf(place)
    }

    /// Where a value is, from 0 to 1.
    pub fn position(&self, value: f64) -> f64 {
        let share = match self.scale {
            Scale::Log => (value / self.low).ln() / (self.high / self.low).ln(),
            _ => (value - self.low) / (self.high - self.low),
        };
        share.clamp(0.0, 1.0)
    }

    /// Round values to mark.
    pub fn ticks(&self) -> Vec<f64> {
        match self.scale {
            Scale::Log => {
                let base = if self.high / self.low >= 10.0 { 10.0f64 } else { 2.0 };
                let count = ((self.high / self.low).ln() / base.ln()).round() as i32;
                let first = (self.low.ln() / base.ln()).ceil() as i32;
                let values = (first..=first + count).map(|power| base.powi(power));
                values.filter(|&value| value >= self.low * 0.999 && value <= self.high * 1.001).collect()
            }
            _ => {
                let step = step(self.high);
                let count = ((self.high - self.low) / step).round() as u32;
                (0..=count).map(|index| self.low + f64::from(index) * step).collect()
            }
        }
    }
}

/// A round step that divides an axis up to `high` into about four parts: 1, 2 or 5 times a power of
/// ten, and 8 times a power of two where that suits.
fn step(high: f64) -> f64 {
    let powers = [1.0, 2.0, 4.0, 8.0, 16.0];
    if let Some(step) =
        powers.into_iter().find(|step| (high / step).fract() == 0.0 && (3.0..=5.0).contains(&(high / step)))
    {
        return step;
    }
    let rough = high.max(f64::MIN_POSITIVE) / 4.0;
    let power = 10.0f64.powf(rough.log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|factor| factor * power >= rough * 0.999);
    factor.unwrap_or(10.0) * power
}

/// A value on an axis: `0`, `1.5`, `64`, `4 k`, `2 M`.
pub(crate) fn number(value: f64) -> String {
    let (value, unit) = match value.abs() {
        1_000_000_000.0.. => (value / 1e9, " G"),
        1_000_000.0.. => (value / 1e6, " M"),
        10_000.0.. => (value / 1e3, " k"),
        _ => (value, ""),
    };
    let text = match value.abs() {
        100.0.. => format!("{value:.0}"),
        10.0.. => format!("{value:.1}"),
        1.0.. => format!("{value:.2}"),
        0.1.. => format!("{value:.3}"),
        0.01.. => format!("{value:.4}"),
        0.0 => "0".into(),
        _ => format!("{value:.0e}"),
    };
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text };
    text + unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_end_at_round_values_that_hold_all() {
        let linear = |high: f64| Axis::of(Scale::Linear, [high].into_iter());
        assert_eq!(linear(5.0).ticks(), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!(linear(32.0).ticks(), [0.0, 8.0, 16.0, 24.0, 32.0]);
        assert_eq!(linear(3350.0).ticks(), [0.0, 1000.0, 2000.0, 3000.0, 4000.0]);
        assert_eq!(linear(0.0).high, 1.0);
        let log = |low, high| Axis::of(Scale::Log, [low, high].into_iter());
        assert_eq!(log(3.0, 2500.0).ticks(), [1.0, 10.0, 100.0, 1000.0, 10000.0]);
        assert_eq!(log(3.0, 5.0).ticks(), [2.0, 4.0, 8.0]);
        assert_eq!(log(4.0, 4.0).ticks(), [4.0, 8.0]);
        let middle = log(1.0, 100.0).position(10.0);
        assert!((middle - 0.5).abs() < 1e-12, "{middle}");
    }

    #[test]
    fn numbers_are_short() {
        let cases = [
            (0.0, "0"),
            (1.5, "1.5"),
            (64.0, "64"),
            (0.125, "0.125"),
            (0.077_64, "0.0776"),
            (1.0 / 3.0, "0.333"),
            (0.3, "0.3"),
            (3350.0, "3350"),
            (65536.0, "65.5 k"),
            (1e6, "1 M"),
            (4e7, "40 M"),
        ];
        for (value, text) in cases {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn what_has_no_logarithm_is_not_drawn() {
        let point = |y| Point { label: "a".into(), x: 1.0, y };
        let series = vec![Series { name: String::new(), points: [0.0, -1.0, f64::NAN, 2.0].map(point).into() }];
        let (title, x, y) = (String::new(), String::new(), String::new());
        let (x_scale, y_scale) = (Scale::Names, Scale::Log);
        let plot = Plot { title, x, y, x_scale, y_scale, series, reference_lines: vec![], best: None };
        assert_eq!(plot.drawn().map(|(_, point)| point.y).collect::<Vec<_>>(), [2.0]);
    }
}

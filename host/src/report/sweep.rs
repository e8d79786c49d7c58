//! The plots of a lab: how a cost or a speed changes with one of its facts. A lab declares its
//! sweeps; [`plots`] makes plots of its rows, for a terminal and for a page. Pure.

use picture::{Plot, Point, ReferenceLine, Scale, Series};
use serde_json::Value;

use super::measure::{Better, Measure};
use super::measures::GBPS;
use super::variant_report::{Fact, VariantReport, plain};

/// A sweep of a lab.
#[derive(Clone, Copy, Debug)]
pub struct Sweep {
    /// The fact that is swept.
    pub x: &'static str,
    /// What it is, with its unit.
    pub title: &'static str,
    /// How its axis is divided.
    pub scale: Scale,
    /// The facts that tell curves apart.
    pub series: &'static [&'static str],
    /// The rows in a plot.
    pub rows: Rows,
    /// What is plotted of rows that were timed, and on which scale.
    pub timed: (&'static Measure, Scale),
    /// What is plotted of rows that were counted: the first of these that is known.
    pub counted: (&'static [&'static Measure], Scale),
}

/// Which rows share a plot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// All.
    All,
    /// Those of this group.
    Group(&'static str),
    /// Those of each group.
    EachGroup,
}

impl Sweep {
    /// What is swept, without its unit.
    pub(crate) fn name(&self) -> &'static str {
        self.title.split(',').next().unwrap_or_default()
    }

    /// Whether rows with these groups and facts are a sweep: two points of one curve.
    pub(crate) fn has_points<'r>(&self, rows: impl Iterator<Item = (&'r str, &'r [Fact])>) -> bool {
        let mut curves: Vec<(&str, String, &Value)> = Vec::new();
        for (group, facts) in rows.filter(|(group, _)| self.shows(group)) {
            let Some(x) = fact(facts, self.x) else { continue };
            let name = self.series.iter().map(|name| fact(facts, name).map(plain).unwrap_or_default()).collect();
            let group = if self.rows == Rows::EachGroup { group } else { "" };
            if curves.iter().any(|(of, known, at)| *of == group && *known == name && *at != x) {
                return true;
            }
            curves.push((group, name, x));
        }
        false
    }

    fn shows(&self, group: &str) -> bool {
        match self.rows {
            Rows::Group(only) => group == only,
            Rows::All | Rows::EachGroup => true,
        }
    }

    /// The plots of these rows: of times where there are any, and of counts if these are `counted`.
    /// `copy` is the bandwidth of the device's own copy. Fewer than two points are not plotted.
    pub(super) fn plots(&self, variants: &[VariantReport], counted: bool, copy: Option<f64>) -> Vec<Plot> {
        let mut groups: Vec<Option<&str>> = Vec::new();
        for variant in variants.iter().filter(|variant| self.shows(&variant.group)) {
            let group = (self.rows == Rows::EachGroup).then_some(variant.group.as_str());
            if !groups.contains(&group) {
                groups.push(group);
            }
        }
        let several = groups.len() > 1;
        let mut plots = Vec::new();
        for group in groups {
            let is_in = |it: &&VariantReport| self.shows(&it.group) && group.is_none_or(|group| group == it.group);
            let rows: Vec<&VariantReport> = variants.iter().filter(is_in).collect();
            let known = |measure: &&&Measure| rows.iter().any(|variant| measure.of(variant).is_some());
            let counted = self.counted.0.iter().filter(|_| counted).find(known);
            let timed = Some(&self.timed.0).filter(known);
            for (measure, scale) in
                timed.map(|it| (it, self.timed.1)).into_iter().chain(counted.map(|it| (it, self.counted.1)))
            {
                plots.extend(self.plot(copy, &rows, measure, scale, group.filter(|_| several)));
            }
        }
        plots
    }

    fn plot(
        &self,
        copy: Option<f64>,
        rows: &[&VariantReport],
        measure: &Measure,
        y_scale: Scale,
        group: Option<&str>,
    ) -> Option<Plot> {
        let varying: Vec<&str> = self.series.iter().copied().filter(|name| varies(rows, name)).collect();
        let mut labels: Vec<&Value> = Vec::new();
        let mut series: Vec<Series> = Vec::new();
        for variant in rows {
            let Some((x, y)) = fact(&variant.facts, self.x).zip(measure.of(variant).and_then(|cell| cell.value)) else {
                continue;
            };
            let index = labels.iter().position(|label| *label == x).unwrap_or(labels.len());
            if index == labels.len() {
                labels.push(x);
            }
            let named = varying.iter().filter_map(|name| variant.fact(name)).map(plain).collect::<Vec<_>>().join(", ");
            let point = Point { label: plain(x), x: x.as_f64().unwrap_or(index as f64), y };
            match series.iter_mut().find(|series| series.name == named) {
                Some(series) => series.points.push(point),
                None => series.push(Series { name: named, points: vec![point] }),
            }
        }
        if labels.len() < 2 {
            return None;
        }
        // A curve goes from left to right, in whatever order its points ran.
        series.iter_mut().for_each(|series| series.points.sort_by(|one, other| one.x.total_cmp(&other.x)));
        let mut series = joined(series);
        let mut whose: Vec<String> = group.map(str::to_owned).into_iter().collect();
        if let [only] = series.as_mut_slice() {
            whose.extend(Some(std::mem::take(&mut only.name)).filter(|name| !name.is_empty()));
        }
        let least = series.iter().flat_map(|series| &series.points).map(|point| point.y).reduce(f64::min);
        let whose = if whose.is_empty() { String::new() } else { format!(": {}", whose.join(", ")) };
        let what = measure.text();
        Some(Plot {
            title: format!("{}, by {}{whose}", capitalised(&what), self.name()),
            x: self.title.to_owned(),
            y: if measure.unit.is_empty() || what.contains(measure.unit) {
                what
            } else {
                format!("{what}, {}", measure.unit)
            },
            x_scale: self.scale,
            y_scale,
            // Blue and orange would be two curves' colours. A mean of whole numbers is a little
            // less at the end of the data.
            best: least
                .map(f64::ceil)
                .filter(|_| series.len() == 1 && measure.better == Better::Lower && group.is_none()),
            series,
            reference_lines: reference_lines(copy, measure),
        })
    }
}

/// Curves that are the same are one, with all of their names.
fn joined(series: Vec<Series>) -> Vec<Series> {
    let mut joined: Vec<Series> = Vec::new();
    for one in series {
        match joined.iter_mut().find(|other| other.points == one.points) {
            Some(other) => other.name += &format!(", {}", one.name),
            None => joined.push(one),
        }
    }
    joined
}

/// The device's own copy, where bandwidth is plotted.
fn reference_lines(copy: Option<f64>, measure: &Measure) -> Vec<ReferenceLine> {
    let copy = copy.filter(|_| measure.key == GBPS.key);
    copy.map(|value| ReferenceLine { name: "the device's own copy".into(), value }).into_iter().collect()
}

fn fact<'f>(facts: &'f [Fact], name: &str) -> Option<&'f Value> {
    facts.iter().find(|fact| fact.name == name).map(|fact| &fact.value).filter(|value| !value.is_null())
}

fn varies(rows: &[&VariantReport], name: &str) -> bool {
    rows.iter().any(|row| row.fact(name) != rows[0].fact(name))
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

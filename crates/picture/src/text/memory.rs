//! A memory chart as text: for each way, a bar of what moves, the variants below each other. Bars
//! are linear; bytes have one scale, passes another.

use super::{BAR, FAINT, PASSES, Paint, STRONG, WASTED};
use crate::MemoryChart;
use crate::memory::{Cache, Flow, MemoryPanel, Ratio, Way};

/// The column of the two ends, where lines are wide enough for it.
const ENDS: usize = 21;
/// A bar that would have fewer columns beside the numbers goes onto a separate line.
const SHORTEST: usize = 8;
/// The most columns of a bar.
const LONGEST: usize = 32;

/// Which cache of a variant.
type CacheOf = fn(&MemoryPanel) -> Cache;

/// Draws a chart in lines of at most `width` columns.
pub fn memory(chart: &MemoryChart, width: usize, paint: Paint) -> String {
    let width = width.max(40);
    let title = wording::wrapped(&chart.sentence(), width, "", "");
    let mut text: String = title.lines().map(|line| paint.with(STRONG, line) + "\n").collect();
    for panel in chart.panels.iter().filter(|panel| !panel.note.is_empty()) {
        text += &(wording::wrapped(&format!("{}: {}", panel.name, panel.note), width, "", "  ") + "\n");
    }
    text += "\n";
    let columns = Columns::of(chart, width);
    let mut before = None;
    for way in chart.ways() {
        // The caches stand where the way leads on from them.
        let cache: Option<(&str, CacheOf)> = match way.ends().0 {
            "L1/TEX" => Some(("L1/TEX", |panel| panel.l1)),
            "L2" => Some(("L2, reads", |panel| panel.l2)),
            _ => None,
        };
        let counted = |cache: CacheOf| chart.panels.iter().any(|panel| cache(panel) != Cache::NotCounted);
        if let Some((name, cache)) = cache.filter(|(name, cache)| before != Some(*name) && counted(*cache)) {
            before = Some(name);
            for (index, panel) in chart.panels.iter().enumerate() {
                let head = columns.head(index, name, "", chart);
                text += &(format!("{head}{}", cache(panel).says()).trim_end().to_owned() + "\n");
            }
        }
        let known =
            |panel: &MemoryPanel| panel.flow(way).is_none_or(|flow| flow.amount.is_some() || flow.requests.is_some());
        let lines = if chart.panels.iter().any(known) { chart.panels.len() } else { 1 };
        for index in 0..lines {
            text += &line(chart, &columns, index, way, paint);
        }
    }
    let [asked, waste] = chart.key();
    let pale = if chart.ways().any(Way::has_passes) { ", and ▓ passes at another" } else { "" };
    let mut key = format!("█ {asked}; ░ {waste}. Bars are linear: █ bytes at one scale{pale}.");
    chart.notes().iter().for_each(|note| key += &format!(" {note}"));
    text + "\n" + &paragraphs(&wording::wrapped(&key, width, "", ""), paint)
}

fn paragraphs(text: &str, paint: Paint) -> String {
    text.lines().map(|line| paint.with(FAINT, line) + "\n").collect()
}

/// The widths of the columns.
struct Columns {
    /// Whether a line has room for everything.
    is_wide: bool,
    what: usize,
    name: usize,
    requests: usize,
    amount: usize,
    bar: usize,
}

impl Columns {
    fn of(chart: &MemoryChart, width: usize) -> Self {
        let cells = || {
            let of = |panel: usize| chart.ways().map(move |way| (panel, way));
            (0..chart.panels.len()).flat_map(of)
        };
        let flow = |panel: usize, way: Way| chart.panels[panel].flow(way).unwrap_or_default();
        let longest = |texts: &mut dyn Iterator<Item = String>| texts.map(|it| it.chars().count()).max().unwrap_or(0);
        let what = longest(&mut chart.ways().map(|way| way.what().to_owned())) + 2;
        let name = match chart.panels.len() {
            1 => 0,
            _ => longest(&mut chart.panels.iter().map(|panel| panel.name.clone())).min(width / 4) + 2,
        };
        let requests = longest(&mut cells().map(|(panel, way)| requests(flow(panel, way))));
        let amount = longest(&mut cells().map(|(panel, way)| chart.amount(way, flow(panel, way).amount)));
        // The numbers and two spaces between them, and what a ratio takes.
        let used = ENDS + what + name + requests + 2 + amount + 2;
        let ratio = if chart.panels.len() > 1 { 22 } else { 0 };
        let beside = width.saturating_sub(used + ratio);
        let is_wide = beside >= SHORTEST;
        let bar = if is_wide { beside } else { width.saturating_sub(ratio + 4) };
        Self { is_wide, what, name, requests, amount, bar: bar.min(LONGEST) }
    }

    /// What a line begins with: the ends and what moves, for the first variant, and the variant.
    fn head(&self, panel: usize, ends: &str, what: &str, chart: &MemoryChart) -> String {
        let (ends, what) = if panel == 0 { (ends, what) } else { ("", "") };
        let name: String = match self.name {
            0 => String::new(),
            name => chart.panels[panel].name.chars().take(name - 2).collect(),
        };
        let [of_what, of_name] = [self.what, self.name];
        if self.is_wide {
            return format!("{ends:ENDS$}{what:<of_what$}{name:<of_name$}");
        }
        let above = if panel == 0 { format!("{ends} {what}").trim_end().to_owned() + "\n" } else { String::new() };
        format!("{above}  {name:<of_name$}")
    }
}

fn requests(flow: Flow) -> String {
    flow.requests.map_or(String::new(), |count| format!("{count} request{}", if count == 1 { "" } else { "s" }))
}

/// A way of a variant.
fn line(chart: &MemoryChart, columns: &Columns, panel: usize, way: Way, paint: Paint) -> String {
    let (near, far) = way.ends();
    let ends = if way.comes() { format!("{near} ◀ {far}") } else { format!("{near} ▶ {far}") };
    let head = columns.head(panel, &ends, way.what(), chart);
    let Some(flow) = chart.panels[panel].flow(way) else {
        return format!("{head}none").trim_end().to_owned() + "\n";
    };
    let amount = chart.amount(way, flow.amount);
    // Requests and bytes may differ in different ways; the requests' ratio stands where bytes say
    // "same".
    let ratio = chart.ratio(panel, way).filter(|ratio| !matches!(ratio, Ratio::Same));
    let words = ratio.map(|ratio| ratio.words(!way.has_passes()));
    let words = words.or_else(|| {
        let ratio = chart.ratio_of_requests(panel, way).filter(|ratio| !matches!(ratio, Ratio::Same))?;
        Some(format!("{} requests", ratio.words(false)))
    });
    let words = words.or_else(|| chart.ratio(panel, way).map(|_| "same".to_owned())).unwrap_or_default();
    let bar = bar(chart, way, flow, columns.bar, paint);
    let numbers = format!("{:>1$}  {amount:>2$}", requests(flow), columns.requests, columns.amount);
    let gap = if bar.is_empty() { "" } else { "  " };
    let text = match columns.is_wide {
        true => format!("{head}{numbers}  {bar}{gap}{words}"),
        false => format!("{head}{}\n  {bar}{gap}{words}", numbers.trim_start()),
    };
    text.trim_end().to_owned() + "\n"
}

/// A bar: what was asked for, then the rest.
fn bar(chart: &MemoryChart, way: Way, flow: Flow, room: usize, paint: Paint) -> String {
    let Some(amount) = flow.amount else { return String::new() };
    let passes = way.has_passes();
    let columns = |part: u64| (part as f64 / chart.most(passes) as f64 * room as f64).round() as usize;
    let whole = columns(amount).max(usize::from(amount > 0));
    let asked = flow.least.map_or(whole, |least| columns(least).min(whole));
    // Something was asked for, wherever something moves.
    let asked = asked.max(usize::from(amount > 0));
    let (full, style) = if passes { ("▓", PASSES) } else { ("█", BAR) };
    paint.with(style, &full.repeat(asked)) + &paint.with(WASTED, &"░".repeat(whole - asked))
}

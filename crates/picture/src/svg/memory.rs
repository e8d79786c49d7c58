//! A memory chart as SVG: the kernel at the left, DRAM at the right, and between them arrows as
//! wide as what moves. Widths are linear; bytes have one scale, passes another and a paler colour.

use super::{Drawing, Number};
use crate::MemoryChart;
use crate::memory::{Cache, Flow, MemoryPanel, Ratio, Way};

/// The columns: where each begins, and its width.
const KERNEL: (f64, f64) = (8.0, 120.0);
const NEAR: (f64, f64) = (246.0, 112.0);
const L2: (f64, f64) = (444.0, 66.0);
const DRAM: (f64, f64) = (596.0, 48.0);
/// The widest arrows, of bytes and of passes, and the thinnest of each.
const WIDEST: f64 = 26.0;
const WIDEST_PASSES: f64 = 18.0;
const THINNEST: f64 = 1.5;
/// The height of an arrow with its words, and of a box's name.
const LANE: f64 = 62.0;
const HEAD: f64 = 22.0;
/// The space between boxes, and what a box's last line takes.
const GAP: f64 = 8.0;
const FOOT: f64 = 18.0;

/// The memories that stand between kernel and L2, with what moves there.
const BOXES: [(&str, &[Way]); 3] = [
    ("L1 / TEX", &[Way::Load, Way::Store, Way::Atomic, Way::Texture]),
    ("shared memory", &[Way::SharedLoad, Way::SharedStore]),
    ("constant cache", &[Way::Constant]),
];

/// A box's name of more letters is cut to its first word where letters are large.
const LONG_NAME: usize = 10;
/// The height of the key, and of each note below it.
const KEY: f64 = 46.0;
const NOTE: f64 = 21.0;

/// Draws a chart.
pub fn memory(chart: &MemoryChart) -> String {
    let layouts: Vec<Layout> = (0..chart.panels.len()).map(|panel| Layout::of(chart, panel)).collect();
    let title = chart.sentence();
    let mut top = 38.0 + Drawing::room_for_title(&title);
    let below = KEY + NOTE * chart.notes().len() as f64;
    let height = top + layouts.iter().map(|layout| layout.panel).sum::<f64>() + below;
    let mut drawing = Drawing::new("memory", height, &title, &description(chart));
    drawing.title(&title);
    for (index, layout) in layouts.iter().enumerate() {
        panel(&mut drawing, chart, layout, index, top);
        top += layout.panel;
    }
    key(&mut drawing, chart, height - below + 8.0);
    drawing.finish()
}

/// Which boxes are drawn, with their lanes, and how high a panel is.
struct Layout {
    /// Each box: its name, its ways, where it begins below the panel's first line, and its height.
    boxes: Vec<(&'static str, Vec<Way>, f64, f64)>,
    /// The height of all boxes.
    boxes_height: f64,
    panel: f64,
}

impl Layout {
    /// That of a panel.
    fn of(chart: &MemoryChart, panel: usize) -> Self {
        let mut boxes = Vec::new();
        let mut y = 0.0;
        for (index, (name, ways)) in BOXES.into_iter().enumerate() {
            let mut shown: Vec<Way> = ways.iter().copied().filter(|way| chart.ways().any(|it| it == *way)).collect();
            // The chart of caches keeps its place where nothing moves.
            if shown.is_empty() && index == 0 {
                shown = vec![Way::Load];
            }
            if shown.is_empty() {
                continue;
            }
            // L1 is as high as L2, which has two arrows. What a variant does not use is small.
            let used = index == 0 || shown.iter().any(|way| chart.panels[panel].flow(*way).is_some());
            let height = height_of(if used { shown.len().max(if index == 0 { 2 } else { 1 }) } else { 0 });
            boxes.push((name, shown, y, height));
            y += height + GAP;
        }
        let boxes_height = y - GAP;
        Self { boxes, boxes_height, panel: boxes_height + 36.0 }
    }
}

/// The height of a box with so many arrows.
fn height_of(lanes: usize) -> f64 {
    HEAD + lanes as f64 * LANE + FOOT
}

fn panel(drawing: &mut Drawing, chart: &MemoryChart, layout: &Layout, index: usize, top: f64) {
    let panel = &chart.panels[index];
    let y = top + 20.0;
    drawing.add(format_args!(
        "<text class=\"says strong\" x=\"{}\" y=\"{}\">{}<tspan class=\"cell faint\" dx=\"8\">{}</tspan></text>",
        Number(KERNEL.0),
        Number(top + 12.0),
        super::escaped(&panel.name),
        super::escaped(&panel.note)
    ));
    frame(drawing, KERNEL, y, layout.boxes_height, "kernel");
    for (name, ways, offset, height) in &layout.boxes {
        let is_first = *name == BOXES[0].0;
        frame(drawing, NEAR, y + offset, *height, name);
        let foot = y + offset + height - 7.0;
        let middle = NEAR.0 + NEAR.1 / 2.0;
        match is_first {
            true if !chart.counts_caches() => {}
            true => cache(drawing, panel.l1, NEAR, foot),
            false if ways.iter().all(|way| panel.flow(*way).is_none()) => {
                drawing.label("cell faint m", (middle, foot), "not used")
            }
            false => each(drawing, panel, ways, (middle, foot)),
        }
        for (lane, way) in ways.iter().enumerate() {
            let centre = y + offset + HEAD + LANE * lane as f64 + 27.0;
            from_kernel(drawing, chart, index, *way, centre);
        }
    }
    if !chart.counts_caches() {
        return;
    }
    let first = y + HEAD + 27.0;
    let height = height_of(2);
    frame(drawing, L2, y, height, "L2");
    cache(drawing, panel.l2, L2, y + height - 7.0);
    frame(drawing, DRAM, y, height, "DRAM");
    let second = first + LANE;
    for (way, ends, centre) in [
        (Way::L2Read, (NEAR.0 + NEAR.1, L2.0), first),
        (Way::L2Write, (NEAR.0 + NEAR.1, L2.0), second),
        (Way::DramRead, (L2.0 + L2.1, DRAM.0), first),
        (Way::DramWrite, (L2.0 + L2.1, DRAM.0), second),
    ] {
        arrow(drawing, chart, index, way, ends, centre);
    }
}

/// A memory.
fn frame(drawing: &mut Drawing, (x, width): (f64, f64), y: f64, height: f64, name: &str) {
    drawing.rect("memory-box", (x, y), (width, height), 6.0);
    let middle = (x + width / 2.0, y + 16.0);
    match name.split_once(' ').filter(|_| name.len() > LONG_NAME) {
        None => drawing.label("cell strong m", middle, name),
        Some((short, _)) => {
            drawing.label("cell strong m wide", middle, name);
            drawing.label("cell strong m narrow", middle, short);
        }
    }
}

/// What a cache says of itself, and a bar of its hits.
fn cache(drawing: &mut Drawing, cache: Cache, (x, width): (f64, f64), foot: f64) {
    let middle = x + width / 2.0;
    match cache {
        Cache::Sectors { asked: 1.., hits } if width < 80.0 => {
            // A narrow box has the number alone below its word.
            let text = cache.says();
            drawing.label("cell m", (middle, foot - 20.0), "hits");
            drawing.label("cell m", (middle, foot - 7.0), text.trim_start_matches("hits "));
            bar(drawing, cache, hits, (x, width), foot);
        }
        Cache::Sectors { asked: 1.., hits } => {
            drawing.label("cell m", (middle, foot - 7.0), &cache.says());
            bar(drawing, cache, hits, (x, width), foot);
        }
        Cache::NotCounted => {
            drawing.label("cell faint m", (middle, foot - 15.0), "not");
            drawing.label("cell faint m", (middle, foot), "counted");
        }
        Cache::Missing => drawing.label("cell faint m", (middle, foot), "none here"),
        Cache::Sectors { .. } => drawing.label("cell faint m", (middle, foot), "no look-ups"),
    }
}

fn bar(drawing: &mut Drawing, cache: Cache, hits: u64, (x, width): (f64, f64), foot: f64) {
    let Cache::Sectors { asked, .. } = cache else { return };
    let room = width - 16.0;
    drawing.rect("empty", (x + 8.0, foot - 3.0), (room, 5.0), 1.0);
    drawing.rect("word", (x + 8.0, foot - 3.0), (room * hits as f64 / asked as f64, 5.0), 1.0);
}

/// The passes of each load and store of a memory.
fn each(drawing: &mut Drawing, panel: &MemoryPanel, ways: &[Way], at: (f64, f64)) {
    let flows = || ways.iter().filter_map(|way| panel.flow(*way));
    let requests: u64 = flows().filter_map(|flow| flow.requests).sum();
    let passes: u64 = flows().filter_map(|flow| flow.amount).sum();
    let least: u64 = flows().filter_map(|flow| flow.least).sum();
    if requests > 0 {
        let class = if passes > least { "cell times m" } else { "cell m" };
        let text = format!("{} a request", wording::units::three_digits(passes as f64 / requests as f64));
        drawing.label(class, at, &text);
    }
}

/// An arrow from or to the kernel, with its requests in the kernel's box.
fn from_kernel(drawing: &mut Drawing, chart: &MemoryChart, index: usize, way: Way, centre: f64) {
    let Some(flow) = chart.panels[index].flow(way) else { return };
    let x = KERNEL.0 + 8.0;
    if let Some(requests) = flow.requests {
        let what = if way.has_passes() { format!("{} {}", way.ends().1, way.what()) } else { way.what().to_owned() };
        drawing.label("cell", (x, centre - 8.0), &what);
        drawing.label("cell strong", (x, centre + 6.0), &requests.to_string());
        if let Some(ratio) = chart.ratio_of_requests(index, way) {
            drawing.label(&format!("cell {}", ratio.class()), (x, centre + 20.0), &ratio.words(false));
        }
    }
    arrow(drawing, chart, index, way, (KERNEL.0 + KERNEL.1, NEAR.0), centre);
}

/// An arrow between two memories, with its amount above it and its ratio below.
fn arrow(drawing: &mut Drawing, chart: &MemoryChart, index: usize, way: Way, (left, right): (f64, f64), centre: f64) {
    let Some(flow) = chart.panels[index].flow(way) else { return };
    let middle = (left + right) / 2.0;
    let words = chart.amount(way, flow.amount);
    let narrow = right - left < 90.0;
    let ratio = chart.ratio(index, way);
    drawing.saying("", &said(way, flow, &words), |drawing| {
        match flow.amount {
            None => drawing.path("way unknown", &head(way, left, right, centre, THINNEST)),
            Some(0) => {}
            Some(amount) => shaft(drawing, chart, way, flow, amount, (left, right), centre),
        }
        // A short arrow has a word a line.
        let above = centre - 6.0 - thickness(chart, way, flow.amount) / 2.0;
        match words.split_once(' ') {
            Some((number, unit)) if narrow && flow.amount == Some(0) => {
                drawing.label("cell faint m", (middle, centre - 4.0), number);
                drawing.label("cell faint m", (middle, centre + 14.0), unit);
            }
            // The box of L2 says that it does not count.
            _ if flow.amount.is_none() && way.ends().0 != "kernel" => {}
            _ if flow.amount.is_none() => drawing.label("cell faint m", (middle, above), &words),
            _ => drawing.label("cell m", (middle, above), &words),
        }
        if let Some(ratio) = ratio {
            let below = centre + 15.0 + thickness(chart, way, flow.amount) / 2.0;
            let words = ratio.words(!way.has_passes());
            match (&ratio, words.split_once(' ')) {
                (Ratio::Less(_) | Ratio::More(_), Some((times, _))) if narrow => {
                    let sign = if matches!(ratio, Ratio::Less(_)) { "÷" } else { "×" };
                    let text = format!("{sign} {}", times.trim_end_matches('×'));
                    drawing.label(&format!("cell m {}", ratio.class()), (middle, below), &text);
                }
                _ => drawing.label(&format!("cell m {}", ratio.class()), (middle, below), &words),
            }
        }
    });
}

/// How wide an arrow is.
fn thickness(chart: &MemoryChart, way: Way, amount: Option<u64>) -> f64 {
    let passes = way.has_passes();
    let widest = if passes { WIDEST_PASSES } else { WIDEST };
    let width = amount.unwrap_or(0) as f64 / chart.most(passes) as f64 * widest;
    width.max(THINNEST)
}

/// The outline of an arrow.
fn head(way: Way, left: f64, right: f64, centre: f64, width: f64) -> String {
    let (from, to, sign) = if way.comes() { (right, left, -1.0) } else { (left, right, 1.0) };
    let neck = to - sign * (6.0 + width * 0.3);
    let (half, wing) = (width / 2.0, width / 2.0 + 3.5);
    let [from, to, neck] = [from, to, neck].map(Number);
    format!(
        "M{from} {}H{neck}V{}L{to} {}L{neck} {}V{}H{from}Z",
        Number(centre - half),
        Number(centre - wing),
        Number(centre),
        Number(centre + wing),
        Number(centre + half)
    )
}

/// An arrow: what was asked for above, the rest of its width below.
fn shaft(
    drawing: &mut Drawing,
    chart: &MemoryChart,
    way: Way,
    flow: Flow,
    amount: u64,
    (left, right): (f64, f64),
    centre: f64,
) {
    let width = thickness(chart, way, Some(amount));
    let class = if way.has_passes() { "flow pale" } else { "flow" };
    drawing.path(class, &head(way, left, right, centre, width));
    let wasted = flow.least.map_or(0.0, |least| 1.0 - least as f64 / amount as f64);
    if wasted > 0.0 {
        // Waste is drawn on the shaft alone: no shape has to be cut off at the arrow's head.
        let neck = 6.0 + width * 0.3;
        let (start, end) = if way.comes() { (left + neck, right) } else { (left, right - neck) };
        let part = width * wasted;
        drawing.rect("flow waste", (start, centre + width / 2.0 - part), (end - start, part), 0.0);
    }
}

/// What an arrow is, in words.
fn said(way: Way, flow: Flow, words: &str) -> String {
    let (near, far) = way.ends();
    let (from, to) = if way.comes() { (far, near) } else { (near, far) };
    let requests =
        flow.requests.map_or(String::new(), |count| format!("{}, ", wording::units::counted(count, "request")));
    let least = match (flow.least, flow.amount) {
        (Some(least), Some(amount)) if least < amount => {
            format!(", of which {} % are waste", percent(amount - least, amount))
        }
        _ => String::new(),
    };
    format!("{from} to {to}, {}: {requests}{words}{least}", way.what())
}

fn percent(part: u64, all: u64) -> String {
    wording::units::three_digits(part as f64 * 100.0 / all as f64)
}

/// All of the chart in words.
fn description(chart: &MemoryChart) -> String {
    let of = |panel: &MemoryPanel| {
        let flow = |way: Way| panel.flow(way).map(|flow| said(way, flow, &chart.amount(way, flow.amount)));
        let flows: Vec<String> = chart.ways().filter_map(flow).collect();
        let caches = format!("; L1 {}; L2 {}", panel.l1.says(), panel.l2.says());
        let caches = if chart.counts_caches() { caches } else { String::new() };
        format!("{}: {}{caches}.", panel.name, flows.join("; "))
    };
    let notes = chart.notes().into_iter().map(str::to_owned);
    chart.panels.iter().map(of).chain(notes).collect::<Vec<_>>().join(" ")
}

/// What the colours mean.
fn key(drawing: &mut Drawing, chart: &MemoryChart, y: f64) {
    let [asked, waste] = chart.key();
    drawing.rect("flow", (KERNEL.0, y), (11.0, 11.0), 1.0);
    drawing.label("key", (KERNEL.0 + 16.0, y + 9.5), asked);
    drawing.rect("flow waste", (KERNEL.0 + 110.0, y), (11.0, 11.0), 1.0);
    drawing.label("key wide", (KERNEL.0 + 126.0, y + 9.5), waste);
    drawing.label("key narrow", (KERNEL.0 + 126.0, y + 9.5), "waste: moved, not asked for");
    let pale = if chart.ways().any(Way::has_passes) { "; pale: passes, at another scale" } else { "" };
    let text = format!("Widths are linear: bytes at one scale{pale}.");
    drawing.label("key", (KERNEL.0, y + 29.0), &text);
    for (index, note) in chart.notes().iter().enumerate() {
        drawing.label("key", (KERNEL.0, y + 29.0 + NOTE * (index + 1) as f64), note);
    }
}

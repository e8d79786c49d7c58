//! The words of a picture: what the access is, what it costs, and which lane asks for what.

use std::collections::{BTreeMap, BTreeSet};

use simt::counts::AccessKind;
use simt::requests::{Request, RequestedMemory, Service, Unit};
use wording::units::counted;

/// What kind of access it is.
pub(crate) fn title(request: &Request) -> String {
    use RequestedMemory as Memory;
    let memory = match request.memory {
        Memory::Global => "global memory",
        Memory::Local => "local memory",
        Memory::Constant => "constant memory",
        Memory::Shared => "shared memory",
        Memory::Distributed => "another block's shared memory",
        Memory::Texture => "a texture",
        Memory::Surface => "a surface",
    };
    let access = match (request.kind, request.memory) {
        (AccessKind::Load, Memory::Texture) => format!("fetch from {memory}"),
        (AccessKind::Load, _) => format!("load from {memory}"),
        (AccessKind::Store, _) => format!("store to {memory}"),
        (AccessKind::Atomic | AccessKind::Reduction, _) => format!("atomic operation on {memory}"),
        (AccessKind::Copy, Memory::Shared) => format!("asynchronous copy to {memory}"),
        (AccessKind::Copy, _) => format!("asynchronous copy from {memory}"),
    };
    format!("A warp's {access}, {} a lane", counted(request.width.into(), "byte"))
}

/// What it costs.
pub(crate) fn sentence(request: &Request, service: &Service) -> String {
    let lanes = counted(request.mask.count_ones().into(), "lane");
    match service.unit {
        Unit::Wavefront => banks(&lanes, service),
        Unit::Address if service.count == 1 => format!("{lanes}, 1 address: one read serves all."),
        Unit::Address => {
            format!("{lanes}, {} addresses: the constant cache serves one at a time.", service.count)
        }
        Unit::Request => {
            format!("{} {} of another block: 1 request.", asking(request, &lanes), bytes(service.bytes_asked))
        }
        Unit::Sector | Unit::Line | Unit::Transaction => {
            let unit = match service.unit {
                Unit::Line => "line",
                Unit::Transaction => "transaction",
                _ => "sector",
            };
            let moved = counted(service.count.into(), unit);
            let verb = if service.count == 1 { "moves" } else { "move" };
            let share = f64::from(service.bytes_asked) / f64::from(service.bytes_moved.max(1)) * 100.0;
            format!(
                "{} {}; {moved}, {}, {verb}: {} % used.",
                asking(request, &lanes),
                bytes(service.bytes_asked),
                bytes(service.bytes_moved),
                rounded(share)
            )
        }
    }
}

/// How many lanes ask for how much.
pub(crate) fn asks(request: &Request, service: &Service) -> String {
    let lanes = counted(request.mask.count_ones().into(), "lane");
    format!("{} {}.", asking(request, &lanes), bytes(service.bytes_asked))
}

fn asking(request: &Request, lanes: &str) -> String {
    let (one, many) = match request.kind {
        AccessKind::Load => ("asks for", "ask for"),
        AccessKind::Store => ("writes", "write"),
        AccessKind::Atomic | AccessKind::Reduction => ("updates", "update"),
        AccessKind::Copy => ("copies", "copy"),
    };
    format!("{lanes} {}", if request.mask.count_ones() == 1 { one } else { many })
}

fn bytes(count: u32) -> String {
    counted(count.into(), "byte")
}

/// At most one digit after the point.
fn rounded(percent: f64) -> String {
    let text = format!("{percent:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

fn banks(lanes: &str, service: &Service) -> String {
    let cost = format!("{lanes}, {}", counted(service.count.into(), "wavefront"));
    let words: BTreeSet<u64> = service.asks.iter().map(|ask| ask.address / 4).collect();
    let asking: BTreeSet<u8> = service.asks.iter().map(|ask| ask.lane).collect();
    if service.conflicts > 0 {
        return format!("{cost}, {} for bank conflicts{}.", service.conflicts, conflict(service));
    }
    match (service.count, words.len(), asking.len()) {
        (1, 1, 2..) => format!("{cost}: all lanes want one word, which is sent to all."),
        (1, ..) => format!("{cost}: no bank has two of the words."),
        _ => format!("{cost}: no bank conflicts."),
    }
}

/// Which banks make the lanes wait: `: one bank has 32 of the words`.
fn conflict(service: &Service) -> String {
    let Some(banks) = service.banks else { return String::new() };
    // A turn counts from the first pass of the lanes that are served together.
    let mut words: BTreeMap<(u32, u64), BTreeSet<u64>> = BTreeMap::new();
    let mut most = 0;
    for ask in &service.asks {
        let word = ask.address / u64::from(banks.bytes);
        let bank = word % u64::from(banks.count);
        words.entry((ask.pass - ask.turn, bank)).or_default().insert(word);
        most = most.max(ask.turn + 1);
    }
    let tallest: BTreeSet<u64> =
        words.iter().filter(|(_, words)| words.len() as u32 == most).map(|(key, _)| key.1).collect();
    let groups = words.keys().map(|key| key.0).collect::<BTreeSet<_>>().len();
    let words = if groups > 1 { format!("{most} words at a time") } else { format!("{most} of the words") };
    match (most, tallest.len()) {
        (..=1, _) | (_, 0) => String::new(),
        (_, 1) => format!(": one bank has {words}"),
        (_, banks) => format!(": {banks} banks have {words}{}", if groups > 1 { "" } else { " each" }),
    }
}

/// Which lanes ask for what, as long as that is regular: `lanes 0 to 31: every 128 bytes from +0`.
pub(crate) fn description(request: &Request, service: &Service, base: u64) -> String {
    let mut first_ask: BTreeMap<u8, u64> = BTreeMap::new();
    for ask in &service.asks {
        let first = first_ask.entry(ask.lane).or_insert(ask.address);
        *first = (*first).min(ask.address);
    }
    let lanes: Vec<(u8, i64)> = first_ask.iter().map(|(&lane, &at)| (lane, at.wrapping_sub(base) as i64)).collect();
    let runs = runs(&lanes);
    if runs.is_empty() {
        return "No lane takes part.".into();
    }
    if runs.len() > 4 {
        return "The lanes' addresses follow no simple pattern.".into();
    }
    let run = |&(first, last, start, step): &(u8, u8, i64, i64)| match (first == last, step) {
        (true, _) => format!("lane {first}: byte {start}"),
        (_, 0) => format!("lanes {first} to {last}: byte {start}"),
        (_, step) if step == i64::from(request.width) => {
            format!("lanes {first} to {last}: from byte {start} on, side by side")
        }
        (_, step) => format!("lanes {first} to {last}: from byte {start} on, {step} bytes apart"),
    };
    let text = runs.iter().map(run).collect::<Vec<_>>().join("; ");
    format!("{}{}.", text[..1].to_uppercase(), &text[1..])
}

/// Neighbouring lanes whose addresses rise by the same step: first lane, last lane, start, step.
fn runs(lanes: &[(u8, i64)]) -> Vec<(u8, u8, i64, i64)> {
    let mut runs: Vec<(u8, u8, i64, i64)> = Vec::new();
    for &(lane, address) in lanes {
        match runs.last_mut() {
            Some((first, last, start, step))
                if *last + 1 == lane && (*first == *last || address - *start == *step * i64::from(lane - *first)) =>
            {
                *step = if first == last { address - *start } else { *step };
                *last = lane;
            }
            _ => runs.push((lane, lane, address, 0)),
        }
    }
    runs
}

//! Loads that are left out, and loads that become one.

use std::collections::{BTreeMap, HashMap};

use ptx::{CacheOperator, Op};

use super::body::{Body, Candidate, Class, Found, Part};
use super::flow::Flow;
use super::live::Live;
use super::values::Values;
use super::versions::Versions;

/// What loads have in common that may serve each other.
#[derive(PartialEq, Eq, Hash)]
struct Shared {
    class: Class,
    cache: CacheOperator,
    version: u32,
    terms: Vec<(u32, i64)>,
}

/// What loads need: offset and size, and the first load of it.
type Units = BTreeMap<(i64, u32), usize>;

/// Loads that the first of them serves, as far as it can.
struct Cluster {
    first: usize,
    units: Units,
    /// What the store before has written.
    stored: Vec<(i64, u32)>,
    /// All of its loads.
    loads: Vec<(usize, i64)>,
}

pub(super) fn find(body: &Body<'_>, flow: &Flow, live: &Live, values: &Values, versions: &Versions, found: &mut Found) {
    let mut clusters: HashMap<Shared, Vec<Cluster>> = HashMap::new();
    let mut keys = Vec::new();
    let positions = flow.order.iter().flat_map(|&block| positions(flow, block));
    for position in positions {
        let instruction = &body.instructions[position];
        let (Op::Load { .. }, Some(candidate), Some(address)) =
            (&instruction.op, Candidate::of(instruction), values.address(position))
        else {
            continue;
        };
        let version = versions.at(candidate.class, position);
        let key = Shared { class: candidate.class, cache: candidate.cache, version, terms: address.terms.clone() };
        let all = clusters.entry(key).or_insert_with_key(|key| {
            keys.push(Shared { terms: key.terms.clone(), ..*key });
            Vec::new()
        });
        let at = all.iter().position(|cluster| flow.serves(cluster.first, position)).unwrap_or_else(|| {
            let stored = versions.maker(version).filter(|&store| flow.serves(store, position));
            let stored = stored.map_or_else(Vec::new, |store| stored_units(body, values, store, &candidate, address));
            all.push(Cluster { first: position, units: BTreeMap::new(), stored, loads: Vec::new() });
            all.len() - 1
        });
        let cluster = &mut all[at];
        cluster.loads.push((position, address.constant));
        for unit in 0..candidate.units {
            let offset = address.constant + i64::from(unit * candidate.unit);
            let key = (offset, candidate.unit);
            if candidate.needs(unit, |register| live.is_needed(register)) && !cluster.stored.contains(&key) {
                cluster.units.entry(key).or_insert(position);
            }
        }
    }
    let alignments = alignments(body, flow, live, values);
    for key in &keys {
        for cluster in &clusters[key] {
            let known = alignments.get(&key.terms).map_or(&[][..], Vec::as_slice);
            let window = |load| window(values.zeros(&key.terms), key.class, known, flow, load);
            // A vector load is one request, even if the first load does not know the alignment.
            let (together, alone): (Units, Units) =
                cluster.units.iter().partition(|&(_, &load)| window(load) == window(cluster.first));
            let mut all = requests(&together, window(cluster.first));
            for &(load, _) in &cluster.loads {
                let own = alone.iter().filter(|&(_, &by)| by == load).map(|(&unit, &by)| (unit, by)).collect();
                all.extend(requests(&own, window(load)));
            }
            record(cluster, &all, body, found);
        }
    }
}

fn positions(flow: &Flow, block: usize) -> std::ops::Range<usize> {
    let start = flow.block.partition_point(|&other| other < block);
    start..flow.block.partition_point(|&other| other <= block)
}

/// What the store at a position has written, if it was the last one to this memory.
fn stored_units(
    body: &Body<'_>,
    values: &Values,
    store: usize,
    load: &Candidate<'_>,
    address: &super::forms::Form,
) -> Vec<(i64, u32)> {
    let instruction = &body.instructions[store];
    let (Op::Store { .. }, Some(candidate), Some(to)) =
        (&instruction.op, Candidate::of(instruction), values.address(store))
    else {
        return Vec::new();
    };
    if candidate.class != load.class || to.terms != address.terms {
        return Vec::new();
    }
    (0..candidate.units).map(|unit| (to.constant + i64::from(unit * candidate.unit), candidate.unit)).collect()
}

/// That what is known of an address's terms holds where a block begins: the sum of the terms and
/// `residue` is a multiple of `multiple`.
#[derive(Clone, Copy)]
pub(super) struct Alignment {
    position: usize,
    multiple: i64,
    residue: i64,
}

/// What vector accesses tell of the addresses that they use: loads, by what of them is needed.
pub(super) fn alignments(
    body: &Body<'_>,
    flow: &Flow,
    live: &Live,
    values: &Values,
) -> HashMap<Vec<(u32, i64)>, Vec<Alignment>> {
    let mut all: HashMap<_, Vec<Alignment>> = HashMap::new();
    for (position, instruction) in body.instructions.iter().enumerate() {
        let (Some(candidate), Some(address)) = (Candidate::of(instruction), values.address(position)) else { continue };
        if flow.number[flow.block[position]] == usize::MAX {
            continue;
        }
        let is_load = matches!(instruction.op, Op::Load { .. });
        let needed =
            (0..candidate.units).filter(|&unit| !is_load || candidate.needs(unit, |register| live.is_needed(register)));
        let unit = |unit: u32| ((address.constant + i64::from(unit * candidate.unit), candidate.unit), position);
        let made = requests(&needed.map(unit).collect(), (i64::from(candidate.width()), address.constant));
        for (residue, width, _) in made.into_iter().filter(|&(_, width, _)| matches!(width, 8 | 16)) {
            let known = Alignment { position, multiple: i64::from(width), residue };
            all.entry(address.terms.clone()).or_default().push(known);
        }
    }
    all
}

/// The bytes within which accesses at an address become one, and a place where such a window
/// begins.
pub(super) fn window(zeros: u32, class: Class, known: &[Alignment], flow: &Flow, position: usize) -> (i64, i64) {
    let most = if class == Class::Constant { 8 } else { 16 };
    let mut best = (1 << zeros.min(4), 0);
    for alignment in known {
        let (from, to) = (flow.block[alignment.position], flow.block[position]);
        if alignment.multiple > best.0 && flow.dominates(from, to) {
            best = (alignment.multiple, alignment.residue);
        }
    }
    (best.0.min(most), best.1)
}

/// The requests for these units, each with the first load that it serves.
fn requests(units: &Units, (window, start): (i64, i64)) -> Vec<(i64, u32, usize)> {
    let mut windows: BTreeMap<(u32, i64), Vec<(i64, usize)>> = BTreeMap::new();
    let mut all = Vec::new();
    for (&(offset, size), &load) in units {
        if matches!(size, 4 | 8) && i64::from(size) < window {
            windows.entry((size, (offset - start).div_euclid(window))).or_default().push((offset, load));
        } else {
            all.push((offset, size, load));
        }
    }
    for ((size, index), inside) in windows {
        let first = start + index * window;
        let size = i64::from(size);
        let is_aligned = |offset: i64| (offset - first) % size == 0;
        let load = |these: &[(i64, usize)]| these.iter().map(|&(_, load)| load).min_by_key(|&load| load);
        let joins = inside.iter().all(|&(offset, _)| is_aligned(offset));
        let fills = inside.len() as i64 * size;
        match load(&inside) {
            Some(load) if joins && fills > window / 2 && fills > size => all.push((first, window as u32, load)),
            _ => {
                let mut rest = &inside[..];
                while let [(offset, load), more @ ..] = rest {
                    match more {
                        [(next, other), further @ ..]
                            if joins && window == 4 * size && next - offset == size && (offset - first) % 8 == 0 =>
                        {
                            all.push((*offset, 2 * size as u32, *load.min(other)));
                            rest = further;
                        }
                        _ => {
                            all.push((*offset, size as u32, *load));
                            rest = more;
                        }
                    }
                }
            }
        }
    }
    all
}

/// Notes how the loads of a cluster are counted, where that is not as they are.
fn record(cluster: &Cluster, requests: &[(i64, u32, usize)], body: &Body<'_>, found: &mut Found) {
    for &(position, address) in &cluster.loads {
        let own: Vec<Part> = requests
            .iter()
            .filter(|&&(.., load)| load == position)
            .map(|&(offset, width, _)| Part { offset: offset - address, width })
            .collect();
        let width = Candidate::of(&body.instructions[position]).map_or(0, |candidate| candidate.width());
        if own == [Part { offset: 0, width }] {
            continue;
        }
        if own.is_empty() {
            let reads =
                |(offset, size): (i64, u32)| offset < address + i64::from(width) && address < offset + i64::from(size);
            let by = requests.iter().find(|&&(offset, size, _)| reads((offset, size)));
            if let Some(&(.., by)) = by {
                found.served.insert(position, by);
            }
        }
        found.requests.insert(position, own);
    }
}

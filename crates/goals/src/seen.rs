//! The accesses that are drawn: the one that misses a goal, and the costliest of each instruction.
//! Judges and reports choose them here. Pure.

use std::collections::BTreeMap;

use picture::Scene;
use simt::Report;
use simt::counts::{AccessKind, InstructionInfo};
use simt::requests::{Request, RequestedMemory};

use crate::metric::{Launched, Metric};

/// An access, and who made it.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// The picture.
    pub scene: Scene,
    /// The block's position in the grid.
    pub block: [u32; 3],
    /// The warp's number in the block.
    pub warp: u32,
}

impl Seen {
    /// Whether a metric is about how memory serves accesses.
    pub fn draws(metric: Metric) -> bool {
        counted(metric.name).is_some()
    }

    /// The costliest access that a metric counts: in this line of `file`, or in any. `None` if the
    /// metric is about no access, or the launches kept none.
    pub fn worst(metric: Metric, launches: &[&Launched], file: &str, line: Option<u32>) -> Option<Self> {
        Self::worst_where(metric, launches, |info| {
            info.source.as_ref().is_some_and(|at| *at.file == *file && line.is_none_or(|line| at.line == line))
        })
    }

    /// The costliest access that a metric counts, of these instructions.
    pub fn worst_where(
        metric: Metric,
        launches: &[&Launched],
        is_wanted: impl Fn(&InstructionInfo) -> bool,
    ) -> Option<Self> {
        let is_counted = counted(metric.name)?;
        let mut worst: Option<(u32, Self)> = None;
        for Launched { report, .. } in launches {
            for request in report.requests().iter().filter(|request| is_counted(request)) {
                if !is_wanted(report.instruction_of(request)) {
                    continue;
                }
                let service = report.service_of(request);
                if worst.as_ref().is_none_or(|(cost, _)| service.count > *cost) {
                    let scene = Scene::new(request, &service);
                    worst = Some((service.count, Self { scene, block: request.position, warp: request.warp }));
                }
            }
        }
        worst.map(|(_, seen)| seen)
    }
}

/// Of the requests of each instruction to each memory, the first that costs the most, and of those
/// that cost the same the one that asks for the most: the others of a broadcast or an edge say less.
pub fn costliest(report: &Report) -> impl Iterator<Item = &Request> {
    let mut by_access: BTreeMap<_, ((u32, u32), &Request)> = BTreeMap::new();
    for request in report.requests() {
        let service = report.service_of(request);
        let cost = (service.count, service.bytes_asked);
        let known = by_access.entry((request.instruction, request.memory)).or_insert((cost, request));
        if cost > known.0 {
            *known = (cost, request);
        }
    }
    by_access.into_values().map(|(_, request)| request)
}

/// Which requests a metric counts, if it is about how memory serves them.
fn counted(metric: &str) -> Option<fn(&Request) -> bool> {
    fn is(request: &Request, memory: RequestedMemory, kinds: &[AccessKind]) -> bool {
        request.memory == memory && (kinds.is_empty() || kinds.contains(&request.kind))
    }
    use AccessKind::{Atomic, Copy, Load, Reduction, Store};
    use RequestedMemory::{Constant, Global, Local, Shared, Texture};
    let (of, what) = metric.rsplit_once('.').unwrap_or((metric, ""));
    match (of, what) {
        (_, "requests") => None,
        ("loads" | "transactions" | "transactions_per_request", _) => {
            Some(|request| is(request, Global, &[Load, Copy]))
        }
        ("atomics", _) => Some(|request| is(request, Global, &[Atomic, Reduction])),
        ("shared", "atomics") => Some(|request| is(request, Shared, &[Atomic, Reduction])),
        ("stores", _) => Some(|request| is(request, Global, &[Store])),
        ("shared", "wavefronts" | "bank_conflicts" | "wavefronts_per_request") => {
            Some(|request| is(request, Shared, &[]))
        }
        ("shared.loads", _) => Some(|request| is(request, Shared, &[Load])),
        ("shared.stores", _) => Some(|request| is(request, Shared, &[Store])),
        ("constants", _) => Some(|request| is(request, Constant, &[])),
        ("textures", _) => Some(|request| is(request, Texture, &[])),
        ("local", _) => Some(|request| is(request, Local, &[])),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::METRICS;

    #[test]
    fn metrics_of_how_memory_serves_accesses_have_pictures() {
        let drawn = METRICS.iter().map(|metric| metric.name).filter(|name| counted(name).is_some()).collect::<Vec<_>>();
        assert!(drawn.contains(&"loads.sectors_per_request") && drawn.contains(&"shared.bank_conflicts"), "{drawn:?}");
        for name in ["instructions", "barriers", "occupancy", "loads.requests", "dram_bytes"] {
            assert!(!drawn.contains(&name), "{name}");
        }
    }
}

//! What each line of a student's kernels did, for a page: its counts, its PTX, and what its
//! accesses look like. `judge` counts, [`crate::page`] shows it. Pure.

use std::collections::BTreeMap;

use goals::metric::Launched;
use goals::seen::costliest;
use picture::Scene;
use simt::counts::{AccessKind, InstructionClass};
use webpage::{Counts, Ptx};

/// The lines of one file.
#[derive(Clone, Debug, Default)]
pub struct Lines {
    /// What each line executed.
    pub counts: BTreeMap<u32, Counts>,
    /// The costliest access of each memory instruction, each shape once, with its first line.
    pub scenes: Vec<(u32, Scene)>,
}

/// Requests, and the sectors or wavefronts that they take, of a kind of access.
type Accesses = BTreeMap<&'static str, (u64, u64, &'static str)>;

impl Lines {
    /// What these launches did in the lines of `file`.
    pub fn of(launches: &[Launched], file: &str) -> Self {
        let mut lines = Self::default();
        let mut accesses: BTreeMap<u32, Accesses> = BTreeMap::new();
        let mut lanes: BTreeMap<u32, u64> = BTreeMap::new();
        let mut ptx: BTreeMap<(u32, u32, String), u64> = BTreeMap::new();
        for Launched { report, .. } in launches {
            for row in report.instructions().filter(|row| row.counters.executed > 0) {
                let Some(line) = row.info.source.as_ref().filter(|at| *at.file == *file).map(|at| at.line) else {
                    continue;
                };
                let counts = lines.counts.entry(line).or_default();
                counts.instructions += row.counters.executed;
                *lanes.entry(line).or_default() += row.counters.active_lanes;
                *ptx.entry((line, row.info.ptx_line, row.info.text.to_string())).or_default() += row.counters.executed;
                let stores = matches!(row.info.class, InstructionClass::Access(AccessKind::Store));
                let local = &row.counters.local;
                for (what, requests, units, unit) in [
                    (
                        if stores { "global stores" } else { "global loads" },
                        row.counters.global.requests,
                        row.counters.global.sectors,
                        "sectors",
                    ),
                    (if stores { "local stores" } else { "local loads" }, local.requests, local.sectors, "sectors"),
                    (
                        if stores { "shared stores" } else { "shared loads" },
                        row.counters.shared.requests,
                        row.counters.shared.wavefronts,
                        "wavefronts",
                    ),
                    ("texture loads", row.counters.texture.requests, row.counters.texture.sectors, "sectors"),
                ] {
                    if requests > 0 {
                        let what = what_of(what, row.info.class);
                        let sum = accesses.entry(line).or_default().entry(what).or_insert((0, 0, unit));
                        *sum = (sum.0 + requests, sum.1 + units, unit);
                        counts.cost += units;
                    }
                }
            }
            for request in costliest(report) {
                let Some(line) = report.instruction_of(request).source.as_ref().filter(|at| *at.file == *file) else {
                    continue;
                };
                let scene = Scene::new(request, &report.service_of(request));
                if lines.scenes.iter().all(|(_, other)| *other != scene) {
                    lines.scenes.push((line.line, scene));
                }
            }
        }
        for ((line, at, text), executed) in ptx {
            lines.counts.entry(line).or_default().ptx.push(Ptx { line: at, text, executed });
        }
        for (line, counts) in &mut lines.counts {
            counts.lanes = lanes.get(line).map(|&lanes| lanes as f64 / counts.instructions as f64);
            let words = |(what, (requests, units, unit)): (&str, (u64, u64, &str))| {
                (requests, format!("{what}: {:.2} {unit} per request", units as f64 / requests as f64))
            };
            counts.accesses = accesses.remove(line).unwrap_or_default().into_iter().map(words).collect();
        }
        lines
    }
}

/// An atomic operation is neither a load nor a store.
fn what_of(what: &'static str, class: InstructionClass) -> &'static str {
    let atomic = matches!(class, InstructionClass::Access(AccessKind::Atomic | AccessKind::Reduction));
    match (atomic, what) {
        (true, "global loads") => "global atomics",
        (true, "shared loads") => "shared atomics",
        _ => what,
    }
}

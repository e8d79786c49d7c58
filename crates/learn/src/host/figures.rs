//! The metrics of host code, from the driver's record. Pure.

use std::collections::BTreeSet;

use coalesce_driver::host::{Done, HostRecord, What};
use goals::goal::Counted;

/// Calls that wait for the device, or ask whether it is done.
const SYNCHRONISATIONS: [&str; 5] =
    ["cuCtxSynchronize", "cuStreamSynchronize", "cuEventSynchronize", "cuStreamQuery", "cuEventQuery"];

/// The value of a metric; `None` if there was nothing to count.
pub fn value(record: &HostRecord, counted: &Counted) -> Option<f64> {
    let is_counted = |kernel: &str| counted.kernel.as_ref().is_none_or(|wanted| wanted == kernel);
    let of_kernel = |done: &&Done| match &done.what {
        What::Launch { kernel, .. } => is_counted(kernel),
        What::Copy { .. } => false,
    };
    let launches = || record.work.iter().filter(of_kernel);
    let copies = || record.work.iter().filter(|done| matches!(done.what, What::Copy { .. }));
    let is_timed =
        |done: &&Done| record.timed.iter().any(|[from, until]| *from <= done.time[0] && done.time[1] <= *until);
    let prefers =
        |wanted| launches().filter(move |done| matches!(done.what, What::Launch { cache, .. } if cache == wanted));
    let calls = |name: &str| record.calls.get(name).copied().unwrap_or_default();
    Some(match counted.metric.name {
        "kernel.launches" => launches().count() as f64,
        "kernel.carveout" => {
            let carveout = |done: &Done| match done.what {
                What::Launch { carveout, .. } => Some(f64::from(carveout)),
                What::Copy { .. } => None,
            };
            launches().filter_map(carveout).reduce(f64::min)?
        }
        "kernel.prefers_shared" => prefers(1).count() as f64,
        "kernel.prefers_l1" => prefers(2).count() as f64,
        "kernel.timed" => launches().filter(is_timed).count() as f64,
        "kernel.warm_up" => {
            let first = record.timed.iter().map(|[from, _]| *from).fold(f64::INFINITY, f64::min);
            launches().filter(|done| first.is_finite() && done.time[1] <= first).count() as f64
        }
        "kernel.stores.bytes" => {
            record.stored.iter().filter(|(kernel, _)| is_counted(kernel)).map(|(_, &bytes)| bytes as f64).sum()
        }
        "copies" => copies().count() as f64,
        "copies.bytes" => copies().map(|done| bytes(done) as f64).sum(),
        "copies.pitched" => {
            copies().filter(|done| matches!(done.what, What::Copy { pitched: true, .. })).count() as f64
        }
        "copies.timed" => copies().filter(is_timed).count() as f64,
        "allocations" => record.allocations as f64,
        "allocations.pitched" => {
            let [all, failed] = calls("cuMemAllocPitch_v2");
            (all - failed) as f64
        }
        "leaked_bytes" => record.leaked_bytes as f64,
        "leaked_handles" => record.leaked_handles as f64,
        "synchronisations" => SYNCHRONISATIONS.iter().map(|name| calls(name)[0] as f64).sum(),
        "streams" => record.work.iter().map(|done| done.stream).collect::<BTreeSet<_>>().len() as f64,
        "overlap" => overlap(&record.work)?,
        _ => return None,
    })
}

fn bytes(done: &Done) -> u64 {
    match done.what {
        What::Copy { bytes, .. } => bytes,
        What::Launch { .. } => 0,
    }
}

/// How long launches and copies took one by one, over the time in which there were any.
fn overlap(work: &[Done]) -> Option<f64> {
    let mut times: Vec<[f64; 2]> = work.iter().map(|done| done.time).collect();
    times.sort_by(|one, other| one[0].total_cmp(&other[0]));
    let all: f64 = times.iter().map(|[from, until]| until - from).sum();
    let (mut busy, mut end) = (0.0, f64::NEG_INFINITY);
    for [from, until] in times {
        busy += (until - from.max(end)).max(0.0);
        end = end.max(until);
    }
    (busy > 0.0).then(|| all / busy)
}

#[cfg(test)]
mod tests {
    use coalesce_driver::host::Direction;

    use super::*;

    fn launch(kernel: &str, stream: usize, time: [f64; 2]) -> Done {
        Done { what: What::Launch { kernel: kernel.to_owned(), cache: 1, carveout: 40 }, stream, time }
    }

    fn copy(stream: usize, time: [f64; 2]) -> Done {
        let what = What::Copy { bytes: 100, direction: Direction::ToDevice, pitched: true, pageable: false };
        Done { what, stream, time }
    }

    fn of(record: &HostRecord, metric: &str) -> Option<f64> {
        value(record, &metric.parse().unwrap())
    }

    #[test]
    fn a_record_has_a_value_for_each_metric() {
        let work = vec![
            launch("a", 1, [0.0, 1.0]),
            copy(1, [1.0, 3.0]),
            launch("a", 2, [1.0, 2.0]),
            launch("b", 2, [3.0, 4.0]),
        ];
        let calls = [("cuStreamQuery", [2, 1]), ("cuCtxSynchronize", [1, 0]), ("cuMemAllocPitch_v2", [3, 1])];
        let calls = calls.map(|(name, counts)| (name.to_owned(), counts)).into_iter().collect();
        let stored = [("a", 12), ("b", 4)].map(|(kernel, bytes)| (kernel.to_owned(), bytes)).into_iter().collect();
        let timed = vec![[1.0, 2.5]];
        let record = HostRecord { work, calls, stored, timed, leaked_bytes: 7, ..HostRecord::default() };
        for (metric, value) in [
            ("kernel.launches", 3.0),
            ("kernel.launches of a", 2.0),
            ("kernel.carveout of b", 40.0),
            ("kernel.prefers_shared", 3.0),
            ("kernel.prefers_l1", 0.0),
            ("kernel.timed", 1.0),
            ("kernel.warm_up of a", 1.0),
            ("kernel.stores.bytes", 16.0),
            ("kernel.stores.bytes of b", 4.0),
            ("copies", 1.0),
            ("copies.bytes", 100.0),
            ("copies.pitched", 1.0),
            ("copies.timed", 0.0),
            ("allocations.pitched", 2.0),
            ("leaked_bytes", 7.0),
            ("synchronisations", 3.0),
            ("streams", 2.0),
            ("overlap", 1.25),
        ] {
            assert_eq!(of(&record, metric), Some(value), "{metric}");
        }
        assert_eq!(of(&record, "kernel.carveout of c"), None);
        assert_eq!(of(&HostRecord::default(), "overlap"), None);
        assert_eq!(of(&HostRecord::default(), "kernel.warm_up"), Some(0.0));
        // Each metric of host code has a value, or says that there is nothing to count.
        let known = goals::metric::Metric::all().filter(goals::metric::Metric::is_of_host);
        assert!(known.into_iter().all(|metric| of(&record, metric.name).is_some()));
    }
}

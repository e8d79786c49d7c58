//! Explains one predicted time in five lines: the time, how much each unit is used, why warps wait,
//! where, and what would help. Each line follows from the numbers of the replay. Pure.

use simt::prediction::{Bound, Prediction, Why};

use crate::report::{Hottest, RowPrediction, VariantReport};
use crate::units;

/// Explains a row's longest launch, or says why its time is not predicted.
pub fn of(variant: &VariantReport) -> Vec<String> {
    match &variant.predicted {
        Some(RowPrediction::Time(time)) => {
            let longest = time.launches.iter().max_by(|(_, one), (_, other)| one.cold_us.total_cmp(&other.cold_us));
            longest.map(|(kernel, time)| explain(kernel, time, variant.hottest.as_ref())).unwrap_or_default()
        }
        Some(RowPrediction::Not(what)) => vec![format!("The time of {} is not predicted: {what}.", variant.name)],
        None => Vec::new(),
    }
}

/// The five lines.
pub fn explain(kernel: &str, prediction: &Prediction, hottest: Option<&Hottest>) -> Vec<String> {
    let Prediction { model, cold_us, empty_us, bound, .. } = prediction;
    let warm = match prediction.warm_us {
        Some(warm) => format!("; with its data in L2, {}", microseconds(warm)),
        None => String::new(),
    };
    let time = format!(
        "{kernel}, predicted for {1}: {0}, of which an empty launch takes {2}{warm}. Limited by: {3}.",
        microseconds(*cold_us),
        model.chip,
        microseconds(*empty_us),
        bound.name()
    );
    let list = |all: Vec<String>| if all.is_empty() { "nothing".to_owned() } else { all.join(", ") };
    let uses = prediction.uses.iter().take(5).map(|(unit, part)| format!("{} {}", unit.name(), percent(*part)));
    let waits = prediction.waits.iter().filter(|(_, part)| *part >= 0.01).take(4);
    let waits = waits.map(|(why, part)| format!("{} {}", why.name(), percent(*part)));
    let (warps, most) = prediction.warps;
    let resident = match prediction.resident {
        1 => "1 block is".to_owned(),
        blocks => format!("{blocks} blocks are"),
    };
    let place = match hottest {
        Some(Hottest { place, part }) => format!("The longest waits, {} of all, are at {place}.", percent(*part)),
        None => "No line waits longer than another.".to_owned(),
    };
    vec![
        time,
        format!("Used, in percent of the time: {}.", list(uses.collect())),
        format!("Warps wait for: {}.", list(waits.collect())),
        format!(
            "{place} {resident} resident on a multiprocessor, {warps} of {most} warps, at {} registers a thread.",
            prediction.registers
        ),
        format!("What would help: {}.", advice(prediction)),
    ]
}

fn microseconds(time: f64) -> String {
    units::milliseconds(time / 1e3)
}

fn percent(part: f64) -> String {
    format!("{:.0} %", part * 100.0)
}

/// What would help, from what limits it.
fn advice(prediction: &Prediction) -> String {
    let used = |unit| prediction.uses.iter().find(|(other, _)| *other == unit).map_or(0.0, |(_, part)| *part);
    let waits = |why| prediction.waits.iter().find(|(other, _)| *other == why).map_or(0.0, |(_, part)| *part);
    let (warps, most) = prediction.warps;
    let next = prediction.uses.iter().find(|(unit, _)| *unit != prediction.bound);
    let then = match next {
        Some((unit, part)) if *part > 0.3 => format!("; the next limit is {}, at {}", unit.name(), percent(*part)),
        _ => String::new(),
    };
    let what = match prediction.bound {
        Bound::Dram => "move fewer bytes: whole sectors, each once, and smaller types".to_owned(),
        Bound::L2 => "ask L2 for fewer sectors: neighbouring lanes side by side, reuse in shared memory".to_owned(),
        Bound::Lsu => "make fewer or wider requests, each to fewer lines".to_owned(),
        Bound::SharedMemory => "fewer passes over the banks: no conflicts, or values kept in registers".to_owned(),
        Bound::Issue => "execute fewer instructions: wider loads, addresses computed once".to_owned(),
        Bound::Fp32 | Bound::Fp64 | Bound::Integer => "do less arithmetic, or cheaper".to_owned(),
        Bound::SpecialFunctions => "fewer special functions and conversions".to_owned(),
        Bound::Constants => "one address for all lanes of a warp".to_owned(),
        Bound::Textures => "fewer fetches, or plain loads".to_owned(),
        Bound::Latency if warps * 2 <= most => format!(
            "more bytes in flight: only {warps} of {most} warps are resident, and each waits for {} of its waiting for memory",
            percent(waits(Why::Memory))
        ),
        Bound::Latency => "more independent loads in each thread, begun before the first is used".to_owned(),
        Bound::Barriers => "fewer barriers, or smaller blocks beside each other".to_owned(),
        Bound::Dependences => "independent work between dependent instructions, or more warps".to_owned(),
        Bound::Launch if used(Bound::Launch) > 0.5 => "fewer and larger blocks".to_owned(),
        Bound::Launch => "more work in each launch".to_owned(),
        Bound::Link => "fewer bytes over the link, from pinned memory, while kernels run".to_owned(),
    };
    what + &then
}

#[cfg(test)]
mod tests {
    use super::*;
    use simt::Model;

    fn prediction(bound: Bound) -> Prediction {
        Prediction {
            model: Model::named("hopper").unwrap(),
            cold_us: 530.0,
            warm_us: None,
            empty_us: 2.66,
            next_us: 1.2,
            bound,
            warm_bound: None,
            uses: vec![(bound, 0.92), (Bound::Issue, 0.41)],
            waits: vec![(Why::Memory, 0.7), (Why::Barrier, 0.3)],
            waits_by_instruction: Vec::new(),
            registers: 32,
            resident: 2,
            warps: (16, 64),
            blocks: 4096,
            unsampled: 1.0,
        }
    }

    #[test]
    fn five_lines_each_a_sentence() {
        let hottest = Hottest { place: "tile.rs:12".into(), part: 0.5 };
        let lines = explain("tiled", &prediction(Bound::Dram), Some(&hottest));
        assert_eq!(lines.len(), 5);
        assert_eq!(
            lines[0],
            "tiled, predicted for H200 (GH100): 530 us, of which an empty launch takes 2.66 us. Limited by: DRAM."
        );
        assert_eq!(lines[1], "Used, in percent of the time: DRAM 92 %, issue 41 %.");
        assert_eq!(lines[2], "Warps wait for: loads from memory 70 %, barriers 30 %.");
        assert!(lines[3].starts_with("The longest waits, 50 % of all, are at tile.rs:12. 2 blocks"), "{}", lines[3]);
        assert!(lines[4].ends_with("the next limit is issue, at 41 %."), "{}", lines[4]);
    }

    #[test]
    fn every_limit_has_advice() {
        for bound in [Bound::Latency, Bound::Launch, Bound::Barriers, Bound::Constants, Bound::Dependences, Bound::Link]
        {
            assert!(advice(&prediction(bound)).len() > 10);
        }
    }
}

//! What holds for the predicted time of every launch: no unit is used above 100 %, more work never
//! takes less, twice the work takes twice as long, and no launch has a time that is no number.

use proptest::prelude::*;
use simt::prediction::{Predicted, Prediction};
use simt::{Launch, Model};

use crate::timing::Bench;

/// Runs on this model.
fn on(model: &'static Model) -> impl Fn(&mut Launch) {
    move |launch| (launch.model, launch.predicts) = (Some(model), Some(model))
}

/// Each takes no less than the one before, but for the jitter of memory's latencies. On a T4 and an
/// RTX 4060, whose DRAM is slow, steps also spread the loads, which then queue less.
fn rising(what: &str, times: &[Prediction]) {
    for pair in times.windows(2) {
        let [before, after] = [0, 1].map(|index| pair[index].cold_us);
        let least = if ["turing", "rtx4060"].contains(&pair[0].model.name) { 0.95 } else { 0.995 };
        assert!(after >= before * least, "{what} on {}: {after} after {before}", pair[0].model.name);
    }
    times.iter().for_each(conserves);
}

/// No unit is used above 100 %, and the reasons to wait are all of the waiting.
fn conserves(time: &Prediction) {
    assert!(time.uses.iter().all(|(_, part)| (0.0..=1.0).contains(part)), "{:?}", time.uses);
    let waits: f64 = time.waits.iter().map(|(_, part)| part).sum();
    assert!(time.waits.is_empty() || (waits - 1.0).abs() < 1e-9, "{:?}", time.waits);
    assert!(time.warm_us.is_none_or(|warm| warm <= time.cold_us));
}

#[test]
fn more_work_takes_no_less_time_on_any_model() {
    let bench = Bench::new();
    for model in Model::all() {
        let copy = |blocks, stride, steps| bench.copy(blocks, stride, steps, on(model));
        rising("sectors", &[1, 2, 4, 8].map(|stride| copy(512, stride, 0)));
        rising("dependent steps", &[0, 16, 64, 256].map(|steps| copy(512, 1, steps)));
        rising("blocks", &[64, 512, 2048, 4096].map(|blocks| copy(blocks, 1, 0)));
        // Compute capability 1.x has 16 banks, and 3.x can serve two words of a bank at once.
        rising("conflicts", &[1, 2, 4, 8, 16].map(|stride| bench.banks(stride, 100, on(model))));
    }
}

#[test]
fn twice_a_large_grid_takes_twice_as_long() {
    let bench = Bench::new();
    for name in ["tesla", "fermi", "volta", "hopper"] {
        let model = Model::named(name).unwrap();
        let sampled = |blocks| {
            move |launch: &mut Launch<'_>| {
                on(model)(launch);
                (launch.grid, launch.time_only) = ([blocks, 1, 1], true);
            }
        };
        // Arithmetic, since what the copy reads comes from DRAM once, whatever the grid; and shared
        // memory.
        let copy = |blocks| bench.copy(blocks, 1, 64, sampled(blocks));
        let banks = |blocks| bench.banks(2, 20, sampled(blocks));
        for time in [&copy as &dyn Fn(u32) -> Prediction, &banks] {
            // What a cold launch takes once, such as writing back what L2 holds, is in all three.
            let [one, two, four] = [1 << 16, 1 << 17, 1 << 18].map(time).map(|time| time.cold_us);
            let ratio = (four - two) / (two - one);
            assert!((ratio - 2.0).abs() < 2.0 * 0.02, "{name}: {one}, {two} and {four}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn no_launch_has_a_time_that_is_no_number(
        model in 0..Model::all().len(),
        grid in [1..40_u32, 1..3, 1..3],
        block in [1..300_u32, 1..3, 1..3],
        (stride, steps) in (0..70_u32, 0..40_u32),
        registers in proptest::option::of(1..256_u32),
        only in any::<bool>(),
        copies in any::<bool>(),
    ) {
        let bench = Bench::new();
        let addresses = bench.data.map(u64::to_le_bytes);
        let (stride, steps) = (stride.to_le_bytes(), steps.max(1).to_le_bytes());
        let all: [&[u8]; 4] = [&addresses[0], &addresses[1], &stride, &steps];
        let (kernel, arguments) = if copies { ("copy", &all[..]) } else { ("banks", &all[2..]) };
        let model = Model::all().get(model);
        let launch = Launch {
            kernel,
            grid,
            block,
            arguments,
            model,
            predicts: model,
            time_only: only,
            registers,
            ..Launch::default()
        };
        // What a model cannot run is an error, not a panic.
        if let Ok(report) = bench.program.launch(&bench.memory, &launch)
            && let Some(Predicted::Time(time)) = report.predicted()
        {
            conserves(time);
            for time in [Some(time.cold_us), time.warm_us].into_iter().flatten() {
                prop_assert!(time.is_finite() && time > 0.0);
            }
            prop_assert!(time.waits_by_instruction.iter().all(|part| part.is_finite() && *part >= 0.0));
        }
    }
}

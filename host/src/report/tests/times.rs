//! The columns of times: one series or two, doubtful times, and the limit that is closer.

use device::Throttle;

use super::*;

#[test]
fn one_series_is_one_column() {
    let mut large = report(gpu());
    for variant in &mut large.variants {
        (variant.timing, variant.warm_timing) = (Some(timing(2.0, Cache::Exceeded)), None);
    }
    let table = text(&large, Format::Table);
    assert!(table.contains("timed: the data is far larger than the level-2 cache\n"), "{table}");
    assert!(table.contains(" median ") && !table.contains("cold") && !table.contains("warm"), "{table}");
    // The data of one variant exceeds the cache; the other has both times.
    large.variants[0].timing = Some(timing(0.5, Cache::Flushed));
    large.variants[0].warm_timing = Some(timing(0.25, Cache::Warm));
    let table = text(&large, Format::Table);
    assert!(table.contains(" 500 us 250 us ") && table.contains(" 2.00 ms      - "), "{table}");
    assert!(table.contains("and warm (back to back) (1 of 2 variants)\n"), "{table}");
}

#[test]
fn doubtful_times_are_said_to_be_so() {
    let fine = text(&report(gpu()), Format::Table);
    assert!(!fine.contains("steady") && !fine.contains("throttled") && !fine.contains("dropped"), "{fine}");
    let mut doubtful = report(gpu());
    let throttle = Throttle { power: true, thermal: true, ..Throttle::default() };
    let [first, second] = &mut doubtful.variants[..] else { panic!("two variants") };
    first.warm_timing.as_mut().unwrap().steady = false;
    first.timing.as_mut().unwrap().throttled_by = Some(throttle);
    first.timing.as_mut().unwrap().sm_clock_mhz = Some(1410.0);
    second.timing.as_mut().unwrap().dropped_samples = 22;
    for format in [Format::Table, Format::Markdown] {
        let text = text(&doubtful, format);
        assert!(text.contains("Not steady when the time was up (--time-limit): with-strides (warm)."), "{text}");
        let throttled =
            "The clock was throttled (at most 1980 MHz): with-strides at 1410 MHz by the power limit and the";
        assert!(text.contains(throttled), "{text}");
        assert!(text.contains("were dropped and taken again: padded."), "{text}");
        assert!(format == Format::Markdown || text.lines().all(|line| line.chars().count() <= 100), "{text}");
    }
    let value: Value = serde_json::from_str(&text(&doubtful, Format::Json)).unwrap();
    assert_eq!(value["variants"][0]["timing"]["throttled_by"], "power+thermal");
    assert_eq!(value["variants"][0]["warm_timing"]["steady"], false);
    assert_eq!(value["variants"][1]["timing"]["dropped_samples"], 22);
}

#[test]
fn the_limit_is_the_one_that_is_closer() {
    let mut product = report(gpu());
    for (variant, percent) in product.variants.iter_mut().zip([75.0, 12.0]) {
        (variant.operations, variant.percent_of_arithmetic_limit) = (1000, Some(percent));
    }
    let table = text(&product, Format::Table);
    assert!(table.contains("The limit is the memory bus, 5000 GB/s, or f32 arithmetic, 66.9 TFLOP/s at 1980 MHz."));
    assert!(table.contains(" 20.0  75.0 ") && table.contains(" 80.0  64.0 "), "{table}");
    let value: Value = serde_json::from_str(&text(&product, Format::Json)).unwrap();
    let [first, second] = [0, 1].map(|index| &value["variants"][index]);
    assert_eq!((&first["limit"], &first["percent_of_limit"]), (&json!("arithmetic"), &json!(75.0)));
    assert_eq!((&second["limit"], &second["percent_of_limit"]), (&json!("memory"), &json!(64.0)));
    assert_eq!(first["percent_of_memory_limit"], json!(16.0));
}

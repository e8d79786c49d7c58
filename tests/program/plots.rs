//! `--plot`: a lab's sweep in a terminal, and on its page.

use crate::{fails, files_in, host, json, output};

/// Where a plot of this title begins, to the end.
fn plot<'t>(text: &'t str, title: &str) -> &'t str {
    let start = text.find(&format!("\n{title}")).unwrap_or_else(|| panic!("there is no '{title}': {text}"));
    &text[start + 1..]
}

/// The number after a bar.
fn number(bar: &str) -> Option<f64> {
    let (value, factor) = match bar.trim_end().strip_suffix(" k") {
        Some(value) => (value, 1e3),
        None => (bar, 1.0),
    };
    Some(value.split_whitespace().last()?.parse::<f64>().ok()? * factor)
}

/// The lines of a plot that have bars: what they show, and how much.
fn bars(plot: &str) -> Vec<(String, f64)> {
    let bar = |line: &str| {
        let (name, rest) = line.split_once('│')?;
        let value = number(rest)?;
        Some((name.split_whitespace().collect::<Vec<_>>().join(" "), value))
    };
    plot.lines()
        .skip(1)
        .map_while(|line| if line.trim_start().starts_with('└') { None } else { Some(bar(line)) })
        .flatten()
        .collect()
}

#[test]
#[ignore = "long: `.ci/run` runs it"]
fn labs_with_a_sweep_draw_it_and_the_others_name_those() {
    let (with, without): (Vec<_>, Vec<_>) = host::labs::ALL.iter().partition(|lab| lab.plots);
    let folder = tempfile::tempdir().expect("a folder");
    let names: Vec<&str> = with.iter().map(|lab| lab.name).collect();
    for lab in &with {
        let file = folder.path().join(format!("{}.html", lab.name));
        let text = output(&format!("{} --device sim --plot --report {}", lab.name, file.display()));
        let page = crate::report::Page::read(&file);
        page.check();
        assert!(!page.all(".plots svg").is_empty() && page.text.len() < 300_000, "{}", lab.name);
        let plotted = text.split("\n\n").filter(|part| part.contains(", by ") && part.contains('└')).count();
        assert!(plotted > 0, "{}: {text}", lab.name);
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        assert!(output(&format!("{} --help", lab.name)).contains("--plot"));
    }
    for lab in &without {
        let has_none = format!("{} has no sweep to draw; these have: {}", lab.name, names.join(", "));
        fails(host(&format!("{} --device sim --plot", lab.name)), 2, &["--plot", &has_none]);
        assert!(!output(&format!("{} --help", lab.name)).contains("--plot"));
    }
}

#[test]
fn an_offset_costs_a_sector_and_both_sides_are_one_curve() {
    let text = output("offset --plot --size 65536 --device sim");
    let drawn = bars(plot(&text, "Sectors per request, by offset: read, write"));
    let expected: Vec<(String, f64)> =
        (0..=32).map(|offset| (offset.to_string(), if offset % 8 == 0 { 4.0 } else { 5.0 })).collect();
    assert_eq!(drawn, expected);
    // Offsets that are given stay, in rising order.
    let text = output("offset --plot --size 65536 --read --offset 11,8 --device sim");
    assert_eq!(bars(plot(&text, "Sectors per request, by offset")), [("8".into(), 4.0), ("11".into(), 5.0)]);
    let old = output("offset --plot --read --offset 0,11 --device sim:g80");
    assert_eq!(bars(plot(&old, "Transactions per request, by offset")), [("0".into(), 2.0), ("11".into(), 32.0)]);
}

#[test]
fn strides_of_banks_are_any_that_stay_in_the_stage() {
    let report = json("banks --stride 0,33,32,64");
    let names: Vec<_> = report["variants"].as_array().expect("a list").iter().map(|it| &it["name"]).collect();
    assert_eq!(names[..4], ["stride-0", "stride-33", "stride-32", "stride-64"]);
    assert!(report["variants"].as_array().expect("a list").iter().all(|variant| variant["correct"] == true));
    let text = output("banks --plot --device sim");
    let drawn = bars(plot(&text, "Wavefronts per shared load, by stride"));
    let new: Vec<f64> = drawn.iter().filter(|(name, _)| name.ends_with("32 banks")).map(|(_, value)| *value).collect();
    // As many lanes share a bank as the stride has powers of two in common with 32; all lanes read
    // one word at 0.
    let expected: Vec<f64> = (0..=33_u32).map(|stride| f64::from(1 << stride.trailing_zeros().min(5))).collect();
    assert_eq!((new[0], &new[1..]), (1.0, &expected[1..]));
    assert_eq!(json("banks --stride 65 --rounds 32")["variants"][0]["correct"], true);
    fails(host("banks --stride 66 --rounds 32 --device sim"), 2, &["--stride", "66", "2048", "at most 65"]);
    fails(host("banks --stride 4294967295 --device sim"), 2, &["--stride"]);
    fails(host("banks --stride 1 --all --device sim"), 2, &["--stride", "--all"]);
}

#[test]
fn sums_and_products_run_at_several_sizes() {
    let report = json("reduce --size 1000,64 --reduce1 --best --type f32,i32 --operation sum,max");
    let variants = report["variants"].as_array().expect("a list");
    assert_eq!((variants.len(), report["parameters"].get("size")), (16, None));
    assert!(variants.iter().all(|variant| variant["correct"] == true), "{report}");
    assert_eq!(
        (&variants[0]["name"], &variants[2]["parameters"]["size"]),
        (&"reduce1-sum-f32 of 1000".into(), &64.into())
    );
    let report = json("matmul --m 33,64 --k 40 --naive --tiled32 --pitched");
    let variants = report["variants"].as_array().expect("a list");
    assert!(variants.iter().all(|variant| variant["correct"] == true), "{report}");
    let names: Vec<_> = variants.iter().map(|variant| &variant["name"]).collect();
    assert_eq!(names, ["naive of 33", "tiled32 of 33", "naive of 64", "tiled32 of 64"]);
    assert_eq!((&report["parameters"]["k"], report["parameters"].get("m")), (&40.into(), None));
    // Each thread of the naive kernel loads two elements for each product: 2 * 64 * 64 * 64 / 32
    // requests.
    let text = output("matmul --plot --naive --m 32,64 --device sim");
    let drawn = bars(plot(&text, "Global load requests, by m"));
    assert_eq!(drawn, [("32".into(), 2048.0), ("64".into(), 16_400.0)]);
    fails(host("matmul --m 64,4294967295 --device sim"), 2, &["4294967295", "smaller ones"]);
    fails(host("reduce --size 64,0 --device sim"), 2, &["--size"]);
}

#[test]
fn plots_use_the_width_there_is() {
    for width in [100, 60, 40] {
        let run = host("access --plot --loads --device sim").env("COLUMNS", width.to_string()).assert().success();
        let text = String::from_utf8_lossy(&run.get_output().stdout).into_owned();
        let drawn = plot(&text, "Bytes moved per load, by pattern").split("\n\n").next().expect("a plot");
        assert!(drawn.lines().all(|line| line.chars().count() <= width), "{width}: {drawn}");
        assert!(!drawn.contains('\x1b'), "no colours in a pipe: {drawn}");
    }
}

#[test]
fn what_cannot_be_drawn_is_refused_before_it_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    for format in ["csv", "json", "markdown"] {
        fails(host(&format!("offset --plot --device sim --format {format}")), 2, &["--plot", "--format table"]);
    }
    let mut one = host("offset --plot --offset 3 --read --device sim --output x.npy");
    one.current_dir(&folder);
    fails(one, 2, &["--plot", "give two values or more of the offset"]);
    fails(host("banks --plot --pattern permuted,bytes-8 --device sim"), 2, &["--plot", "of the stride"]);
    fails(host("stencil --plot --predict --device sim"), 2, &["--plot", "leave out --predict"]);
    assert!(files_in(folder.path()).is_empty());
}

#[cfg(target_os = "linux")]
#[test]
fn on_a_gpu_times_are_drawn_beside_the_device_s_own_copy() {
    let run = |flags: &str| crate::gpu::on_measured_gpu(&format!("{flags} --device gpu --time-limit 0.01"), "");
    let text = |flags: &str| String::from_utf8_lossy(&run(flags).assert().success().get_output().stdout).into_owned();
    let offsets = text("offset --plot --size 4096 --offset 0,1");
    assert!(plot(&offsets, "GB/s, by offset").contains("the device's own copy: "), "{offsets}");
    assert!(!offsets.contains("Sectors per request"), "{offsets}");
    let strides = text("banks --plot --stride 1,2 --blocks 8");
    assert!(!plot(&strides, "Time, by stride").contains("own copy"), "{strides}");
    let both = text("offset --plot --size 4096 --offset 0,1 --counters");
    assert!(both.contains("\nGB/s, by offset") && both.contains("\nSectors per request, by offset"), "{both}");
    let once = crate::gpu::on_gpu("offset --plot --size 4096 --once --device gpu", "");
    fails(once, 2, &["--plot", "--once takes no times"]);
}

//! Rooflines, as text and as SVG.

use picture::{Paint, Roof, Roofline, RooflineKernel, roofline_svg, roofline_text};

fn roof(name: &str, rate: f64) -> Roof {
    Roof { name: name.into(), rate }
}

fn kernel(name: &str, tflops: Option<f64>, intensities: [f64; 2]) -> RooflineKernel {
    RooflineKernel { name: name.into(), group: 0, tflops, intensities: intensities.into() }
}

fn drawn(kernels: Vec<RooflineKernel>) -> Roofline {
    Roofline {
        title: "TFLOP/s, by arithmetic intensity: a GPU, times predicted".into(),
        arithmetic: roof("FP32", 64.0),
        memories: vec![roof("DRAM", 4.0), roof("L2", 8.0)],
        kernels,
    }
}

fn two() -> Roofline {
    drawn(vec![kernel("near", Some(3.0), [1.0, 0.5]), kernel("far", None, [32.0, 4.0])])
}

#[test]
fn a_kernel_has_a_letter_for_each_memory_below_its_roofs() {
    let text = roofline_text(&two(), 100, Paint::Plain);
    let row = |letter: char| text.lines().position(|line| line.contains(letter) && line.contains(['│', '┤']));
    let column = |letter: char| text.lines().find_map(|line| line.chars().position(|c| c == letter));
    assert!(row('a') == row('A') && column('A') < column('a'), "{text}");
    // The second has no time: it is at its lowest roof, of L2.
    assert!(
        text.contains("a near  1 of DRAM, 0.5 of L2 operations a byte: 3 TFLOP/s, 75 % of what DRAM allows"),
        "{text}"
    );
    assert!(text.contains("b far   32 of DRAM, 4 of L2 operations a byte: at most 32 TFLOP/s, by L2"), "{text}");
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("DRAM: 4 TB/s, L2: 8 TB/s, FP32: 64 TFLOP/s"), "{text}");
    assert!(text.contains('└') && text.contains('─'), "{text}");
}

#[test]
fn it_fits_any_width_and_colours_change_no_character() {
    let strip = |text: &str| {
        let mut parts = text.split('\x1b');
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |text, part| text + part.split_once('m').map_or("", |(_, rest)| rest))
    };
    for width in [40, 60, 100] {
        let plain = roofline_text(&two(), width, Paint::Plain);
        assert!(plain.lines().all(|line| line.chars().count() <= width), "{width}: {plain}");
        assert_eq!(strip(&roofline_text(&two(), width, Paint::Colours)), plain);
    }
}

/// None, one, many, and what has no logarithm.
#[test]
fn any_kernels_are_drawn() {
    let many =
        (0..40).map(|i| kernel(&format!("k{i}"), Some(10.0 * f64::from(i)), [f64::from(i) / 8.0, 1e9])).collect();
    for kernels in [vec![], vec![kernel("one", Some(1.0), [1.0, 1.0])], many, vec![kernel("0", Some(0.0), [0.0, 0.0])]]
    {
        let roofline = drawn(kernels);
        for width in [40, 100] {
            roofline_text(&roofline, width, Paint::Plain);
        }
        let svg = roofline_svg(&roofline);
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>") && !svg.contains("NaN"));
        assert_eq!(svg.matches("<g>").count(), svg.matches("</g>").count());
        assert!(!svg.contains("style=") && !svg.contains("fill="), "classes only");
    }
}

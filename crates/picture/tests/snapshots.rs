//! The pictures of the course's shapes, and of plots, as they are: look at the difference when one
//! changes.

use picture::{
    Paint, Plot, Point, ReferenceLine, Scale, Scene, Series, access_svg, access_text, file, plot_svg, plot_text, shapes,
};

fn text(scene: &Scene, width: usize) -> String {
    let text = access_text(scene, width, Paint::Plain);
    for line in text.lines() {
        assert!(line.chars().count() <= width, "{}: over {width} columns: {line}", scene.title);
    }
    text
}

#[test]
fn shapes_as_text() {
    let all: Vec<String> =
        shapes().iter().map(|shape| format!("{}\n{}", shape.title, text(&shape.scene(), 100))).collect();
    insta::assert_snapshot!("shapes", all.join("\n"));
}

#[test]
fn shapes_on_narrow_terminals() {
    for width in [80, 72, 60, 40] {
        shapes().iter().for_each(|shape| drop(text(&shape.scene(), width)));
    }
    let some = ["offset-11", "broadcast", "shared-column-32", "shared-stride-2-g80"];
    let chosen: Vec<_> = shapes().into_iter().filter(|shape| some.contains(&shape.name)).collect();
    let narrow =
        [72, 40].map(|width| chosen.iter().map(|shape| text(&shape.scene(), width)).collect::<Vec<_>>().join("\n"));
    insta::assert_snapshot!("narrow", narrow.join("\n"));
}

#[test]
fn the_frame_is_exactly_100_columns_wide() {
    for shape in shapes() {
        let scene = shape.scene();
        for line in access_text(&scene, 100, Paint::Plain).lines().filter(|line| line.ends_with(['│', '┐', '┘', '┤']))
        {
            let expected = if scene.columns.count == 16 { 52 } else { 100 };
            assert_eq!(line.chars().count(), expected, "{}: {line}", shape.name);
        }
    }
}

#[test]
fn colours_change_no_character() {
    for shape in shapes() {
        let [plain, coloured] = [Paint::Plain, Paint::Colours].map(|paint| access_text(&shape.scene(), 100, paint));
        let (mut stripped, mut in_code) = (String::new(), false);
        for c in coloured.chars() {
            in_code |= c == '\x1b';
            if !in_code {
                stripped.push(c);
            }
            in_code &= c != 'm';
        }
        let lines = |text: &str| text.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>();
        assert_eq!(lines(&stripped), lines(&plain), "{}", shape.name);
    }
}

#[test]
fn shapes_as_svg() {
    for shape in shapes() {
        let drawing = access_svg(&shape.scene());
        is_well_formed(&drawing);
        assert!(!drawing.contains("style=") && !drawing.contains("fill="), "{}: classes only", shape.name);
        // All of them are in `docs/pictures`, made by `cargo xtask pictures`.
        if ["offset-11", "shared-stride-2-g80"].contains(&shape.name) {
            insta::assert_snapshot!(format!("{}.svg", shape.name), drawing.replace("><", ">\n<"));
        }
    }
    is_well_formed(&file(&access_svg(&shapes()[0].scene())));
}

/// Every element that begins ends, in order.
fn is_well_formed(drawing: &str) {
    let mut open: Vec<&str> = Vec::new();
    for tag in drawing.split('<').skip(1) {
        let tag = tag.split('>').next().expect("a split has a first part");
        let name = tag.split([' ', '/']).next().expect("a split has a first part");
        match tag.strip_prefix('/') {
            Some(end) => assert_eq!(open.pop(), Some(end), "{drawing}"),
            None if tag.ends_with('/') => {}
            None => open.push(name),
        }
    }
    assert!(open.is_empty(), "{open:?} in {drawing}");
}

fn points(values: impl IntoIterator<Item = (f64, f64)>) -> Vec<Point> {
    values.into_iter().map(|(x, y)| Point { label: x.to_string(), x, y }).collect()
}

fn offsets() -> Plot {
    let sectors = |offset: u32| if offset.is_multiple_of(8) { 4.0 } else { 5.0 };
    Plot {
        title: "Sectors of each load request, by offset".into(),
        x: "offset in floats".into(),
        y: "sectors".into(),
        x_scale: Scale::Names,
        y_scale: Scale::Linear,
        series: vec![Series {
            name: String::new(),
            points: points((0..33).map(|offset| (offset.into(), sectors(offset)))),
        }],
        reference_lines: vec![],
        best: Some(4.0),
    }
}

fn bandwidth() -> Plot {
    let size = |index: i32| 2f64.powi(10 + 2 * index);
    let speed = |index: i32, most: f64| most * size(index) / (size(index) + 3e6);
    let of = |name: &str, most: f64| Series {
        name: name.into(),
        points: points((0..9).map(|index| (size(index), speed(index, most)))),
    };
    Plot {
        title: "Bandwidth of a sum, by size".into(),
        x: "elements".into(),
        y: "GB/s".into(),
        x_scale: Scale::Log,
        y_scale: Scale::Log,
        series: vec![of("one word", 2100.0), of("four words", 3900.0)],
        reference_lines: vec![ReferenceLine { name: "device copy".into(), value: 4100.0 }],
        best: None,
    }
}

fn kinds() -> Plot {
    let named = [("aligned", 4.0), ("offset", 5.0), ("stride 2", 8.0), ("random", 31.2)];
    let points = named.into_iter().enumerate().map(|(x, (label, y))| Point { label: label.into(), x: x as f64, y });
    Plot {
        title: "Sectors of each load request, by pattern".into(),
        x: "pattern".into(),
        series: vec![Series { name: String::new(), points: points.collect() }],
        reference_lines: vec![ReferenceLine { name: "fewest".into(), value: 4.0 }],
        ..offsets()
    }
}

/// Names without room below upright bars, and more series than colours.
fn patterns() -> Plot {
    let labels = ["load aligned", "load misaligned", "load of a stride of 8 elements"];
    let series = |(index, name): (usize, &str)| {
        let points = labels.iter().enumerate().map(|(x, label)| Point {
            label: (*label).into(),
            x: x as f64,
            y: [4.0, 5.0, 32.0][x] / (index + 1) as f64,
        });
        Series { name: name.into(), points: points.collect() }
    };
    let names = ["g80", "tesla", "fermi", "kepler", "hopper"];
    Plot {
        title: "Transactions per load, by pattern".into(),
        x: "pattern".into(),
        y: "transactions".into(),
        series: names.into_iter().enumerate().map(series).collect(),
        reference_lines: vec![ReferenceLine { name: "fewest".into(), value: 4.0 }],
        best: None,
        ..offsets()
    }
}

/// More curves than colours, over numbers.
fn six() -> Plot {
    let of = |index: i32| Series {
        name: format!("step {index}"),
        points: points((0..6).map(|x| (f64::from(x) + 1.0, f64::from(x * index + 1)))),
    };
    let (x_scale, y_scale) = (Scale::Linear, Scale::Linear);
    Plot {
        title: "Six steps".into(),
        x: "x".into(),
        series: (1..=6).map(of).collect(),
        best: None,
        x_scale,
        y_scale,
        ..offsets()
    }
}

#[test]
fn plots() {
    let all = [offsets(), bandwidth(), kinds(), patterns(), six()];
    for (name, plot) in ["offsets", "bandwidth", "kinds", "patterns", "six"].into_iter().zip(all) {
        for width in [100, 60, 40] {
            let text = plot_text(&plot, width, Paint::Plain);
            assert!(text.lines().all(|line| line.chars().count() <= width), "{width} columns:\n{text}");
        }
        let drawing = plot_svg(&plot);
        is_well_formed(&drawing);
        insta::assert_snapshot!(format!("plot-{name}"), plot_text(&plot, 100, Paint::Plain));
        insta::assert_snapshot!(format!("plot-{name}.svg"), drawing.replace("><", ">\n<"));
    }
}

#[test]
fn a_report_at_a_glance() {
    let column = |head: &[&str], cells: &[&str]| {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        (texts(head), texts(cells))
    };
    let line = |number, cost, source: &str| picture::OverviewLine { number, cost, source: source.into() };
    let overview = picture::Overview {
        title: "transpose".into(),
        sentences: vec!["A column takes 32.0 wavefronts, with <padding> 1.00.".into()],
        columns: vec![column(&["variant"], &["tiled", "padded"]), column(&["shared", "loads"], &["32.0", "1.00"])],
        listings: vec![("tiled".into(), vec![line(7, 0, "    let x = 1;"), line(8, 640, "    *to = a && b;")])],
    };
    let drawing = picture::overview_svg(&overview);
    is_well_formed(&drawing);
    assert!(drawing.contains("<tspan class=\"number\">1.00</tspan>.") && drawing.contains("heat10"), "{drawing}");
    assert!(drawing.contains("&lt;padding&gt;") && drawing.contains("a\u{a0}&amp;&amp;\u{a0}b"), "{drawing}");
    let wide = (0..30).map(|_| overview.columns[1].clone()).collect();
    is_well_formed(&picture::overview_svg(&picture::Overview { columns: wide, ..overview }));
}

#[test]
fn a_plot_without_points_is_drawn() {
    let plot = Plot { series: vec![], ..offsets() };
    assert!(plot_text(&plot, 100, Paint::Plain).contains("by offset"));
    is_well_formed(&plot_svg(&plot));
}

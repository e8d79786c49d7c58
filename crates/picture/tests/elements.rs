//! Heat maps of loads: the sentence names the array that differs, all maps have one scale, and all
//! lines fit.

use picture::{Counted, ElementMap, ElementMaps, Paint, elements_svg, elements_text};

fn maps() -> ElementMaps {
    let map = |name: &str, a: u32, b: Vec<u32>| {
        let arrays = vec![("A".to_owned(), vec![a; 4096]), ("B".to_owned(), b)];
        ElementMap { name: name.to_owned(), arrays }
    };
    // Half of B is loaded.
    let half: Vec<u32> = (0..4096).map(|word| if word < 2048 { 8 } else { 0 }).collect();
    ElementMaps { counted: Counted::Loads, variants: vec![map("naive", 64, half.clone()), map("tiled", 2, half)] }
}

#[test]
fn the_array_that_differs_is_said() {
    assert_eq!(maps().sentence(), "Loads by lanes of each word of A: naive 64, tiled 2.");
    let mut without = maps();
    without.variants[1].arrays.remove(0);
    assert_eq!(without.sentence(), "Loads by lanes of each word of A: naive 64, tiled 0.");
    assert_eq!(
        ElementMaps { counted: Counted::Loads, variants: Vec::new() }.sentence(),
        "Nothing is loaded from global memory."
    );
}

#[test]
fn maps_as_text_have_one_scale() {
    for width in [40, 70, 100] {
        let text = elements_text(&maps(), width, Paint::Plain);
        for line in text.lines() {
            assert!(line.chars().count() <= width, "over {width} columns: {line}");
        }
        for said in ["A: 64 times", "A: 2 times", "B: 4.00 times on average", "0 loads of a word to 64"] {
            assert!(text.contains(said), "no {said} in {width} columns:\n{text}");
        }
    }
    let text = elements_text(&maps(), 100, Paint::Plain);
    let cells = |shade: char| text.chars().filter(|&c| c == shade).count();
    // A cell is two rows of 32; the key has each shade once.
    assert_eq!((cells('█'), cells('░'), cells('·')), (32 * 16 + 1, 32 * 16 + 2 * 32 * 8 + 1, 2 * 32 * 8 + 1), "{text}");
}

#[test]
fn maps_are_drawn_at_one_scale() {
    let svg = elements_svg(&maps());
    assert!(svg.starts_with("<svg") && !svg.contains("NaN"), "{svg}");
    // The most of all, one step for the tiled A, two for the half of B.
    for (class, count) in [("heat10", 2), ("heat1", 2), ("heat2", 3)] {
        assert_eq!(svg.matches(&format!("class=\"{class}\"")).count(), count, "{class}: {svg}");
    }
    let empty = elements_svg(&ElementMaps { counted: Counted::Loads, variants: Vec::new() });
    assert!(empty.contains("Nothing is loaded from global memory."), "{empty}");
    // A vector that ends inside a row.
    let short = ElementMap { name: "short".into(), arrays: vec![("x".into(), vec![1; 5])] };
    assert!(
        elements_svg(&ElementMaps { counted: Counted::Moves, variants: vec![short] })
            .contains("each word of 4 bytes is moved once")
    );
}

#[test]
fn a_map_is_as_high_as_its_array() {
    let map = |name: &str, first: u32| ElementMap {
        name: name.into(),
        arrays: vec![("counters".into(), (0..256).map(|word| if word == 0 { first } else { 1 }).collect())],
    };
    let of = |variants| ElementMaps { counted: Counted::Atomics, variants };
    let maps = of(vec![map("global", 4096), map("shared", 1)]);
    assert_eq!(maps.sentence(), "Atomic operations on each word of counters, on average: global 17.0, shared 1.");
    assert!(elements_text(&maps, 100, Paint::Plain).contains("0 operations on a word to 4096"));
    let height = |maps: &ElementMaps| {
        let svg = elements_svg(maps);
        let view = svg.split("viewBox=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a view").to_owned();
        view.split(' ').nth(3).and_then(|height| height.parse::<f64>().ok()).expect("a height")
    };
    let square = of(vec![ElementMap { name: "square".into(), arrays: vec![("x".into(), vec![1; 1024])] }]);
    // 8 rows of 32 words are a quarter of a square's height.
    assert!(height(&maps) + 140.0 < height(&square), "{} {}", height(&maps), height(&square));
}

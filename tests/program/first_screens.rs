//! The first screen of each lab: the sentence with the result above one table, in a terminal of 100
//! columns without scrolling.

use crate::host;

/// The rows of a terminal.
const MOST_LINES: usize = 40;

/// A lab, and what its first screen must say: the numbers that make its point.
const POINTS: [(&str, &[&str]); 18] = [
    (
        "launch",
        &[
            "KiB on each multiprocessor keep the DRAM of an H200",
            "% of what",
            "DRAM needs",
            "277 ##############################",
        ],
    ),
    ("offset", &["takes 4.00 sectors at offset 0 and 5.00 at offset 1", "5.00"]),
    ("access", &["an aligned load takes 4.00 transactions", "scattered 32.0", "4096"]),
    ("layout", &["12.0 sectors a load, of which 33.3 % is used", "direct: array of structures"]),
    ("vector", &["131072 of 4.00 sectors", "32768 of 16.0", "copy16: words of 16 bytes", "predicted"]),
    ("cache", &["10.4 times as many bytes", "Scattered words lose on Fermi", "1024 KiB 256 KiB*", "344 KiB"]),
    ("pitch", &["rows of 480 bytes move 1.80 bytes", "padded to 512 bytes 1.07", "6.67 % more memory", "1.07*"]),
    ("constant", &["is 1.00 access", "takes 30.1, one after", "lookup: an entry for each lane", "predicted"]),
    ("table", &["40.8 % of the instructions", "at most 1.1e-6"]),
    ("transpose", &["strided: 32.0 sectors a store", "a 33rd column ends that: 1.00", "padded: 32 x 33"]),
    ("matmul", &["fetches each element 8.00 times, not 128", "registers: 128 x 128"]),
    ("gram", &["16.5 wavefronts with 32 x 32", "it takes 1.00, for the same loads"]),
    ("reduce", &["Each step removes one waste", "18.7 % of the instructions", "bank conflicts", "53970", "122051"]),
    ("dot", &["makes 15920 requests", "shared memory 4355", "sums in registers"]),
    ("rows", &["reads columns: 32.0 sectors a load", "reads rows: 4.00"]),
    ("banks", &["Odd strides are free", "32.0 at 32, 1.00 at 33"]),
    ("shared", &["fewer blocks at once", "100 nothing", "8 ########", "4 ####", "1 #", "multiprocessor", "12.5"]),
    ("texture", &["down a column, 32 texels take 16.0", "in row order 32.0", "32.0 16.0* 16.0*"]),
];

#[test]
fn a_first_screen_makes_its_point_without_scrolling() {
    for (lab, points) in POINTS {
        let output = host(&format!("{lab} --device sim")).assert().success().get_output().clone();
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        let lines: Vec<_> = text.lines().collect();
        assert!(lines.len() <= MOST_LINES, "{lab} has {} lines:\n{text}", lines.len());
        let widest = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
        assert!(widest <= 100, "{lab} is {widest} columns wide:\n{text}");
        // Sentences are wrapped.
        let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for point in points {
            assert!(flat.contains(point), "{lab} does not say '{point}':\n{text}");
        }
        let parts: Vec<_> = text.split("\n\n").collect();
        assert!(!text.contains("too small"), "{lab} apologises:\n{text}");
        assert_eq!(parts.len(), 4, "{lab}: subject, sentences, one table, what else there is:\n{text}");
        assert!(parts[3].starts_with("--legend shows every column"), "{text}");
    }
}

#[test]
fn the_legend_has_every_column_and_what_it_means() {
    let text = |command: &str| {
        let output = host(command).assert().success().get_output().clone();
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    let first = text("transpose --tiled --padded --rows 64 --device sim");
    let whole = text("transpose --tiled --padded --rows 64 --device sim --legend");
    for part in ["right", "worst", "A request is a load or a store of one warp.", "The padded tile"] {
        assert!(!first.contains(part), "{first}");
    }
    for part in ["right", "worst", "A request is a load", "Wavefronts are passes", "padded  Tiles of 32 x 33"] {
        assert!(whole.contains(part), "{whole}");
    }
    assert!(!whole.contains("--legend"), "{whole}");
    host("transpose --rows 64 --device sim --legend --format csv").assert().code(2);
}

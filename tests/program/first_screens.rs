//! The first screen of each lab: the sentence with the result above one table, in a terminal of 100
//! columns without scrolling.

use std::collections::BTreeSet;

use crate::host;
use crate::report::{MOST, Page};

/// The rows of a terminal.
const MOST_LINES: usize = 40;

/// A lab, and what its first screen must say: the numbers that make its point.
const POINTS: [(&str, &[&str]); 27] = [
    (
        "launch",
        &[
            "the H200 needs 11.5 KiB in flight per multiprocessor",
            "% of latency",
            "x bandwidth",
            "277 ############################",
        ],
    ),
    ("offset", &["(offset 0 or 8 floats) takes 4 sectors; at offset 1 it takes 5", "80.0 %", "read 11 44 5.00 4.00"]),
    (
        "access",
        &[
            "128 bytes aligned, in any order of lanes, 160 misaligned, 1024 scattered",
            "4096 scattered",
            "one word 128 32 32",
        ],
    ),
    ("layout", &["touches 12 sectors, 3 times the 4", "direct: array of structures"]),
    ("vector", &["32768 instead of 131072", "same 524288 sectors", "copy16: words of 16 bytes", "predicted"]),
    ("cache", &["an H200, a stencil takes 33.0 KiB", "344 KiB without (cg)", "Fermi loses", "1024 KiB 256 KiB*"]),
    (
        "pitch",
        &[
            "padding rows of 480 bytes to 512",
            "moves 1.07 bytes for each requested instead of 1.80",
            "6.67 % more memory",
            "Since Volta, with sectors of 32 bytes, it gains nothing: 1 with and without",
            "Fermi, lines of 128 bytes 1.80 1.07*",
        ],
    ),
    (
        "constant",
        &[
            "is 1 access, here as fast as from global memory",
            "is 30.1 addresses (equal ones share), served one after",
            "lookup: a random entry for each lane",
            "predicted",
        ],
    ),
    ("table", &["takes 20 instructions per warp instead of 49", "at most 1.1e-6", "accurate math 1.4e-7"]),
    ("transpose", &["strided: 32 sectors a store", "a 33rd column makes that 1.", "padded: 32 x 33"]),
    (
        "matmul",
        &[
            "loads each element 8 times instead of 256",
            "2 times, and takes 17.0 % of the shared wavefronts",
            "registers: 128 x 128",
        ],
    ),
    (
        "gram",
        &[
            "32 wavefronts in the 32 x 32 tile and 8 in the 16 x 16, along a row 1: 16.5 and 4.50 on average",
            "With one more column every load takes 1.",
        ],
    ),
    (
        "reduce",
        &["Five steps each remove one waste", "18.7 % of reduce1's", "bank conflicts (further", "53970", "122051"],
    ),
    ("dot", &["makes 15920 global requests", "shared memory, 4355", "best: registers"]),
    ("rows", &["down a column: 32 sectors a load", "along the row: 4 sectors", "256 times the threads do the rest"]),
    (
        "banks",
        &[
            "wavefronts (passes over the banks): 2 at stride 2, 16 at 16, 32 at 32. Stride 33 takes 1.",
            "Words of 16 bytes go in 4 parts",
        ],
    ),
    (
        "shared",
        &[
            "8 blocks fit on a multiprocessor of an H200; with more, fewer do: 4 at 48 KiB, 1 at 227 KiB",
            "12.5 %",
            "32 6 ######",
            "100 warps",
            "KiB per block",
        ],
    ),
    (
        "texture",
        &[
            "touch 16 sectors in a texture and 32 in row order; along a row, 8 in a texture and 4 in row order",
            "32.0 16.0* 16.0*",
        ],
    ),
    (
        "atomics",
        &[
            "one counter in global memory gets 131072 operations, one after the other; if they are spread, at most 594",
            "adds up its equal values (match), it gets 4096; if each block counts in shared memory (shared, warp), 32.",
            "shared: a histogram per block alike 32 256 4096",
        ],
    ),
    (
        "consistency",
        &[
            "may still read an old message: 19 of 100 runs show it. Fences for a block do not help another block (19 of 100)",
            "With release and acquire for the device it is forbidden: 0 of 100.",
            "release: and acquire, scope gpu forbidden 0 of 100",
        ],
    ),
    (
        "spill",
        &[
            "of 64 words, rings outgrow L1: L2 moves 129 MiB (48.2 us)",
            "With constant indices they are in registers: 33.5 MiB (17.0 us).",
            "8 lists at a time at 12.5 % occupancy take 14.3 us, 1 at 100 % 13.3 us",
            "registers-64: constants 0 - 33.5 MiB 128 25.0 % 17.0 us",
        ],
    ),
    (
        "scan",
        &[
            "a second kernel adds what is before it: 2.14 times the bytes needed. With totals first 1.51; in a single pass",
            "in which tiles look back, 1.01.",
            "blelloch: a tree 198914 17416 56576 2.14",
            "padded: a tree with padding 257282 17416 0 2.14",
        ],
    ),
    (
        "transfer",
        &[
            "Predicted: a copy of 1 KiB takes 8.52 us, which is latency; 262144 KiB of pinned memory move at",
            "times as fast as pageable memory. Half of that bandwidth is reached at",
            "Chunks in four streams take",
            "streams-4: overlapped",
        ],
    ),
    (
        "sparse",
        &[
            "By threads, a load of CSR asks for 29.4 words in 22.2 sectors, as lanes read 32 rows. By warps it asks for 10 \
             in 2.15, but \
             takes 10.9 times the instructions: on an H200 rows of 16 entries are faster by threads",
            "ELL reads neighbours: 1.54 times the bytes needed. It pads power-law rows to the longest: 95.1 % padding, \
             13.3 times the bytes needed; in slices 7.44.",
            "csr-threads: a thread a row uniform 22.2 29.4 8.19 14336 0 %",
            "csr-warps: a warp a row uniform 2.15 10.0 2.76 155648 0 %",
            "ell: columns of all rows power-law 3.15 19.7 13.3 193398 95.1 %",
        ],
    ),
    (
        "stencil",
        &[
            "For 32 results of 25 points a warp loads 24.9 times, and finds 92.7 % in L1",
            "A tile makes them 25 loads from shared memory; a thread that keeps values for four results in registers needs 10",
            "L2 sends each value 3.54 times, and 1.67 times if a thread keeps them",
            "global-25: straight 24.9 - 92.7",
            "wide-5: 16-byte words 1.25 - 74.2",
        ],
    ),
    (
        "pipeline",
        &[
            "At 12.5 % occupancy, a block that loads a tile and then uses it has 8 KiB in flight and reaches a predicted 981 GB/s;",
            "with four stages it has 24 KiB and reaches 1566; four blocks have 32 and reach 1691.",
            "Little's law (latency x bandwidth) asks for 11.5 KiB; measured, an H200 takes two to three times what the law says.",
            "load 4 32.0 277 50.0 % 8 28 1081344 1691",
            "async-4 1 24.0 208 12.5 % 32 28 1271424 1566",
        ],
    ),
    (
        "order",
        &[
            "in squares they read 1.22 MiB from DRAM, along a curve 1.86 MiB, row by row 6.63 MiB. Time does not follow: shared",
            "128 MiB from DRAM; 80.0 MiB if L2 evicts the stream first, 80.0 MiB with a window. Evicting the table last",
            "row-by-row fermi 49.0 6.63 MiB 5.44",
            "squares: bands of --side rows fermi 90.6 1.22 MiB 1.00",
            "evict-first: the stream rtx4060 37.5 80.0 MiB 1.00",
            "evict-last: the table rtx4060 0.000 128 MiB 1.60",
        ],
    ),
];

/// Rows that do not make a lab's point, and the flag that shows one.
const LEFT_OUT: [(&str, &str, &str); 5] = [
    ("matmul --m 64", "best:", "--best"),
    ("gram --rows 64", "mirrored:", "--mirrored"),
    ("layout", "pointers:", "--matrix"),
    ("constant --size 2048", "gamma:", "--gamma --lookup"),
    ("banks", "structure-of-3", "--all"),
];

#[test]
fn order_says_on_each_model_what_its_rows_show() {
    let small = "--m 64 --n 64 --k 64 --passes 2";
    for (command, said) in [
        (
            format!("{small} --entries 65536 --device sim:hopper"),
            "The factors fit in L2: each order of tiles reads 32.0 KiB from DRAM. The table stays in L2 beside a stream: with a \
             hint or without, its passes read 768 KiB from DRAM. Without --device, models of GPUs whose L2 is smaller show",
        ),
        (
            format!("{small} --entries 2097152 --device sim:turing"),
            "Passes over a table beside a stream read 32.0 MiB from DRAM: the stream drives the table out. L2 has no priorities \
             before compute capability 8.0.",
        ),
        (
            "--table --evict-first --device sim".to_owned(),
            "read 128 MiB from DRAM, and 80.0 MiB if L2 evicts the stream first.",
        ),
    ] {
        let output = host(&format!("order {command}")).assert().success().get_output().clone();
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(said), "{command}: {text}");
    }
}

#[test]
fn rows_without_the_point_are_there_by_their_flags_and_in_the_legend() {
    let text = |command: &str| {
        let output = host(command).assert().success().get_output().clone();
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    for (lab, row, flag) in LEFT_OUT {
        let first = text(&format!("{lab} --device sim"));
        assert!(!first.contains(row), "{lab} shows '{row}':\n{first}");
        let chosen = text(&format!("{lab} {flag} --device sim"));
        assert!(chosen.contains(row), "{lab} {flag} does not show '{row}':\n{chosen}");
        let csv = text(&format!("{lab} --device sim --format csv"));
        let name = row.trim_end_matches(':');
        assert!(csv.contains(name), "{lab} does not run '{name}':\n{csv}");
    }
}

/// The units of sizes, of times and of counts behind numbers.
fn units(text: &str) -> [BTreeSet<&str>; 3] {
    let words: Vec<_> = text.split(|letter: char| !letter.is_alphanumeric() && letter != '.').collect();
    let behind = words.windows(2).filter(|pair| pair[0].parse::<f64>().is_ok()).map(|pair| pair[1]);
    let behind: BTreeSet<_> = behind.collect();
    // Counts are in full.
    [&["KiB", "MiB", "GiB"][..], &["ns", "us", "ms"], &["", "k", "M"]]
        .map(|kind| kind.iter().copied().filter(|unit| unit.is_empty() || behind.contains(unit)).collect())
}

#[test]
#[ignore = "long: `.ci/run` runs it"]
fn a_first_screen_makes_its_point_without_scrolling() {
    let folder = tempfile::tempdir().expect("a folder");
    let report = folder.path().join("report.html");
    for (lab, points) in POINTS {
        let mut command = host(&format!("{lab} --device sim"));
        let output = command.arg("--report").arg(&report).assert().success().get_output().clone();
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
        let page = Page::read(&report);
        page.check();
        assert!(page.text.len() < MOST, "{lab}: {} bytes", page.text.len());
        assert!(!page.all("figure").is_empty() && !page.all("tr.hot").is_empty(), "{lab}");
        // Copies of a kilobyte are shown beside those of many megabytes.
        let shown = [("first screen", &text), ("report", &page.text)].into_iter();
        for (what, shown) in shown.filter(|_| lab != "transfer") {
            let used = units(shown);
            assert!(used.iter().all(|kind| kind.len() <= 1), "{lab}'s {what} has {used:?} for one quantity");
        }
        let parts: Vec<_> = text.split("\n\n").collect();
        assert!(!text.contains("too small"), "{lab} apologises:\n{text}");
        assert!(!text.contains('└'), "{lab} draws a plot without --plot:\n{text}");
        // Below the table: what overlaps, drawn; how sure several models are.
        let last = if ["transfer", "order"].contains(&lab) { 4 } else { 3 };
        assert_eq!(parts.len(), last + 1, "{lab}: subject, sentences, one table, what else there is:\n{text}");
        assert!(parts[last].starts_with("--legend shows every column"), "{text}");
    }
}

/// What is not shown does not run: one of these rows would exceed the limit of steps.
#[test]
fn rows_that_are_left_out_do_not_run() {
    let limited = "transpose --device sim --step-limit 1500000";
    host(limited).assert().success();
    host(&format!("{limited} --format csv")).assert().failure();
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

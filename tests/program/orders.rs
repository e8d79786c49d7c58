//! `--schedules` and `--schedule`: other orders of blocks and warps, in `host run` and the labs;
//! and all of them, `--explore`.

use serde_json::Value;

use crate::{fails, host, json, output};

/// Kernels that are right in the usual order only, each with a twin, NAME_right.
const ORDERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/simt/tests/data/orders.ptx");

/// A launch of such a kernel.
fn of(kernel: &str, flags: &str) -> String {
    format!("run {ORDERS} {kernel} --device sim --grid 32 --block 128 u32[4096] --no-predict {flags}")
}

/// The exit code, the JSON of the orders, and the standard error.
fn tried(kernel: &str, flags: &str, threads: u32) -> (i32, Value, String) {
    let mut command = host(&of(kernel, &format!("--format json {flags}")));
    let run = command.env("RAYON_NUM_THREADS", threads.to_string()).output().expect("the program runs");
    let report: Value = serde_json::from_slice(&run.stdout).expect("JSON");
    let said = String::from_utf8(run.stderr).expect("the errors are text");
    (run.status.code().expect("it ends"), report["orders"].clone(), said)
}

#[test]
fn another_result_is_a_fault_and_its_order_repeats_it() {
    for kernel in ["lost_update", "last_block", "no_barrier", "one_barrier", "no_warp_barrier"] {
        let (code, orders, said) = tried(kernel, "--check none --schedules 16", 2);
        assert_eq!(code, 1, "{said}");
        let (different, order) = (&orders["different"], orders["first"]["order"].as_str().unwrap());
        let result = orders["first"]["result"].as_str().unwrap();
        assert!(result.starts_with("element ") && result.contains(" of argument 0 is "), "{result}");
        let first = format!("error: {different} of 16 other orders give another result: {result}\n");
        assert!(
            said.starts_with(&first) && said.contains(&format!("\n  Run it again: --schedule {order}\n")),
            "{said}"
        );
        // The order alone.
        let (code, again, said) = tried(kernel, &format!("--check none --schedule {order}"), 1);
        let again_first = (&again["first"]["order"], &again["first"]["result"]);
        assert_eq!((code, again_first, &again["tried"]), (1, (&order.into(), &result.into()), &1.into()), "{said}");
        // Its twin.
        let (code, orders, said) = tried(&format!("{kernel}_right"), "--check none --schedules 16", 2);
        assert_eq!((code, &orders["tried"], &orders["different"], said.as_str()), (0, &16.into(), &0.into(), ""));
    }
}

#[test]
fn orders_are_the_same_on_any_number_of_cores() {
    let on = |threads| tried("lost_update", "--check none --schedules 20 --seed 7", threads);
    let one = on(1);
    assert_eq!(one.1["tried"], 20);
    for threads in [2, 5] {
        assert_eq!(on(threads), one);
    }
    assert_ne!(tried("lost_update", "--check none --schedules 20 --seed 8", 1), one);
}

#[test]
fn counts_are_those_of_the_usual_order_and_a_schedule_shows_its_own_results() {
    let plain = output(&of("last_block", "--print 0"));
    let run = host(&of("last_block", "--print 0 --schedules 9")).assert().code(1);
    assert_eq!(String::from_utf8_lossy(&run.get_output().stdout), plain);
    let run = host(&of("last_block", "--print 0 --schedule usual:1,start=down")).assert().code(1);
    let shown = String::from_utf8_lossy(&run.get_output().stdout).into_owned();
    assert!(plain.contains(" 0: 528 1 2 ") && shown.contains(" 0: 32 1 2 "), "{shown}");
}

#[test]
fn right_results_are_said_to_be_right() {
    let text = output(&of("lost_update_right", "--schedules 12"));
    assert!(text.contains("12 other orders of blocks and warps give the same result. In 2 of them"), "{text}");
    assert!(text.contains("warps have drawn"), "{text}");
    let text = output(&of("lost_update_right", "--schedules 12 --format csv"));
    assert!(text.contains("orders tried,12\norders that differ,0\n"), "{text}");
}

#[test]
fn launches_on_the_same_memory_are_compared_together() {
    let run =
        |flags: &str| format!("{} --then last_block_right --grid 32 --block 128 arg:0 {flags}", of("lost_update", ""));
    let report: Value = serde_json::from_slice(
        &host(&run("--format json --check none --schedules 4")).assert().code(0).get_output().stdout,
    )
    .unwrap();
    assert_eq!((&report["orders"]["tried"], report["launches"].as_array().unwrap().len()), (&4.into(), 2));
    // What is named is compared, and the sum of the second kernel hides the first one's.
    fails(host(&of("lost_update", "--then waits --schedules 2")), 2, &["--grid: launch 1 (waits) has none"]);
}

#[test]
fn faults_of_other_orders_are_results() {
    let text = "
.version 7.8
.target sm_75
.address_size 64
// The block that comes first writes out of bounds, unless that is block 0.
.visible .entry k(.param .u64 count) {
    .reg .pred %p<3>;
    .reg .b32 %r<4>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [count];
    mov.u32 %r1, %ctaid.x;
    atom.global.add.u32 %r2, [%rd1], 1;
    setp.ne.u32 %p1, %r2, 0;
    @%p1 ret;
    mul.wide.u32 %rd2, %r1, 1048576;
    add.u64 %rd1, %rd1, %rd2;
    st.global.u32 [%rd1+4], %r2;
    ret;
}
";
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("k.ptx");
    std::fs::write(&file, text).unwrap();
    let run = format!("run {} k --device sim --grid 4 --block 1 u32[2] --no-predict --schedules 6", file.display());
    let run = host(&run).assert().code(1);
    let said = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
    assert!(said.contains("other orders give another result: kernel `k`: "), "{said}");
    assert!(said.contains("out of bounds"), "{said}");
}

#[test]
fn floats_may_differ_by_the_order_of_a_sum() {
    let text = "
.version 7.8
.target sm_75
.address_size 64
.visible .entry sum(.param .u64 x, .param .u64 total) {
    .reg .b32 %r<5>;
    .reg .f32 %f<2>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [total];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.u32 %r4, %r1, %r2, %r3;
    mul.wide.u32 %rd3, %r4, 4;
    add.u64 %rd1, %rd1, %rd3;
    ld.global.f32 %f1, [%rd1];
    red.global.add.f32 [%rd2], %f1;
    ret;
}
";
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sum.ptx");
    std::fs::write(&file, text).unwrap();
    let run = format!(
        "run {} sum --device sim --grid 16 --block 64 f32[1024]=rand:3 f32[1]=1000 --no-predict --schedules 9",
        file.display()
    );
    let text = output(&run);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let said = "9 other orders of blocks and warps give the same result (floats within 1 part in 100000 count as the same, \
                since atomics leave the order of sums open).";
    assert!(text.contains(said), "{text}");
}

#[test]
fn a_lab_compares_with_its_reference_in_each_order() {
    let report = json("reduce --size 5000 --operation sum --reduce2 --reduce6 --schedules 9 --no-predict");
    let orders = report["orders"].as_array().unwrap();
    let tried: Vec<_> = orders.iter().map(|one| (&one["variant"], &one["tried"], &one["different"])).collect();
    assert_eq!(
        tried,
        [(&"reduce2-sum-f32".into(), &9.into(), &0.into()), (&"reduce6-sum-f32".into(), &9.into(), &0.into())]
    );
    let text = output("transpose --rows 40 --cols 30 --padded --device sim --schedule random:1:4,lanes=2 --no-predict");
    assert!(text.contains("Another order of blocks and warps gives right results, too.\n"), "{text}");
}

#[test]
fn a_lab_shows_how_a_wrong_element_comes_about() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    let flags = format!("--schedules 12 --no-predict --check none --report {}", page.display());
    let run = host(&format!("consistency --relaxed --blocks 8 --launches 1 --device sim {flags}")).assert().code(1);
    let said = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
    for words in [
        "other orders give another result: element 0 is 0, not 1",
        "Run it again: --schedule ",
        "How it comes about, at ",
        "reads 0",
        "consistency.rs:",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("Other orders: relaxed") && page.contains("How it comes about"), "{page}");
}

#[test]
fn bad_orders_are_refused_in_one_line() {
    let run = |flags: &str| host(&of("lost_update", flags));
    fails(run("--schedules 0"), 2, &["'--schedules <NUMBER>': give a whole number from 1 to 1000000; see --help"]);
    fails(run("--seed -1"), 2, &["'--seed <NUMBER>'"]);
    fails(
        run("--schedule left"),
        2,
        &["'left' is no order: give random:EVERY:SEED, pct:DEPTH:POINTS:SEED or usual:SEED"],
    );
    fails(run("--schedule usual:1 --schedules 2"), 2, &["cannot be used with"]);
    fails(run("--schedule usual:1 --check race"), 2, &["--schedule: ", "--check"]);
    fails(run("--schedules 2 --predict"), 2, &["cannot be used with"]);
    let model = of("lost_update", "--schedule usual:1").replace("--device sim", "--device sim:hopper");
    fails(host(&model), 2, &["--schedule: an order is for the simulator without a model; give --device sim"]);
    fails(host("transpose --device sim --predict --schedules 2"), 2, &["--schedules: ", "--predict"]);
    fails(host("shared --size 3000 --device sim --schedules 2"), 2, &["--schedules: each row here runs on a model"]);
    fails(host("transpose --device sim --compare-models --schedules 2"), 2, &["--compare-models: ", "--schedules"]);
}

/// A launch of which all orders are explored.
fn exploring(kernel: &str, grid: u32, flags: &str) -> String {
    format!(
        "run {ORDERS} {kernel} --device sim --grid {grid} --block 128 u32[128] --no-predict --check none --explore {flags}"
    )
}

#[test]
fn all_orders_are_explored_and_one_that_differs_is_shown() {
    let run = host(&exploring("lost_update", 3, "")).assert().code(1);
    let said = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
    let expected = "\
error: the last of 2 explored orders gives another result: element 0 of argument 0 is 2, not 3
  In that order, one warp runs after another, but one goes on early.
  Run it again: --schedule switch:1.0@2-2.0

  How it comes about, at element 0 of argument 0:
    block 1, thread 0  block 2, thread 0
    reads 1                               orders.ptx:19
                       reads 1            orders.ptx:19
                       writes 2, over 1   orders.ptx:21
    writes 2, over 2                      orders.ptx:21
";
    assert_eq!(said, expected);
    let again = exploring("lost_update", 3, "").replace("--explore", "--schedule switch:1.0@2-2.0");
    let run = host(&again).assert().code(1);
    let said = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
    assert!(said.starts_with("error: 1 of 1 other order gives another result: element 0 of argument 0 is 2"), "{said}");
    for (kernel, grid) in [("last_block", 3), ("no_barrier", 1), ("one_barrier", 1)] {
        let run = host(&exploring(kernel, grid, "--format json")).assert().code(1);
        let report: Value = serde_json::from_slice(&run.get_output().stdout).expect("JSON");
        let orders = &report["orders"];
        assert_eq!((&orders["different"], &orders["explored"]["orders"]), (&1.into(), &orders["tried"]));
        assert!(orders["first"]["order"].as_str().is_some_and(|order| order.starts_with("switch:")), "{orders}");
        assert!(orders["first"]["story"]["timeline"].is_object(), "{orders}");
    }
    // Faults and deadlocks are results, too.
    let run = host(&exploring("locked", 2, "--orders 50")).assert().code(0);
    let text = String::from_utf8_lossy(&run.get_output().stdout).into_owned();
    assert!(text.contains("No difference in 100 orders. There are more within 2 preemptions: --orders says"), "{text}");
}

#[test]
fn how_far_orders_were_explored_is_said() {
    let text = |kernel: &str, flags: &str| {
        let text = output(&exploring(kernel, 3, flags));
        text.trim_end().lines().last().unwrap().to_owned()
    };
    assert_eq!(text("last_block_right", ""), "All 6 orders of blocks and warps that may differ give this result.");
    assert_eq!(text("lost_update_right", ""), "All orders of blocks and warps are alike, and give this result.");
    let within = text("last_block_right", "--preemptions 0");
    assert!(within.starts_with("No difference within 0 preemptions, "), "{within}");
}

#[test]
fn what_is_not_explored_is_refused_in_one_line() {
    let run = |flags: &str| host(&exploring("lost_update", 3, flags));
    fails(run("--schedules 2"), 2, &["cannot be used with"]);
    fails(run("--orders 0"), 2, &["'--orders <NUMBER>'"]);
    fails(run("--then waits --grid 1 --block 32 arg:0"), 2, &["--explore: the orders of one launch are explored"]);
    fails(
        host(&exploring("lost_update", 9999, "")),
        2,
        &["exploring orders: it has too many warps; make the grid smaller"],
    );
    let without = exploring("lost_update", 3, "--orders 5").replace("--explore", "");
    fails(host(&without), 2, &["--explore"]);
}

/// What the program says of a kernel's other orders, on one line for each paragraph.
fn said(file: &str, kernel: &str, flags: &str) -> String {
    let file = ORDERS.replace("orders.ptx", file);
    let run = format!("run {file} {kernel} --device sim --block {flags} --no-predict --check none");
    let run = host(&run).assert().code(1);
    let said = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
    assert!(said.lines().skip(1).all(|line| line.chars().count() <= 100), "{said}");
    said
}

#[test]
fn a_lost_update_is_shown_as_a_timeline() {
    let text = said("orders.ptx", "lost_update", "128 --grid 8 u32[4] --schedules 8");
    let (_, simple) = text.split_once("\n  Likewise, with one interruption: --schedule ").expect(&text);
    let order = simple.lines().next().unwrap();
    let expected = "
  How it comes about, at element 0 of argument 0:
    block 6, thread 0  block 7, thread 0
    reads 0                               orders.ptx:19
                       reads 0            orders.ptx:19
                       writes 1, over 0   orders.ptx:21
    writes 1, over 7                      orders.ptx:21
";
    // Which block is interrupted is drawn.
    let shape =
        |text: &str| text.split_once("How it comes about").unwrap().1.replace(|c: char| c.is_ascii_digit(), "0");
    assert_eq!(shape(&text), shape(expected), "{text}");
    // The simpler order shows the same.
    let again = said("orders.ptx", "lost_update", &format!("128 --grid 8 u32[4] --schedule {order}"));
    assert_eq!(again.split_once("How it comes about").unwrap().1, text.split_once("How it comes about").unwrap().1);
    // As data.
    let (_, orders, _) = tried("lost_update", "--check none --schedules 8", 2);
    let story = &orders["first"]["story"];
    let accesses = story["timeline"]["accesses"].as_array().unwrap();
    assert_eq!((accesses.len(), &accesses[0]["what"]), (4, &"reads 0".into()), "{story}");
    assert_eq!((&accesses[0]["line"], &story["interruptions"]), (&19.into(), &1.into()), "{story}");
    // As a page, before the counts, with a drawing of its accesses.
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("orders.html");
    said("orders.ptx", "lost_update", &format!("128 --grid 8 u32[4] --schedule {order} --report {}", page.display()));
    let page = std::fs::read_to_string(page).unwrap();
    let (_, card) = page.split_once(">Other orders<").expect("a card");
    let (card, counts) = card.split_once("</section>").unwrap();
    for part in ["gives another result: element 0 of argument 0 is ", order, "<svg", "writes 1, over "] {
        assert!(card.contains(part), "no '{part}' in {card}");
    }
    assert!(counts.contains("All counters that are not zero"));
}

#[test]
fn a_timeline_goes_back_to_the_bytes_that_decide() {
    // The sum is one thread's; it read what another had not written yet.
    let text = said("orders.ptx", "last_block", "128 --grid 8 u32[40] --schedules 1");
    for part in [
        "at element 1 of argument 0:\n    block 7, thread 0  block 0, thread 0\n    reads 0 ",
        "writes 1, over 0   orders.ptx:53\n  In the usual order 1 is read.\n",
    ] {
        assert!(text.contains(part), "{text}");
    }
    // Shared memory.
    for kernel in ["no_barrier", "one_barrier", "no_warp_barrier"] {
        let text = said("orders.ptx", kernel, "128 --grid 2 u32[128] --schedules 24");
        for part in [" of shared memory of block ", "\n    block ", "reads ", "writes ", "In the usual order "] {
            assert!(text.contains(part), "{kernel}: there is no '{part}' in {text}");
        }
    }
    // What nobody wrote has no usual value.
    let text = said("orders.ptx", "unset", "128 --grid 1 u32[128] --schedules 1");
    assert!(!text.contains("In the usual order"), "{text}");
}

/// Bugs of public trackers, rebuilt: `reported.ptx` names them.
#[test]
fn reported_bugs_are_found_and_their_cause_is_shown() {
    let file = ORDERS.replace("orders.ptx", "reported.ptx");
    for (kernel, shape, lines) in [
        // A warp writes items over counts that another has not read yet.
        ("reused_scratch", "--grid 1 --block 128", ["thread 96", "(32 lanes)"]),
        // The read of a child, and the child's own write, however far below the root that is.
        ("tree", "--grid 8 --block 1", ["reads 0", ", over 0 "]),
        ("look_back", "--grid 4 --block 1", ["reads 0", ", over 0 "]),
    ] {
        for seed in 1..4 {
            let flags = format!("{shape} u32[128] --no-predict --check none --schedules 100 --seed {seed}");
            let mut wrong = host(&format!("run {file} {kernel} --device sim {flags}"));
            let run = wrong.assert().code(1);
            let text = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
            for part in ["How it comes about, at ", lines[0], lines[1]] {
                assert!(text.contains(part), "{kernel}, seed {seed}: there is no '{part}' in {text}");
            }
            output(&format!("run {file} {kernel}_right --device sim {flags}"));
        }
    }
}

#[test]
fn a_missing_fence_is_found_and_its_late_store_or_early_read_is_shown() {
    for (kernel, shape) in [("message", "1 --grid 2"), ("shared_message", "64 --grid 1"), ("ticket", "1 --grid 4")] {
        let text = said("message.ptx", kernel, &format!("{shape} u32[128] --schedules 100"));
        for part in ["one store in ", " late, as weak memory allows", "reads 0", ", over 0 "] {
            assert!(text.contains(part), "{kernel}: there is no '{part}' in {text}");
        }
        assert!(text.contains("its late store: ") || text.contains(" is there "), "{kernel}: {text}");
    }
    for (kernel, shape) in [
        ("fenced", "--grid 2 --block 1"),
        ("released", "--grid 2 --block 1"),
        ("shared_message_fenced", "--grid 1 --block 64"),
        ("shared_message_released", "--grid 1 --block 64"),
        ("ticket_fenced", "--grid 4 --block 1"),
    ] {
        let file = ORDERS.replace("orders.ptx", "message.ptx");
        output(&format!("run {file} {kernel} --device sim {shape} u32[128] --no-predict --check none --schedules 100"));
    }
}

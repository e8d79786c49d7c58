//! Tests that cheating fails: kernels that are right only where they expect to be checked.

use super::*;
use crate::student::SCATTERED;

/// Right only at the sizes in `goals.toml`.
const SHOWN_SIZES: &str = "    let i = thread::index_1d();
    if i < n && (n == 1 || n == 256 || n == 1000) {
        *output.add(i as usize) = *input.add(i as usize);
    }";

#[test]
fn there_are_sizes_that_nobody_can_expect_and_a_seed_repeats_them() {
    if !has_compiler() {
        return;
    }
    let course = Course::new(&["copy"]);
    course.write("copy/kernel.rs", &kernel(SHOWN_SIZES));
    let run = |seed: &str| {
        course.learn(&["run", "--seed", seed]).reports(&["right at 3 sizes", "was never written", "--seed"])
    };
    let (one, other) = (run("5"), run("6"));
    assert_eq!(one, run("5"));
    let sizes = |report: &str| report.lines().find(|line| line.contains("at n = ")).unwrap().to_owned();
    assert_ne!(sizes(&one), sizes(&other));
    // Without a seed, each run has different ones.
    let drawn = || sizes(&course.learn(&["run"]).reports(&[]));
    let first = drawn();
    assert!((0..4).any(|_| drawn() != first), "{first}");
}

#[test]
fn a_changed_input_is_reported() {
    if !has_compiler() {
        return;
    }
    let course = Course::new(&["copy"]);
    let body = "    let i = thread::index_1d() as usize;
    if i < n as usize {
        *output.add(i) = *input.add(i);
        *input.cast_mut().add(i) = 0.0;
    }";
    course.write("copy/kernel.rs", &kernel(body));
    course.learn(&["run"]).reports(&["the kernel changed its input at n = 1: input[0] has another value now"]);
}

#[test]
fn what_was_in_the_output_before_is_no_result() {
    if !has_compiler() {
        return;
    }
    let course = Course::new(&["copy"]);
    course.write(
        "copy/kernel.rs",
        &kernel(
            "    let i = thread::index_1d() as usize;\n    if i + 1 < n as usize { *output.add(i) = *input.add(i); }",
        ),
    );
    course.learn(&["run"]).reports(&["output[0] was never written, or computed from itself; it should be "]);
    // The output is not zero either, so a kernel cannot add to it.
    course.write(
        "copy/kernel.rs",
        &kernel("    let i = thread::index_1d() as usize;\n    if i < n as usize { *output.add(i) += *input.add(i); }"),
    );
    course.learn(&["run"]).reports(&["wrong results at n = 1:"]);
}

/// A kernel that works inefficiently, and does something else in a large first launch, as a run
/// that is only counted would be.
fn notices_the_first_launch(otherwise: &str) -> String {
    kernel(&format!(
        "    static mut LAUNCHES: u32 = 0;
    let launches = &raw mut LAUNCHES;
    let first = atomic::add(launches, 0) == 0;
    if first && n > 50_000 {{ {otherwise} }}
{SCATTERED}
    if thread::index_1d() == 0 {{ atomic::add(launches, 1); }}"
    ))
}

#[test]
fn what_is_checked_is_counted() {
    if !has_compiler() {
        return;
    }
    let course = Course::new(&["copy"]);
    course.write("copy/kernel.rs", &notices_the_first_launch("return;"));
    course.learn(&["run"]).reports(&["output[0] was never written"]);
}

#[test]
fn the_run_that_is_counted_on_a_model_must_be_right_and_without_faults_too() {
    if !has_compiler() {
        return;
    }
    let course = Course::new(&["copy"]);
    course.change("copy/goals.toml", "that = \"loads", "that = \"hopper: loads");
    course.write("copy/kernel.rs", &notices_the_first_launch("return;"));
    course.learn(&["run"]).reports(&["output[0] was never written"]);
    // The barrier is there in all launches but the one that is counted.
    let body = format!(
        "    static mut LAUNCHES: u32 = 0;
    #[address_space(shared)]
    static STAGE: SharedCell<[u32; 256]> = SharedCell::uninit();
    let stage = STAGE.as_mut_ptr().cast::<u32>();
    let launches = &raw mut LAUNCHES;
    let first = atomic::add(launches, 0) == 0;
    let t = thread::thread_idx_x() as usize;
    stage.add(t).write_volatile(t as u32);
    if !(first && n > 50_000) {{ thread::sync_threads(); }}
    let other = *stage.add(t ^ 32);
{RIGHT}
    if other > 256 {{ *output = 0.0; }}
    if thread::index_1d() == 0 {{ atomic::add(launches, 1); }}"
    );
    course.write("copy/kernel.rs", &kernel(&body));
    course.learn(&["run"]).reports(&["race in a block"]);
}

#[test]
fn one_lane_may_not_access_for_all_while_the_others_spin() {
    if !has_compiler() {
        return;
    }
    let course = Course::new(&["copy"]);
    let body = "    let first = thread::index_1d();
    if first % 32 == 0 {
        for i in first..(first + 32).min(n) { *output.add(i as usize) = *input.add(i as usize); }
    } else {
        let mut x = first;
        for _ in 0..300 { x = x.wrapping_mul(3).rotate_left(x & 7) ^ 1; }
        if x == 12345 && n == 0 { *output = 1.0; }
    }";
    course.write("copy/kernel.rs", &kernel(body));
    let report = course.learn(&["run"]).reports(&["right at", "accesses.active_lanes is "]);
    assert!(!report.contains("  active_lanes"), "{report}");
}

#[test]
fn atomic_operations_are_no_way_around_goals_about_loads() {
    if !has_compiler() {
        return;
    }
    let course = Course::new(&["copy"]);
    course.change("copy/goals.toml", "task = \"right\"", "task = \"fast\"");
    let body = "    let i = thread::index_1d() as usize;
    if i < n as usize {
        atomic::exch(output.add(i).cast::<u32>(), atomic::or(input.cast_mut().add(i).cast::<u32>(), 0));
    }";
    course.write("copy/kernel.rs", &kernel(body));
    course.learn(&["run"]).reports(&[
        "wrong  loads.sectors_per_request: nothing to count (the solution: 4",
        "This goal is about accesses that your kernels do not make",
        "wrong  accesses.atomics is ",
        ", line 9",
    ]);
    // A few are nobody's business.
    let few = RIGHT.replace("}", "}\n    if i == 0 { atomic::or(output.cast::<u32>(), 0); }");
    course.write("copy/kernel.rs", &kernel(&few));
    assert!(!course.learn(&["run"]).stdout.contains("accesses.atomics"));
}

#[test]
fn what_never_happened_is_counted_as_0() {
    if !has_compiler() {
        return;
    }
    let course = Course::new(&["copy"]);
    course.write("copy/kernel.rs", &kernel(RIGHT));
    let good = course.read("copy/goals.toml");
    for (goal, met) in [("<= 1", true), ("== 0", true), ("< 1", true), ("== 1", false), (">= 1", false), ("> 0", false)]
    {
        let goal = format!("constants.addresses_per_request {goal}");
        course.write("copy/goals.toml", &good.replace("loads.sectors_per_request <= 4.1", &goal));
        let outcome = course.learn(&["run"]);
        let shown = format!("{}  constants.addresses_per_request: nothing to count", if met { "ok" } else { "wrong" });
        assert!(outcome.stdout.contains(&shown), "{}", outcome.text());
    }
}

#[test]
fn one_thread_may_not_do_the_work_of_all() {
    if !has_compiler() {
        return;
    }
    let course = Course::new(&["copy"]);
    let body = "if thread::index_1d() == 0 { for i in 0..n as usize { *output.add(i) = *input.add(i); } }";
    course.write("copy/kernel.rs", &kernel(body));
    course.learn(&["run"]).reports(&["right at", "active_lanes is ", "Few lanes of a warp"]);
}

/// Copies by one thread of each warp, by one warp of each block, or by one block, of as many.
fn share(begin: &str, step: &str) -> String {
    kernel(&format!(
        "    let (t, block) = (thread::thread_idx_x(), thread::block_idx_x());
    let threads = thread::grid_dim_x() * thread::block_dim_x();
    let _ = (t, block, threads);
    let mut i = {begin};
    while i < n {{ *output.add(i as usize) = *input.add(i as usize); i += {step}; }}"
    ))
}

#[test]
fn one_warp_or_block_may_not_do_the_work_of_all() {
    if !has_compiler() {
        return;
    }
    let course = Course::new(&["copy"]);
    let blocks = ["right at", "wrong  working_blocks of copy is", "Few blocks or warps do the work"];
    course.write("copy/kernel.rs", &share("if block == 0 { t } else { n }", "thread::block_dim_x()"));
    // What is said of blocks is not said of warps again.
    let report = course.learn(&["run"]).reports(&blocks);
    assert_eq!(report.matches("Few blocks or warps").count(), 1, "{report}");
    let warp = "if t < 32 { 256 * block + t } else { n }";
    let most = "if i % 256 < 224 { 32 } else { n }";
    course.write("copy/kernel.rs", &share(warp, most));
    course.learn(&["run"]).reports(&["right at", "working_warps of copy is"]);
    // Others that spin in the meantime make no accesses.
    let spins = share(warp, most).replace(
        "    let mut i =",
        "    if t >= 32 { let mut x = t; for _ in 0..150 { x = x.wrapping_mul(3).rotate_left(x & 7) ^ 1; } if x == 7 && n == 0 { *output = 1.0; } }\n    let mut i =",
    );
    course.write("copy/kernel.rs", &spins);
    course.learn(&["run"]).reports(&[
        "right at",
        "wrong  accesses.working_warps of copy is",
        "goal: at least solution / 2 = ",
    ]);
}

#[test]
fn needless_accesses_do_not_improve_a_ratio() {
    if !has_compiler() {
        return;
    }
    let course = Course::new(&["copy"]);
    // Scattered, and 40 loads of one word for each.
    let body = format!(
        "{SCATTERED}\n    if (thread::index_1d()) < n {{ for _ in 0..40 {{ let _ = input.read_volatile(); }} }}"
    );
    course.write("copy/kernel.rs", &kernel(&body));
    course.learn(&["run"]).reports(&[
        "ok  loads.sectors_per_request is ",
        "wrong  loads.sectors is",
        "is about an average",
    ]);
}

#[test]
fn sizes_of_which_16_bits_tell_no_more_are_tried() {
    if !has_compiler() {
        return;
    }
    let course = Course::new(&["copy"]);
    // Measured sizes are below 65,536, too.
    course.change("copy/goals.toml", "from = 60_000, to = 66_000", "from = 6_000, to = 6_600");
    let short =
        "    let i = thread::index_1d() as u16 as usize;\n    if i < n as usize { *output.add(i) = *input.add(i); }";
    course.write("copy/kernel.rs", &kernel(short));
    let report = course.learn(&["run"]).reports(&["right at 6 sizes", " at n = "]);
    let size = report.split(" at n = ").nth(1).unwrap().split(':').next().unwrap();
    assert!(size.parse::<u32>().unwrap() > 65_536, "{report}");
    // The author may do without.
    course.change("copy/goals.toml", "[sizes]", "large = {}\n\n[sizes]");
    course.learn(&["run"]).succeeds();
    course.change("copy/goals.toml", "large = {}", "");
    course.change("copy/goals.toml", "[measured]", "[large]\nn = { from = 500, to = 500 }\n\n[measured]");
    course.learn(&["run"]).succeeds();
}

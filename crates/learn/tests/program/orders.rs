//! Tests that kernels which are right by luck are found: those that are right in the usual order of
//! blocks and warps only.

#[cfg(unix)]
use serde_json::Value;

use super::*;

/// Submissions to exercises of the course that race, but by relaxed accesses only, which are no
/// races for the sanitizer: the student, the exercise, and the file.
#[cfg(unix)]
const LUCKY: [(&str, &str, &str); 11] = [
    ("lucky", "lost_updates", include_str!("lucky/lost_updates.rs")),
    ("lucky", "dot", include_str!("lucky/dot.rs")),
    ("lucky", "reduce_once", include_str!("lucky/reduce_once.rs")),
    ("lucky", "missing_barrier", include_str!("lucky/missing_barrier.rs")),
    ("lucky", "read_then_write", include_str!("lucky/read_then_write.rs")),
    ("lucky", "two_barriers", include_str!("lucky/two_barriers.rs")),
    ("lucky", "missing_warp_barrier", include_str!("lucky/missing_warp_barrier.rs")),
    // They are so slow that few orders are tried; one keeps the results of earlier launches, too.
    ("slow", "missing_barrier", include_str!("lucky/missing_barrier_slow.rs")),
    ("cached", "missing_barrier", include_str!("lucky/missing_barrier_cached.rs")),
    // They race at the largest size only.
    ("large", "missing_barrier", include_str!("lucky/missing_barrier_large.rs")),
    ("predicted", "padding", include_str!("lucky/padding_predicted.rs")),
];

/// A course with these exercises of the real one.
fn course_of(names: &[&str]) -> Course {
    let course = Course::new(&[]);
    for name in names {
        for file in ["goals.toml", "starter.rs", "solution.rs", "reference.rs"] {
            let text = fs::read_to_string(root().join("exercises").join(name).join(file)).unwrap();
            course.write(&format!("{name}/{file}"), &text);
        }
    }
    course.list(names);
    course
}

#[cfg(unix)]
#[test]
#[ignore = "long: `.ci/run` runs it"]
fn kernels_that_are_right_by_luck_are_wrong() {
    if !has_compiler() {
        return;
    }
    let mut names = LUCKY.map(|(_, name, _)| name).to_vec();
    names.sort_unstable();
    names.dedup();
    let course = course_of(&names);
    for (student, name, text) in LUCKY {
        course.write(&format!("class/{student}/{name}/kernel.rs"), text);
    }
    let (class, marks) = (course.path("class"), course.path("marks.json"));
    let arguments = ["grade", class.to_str().unwrap(), "--json", marks.to_str().unwrap(), "--seed", "3"];
    let mut command = course.command(&arguments);
    // Numbers of jobs that no other test has.
    command.env("LEARN_JOB", "29").args(["--time-limit", "600"]);
    let outcome = Outcome::of(&mut command);
    let marks: Value =
        serde_json::from_str(&course.read("marks.json")).unwrap_or_else(|_| panic!("{}", outcome.text()));
    let of = |marks: &Value, field: &str, name: &str| {
        marks.as_array().unwrap().iter().find(|one| one[field] == name).unwrap().clone()
    };
    for (student, name, _) in LUCKY {
        let mark = of(&of(&marks["students"], "name", student)["marks"], "exercise", name);
        let report = mark["report"].as_str().unwrap();
        assert_eq!(mark["status"], "wrong", "{student} {name}: {report}");
        let said = ["right at", "other orders of blocks and warps", "another result, at ", "but should be "];
        for words in said.into_iter().chain(["How it comes about, at ", " reads ", " writes ", "kernel.rs:"]) {
            assert!(report.contains(words), "{student} {name}: there is no '{words}' in\n{report}");
        }
    }
}

#[test]
fn a_lucky_kernel_is_explained_and_its_seed_repeats_it() {
    if !has_compiler() {
        return;
    }
    let course = Course::new(&["copy"]);
    // Each block waits for none, and the last one by its number finishes.
    let body = "    let i = thread::index_1d() as usize;
    if i < n as usize { atomic::store_relaxed(output.add(i).cast::<u32>(), (*input.add(i)).to_bits()); }
    let last = thread::block_idx_x() + 1 == thread::grid_dim_x();
    if last && i + 1 == n as usize && n > 256 {
        // Undone if the first block has not written yet.
        let first = atomic::load_relaxed(output.cast::<u32>());
        if first != (*input).to_bits() { atomic::store_relaxed(output.add(i).cast::<u32>(), 0); }
    }";
    course.write("copy/kernel.rs", &kernel(body));
    let run = || {
        course.learn(&["run", "--seed", "5"]).reports(&[
            "right at 7 sizes",
            "other orders of blocks and warps give another result, at n = ",
            "] is 0, but should be ",
            "In the first of these orders, one block after another",
            "the last block first (usual:5,resident=1,start=down).",
            "How it comes about, at output[0]:",
            "The same data and orders again: cargo learn run copy --seed 5",
        ])
    };
    assert_eq!(run(), run());
    let more = ["run", "--seed", "5", "--schedules", "40"];
    course.learn(&more).reports(&["of 40 other orders of blocks and warps give another result, at n = "]);
    let one = ["run", "--seed", "5", "--schedule", "usual:5,resident=1,start=down"];
    course.learn(&one).reports(&["1 of 1 other orders of blocks and warps gives another result, at n = "]);
    let up = ["run", "--seed", "5", "--schedule", "usual:5,resident=1,start=up"];
    assert!(!course.learn(&up).text().contains("other orders"));
    let none = course.learn(&["run", "--schedules", "0"]);
    assert_eq!(none.code, Some(2), "{}", none.text());
    // In a page, too.
    course.learn(&["run", "--seed", "5", "--report", course.path("page.html").to_str().unwrap()]).reports(&[]);
    assert!(course.read("page.html").contains("other orders of blocks and warps"));
}

#[test]
fn a_right_kernel_that_depends_on_no_order_stays_right() {
    if !has_compiler() {
        return;
    }
    let course = course_of(&["lost_updates"]);
    for seed in ["1", "2"] {
        fs::copy(course.path("lost_updates/solution.rs"), course.path("lost_updates/kernel.rs")).unwrap();
        course.learn(&["run", "--seed", seed]).succeeds();
    }
}

/// A lock whose unlock releases nothing orders nothing: stores under it may be late.
#[test]
#[ignore = "long: `.ci/run` runs it"]
fn an_unlock_that_releases_nothing_is_wrong_and_its_twins_are_right() {
    if !has_compiler() {
        return;
    }
    let course = course_of(&["lost_updates"]);
    // Threads that wait for a lock take long: a thousandth of the usual size is enough.
    course.change(
        "lost_updates/goals.toml",
        "always = [1000, 256, 1, 5000], from = 2, to = 5000",
        "always = [96, 1], from = 96, to = 96",
    );
    course.change("lost_updates/goals.toml", "minutes = 5", "minutes = 5\nlarge = {}");
    let lock = |unlock: &str| {
        format!(
            "use core::sync::atomic::{{AtomicU32, Ordering, fence}};
use cuda_std::prelude::*;
static LOCK: AtomicU32 = AtomicU32::new(0);
/// # Safety
/// x
#[kernel(linear)]
pub unsafe fn count_positive(input: &[f32], count: *mut u32) {{
    if input.get(thread::linear_index().get()).is_some_and(|&element| element > 0.0) {{
        while LOCK.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_err() {{}}
        atomic::store_relaxed(count, atomic::load_relaxed(count) + 1);
        {unlock}
    }}
    let _ = fence;
}}
"
        )
    };
    for unlock in ["LOCK.store(0, Ordering::Relaxed);", "LOCK.swap(0, Ordering::Relaxed);"] {
        course.write("lost_updates/kernel.rs", &lock(unlock));
        for seed in ["1", "2", "3"] {
            let says = ["other orders of blocks and warps", "the stores of some instructions late", "its late store"];
            course.learn(&["run", "--seed", seed]).reports(&says);
        }
    }
    for unlock in ["LOCK.store(0, Ordering::Release);", "fence(Ordering::Release); LOCK.store(0, Ordering::Relaxed);"] {
        course.write("lost_updates/kernel.rs", &lock(unlock));
        // That few warps make progress is another matter.
        let outcome = course.learn(&["run", "--seed", "1"]);
        let is_right = outcome.stdout.contains("ok  right at 3 sizes") && !outcome.stdout.contains("other orders");
        assert!(is_right, "{unlock}: {}", outcome.text());
    }
}

//! Tests that kernels which are right by luck are found: those that are right in the usual order of
//! blocks and warps only.

#[cfg(unix)]
use serde_json::Value;

use super::*;

/// Submissions to exercises of the course that race, but by relaxed accesses only, which are no
/// races for the sanitizer: the exercise, and its file.
#[cfg(unix)]
const LUCKY: [(&str, &str); 7] = [
    ("lost_updates", include_str!("lucky/lost_updates.rs")),
    ("dot", include_str!("lucky/dot.rs")),
    ("reduce_once", include_str!("lucky/reduce_once.rs")),
    ("missing_barrier", include_str!("lucky/missing_barrier.rs")),
    ("read_then_write", include_str!("lucky/read_then_write.rs")),
    ("two_barriers", include_str!("lucky/two_barriers.rs")),
    ("missing_warp_barrier", include_str!("lucky/missing_warp_barrier.rs")),
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
    let names = LUCKY.map(|(name, _)| name);
    let course = course_of(&names);
    for (name, text) in LUCKY {
        course.write(&format!("class/lucky/{name}/kernel.rs"), text);
    }
    let (class, marks) = (course.path("class"), course.path("marks.json"));
    let arguments = ["grade", class.to_str().unwrap(), "--json", marks.to_str().unwrap(), "--seed", "3"];
    let mut command = course.command(&arguments);
    // Numbers of jobs that no other test has.
    command.env("LEARN_JOB", "29");
    let outcome = Outcome::of(&mut command);
    let marks: Value =
        serde_json::from_str(&course.read("marks.json")).unwrap_or_else(|_| panic!("{}", outcome.text()));
    let marks = marks["students"][0]["marks"].as_array().unwrap();
    assert_eq!(marks.len(), LUCKY.len());
    for mark in marks {
        let (name, report) = (mark["exercise"].as_str().unwrap(), mark["report"].as_str().unwrap());
        assert_eq!(mark["status"], "wrong", "{name}: {report}");
        for words in ["right at", "other orders of blocks and warps", "another result, at n = ", "but should be "] {
            assert!(report.contains(words), "{name}: there is no '{words}' in\n{report}");
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
            "The same data and orders again: cargo learn run copy --seed 5",
        ])
    };
    assert_eq!(run(), run());
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

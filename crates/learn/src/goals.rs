//! The goals that every exercise has, and what the bound of a goal names.

use exercise::goal::SOLUTION;
use exercise::goals_file::{GoalPlan, Task};
use exercise::metric::Metric;

/// The metric of the solution that a bound names: `solution` is the goal's own, `solution.accesses` another one.
pub fn of_solution(name: &str, own: Metric) -> Option<Metric> {
    match name.strip_prefix(SOLUTION)? {
        "" => Some(own),
        other => Metric::named(other.strip_prefix('.')?),
    }
}

/// The goals of every exercise: most lanes must have work, and most must have a part in the
/// accesses, since one lane that does the work of 32, while the others wait or spin, would meet
/// many other goals. And what is to be fast may not load and store by atomic operations, which
/// goals about loads and stores do not count. They are reported only if they are missed.
pub fn implied_goals(task: Task) -> Vec<GoalPlan> {
    let goal = |that: &str, why: &str| GoalPlan {
        that: that.parse().expect("this goal is well formed"),
        why: why.to_owned(),
        also: true,
    };
    let mut goals = vec![
        goal(
            "active_lanes >= solution / 4",
            "Few lanes of a warp have work in the average instruction: all threads of the launch should share it.",
        ),
        goal(
            "accesses.active_lanes >= solution / 4",
            "Few lanes of a warp take part in the average access of memory: all threads should share the accesses.",
        ),
    ];
    if task == Task::Fast {
        goals.push(goal(
            "accesses.atomics <= solution + solution.accesses / 8",
            "Atomic operations take the place of loads and stores here, and take longer than these.",
        ));
    }
    goals
}

//! The goals that every exercise has, and the values of names in the bound of a goal.

use exercise::goals_file::{GoalPlan, Goals, Task};
use goals::goal::{Counted, Goal, Operator, SOLUTION};
use goals::metric::Metric;

/// The metric of the solution that a bound names: `solution` is the goal's own, `solution.accesses`
/// another one.
pub fn of_solution(name: &str, own: Metric) -> Option<Metric> {
    match name.strip_prefix(SOLUTION)? {
        "" => Some(own),
        other => Metric::named(other.strip_prefix('.')?),
    }
}

/// What is as good as a goal about the sectors of an average request: as many sectors in all as the
/// solution has, nearly, in fewer requests. So it is with words of 16 bytes.
pub fn instead_of_average(goal: &Goal) -> Option<[Goal; 2]> {
    let Goal { counted, operator, model, .. } = goal;
    let metric = counted.metric;
    let is_bounded =
        metric.name.ends_with(".sectors_per_request") && matches!(operator, Operator::AtMost | Operator::Less);
    let (total, requests) = metric.total().zip(metric.base()).filter(|_| is_bounded)?;
    let model = model.map(|model| format!("{}: ", model.name)).unwrap_or_default();
    let at_most = |metric, bound: &str| {
        let counted = Counted { metric, ..counted.clone() };
        format!("{model}{counted} <= {bound}").parse().expect("this goal is well formed")
    };
    Some([at_most(total, "1.02 * solution"), at_most(requests, "0.9 * solution")])
}

/// A goal that the judge adds to an exercise's own. It is reported only if it is missed.
pub struct Implied {
    pub plan: GoalPlan,
    /// Another goal, which is as good.
    pub or: Option<Goal>,
    /// The exercise's own goal that it guards: nothing is to be said of it where that is missed.
    pub guards: Option<String>,
}

/// What is said if a few do the work of all.
const UNEVEN: &str = "Few blocks or warps do the work of the others: all that the launch has should share it. (Where `n` do \
                      equal parts of it and the others nothing, this number is `n`.)";

/// How much of a total a kernel may have that is to be good by a ratio, beside the solution's.
const MOST_TOTAL: &str = "1.5";

/// The goals that the judge adds. The author's name a mistake; these keep them from being met
/// without the work:
///
/// - by one lane, one warp or one block that does the work of all, while the others wait or spin;
/// - by one kernel that does the work of another;
/// - by needless accesses, which improve a ratio: its total must not be much above the solution's,
///   and of constants and textures, not far below;
/// - in what is to be fast, by atomic operations or local memory in place of loads and stores,
///   which goals about loads and stores do not count.
pub fn implied_goals(goals: &Goals) -> Vec<Implied> {
    let mut all = Vec::new();
    let mut add = |that: &str, or: Option<&str>, guards: Option<String>, why: &str| {
        let parsed = |that: &str| that.parse().expect("this goal is well formed");
        let plan = GoalPlan { that: parsed(that), why: why.to_owned(), also: true };
        all.push(Implied { plan, or: or.map(parsed), guards });
    };
    add(
        "active_lanes >= solution / 4",
        None,
        None,
        "Few lanes of a warp have work in the average instruction: all threads of the launch should share it.",
    );
    add(
        "accesses.active_lanes >= solution / 4",
        None,
        None,
        "Few lanes of a warp take part in the average access of memory: all threads should share the accesses.",
    );
    for kernel in goals.kernels() {
        let of = |metric: &str, bound: &str| format!("{metric} of {kernel} {bound}");
        let work = |metric| of(metric, ">= solution / 4");
        add(
            &work("accesses"),
            Some(&work("global.bytes")),
            None,
            "This kernel does not do its part of the work: it has less than a quarter of the accesses that the \
             solution's has, and reads and writes less than a quarter of the bytes.",
        );
        for metric in ["working_blocks", "accesses.working_blocks", "working_warps", "accesses.working_warps"] {
            add(&of(metric, ">= solution / 2"), None, None, UNEVEN);
        }
    }
    let own = || goals.goal.iter().map(|plan| &plan.that);
    for goal in own() {
        let Some(total) = goal.counted.metric.total() else { continue };
        let is_there = |other: &Goal| {
            other.model.map(|model| model.name) == goal.model.map(|model| model.name)
                && other.counted.metric.name == total.name
                && other.counted.kernel == goal.counted.kernel
        };
        if own().any(is_there) {
            continue;
        }
        let model = goal.model.map(|model| format!("{}: ", model.name)).unwrap_or_default();
        let counted =
            |metric: &str| Counted { kernel: goal.counted.kernel.clone(), ..metric.parse().expect("it is there") };
        let most = format!("{model}{} <= {MOST_TOTAL} * solution", counted(total.name));
        let why = format!(
            "The goal in {} is about an average: what is needless improves it, and adds to this total.",
            goal.counted.metric.name
        );
        add(&most, None, Some(goal.to_string()), &why);
        let base = goal.counted.metric.base().map(|base| base.name);
        if let Some(base @ ("constants.requests" | "textures.requests")) = base {
            let why = "Most of what the solution reads in this way is read in another, which the goals do not count.";
            add(&format!("{model}{} >= solution / 4", counted(base)), None, Some(goal.to_string()), why);
        }
    }
    if goals.task == Task::Fast {
        add(
            "accesses.atomics <= solution + solution.accesses / 8",
            None,
            None,
            "Atomic operations take the place of loads and stores here, and take longer than these.",
        );
        if !own().any(|goal| goal.counted.metric.name.starts_with("local.")) {
            add(
                "local.requests <= solution + solution.accesses / 8",
                None,
                None,
                "Local memory takes the place of other accesses here. It is a thread's part of global memory, for arrays \
                 with an index that is not known when the kernel is compiled.",
            );
        }
    }
    all
}

//! Formats a verdict for students, 100 columns wide: what is right, what is wrong, the line to look
//! at, and what to do next. The commands print its texts. It reads sources to show a line, and
//! writes nothing.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anstyle::{AnsiColor, Style};
use exercise::Exercise;
use exercise::SOURCE;
use exercise::fault::Fault;
use exercise::goals_file::Task;
use exercise::questions::PredictionResult;
use goals::seen::Seen;
use picture::{Paint, access_text};
use simt::prediction::Queue;
use wording::units::{as_fast, milliseconds};
use wording::{WIDTH, number, printable, several};

use crate::rating::Rating;
use crate::runs::shown;
use crate::verdict::{Ended, Failure, Gain, GoalResult, OtherOrders, Story, Times, Verdict, Wrong};

const GOOD: Style = AnsiColor::Green.on_default().bold();
const BAD: Style = AnsiColor::Red.on_default().bold();
const TITLE: Style = Style::new().bold();
const PLACE: Style = AnsiColor::Cyan.on_default();

/// How many faults are shown; the others are only counted.
const SHOWN_FAULTS: usize = 3;

/// How many lines of what a program printed are shown.
const SHOWN_LINES: usize = 12;

/// A report to be formatted.
pub struct Report<'a> {
    /// The file that was judged.
    pub file: &'a Path,
    /// Whether wrong predictions are explained.
    pub explain: bool,
}

/// The heading of everything about an exercise.
pub fn heading(exercise: &Exercise) -> String {
    let task = match exercise.goals.task {
        Task::Right => "make it right",
        Task::Fast => "make it fast",
        Task::Predict => "predict",
        Task::Host => "write the host code",
        Task::Open => "open: make it the fastest",
    };
    format!(
        "{TITLE}{}: {}{TITLE:#} ({task}, about {} minutes)\n",
        exercise.name, exercise.goals.title, exercise.goals.minutes
    )
}

/// A path relative to the current folder.
pub fn shown_path(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    path.strip_prefix(here).unwrap_or(path).display().to_string()
}

impl Report<'_> {
    /// The whole text.
    pub fn text(&self, verdict: &Verdict) -> String {
        let mut text = String::new();
        if !verdict.right_at.is_empty() {
            self.line(&mut text, true, &format!("right at {}", several(verdict.right_at.len(), "size")), "");
        }
        if let Some(failure) = &verdict.failure {
            self.failure(&mut text, failure);
        }
        self.goals(&mut text, &verdict.goals);
        self.predictions(&mut text, &verdict.predictions);
        if let Some(gain) = &verdict.gain {
            paragraph(&mut text, "       ", &gained(gain));
        }
        if let Some(rating) = &verdict.rating {
            self.rating(&mut text, rating);
        }
        if let Some(times) = &verdict.times {
            paragraph(&mut text, "       ", &timed(times));
        }
        text
    }

    /// How fast the kernels of an open exercise are.
    fn rating(&self, text: &mut String, rating: &Rating) {
        let good = rating.grade().is_some();
        let (style, mark) = if good { (GOOD, "   ok") } else { (BAD, "wrong") };
        paragraph(text, &format!("{style}{mark}{style:#}  "), &rating.said());
        rating.details().iter().for_each(|detail| paragraph(text, "       ", detail));
    }

    /// What is wrong.
    pub fn failure_text(&self, failure: &Failure) -> String {
        let mut text = String::new();
        self.failure(&mut text, failure);
        text
    }

    fn line(&self, text: &mut String, good: bool, what: &str, detail: &str) {
        let (style, mark) = if good { (GOOD, "   ok") } else { (BAD, "wrong") };
        let _ = writeln!(text, "{style}{mark}{style:#}  {what}{detail}");
    }

    fn failure(&self, text: &mut String, failure: &Failure) {
        let name = shown_path(self.file);
        match failure {
            Failure::Refused(why) => self.line(text, false, &format!("not compiled: {why}"), ""),
            Failure::DoesNotCompile(messages) => {
                self.line(text, false, "it does not compile:", "");
                let _ = writeln!(text, "\n{}\n", messages.replace(SOURCE, &name));
            }
            Failure::Unreadable(why) => {
                self.line(text, false, &format!("{name} cannot be read:"), "");
                let _ = writeln!(text, "{why}");
            }
            Failure::Signature(why) => paragraph(text, &format!("{BAD}wrong{BAD:#}  "), why),
            Failure::Faults(sizes, faults, wrong) => {
                let count = several(faults.len(), "fault");
                self.line(text, false, &format!("{count} at {}:", shown(sizes)), "");
                self.faults(text, faults);
                if let Some(wrong) = wrong {
                    self.line(text, false, "and the results are wrong:", "");
                    self.wrong(text, wrong);
                }
            }
            Failure::OutOfTime(sizes, faults) => {
                self.line(text, false, &format!("not done when the time was up, at {}:", shown(sizes)), "");
                self.faults(text, faults);
            }
            Failure::Wrong(sizes, wrong) => {
                self.line(text, false, &format!("wrong results at {}:", shown(sizes)), "");
                self.wrong(text, wrong);
            }
            Failure::InputChanged(sizes, place) => {
                let what = format!("the kernel changed its input at {}: {place} has another value now", shown(sizes));
                self.line(text, false, &what, "");
            }
            Failure::OtherOrders(others) => self.other_orders(text, others),
            Failure::Program(sizes, ended) => {
                let Ended { what, said } = &**ended;
                let colon = if said.trim().is_empty() { "" } else { ":" };
                self.line(text, false, &format!("{what}, at {}{colon}", shown(sizes)), "");
                let lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
                for line in lines.iter().take(SHOWN_LINES) {
                    let _ = writeln!(text, "       {}", cut(&printable(line), WIDTH - 7));
                }
                if lines.len() > SHOWN_LINES {
                    let _ = writeln!(text, "       and {}", several(lines.len() - SHOWN_LINES, "more line"));
                }
            }
            // Shown one by one.
            Failure::Goals | Failure::Predictions => {}
        }
    }

    /// A kernel that is right by luck.
    fn other_orders(&self, text: &mut String, others: &OtherOrders) {
        let OtherOrders { sizes, wrong, of, first, failure, story } = others;
        let verb = if *wrong == 1 { "gives" } else { "give" };
        let place = shown(sizes);
        let what = format!("{wrong} of {of} other orders of blocks and warps {verb} another result, at {place}:");
        self.line(text, false, &what, "");
        match &**failure {
            Failure::Wrong(_, wrong) => self.wrong(text, wrong),
            Failure::Faults(_, faults, _) => self.faults(text, faults),
            Failure::InputChanged(_, place) => {
                let _ = writeln!(text, "       the input {place} has another value afterwards");
            }
            other => self.failure(text, other),
        }
        paragraph(text, "       ", &format!("In the first of these orders, {first}."));
        if let Some(Story { order, interruptions, timeline }) = story {
            if !first.is(order) {
                let _ = writeln!(text, "       {}: --schedule {order}", timeline::likewise(*interruptions));
            }
            if let Some(timeline) = timeline {
                let _ = write!(text, "\n{}\n", timeline.text("       ", WIDTH));
            }
        }
        paragraph(
            text,
            "       ",
            "A GPU runs blocks, warps and, unless they synchronise, the lanes of a warp in any order. What one thread needs \
             from another must be made sure: by a barrier, an atomic operation, or a further launch.",
        );
    }

    fn wrong(&self, text: &mut String, wrong: &Wrong) {
        let Wrong { first, is, should_be, count, unwritten, of } = wrong;
        let _ = match is {
            Some(is) => writeln!(text, "       {first} is {is}, but should be {should_be}"),
            None => {
                writeln!(text, "       {first} was never written, or computed from itself; it should be {should_be}")
            }
        };
        let never = match unwritten {
            0 => String::new(),
            _ if unwritten == count => ", all of them never written".to_owned(),
            _ => format!(", {unwritten} of them never written"),
        };
        let _ = match (count, of) {
            (_, 1) => Ok(()),
            (1, _) => writeln!(text, "       the other {} elements are right", of - 1),
            _ => writeln!(text, "       it is the first of {count} wrong elements, of {of} in all{never}"),
        };
    }

    fn faults(&self, text: &mut String, faults: &[Fault]) {
        for fault in faults.iter().take(SHOWN_FAULTS) {
            self.fault(text, fault);
        }
        if faults.len() > SHOWN_FAULTS {
            let _ = writeln!(text, "       and {} more", faults.len() - SHOWN_FAULTS);
        }
    }

    fn fault(&self, text: &mut String, fault: &Fault) {
        paragraph(text, "       ", &named(fault));
        if let Some(element) = &fault.element {
            let _ = writeln!(text, "       it is about {element}");
        }
        for (index, (line, who)) in fault.sites.iter().enumerate() {
            // Both accesses of a race may be on one line.
            match index > 0 && line.is_some() && fault.sites[index - 1].0 == *line {
                true => {
                    let _ = writeln!(text, "      = {who}");
                }
                false => self.excerpt(text, *line, who),
            }
        }
        if fault.count > 1 {
            let _ = writeln!(text, "       this happened {} times", fault.count);
        }
    }

    /// A line of the student's file with a note below.
    fn excerpt(&self, text: &mut String, line: Option<u32>, note: &str) {
        let Some(line) = line else {
            let _ = writeln!(text, "       {note}");
            return;
        };
        let _ = writeln!(text, "     {PLACE}--> {}:{line}{PLACE:#}", shown_path(self.file));
        let source = fs::read_to_string(self.file).unwrap_or_default();
        if let Some(code) = source.lines().nth(line as usize - 1) {
            let code = cut(&printable(&code.trim_end().replace('\t', "    ")), WIDTH - 9);
            let _ = writeln!(text, "{line:>5} | {code}");
        }
        if !note.is_empty() {
            let _ = writeln!(text, "      = {note}");
        }
    }

    /// The goals. Of missed goals only the first has its line and picture, because the change that
    /// meets it often meets the others. A predicted time is left out as long as a count misses its
    /// goal.
    fn goals(&self, text: &mut String, goals: &[GoalResult]) {
        let is_time = |result: &&GoalResult| result.goal.counted.metric.is_speedup();
        let counts_missed = goals.iter().any(|result| !result.met && !is_time(&result));
        let shown: Vec<_> = goals.iter().filter(|result| result.met || !counts_missed || !is_time(result)).collect();
        shown.iter().filter(|result| result.met).for_each(|result| self.goal(text, result, ""));
        let missed: Vec<_> = shown.into_iter().filter(|result| !result.met).collect();
        let Some((first, others)) = missed.split_first() else { return };
        self.goal(text, first, "");
        self.explained(text, first);
        let place = |result: &GoalResult| result.blamed.as_ref().map(|blamed| blamed.line);
        for result in others {
            self.goal(text, result, &place(result).map(|line| format!(", line {line}")).unwrap_or_default());
        }
        // What one line does wrong may miss several goals.
        let same = others.iter().filter(|result| place(result).is_some() && place(result) == place(first)).count();
        let other = others.len() - same;
        let goals = |count| several(count, "more goal");
        let last = match (same, other) {
            (0, 0) => return,
            (1, 0) => format!("{} fails for the same reason.", goals(1)),
            (_, 0) => format!("{} fail for the same reason.", goals(same)),
            (0, _) => "First mend what the first of these goals is about; then the others are explained.".to_owned(),
            _ => format!(
                "{} fail{} for the same reason. First mend that; then the {other} on other lines {} explained.",
                goals(same),
                if same == 1 { "s" } else { "" },
                if other == 1 { "is" } else { "are" }
            ),
        };
        paragraph(text, "       ", &last);
    }

    fn goal(&self, text: &mut String, result: &GoalResult, place: &str) {
        self.line(text, result.met, &said(result), place);
    }

    /// Why a goal is missed, and where.
    fn explained(&self, text: &mut String, result: &GoalResult) {
        let GoalResult { goal, avoided, blamed, seen, solution_seen, why, .. } = result;
        paragraph(text, "       ", if avoided.is_some() { AVOIDED } else { why });
        if let Some(blamed) = blamed {
            let share = match goal.counted.metric {
                metric if metric.is_of_text() => "it is in this line".to_owned(),
                metric if metric.is_speedup() => {
                    format!("warps wait longest on this line, by the prediction: {:.0} % of all waiting", blamed.value)
                }
                _ => format!("{} on this line: {}", goal.counted.metric.name, number(blamed.value)),
            };
            self.excerpt(text, Some(blamed.line), &share);
        }
        // One picture: what is to be mended, or, where nothing of it is there, how it is done.
        match (seen, solution_seen) {
            (Some(seen), _) => draw(text, "", seen),
            (None, Some(seen)) => draw(text, "The solution's: ", seen),
            (None, None) => {}
        }
    }

    /// The predictions; of those that are open or wrong, the first is drawn, so that all fit a
    /// screen.
    fn predictions(&self, text: &mut String, predictions: &[PredictionResult]) {
        let mut first = None;
        let mut others = false;
        for prediction in predictions {
            self.prediction(text, prediction);
            match (&first, prediction.drawn(self.explain).filter(|_| !prediction.right())) {
                (None, Some(seen)) => {
                    draw(text, "", &seen);
                    first = Some(seen);
                }
                // Two GPUs are asked for the same access, one after the other.
                (Some(first), Some(seen)) => others |= *first != seen,
                (_, None) => {}
            }
        }
        if others {
            paragraph(
                text,
                "       ",
                "The next access is drawn when this one is right; --report FILE.html draws all.",
            );
        }
    }

    fn prediction(&self, text: &mut String, prediction: &PredictionResult) {
        let PredictionResult { name, ask, predicted, counted, by, why, .. } = prediction;
        match predicted {
            None => {
                let _ = writeln!(text, "    ?  {name}: {ask}");
            }
            Some(predicted) => {
                self.line(text, prediction.right(), &format!("{name}: {}", number(*predicted)), "");
                if !prediction.right() && !self.explain {
                    paragraph(text, "       ", ask);
                }
                if prediction.right() || self.explain {
                    let counts =
                        if prediction.right() { String::new() } else { format!("{by} {}. ", number(*counted)) };
                    paragraph(text, "       ", &format!("{counts}{why}"));
                }
            }
        }
    }
}

/// A fault with its kind.
pub fn named(fault: &Fault) -> String {
    let kind = if fault.kind == "trap" { "stopped" } else { &fault.kind };
    format!("{kind}: {}", fault.message)
}

/// What is said of a goal that is missed by doing nothing.
pub const AVOIDED: &str = "This goal is about accesses that your kernels do not make, and the solution's do: it is to be met by \
                       how they are made, not by going without.";

/// What was counted for a goal, and what is wanted:
/// `loads.sectors_per_request is 16; goal: at most 5.1`.
pub fn said(GoalResult { goal, value, avoided, bound, limiter, .. }: &GoalResult) -> String {
    let subject = goal.subject();
    let counted = match (value, avoided) {
        (Some(value), _) => format!("{subject} is {}", number(*value)),
        (None, Some(solution)) => format!("{subject}: nothing to count (the solution: {})", number(*solution)),
        (None, None) => format!("{subject}: nothing to count"),
    };
    let limiter = limiter.as_ref().map(|limiter| format!(" ({limiter})")).unwrap_or_default();
    format!("{counted}{limiter}; goal: {}", goal.wanted(*bound))
}

/// What a change gains, by prediction.
pub fn gained(Gain { sizes, student, starter }: &Gain) -> String {
    let gpu = starter.model.chip.split(" (").next().unwrap_or_default();
    let time = |queue: &Queue| format!("{}, limited by {}", milliseconds(queue.cold_us / 1e3), queue.bound.name());
    let handed_out = match student {
        Err(what) => format!("not predicted: {what}; as handed out {}.", time(starter)),
        Ok(student) if student == starter => format!("{}, as handed out.", time(student)),
        Ok(student) => {
            let ratio = as_fast(starter.cold_us / student.cold_us);
            let ratio = if ratio == "as fast" { "no faster" } else { &ratio };
            format!("{}; as handed out {}: {ratio}.", time(student), time(starter))
        }
    };
    format!("Predicted on an {gpu} at {}: {handed_out}", shown(sizes))
}

/// The times on a GPU.
pub fn timed(Times { sizes, student, solution }: &Times) -> String {
    let ratio = student / solution;
    let both = format!("{:.1} us, the solution's {:.1} us ({ratio:.2} times as long)", 1e3 * student, 1e3 * solution);
    format!("On the GPU, at {}: yours take {both}.", shown(sizes))
}

/// The picture of an access.
fn draw(text: &mut String, whose: &str, Seen { scene, block: [x, y, z], warp }: &Seen) {
    paragraph(text, "       ", &format!("{whose}{} (block {x}, {y}, {z}, warp {warp}):", scene.title));
    *text += &access_text(scene, WIDTH, Paint::Colours);
}

/// Cuts a line that is too long, with dots for the rest: after a word, unless that would leave less
/// than half of the width.
pub fn cut(line: &str, width: usize) -> String {
    const REST: &str = " ...";
    if line.chars().count() <= width {
        return line.to_owned();
    }
    let room: Vec<char> = line.chars().take(width - REST.len() + 1).collect();
    let blank = room.iter().rposition(|c| *c == ' ').filter(|&at| at >= width / 2);
    let begin: String = room[..blank.unwrap_or(room.len() - 1)].iter().collect();
    format!("{}{REST}", begin.trim_end())
}

/// A paragraph whose first line begins with `start`; the others are indented by seven.
fn paragraph(text: &mut String, start: &str, words: &str) {
    *text += &wording::wrapped(words, WIDTH, start, "       ");
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_cut_with_a_mark() {
        assert_eq!(cut("short", 10), "short");
        assert_eq!(cut("0123456789", 10), "0123456789");
        assert_eq!(cut("0123456789a", 10), "012345 ...");
        assert_eq!(cut("a 345678901", 10), "a 3456 ...");
        assert_eq!(cut("01234 67 9a", 10), "01234 ...");
        assert_eq!(cut("012345 78 a", 10), "012345 ...");
    }

    #[test]
    fn a_gain_is_a_line() {
        let model = simt::Model::named("hopper").expect("it is there");
        let queue = |cold_us, bound| Queue { model, cold_us, warm_us: None, bound, is_of_too_little: false };
        let (starter, faster) = (queue(118.0, simt::prediction::Bound::L2), queue(41.2, simt::prediction::Bound::Dram));
        let sizes: exercise::data::Sizes = [("n".to_owned(), 9)].into_iter().collect();
        let said = |student| gained(&Gain { sizes: sizes.clone(), student, starter });
        let begin = "Predicted on an H200 at n = 9:";
        let handed_out = "as handed out 118 us, limited by L2";
        assert_eq!(said(Ok(faster)), format!("{begin} 41.2 us, limited by DRAM; {handed_out}: 2.86 times as fast."));
        assert_eq!(
            said(Ok(queue(236.0, simt::prediction::Bound::Latency))),
            format!("{begin} 236 us, limited by latency; {handed_out}: 2.00 times as slow.")
        );
        assert_eq!(
            said(Ok(queue(117.0, simt::prediction::Bound::L2))),
            format!("{begin} 117 us, limited by L2; {handed_out}: no faster.")
        );
        assert_eq!(said(Ok(starter)), format!("{begin} 118 us, limited by L2, as handed out."));
        assert_eq!(said(Err("surfaces")), format!("{begin} not predicted: surfaces; {handed_out}."));
    }
}

//! `--report`: the verdict on a student's file as one web page: the goals, the accesses that miss
//! them beside the solution's, and the source with the counts of each line. [`crate::student`]
//! calls it, and [`crate::events`] for a part of a page; it writes the page and nothing else.

use std::fs;
use std::path::Path;

use anstream::adapter::strip_str;
use exercise::Exercise;
use exercise::fault::Fault;
use exercise::questions::PredictionResult;
use goals::seen::Seen;
use maud::{Markup, PreEscaped, html};
use picture::Scene;
use webpage::{Entry, Line, Listing, Page, Place};
use wording::{number, printable};

use crate::error::{Error, Result};
use crate::lines::Lines;
use crate::report::{AVOIDED, Report, gained, heading, said, shown_path, timed};
use crate::verdict::{Failure, GoalResult, Verdict};

/// Pictures of all accesses have at most this many bytes.
const MOST: usize = 150_000;

/// Fails if the page cannot be written, before anything runs.
///
/// # Errors
///
/// [`Error::Device`] and [`Error::Usage`].
pub fn check(exercise: &Exercise, path: &Path) -> Result<()> {
    common::output_file::check(path)?;
    let of = common::output_file::identity;
    match of(path).parent() == of(&exercise.student_file()).parent() && path.extension().is_none_or(|ext| ext != "html")
    {
        true => {
            Err(Error::Usage(format!("--report: {} is in the exercise's folder; give an .html file", path.display())))
        }
        false => Ok(()),
    }
}

/// Writes the page.
///
/// # Errors
///
/// [`Error::Device`] if it cannot be written.
pub fn write(exercise: &Exercise, report: &Report<'_>, verdict: &Verdict, path: &Path) -> Result<()> {
    let details = [strip_str(heading(exercise).trim_end()).to_string(), format!("seed {}", verdict.seed)];
    let (about, main) = (&exercise.goals.title, main(exercise, report, verdict, false));
    let text = Page { title: &exercise.name, about, details: &details, main }.render();
    Ok(common::output_file::write_whole(path, |out| out.write_all(text.as_bytes()))?)
}

/// What the page shows of a verdict. Where it is a part of another page, what is beside the verdict
/// is folded.
pub fn main(exercise: &Exercise, report: &Report<'_>, verdict: &Verdict, folded: bool) -> Markup {
    let place = Place::alone();
    let card = |heading: &str, content: &Markup| match folded {
        true => html! { details.card { summary { (heading) } (content) } },
        false => place.card(heading, content),
    };
    // Until it is solved, the page must not show the counts that the exercise asks for.
    let lines = verdict.lines.as_ref().filter(|_| !exercise.is_predicted() || verdict.passed());
    let source = if exercise.is_predicted() { exercise.given_file() } else { report.file.to_owned() };
    html! {
        section.says aria-label="Result" { p { (webpage::numbers(&result(verdict))) } }
        @if !verdict.goals.is_empty() || !verdict.predictions.is_empty() || verdict.failure.is_some() || verdict.rating.is_some() {
            (place.card("Verdict", &html! {
                @if let Some(failure) = failed(report, verdict) { pre.scroll tabindex="0" { (failure) } }
                @if let Some(Failure::OtherOrders(others)) = &verdict.failure {
                    @if let Some(timeline) = others.story.as_ref().and_then(|story| story.timeline.as_ref()) {
                        (webpage::played(&timeline.svg(), "Time goes down; the accesses play, one after the other."))
                    }
                }
                @for goal in &verdict.goals { (of_goal(goal)) }
                @if let Some(gain) = &verdict.gain { p { (gained(gain)) } }
                @if let Some(rating) = &verdict.rating {
                    p { (mark(rating.grade().is_some())) " " (rating.said()) }
                    @for detail in rating.details() { p.quiet { (detail) } }
                }
                @if let Some(times) = &verdict.times { p { (timed(times)) } }
                @for prediction in &verdict.predictions { (of_prediction(prediction, report.explain)) }
            }))
        }
        @if let Some(lines) = lines {
            @if !lines.scenes.is_empty() { (card("What a warp's accesses do", &accesses(lines))) }
        }
        (card("The source, line by line", &listed(&source, verdict, lines)))
    }
}

/// The verdict in a sentence.
fn result(verdict: &Verdict) -> String {
    if let Some(grade) = verdict.rating.as_ref().and_then(|rating| rating.grade()).filter(|_| verdict.passed()) {
        return format!("Solved, with the grade: {grade}.");
    }
    if verdict.passed() {
        return "Solved.".into();
    }
    let right = verdict.goals.iter().filter(|goal| goal.met).count();
    match (verdict.goals.len(), verdict.predictions.len()) {
        (0, 0) => "Not solved yet.".into(),
        (0, all) => {
            let right = verdict.predictions.iter().filter(|it| it.right()).count();
            format!("Not solved yet: {right} of {all} predictions are right.")
        }
        (all, _) => format!("Not solved yet: {right} of {all} goals are met."),
    }
}

/// What is wrong beyond goals, as the terminal says it.
fn failed(report: &Report<'_>, verdict: &Verdict) -> Option<String> {
    match &verdict.failure {
        None | Some(Failure::Goals | Failure::Predictions) => None,
        Some(failure) => Some(strip_str(&report.failure_text(failure)).to_string()),
    }
}

fn of_goal(result: &GoalResult) -> Markup {
    let GoalResult { avoided, met, seen, solution_seen, why, .. } = result;
    html! {
        p { (mark(*met)) " " (said(result)) }
        @if !met {
            p.quiet { @if avoided.is_some() { (AVOIDED) } @else { (why) } }
            div.pictures {
                @for (whose, seen) in [("Yours", seen), ("The solution's", solution_seen)] {
                    @if let Some(seen) = seen { (figure(whose, seen)) }
                }
            }
        }
    }
}

fn of_prediction(result: &PredictionResult, explain: bool) -> Markup {
    let PredictionResult { name, ask, predicted, counted, by, why, .. } = result;
    let explained = result.right() || explain && predicted.is_some();
    html! {
        p {
            @match predicted {
                None => { span.unsure { "open" } " " (name) },
                Some(predicted) => { (mark(result.right())) " " (name) ": " b { (number(*predicted)) } },
            }
        }
        p.quiet { (ask) }
        @if explained && !result.right() { p.quiet { (by) " " (number(*counted)) "." } }
        @if explained { p.quiet { (why) } }
        @if let Some(seen) = result.drawn(explain) { div.pictures { (figure("The first access", &seen)) } }
    }
}

fn mark(good: bool) -> Markup {
    html! { @if good { span.faster { "ok" } } @else { span.slower { "wrong" } } }
}

fn figure(whose: &str, Seen { scene, block: [x, y, z], warp }: &Seen) -> Markup {
    webpage::figure(scene, &html! { (whose) ": block " (x) ", " (y) ", " (z) ", warp " (warp) })
}

/// All accesses, as far as there is room.
fn accesses(lines: &Lines) -> Markup {
    let drawn = |(line, scene): &(u32, Scene)| webpage::figure(scene, &html! { "line " (line) }).into_string();
    let mut room = MOST;
    let fits = |drawing: &String| {
        let rest = room.checked_sub(drawing.len());
        room = rest.unwrap_or(0);
        rest.is_some()
    };
    let drawings: Vec<String> = lines.scenes.iter().map(drawn).take_while(fits).collect();
    let left_out = lines.scenes.len() - drawings.len();
    html! {
        div.pictures { @for drawing in &drawings { (PreEscaped(drawing)) } }
        @if left_out > 0 { p.quiet { "Not drawn, to keep the page small: " (left_out) " more." } }
    }
}

/// The whole file, with what was counted and found in each line.
fn listed(file: &Path, verdict: &Verdict, lines: Option<&Lines>) -> Markup {
    let text = fs::read(file).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    let faults = match &verdict.failure {
        Some(Failure::Faults(_, faults, _) | Failure::OutOfTime(_, faults)) => faults.as_slice(),
        _ => &[],
    };
    let line = |(index, text): (usize, &str)| {
        let number = index as u32 + 1;
        Entry::Line(Line {
            number: Some(number),
            source: printable(&text.replace('\t', "    ")),
            counts: lines.and_then(|lines| lines.counts.get(&number).cloned()),
            findings: faults.iter().flat_map(|fault| found(fault, number)).collect(),
        })
    };
    let entries = std::iter::once(Entry::File(shown_path(file))).chain(text.lines().enumerate().map(line));
    let listing = Listing { entries: entries.collect(), missing: Vec::new() };
    html! {
        p.quiet { "The warmer a line, the more sectors and wavefronts it takes. Instructions are those of a warp, in PTX." }
        (listing.table("Source", listing.worst(), true))
    }
}

/// What a fault says of a line.
fn found(fault: &Fault, line: u32) -> Vec<String> {
    let here = fault.sites.iter().filter(|(at, _)| *at == Some(line));
    here.map(|(_, who)| format!("{}: {who}", fault.message)).collect()
}

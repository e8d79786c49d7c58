//! An exercise's runs over time, as a drawing: a bar for each hour or day, with the solved ones at
//! its foot. Pure.

use class::{DAY, HOUR, Millis};
use maud::{Markup, html};

use super::time;

/// Widths of bars, and how they are called. The first that gives few enough bars is taken.
const WIDTHS: [(Millis, &str); 5] =
    [(HOUR, "hour"), (6 * HOUR, "6 hours"), (DAY, "day"), (7 * DAY, "week"), (28 * DAY, "4 weeks")];

/// The most bars.
const MOST: i64 = 56;

/// The drawing's size, and the space for numbers at its left and below.
const WIDTH: i64 = 720;
const HEIGHT: i64 = 190;
const LEFT: i64 = 40;
const BELOW: i64 = 24;
const ABOVE: i64 = 14;

/// A run: when, and whether it was solved.
pub type Run = (Millis, bool);

/// What a bar stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Bar {
    solved: i64,
    other: i64,
}

/// The bars, when the first begins, the time that each has, and its name.
fn bars(runs: &[Run]) -> Option<(Vec<Bar>, Millis, Millis, &'static str)> {
    let first = runs.iter().map(|(at, _)| *at).min()?;
    let last = runs.iter().map(|(at, _)| *at).max()?;
    let (width, name) = *WIDTHS.iter().find(|(width, _)| last / width - first / width < MOST).unwrap_or(&WIDTHS[4]);
    let begin = (first.div_euclid(width) * width).max(last - MOST * width);
    let count = (last - begin).div_euclid(width) + 1;
    let mut bars = vec![Bar::default(); count as usize];
    for (at, solved) in runs {
        let Some(bar) = usize::try_from((at - begin).div_euclid(width)).ok().and_then(|at| bars.get_mut(at)) else {
            continue;
        };
        *(if *solved { &mut bar.solved } else { &mut bar.other }) += 1;
    }
    Some((bars, begin, width, name))
}

/// The runs, with the deadline if there is one.
pub fn markup(runs: &[Run], deadline: Option<Millis>) -> Markup {
    let Some((bars, begin, width, name)) = bars(runs) else { return html! { p.quiet { "Nothing was run yet." } } };
    let most = bars.iter().map(|bar| bar.solved + bar.other).max().unwrap_or(1).max(1);
    let room = HEIGHT - BELOW - ABOVE;
    let height = |count: i64| count * room / most;
    let step = ((WIDTH - LEFT) / bars.len() as i64).min(48);
    let x = |at: usize| LEFT + at as i64 * step;
    let end = begin + bars.len() as i64 * width;
    let line = deadline.filter(|at| (begin..end).contains(at)).map(|at| LEFT + (at - begin) * step / width);
    let solved: i64 = bars.iter().map(|bar| bar.solved).sum();
    let all: i64 = bars.iter().map(|bar| bar.solved + bar.other).sum();
    let says = format!("{all} runs, {solved} of them solved; a bar is one {name}, and the highest has {most}");
    // A date below every fourth bar or so.
    let every = (110 / step.max(1) + 1) as usize;
    html! {
        figure.chart.scroll tabindex="0" {
            svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" aria-label=(says) {
                text x="2" y=(ABOVE + 4) { (most) }
                line.axis x1=(LEFT) x2=(WIDTH) y1=(HEIGHT - BELOW) y2=(HEIGHT - BELOW) {}
                @for (at, bar) in bars.iter().enumerate() {
                    @let [solved, other] = [height(bar.solved), height(bar.other)];
                    rect.solved x=(x(at)) y=(HEIGHT - BELOW - solved) width=((step - 2).max(1)) height=(solved) {}
                    rect.other x=(x(at)) y=(HEIGHT - BELOW - solved - other) width=((step - 2).max(1)) height=(other) {}
                    @if at % every == 0 { text x=(x(at)) y=(HEIGHT - 6) { (time::date(begin + at as i64 * width)) } }
                }
                @if let Some(at) = line {
                    line.deadline x1=(at) x2=(at) y1="0" y2=(HEIGHT - BELOW) {}
                    text x=(at + 4) y=(ABOVE + 4) { "deadline" }
                }
            }
            figcaption { span.key.solved {} " solved, " span.key.other {} " not solved. A bar is one " (name) ", in UTC." }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_run_is_in_a_bar() {
        let runs = [(10 * HOUR, true), (10 * HOUR + 1, false), (12 * HOUR, false)];
        let (bars, begin, width, name) = super::bars(&runs).unwrap();
        assert_eq!((begin, width, name, bars.len()), (10 * HOUR, HOUR, "hour", 3));
        assert_eq!(bars[0], Bar { solved: 1, other: 1 });
        let (bars, _, width, _) = super::bars(&[(5, true), (100 * DAY, true)]).unwrap();
        assert_eq!((width, bars.iter().map(|bar| bar.solved).sum::<i64>()), (7 * DAY, 2));
        // Beyond all widths the last ones are shown.
        let (bars, ..) = super::bars(&[(0, true), (9000 * DAY, true)]).unwrap();
        assert!(bars.len() as i64 <= MOST + 1 && bars.last().unwrap().solved == 1);
        assert!(super::bars(&[]).is_none());
    }

    #[test]
    fn the_drawing_has_the_deadline_and_no_styles() {
        let html = markup(&[(DAY, true), (9 * DAY, false)], Some(5 * DAY)).into_string();
        assert!(
            html.contains("deadline") && html.contains("2 runs, 1 of them solved") && !html.contains("style="),
            "{html}"
        );
        assert!(!markup(&[(DAY, true)], Some(50 * DAY)).into_string().contains(">deadline<"));
    }
}

//! What differs between two texts, line by line: the shortest list of changes by Myers' algorithm,
//! within a bound. Pure.
//!
//! *Invariant:* the work is bounded: texts that differ in more than [`MOST`] lines are shown as one
//! replaced by the other, and at most [`SHOWN`] lines are shown.

use maud::{Markup, html};

/// The most changes that are searched for.
const MOST: usize = 200;

/// The most lines of a page.
const SHOWN: usize = 2000;

/// Lines that stay around a change.
const AROUND: usize = 3;

/// A line of one text or of both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// With its number in the new text.
    Same(usize, &'a str),
    Removed(&'a str),
    /// With its number in the new text.
    Added(usize, &'a str),
}

/// All lines of both texts.
pub fn lines<'a>(old: &'a str, new: &'a str) -> Vec<Line<'a>> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let begin = old.iter().zip(&new).take_while(|(one, other)| one == other).count();
    let rest = old.len().min(new.len()) - begin;
    let end = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(one, other)| one == other).count();
    let (changed_old, changed_new) = (&old[begin..old.len() - end], &new[begin..new.len() - end]);
    let mut all: Vec<Line<'a>> = new[..begin].iter().enumerate().map(|(at, text)| Line::Same(at + 1, text)).collect();
    all.extend(changes(changed_old, changed_new).into_iter().map(|line| match line {
        Line::Same(at, text) => Line::Same(at + begin, text),
        Line::Added(at, text) => Line::Added(at + begin, text),
        removed @ Line::Removed(_) => removed,
    }));
    let first = new.len() - end;
    all.extend(new[first..].iter().enumerate().map(|(at, text)| Line::Same(first + at + 1, text)));
    all
}

/// The changes between texts that share neither begin nor end.
fn changes<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<Line<'a>> {
    let replaced = || {
        let removed = old.iter().map(|text| Line::Removed(text));
        removed.chain(new.iter().enumerate().map(|(at, text)| Line::Added(at + 1, text))).collect()
    };
    let most = (old.len() + new.len()).min(MOST);
    let middle = most as isize + 1;
    let index = |diagonal: isize| (middle + diagonal) as usize;
    // The furthest line of `old` on each diagonal, for each number of changes.
    let mut furthest = vec![0_usize; 2 * most + 3];
    let mut trace: Vec<Vec<usize>> = Vec::new();
    for count in 0..=most as isize {
        trace.push(furthest[index(-count - 1)..=index(count + 1)].to_vec());
        for diagonal in (-count..=count).step_by(2) {
            let down = diagonal == -count
                || diagonal != count && furthest[index(diagonal - 1)] < furthest[index(diagonal + 1)];
            let mut x = if down { furthest[index(diagonal + 1)] } else { furthest[index(diagonal - 1)] + 1 };
            let mut y = x.wrapping_add_signed(-diagonal);
            while x < old.len() && y < new.len() && old[x] == new[y] {
                (x, y) = (x + 1, y + 1);
            }
            furthest[index(diagonal)] = x;
            if x >= old.len() && y >= new.len() {
                return back(old, new, &trace);
            }
        }
    }
    replaced()
}

/// Follows the furthest lines back from the ends.
fn back<'a>(old: &[&'a str], new: &[&'a str], trace: &[Vec<usize>]) -> Vec<Line<'a>> {
    let (mut x, mut y) = (old.len(), new.len());
    let mut all = Vec::new();
    for (count, furthest) in trace.iter().enumerate().rev() {
        let count = count as isize;
        let at = |diagonal: isize| furthest[(diagonal + count + 1) as usize];
        let diagonal = x as isize - y as isize;
        let down = diagonal == -count || diagonal != count && at(diagonal - 1) < at(diagonal + 1);
        let before = if count == 0 {
            0
        } else if down {
            diagonal + 1
        } else {
            diagonal - 1
        };
        let from_x = if count == 0 { 0 } else { at(before) };
        let from_y = from_x.wrapping_add_signed(-before);
        while x > from_x && y > from_y {
            all.push(Line::Same(y, new[y - 1]));
            (x, y) = (x - 1, y - 1);
        }
        if count > 0 {
            all.push(if down { Line::Added(y, new[y - 1]) } else { Line::Removed(old[x - 1]) });
            (x, y) = (from_x, from_y);
        }
    }
    all.reverse();
    all
}

/// The changes with some lines around each, as a part of a page.
pub fn markup(old: &str, new: &str) -> Markup {
    let all = lines(old, new);
    let is_change = |at: usize| !matches!(all.get(at), None | Some(Line::Same(..)));
    let mut near = vec![false; all.len()];
    for at in (0..all.len()).filter(|at| is_change(*at)) {
        near[at.saturating_sub(AROUND)..(at + AROUND + 1).min(all.len())].fill(true);
    }
    if !near.contains(&true) {
        return html! { p.quiet { "The texts are the same." } };
    }
    let shown = || all.iter().enumerate().filter(|(at, _)| near[*at]);
    let left = shown().count().saturating_sub(SHOWN);
    html! {
        div.diff.scroll tabindex="0" role="region" aria-label="Changes" {
            table {
                tbody {
                    @for (at, line) in shown().take(SHOWN) {
                        @if at > 0 && !near[at - 1] { tr.gap { td {} td {} td { "..." } } }
                        @match line {
                            Line::Same(number, text) => tr { td { (number) } td {} td { (text) } },
                            Line::Removed(text) => tr.removed { td {} td { "-" span.unseen { " removed" } } td { (text) } },
                            Line::Added(number, text) => tr.added { td { (number) } td { "+" span.unseen { " added" } } td { (text) } },
                        }
                    }
                    @if left > 0 { tr.gap { td {} td {} td { "\u{2026} and " (left) " more lines" } } }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that both texts are in the changes, and returns how many lines were changed.
    fn changed(old: &str, new: &str) -> usize {
        let all = lines(old, new);
        let is_old = |line: &Line<'_>| !matches!(line, Line::Added(..));
        let is_new = |line: &Line<'_>| !matches!(line, Line::Removed(_));
        let text = |line: &Line<'_>| match *line {
            Line::Same(_, text) | Line::Removed(text) | Line::Added(_, text) => text.to_owned(),
        };
        let of = |kept: &dyn Fn(&Line<'_>) -> bool| all.iter().filter(|line| kept(line)).map(text).collect::<Vec<_>>();
        assert_eq!(of(&is_old), old.lines().collect::<Vec<_>>());
        assert_eq!(of(&is_new), new.lines().collect::<Vec<_>>());
        let numbers = all.iter().filter_map(|line| match line {
            Line::Same(number, _) | Line::Added(number, _) => Some(*number),
            Line::Removed(_) => None,
        });
        assert!(numbers.eq(1..=new.lines().count()));
        all.iter().filter(|line| !matches!(line, Line::Same(..))).count()
    }

    #[test]
    fn the_changes_are_the_fewest() {
        for (old, new, expected) in [
            ("", "", 0),
            ("a\nb\nc\n", "a\nb\nc\n", 0),
            ("a\nb\nc\n", "a\nx\nc\n", 2),
            ("a\nb\nc\na\nb\nb\na\n", "c\nb\na\nb\na\nc\n", 5),
            ("", "a\nb\n", 2),
            ("a\nb\n", "", 2),
            ("x\na\nb\n", "a\nb\ny\n", 2),
        ] {
            assert_eq!(changed(old, new), expected, "{old:?} {new:?}");
        }
    }

    #[test]
    fn texts_that_differ_everywhere_take_bounded_work() {
        let text = |of: &str| (0..4000).map(|at| format!("{of}{at}\n")).collect::<String>();
        assert_eq!(changed(&text("a"), &text("b")), 8000);
        let html = markup(&text("a"), &text("b")).into_string();
        assert_eq!(html.matches("<tr").count(), SHOWN + 1);
        assert!(html.contains("\u{2026} and 6000 more lines"));
        // Pseudo-random texts over few lines.
        let mut state = 1_u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) % 5
        };
        for length in [1, 7, 60] {
            let texts = [(), ()].map(|()| (0..length).map(|_| format!("{}\n", next())).collect::<String>());
            changed(&texts[0], &texts[1]);
        }
    }

    #[test]
    fn a_page_shows_the_changes_as_text() {
        let old: String = (0..40).map(|at| format!("line {at}\n")).collect();
        let html = markup(&old, &old.replace("line 20\n", "<script>\n")).into_string();
        assert!(html.contains("&lt;script&gt;") && !html.contains("<script>"), "{html}");
        assert!(html.contains("line 17") && !html.contains("line 16<") && html.contains("class=\"gap\""), "{html}");
        assert_eq!(markup("a", "a").into_string(), "<p class=\"quiet\">The texts are the same.</p>");
    }
}

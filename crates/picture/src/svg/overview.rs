//! A report at a glance as SVG, for documents that cannot show the page: its sentence, its table,
//! and the warm lines of its source.

use super::{Drawing, Number, WIDTH, escaped};

/// What a report shows first.
#[derive(Clone, Debug, PartialEq)]
pub struct Overview {
    /// What it is a report of.
    pub title: String,
    /// What the numbers show.
    pub sentences: Vec<String>,
    /// Columns of the table: the lines of the heading, and the cells. The first names the rows.
    pub columns: Vec<(Vec<String>, Vec<String>)>,
    /// The lines of each row's kernel.
    pub listings: Vec<(String, Vec<OverviewLine>)>,
}

/// A line of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverviewLine {
    /// Its number.
    pub number: u64,
    /// Its sectors and wavefronts.
    pub cost: u64,
    /// Its text.
    pub source: String,
}

const LEFT: f64 = 12.0;
const RIGHT: f64 = WIDTH - 12.0;
/// A character's width where the drawing is small and its letters large.
const CHARACTER: f64 = 8.1;
const ROW: f64 = 19.0;
/// Where source begins, and the characters that have room there.
const SOURCE: f64 = 112.0;
const MOST: usize = 64;

/// Draws an overview.
pub fn overview(overview: &Overview) -> String {
    let Overview { title, sentences, columns, listings } = overview;
    let heads = columns.iter().map(|(head, _)| head.len()).max().unwrap_or(0);
    let rows = columns.first().map_or(0, |(_, cells)| cells.len());
    let lines: usize = listings.iter().map(|(_, lines)| lines.len() + 2).sum();
    let height = 44.0 + 20.0 * sentences.len() as f64 + ROW * (heads + rows + lines) as f64 + 14.0;
    let mut drawing = Drawing::new("overview", height, title, &sentences.join(" "));
    drawing.label("title", (LEFT, 24.0), title);
    let mut y = 30.0;
    for sentence in sentences {
        y += 20.0;
        numbers(&mut drawing, y, sentence);
    }
    y += 16.0;
    table(&mut drawing, y, columns, heads);
    y += ROW * (heads + rows) as f64 + 8.0;
    let worst = listings.iter().flat_map(|(_, lines)| lines).map(|line| line.cost).max().unwrap_or(1).max(1);
    for (name, lines) in listings {
        y += ROW * 1.5;
        drawing.label("cell strong", (LEFT, y), name);
        drawing.label("cell faint e", (SOURCE - 8.0, y), "cost");
        drawing.path("grid", &format!("M{} {}H{}", Number(LEFT), Number(y + 6.0), Number(RIGHT)));
        let indented = |line: &OverviewLine| line.source.chars().take_while(|c| *c == ' ').count();
        let indentation = lines.iter().map(indented).min().unwrap_or(0);
        for OverviewLine { number, cost, source } in lines {
            let source = &source[indentation.min(source.len())..];
            y += ROW;
            if *cost > 0 {
                // In tenths, so that a style can have a colour for each.
                let heat = (cost * 9).div_ceil(worst) + 1;
                drawing.rect(&format!("heat{heat}"), (LEFT - 4.0, y - 13.5), (RIGHT - LEFT + 8.0, ROW), 3.0);
                drawing.label("code e", (SOURCE - 8.0, y), &cost.to_string());
            }
            drawing.label("code faint e", (LEFT + 28.0, y), &number.to_string());
            let cut: String = match source.chars().count() > MOST {
                true => source.chars().take(MOST - 1).chain(['…']).collect(),
                false => source.to_owned(),
            };
            drawing.label("code", (SOURCE, y), &cut.replace(' ', "\u{a0}"));
        }
        y += ROW * 0.5;
    }
    drawing.finish()
}

/// A sentence whose numbers stand out.
fn numbers(drawing: &mut Drawing, y: f64, sentence: &str) {
    let word = |word: &str| {
        let number = word.trim_end_matches(['.', ',', ';', ':', '%']);
        match number.parse::<f64>() {
            Ok(_) => format!("<tspan class=\"number\">{}</tspan>{}", escaped(number), escaped(&word[number.len()..])),
            Err(_) => escaped(word),
        }
    };
    let words: Vec<String> = sentence.split(' ').map(word).collect();
    let y = Number(y);
    drawing.add(format_args!("<text class=\"says\" x=\"{}\" y=\"{y}\">{}</text>", Number(LEFT), words.join(" ")));
}

fn table(drawing: &mut Drawing, top: f64, columns: &[(Vec<String>, Vec<String>)], heads: usize) {
    let bottom = top + ROW * heads as f64;
    let mut right = LEFT;
    for (index, (head, cells)) in columns.iter().enumerate() {
        let longest = head.iter().chain(cells).map(|text| text.chars().count()).max().unwrap_or(0);
        let left = right;
        let next = right + longest as f64 * CHARACTER + if index == 0 { 0.0 } else { 14.0 };
        // What has no room is left out.
        if next > RIGHT {
            break;
        }
        right = next;
        let (x, class) = if index == 0 { (left, "cell") } else { (right, "cell e") };
        for (line, text) in head.iter().enumerate() {
            let y = bottom - ROW * (head.len() - line) as f64 + 12.0;
            drawing.label(&format!("{class} faint"), (x, y), text);
        }
        for (row, text) in cells.iter().enumerate() {
            let class = if index == 0 { "cell strong" } else { class };
            drawing.label(class, (x, bottom + ROW * row as f64 + 14.0), text);
        }
    }
    drawing.path("frame", &format!("M{} {}H{}", Number(LEFT), Number(bottom - 1.0), Number(right)));
}

//! Variants of an exercise: other numbers and names for each class, so that the solution of another
//! class does not pass. The author's file `variants.toml` says what varies:
//!
//! ```toml
//! [values]
//! radius = [3, 5, 6, 7]
//! name = ["mean", "smooth", "soften", "level"]
//!
//! [replace]
//! "8 on either side" = "{radius} on either side"
//! "17" = "{2 * radius + 1}"
//! "average" = "{name}"
//! ```
//!
//! A seed chooses one of each list. In all of the exercise's files, the texts on the left become
//! those on the right: where two texts begin at one place, the longer one. A text that begins or
//! ends within a word or a number is left alone. Seeds that follow each other never choose the
//! same.
//!
//! `cargo learn` writes the files. Pure but for reading.

use std::fs;
use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use serde::Deserialize;
use toml::Value;
use wording::WIDTH;

use crate::error::{Error, Result};
use crate::files::Exercise;
use crate::goals_file::Goals;
use goals::expression::Expression;

/// The author's file.
pub const VARIANTS: &str = "variants.toml";

/// Files that vary; `given.ptx` is compiled again.
const FILES: [&str; 10] = [
    "goals.toml",
    "hints.md",
    "starter.rs",
    "starter.toml",
    "solution.rs",
    "solution.toml",
    "reference.rs",
    "given.rs",
    "main.rs",
    VARIANTS,
];

/// What varies in an exercise.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variants {
    values: IndexMap<String, Vec<Value>>,
    replace: IndexMap<String, String>,
}

/// The files of a varied exercise, relative to its folder, with their texts.
pub type Files = Vec<(PathBuf, String)>;

/// Texts, and what replaces them; longer ones first.
struct Replacements(Vec<(String, String)>);

impl Exercise {
    /// What varies, or `None` if nothing does.
    ///
    /// # Errors
    ///
    /// [`Error`] if the file is wrong, or does not fit the other files.
    pub fn variants(&self) -> Result<Option<Variants>> {
        let file = self.folder.join(VARIANTS);
        if !file.is_file() {
            return Ok(None);
        }
        let text = fs::read_to_string(&file).map_err(Error::reading(&file))?;
        let variants: Variants = toml::from_str(&text).map_err(|error| Error::wrong(&file, error))?;
        let files = self.author_files()?;
        variants.check(self, &files).map_err(|problem| Error::wrong(&file, problem))?;
        Ok(Some(variants))
    }

    /// The files of this exercise as a class with this seed has them.
    ///
    /// # Errors
    ///
    /// [`Error`] if a file cannot be read, or `variants.toml` is wrong.
    pub fn varied(&self, seed: u64) -> Result<Files> {
        let files = self.author_files()?;
        let Some(variants) = self.variants()? else { return Ok(files) };
        let wrong = |problem| Error::wrong(&self.folder.join(VARIANTS), problem);
        let replacements = variants.chosen(&self.name, seed).map_err(wrong)?;
        Ok(files.into_iter().map(|(file, text)| (file, wrapped(&replacements.of(&text)))).collect())
    }

    /// The files that the author wrote, with their texts.
    fn author_files(&self) -> Result<Files> {
        let mut names: Vec<PathBuf> = FILES.iter().filter(|name| **name != VARIANTS).map(PathBuf::from).collect();
        if let Ok(entries) = fs::read_dir(self.folder.join("wrong")) {
            names.extend(entries.flatten().map(|entry| Path::new("wrong").join(entry.file_name())));
        }
        names.sort();
        let there = names.into_iter().map(|name| (self.folder.join(&name), name)).filter(|(file, _)| file.is_file());
        there.map(|(file, name)| Ok((name, fs::read_to_string(&file).map_err(Error::reading(&file))?))).collect()
    }
}

impl Variants {
    /// Whether numbers vary, and not only names.
    pub fn has_numbers(&self) -> bool {
        self.values.values().any(|choices| choices.iter().any(|choice| !choice.is_str()))
    }

    fn check(&self, exercise: &Exercise, files: &Files) -> std::result::Result<(), String> {
        for (name, choices) in &self.values {
            let is_number = |choice: &Value| choice.is_integer() || choice.is_float();
            if choices.len() < 3 || !(choices.iter().all(Value::is_str) || choices.iter().all(is_number)) {
                return Err(format!("value '{name}': give three or more, all numbers or all names"));
            }
            if choices.iter().enumerate().any(|(at, choice)| choices[..at].contains(choice)) {
                return Err(format!("value '{name}' has one choice twice"));
            }
            let used = |name: &str| name.parse::<Expression>().is_ok_and(|used| used.uses(&|used| used == name));
            if !used(name) {
                return Err(format!("value '{name}' is no name"));
            }
            let read = |file: &Path| file == Path::new("given.rs") || exercise.starter_file().ends_with(file);
            let visible = files.iter().filter(|(file, _)| read(file));
            let of = |template: &str| placeholders(template).any(|part| uses(part, name));
            let mut texts = self.replace.iter().filter(|(_, template)| of(template)).map(|(text, _)| text);
            if !texts.any(|text| visible.clone().any(|(_, whole)| places(whole, text).next().is_some())) {
                return Err(format!("value '{name}' is in no text that students read"));
            }
            for choice in choices.iter().filter_map(Value::as_str) {
                if let Some((file, _)) = files.iter().find(|(_, whole)| places(whole, choice).next().is_some()) {
                    return Err(format!("value '{name}': '{choice}' is in {} already", file.display()));
                }
            }
        }
        for text in self.replace.keys() {
            if text.is_empty() || !files.iter().any(|(_, whole)| places(whole, text).next().is_some()) {
                return Err(format!("the text '{text}' is in no file of the exercise"));
            }
        }
        // Each choice occurs with one of these seeds.
        let most = self.values.values().map(Vec::len).max().unwrap_or(0);
        for seed in 0..most as u64 {
            let replacements = self.chosen(&exercise.name, seed)?;
            for (_, text) in files.iter().filter(|(file, _)| file == Path::new("goals.toml")) {
                let parsed = toml::from_str::<Goals>(&replacements.of(text));
                parsed.map_err(|error| format!("seed {seed}: goals.toml would be wrong: {error}"))?;
            }
        }
        Ok(())
    }

    /// What this seed replaces.
    fn chosen(&self, exercise: &str, seed: u64) -> std::result::Result<Replacements, String> {
        let chosen = |name: &str| {
            let choices = self.values.get(name)?;
            let first = mixed(&format!("{exercise} {name}"));
            choices.get((first.wrapping_add(seed) % choices.len() as u64) as usize)
        };
        let number = |name: &str| match chosen(name)? {
            Value::Float(number) => Some(*number),
            Value::Integer(number) => Some(*number as f64),
            _ => None,
        };
        let filled = |part: &str| match chosen(part.trim()) {
            Some(Value::String(text)) => Ok(text.clone()),
            _ => match part.parse::<Expression>()? {
                part if part.uses(&|name| self.values.contains_key(name)) => {
                    part.evaluate(&number).map(|number| number.to_string())
                }
                part => Err(format!("'{part}' uses no value")),
            },
        };
        let mut all = Vec::new();
        for (text, template) in &self.replace {
            let mut whole = String::new();
            for part in parts(template) {
                match part {
                    Part::Text(text) => whole += text,
                    Part::Filled(part) => {
                        whole += &filled(part).map_err(|problem| format!("'{template}': {problem}"))?
                    }
                }
            }
            all.push((text.clone(), whole));
        }
        all.sort_by_key(|(text, _)| std::cmp::Reverse(text.len()));
        Ok(Replacements(all))
    }
}

impl Replacements {
    fn of(&self, text: &str) -> String {
        let mut whole = String::with_capacity(text.len());
        let mut at = 0;
        while let Some(next) = text[at..].chars().next() {
            let begins = |old: &str| text[at..].starts_with(old) && is_apart(text, at, at + old.len());
            match self.0.iter().find(|(old, _)| begins(old)) {
                Some((old, new)) => {
                    whole += new;
                    at += old.len();
                }
                None => {
                    whole.push(next);
                    at += next.len_utf8();
                }
            }
        }
        whole
    }
}

/// Where a text is in another one, and not within a word or a number.
fn places<'a>(whole: &'a str, text: &'a str) -> impl Iterator<Item = usize> + 'a {
    whole.match_indices(text).map(|(at, _)| at).filter(move |&at| is_apart(whole, at, at + text.len()))
}

/// Whether the range ends at the ends of words and numbers, on both sides.
fn is_apart(whole: &str, from: usize, to: usize) -> bool {
    let goes_on = |at: usize| {
        let (mut before, mut after) = (whole[..at].chars().rev(), whole[at..].chars());
        let (Some(one), Some(other)) = (before.next(), after.next()) else { return false };
        let is_word = |character: char| character.is_alphanumeric() || character == '_';
        let digit = |next: Option<char>| next.is_some_and(|next| next.is_ascii_digit());
        is_word(one) && is_word(other)
            || one == '.' && other.is_ascii_digit() && digit(before.next())
            || other == '.' && one.is_ascii_digit() && digit(after.next())
    };
    !goes_on(from) && !goes_on(to)
}

/// The text with the last words of comments that have become too wide in the next line.
fn wrapped(text: &str) -> String {
    let comment = |line: &str| {
        let words = line.trim_start().trim_start_matches(['/', '!']);
        line.trim_start().starts_with("//").then(|| line.len() - words.len())
    };
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at].clone();
        at += 1;
        let Some(marker) = comment(&line).filter(|_| line.chars().count() > WIDTH) else { continue };
        let end = line.char_indices().nth(WIDTH + 1).map_or(line.len(), |(end, _)| end);
        let Some(space) = line[..end].rfind(' ').filter(|&space| space > marker) else { continue };
        let (prefix, rest) = (&line[..marker], &line[space + 1..]);
        let goes_on = |next: &String| {
            let words = next.strip_prefix(prefix).unwrap_or_default();
            words.starts_with(' ')
                && words[1..].starts_with(|first: char| first.is_alphanumeric() || "(`*".contains(first))
        };
        match lines.get(at).filter(|next| goes_on(next)) {
            Some(next) => lines[at] = format!("{prefix} {rest}{}", &next[marker..]),
            None => lines.insert(at, format!("{prefix} {rest}")),
        }
        lines[at - 1].truncate(space);
    }
    lines.join("\n") + "\n"
}

enum Part<'a> {
    Text(&'a str),
    /// What was between braces.
    Filled(&'a str),
}

/// The parts of a template.
fn parts(template: &str) -> Vec<Part<'_>> {
    let mut all = Vec::new();
    let mut rest = template;
    while let Some((before, inner)) = rest.split_once('{') {
        let (inner, after) = inner.split_once('}').unwrap_or((inner, ""));
        all.extend([Part::Text(before), Part::Filled(inner)]);
        rest = after;
    }
    all.push(Part::Text(rest));
    all
}

fn placeholders(template: &str) -> impl Iterator<Item = &str> {
    parts(template).into_iter().filter_map(|part| match part {
        Part::Filled(part) => Some(part),
        Part::Text(_) => None,
    })
}

fn uses(part: &str, name: &str) -> bool {
    part.parse::<Expression>().is_ok_and(|part| part.uses(&|used| used == name))
}

/// A number that differs from text to text: FNV-1a.
fn mixed(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "[values]\nradius = [3, 5.5, 7]\nname = [\"mean\", \"level\", \"even\"]\n\n[replace]\n\
        \"8 on either side\" = \"{radius} on either side\"\n\"17\" = \"{2 * radius + 1}\"\n\"average\" = \"{ name }\"\n";

    #[test]
    fn texts_are_replaced_where_they_are_words() {
        let variants: Variants = toml::from_str(TEXT).unwrap();
        assert!(variants.has_numbers());
        let text = "average: 17 of 170, 1.17, 17.5 and 17.\naverages, 8 on either side, 8 banks, 17.0, e17 (17)";
        let all: Vec<String> = (0..4).map(|seed| variants.chosen("of", seed).unwrap().of(text)).collect();
        let of = |radius: &str, sum: &str, name: &str| {
            format!(
                "{name}: {sum} of 170, 1.17, 17.5 and {sum}.\naverages, {radius} on either side, 8 banks, 17.0, e17 ({sum})"
            )
        };
        for (radius, sum) in [("3", "7"), ("5.5", "12"), ("7", "15")] {
            let seeds = |text: &&String| ["mean", "level", "even"].iter().any(|name| **text == of(radius, sum, name));
            assert_eq!(all[..3].iter().filter(seeds).count(), 1, "{all:?}");
        }
        assert_eq!(all[0], all[3]);
    }

    #[test]
    fn comments_stay_within_the_width() {
        let long = |words: usize| vec!["word"; words].join(" ");
        let text =
            format!("    //! {}\n    //! and more\n    //!\n{}\n/// {}\nfn f() {{}}\n", long(20), long(30), long(21));
        let expected = format!(
            "    //! {}\n    //! word word and more\n    //!\n{}\n/// {}\n/// word word\nfn f() {{}}\n",
            long(18),
            long(30),
            long(19)
        );
        assert_eq!(wrapped(&text), expected);
    }

    #[test]
    fn what_is_between_braces_uses_a_value() {
        for (template, problem) in [("{b}", "uses no value"), ("{}", "''"), ("{a + b}", "unknown name 'b'"), ("{a", "")]
        {
            let text = format!("[values]\na = [1, 2, 3]\n[replace]\n\"x\" = \"{template}\"\n");
            let variants: Variants = toml::from_str(&text).unwrap();
            match variants.chosen("", 0) {
                Ok(_) => assert!(problem.is_empty(), "{template}"),
                Err(error) => assert!(!problem.is_empty() && error.contains(problem), "{error}"),
            }
        }
    }
}

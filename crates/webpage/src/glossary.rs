//! The field's words, explained where a page first says them. Pure.

use maud::{Markup, html};

use crate::number;

/// Words, and what each means.
const WORDS: [(&str, &str); 6] = [
    ("lane", "one of the 32 threads of a warp"),
    ("sector", "32 bytes of memory: the least that moves"),
    ("wavefront", "a pass over the banks of shared memory: a word of each"),
    ("conflict", "a wavefront beyond those that the words need: lanes ask one bank for several words"),
    ("occupancy", "the warps that a multiprocessor holds at once, of the most that it can hold"),
    ("texel", "an element of a texture's image"),
];

/// Sentences, a paragraph each: their numbers stand out, and each word of the field has its meaning
/// where it first stands.
pub fn explained(sentences: &[String]) -> Markup {
    let mut said = Vec::new();
    let mut meaning = |letters: &str| {
        let is = |word: &str| letters == word || letters.strip_suffix('s') == Some(word);
        let (word, meaning) = WORDS.iter().find(|(word, _)| is(word))?;
        let is_new = !said.contains(word);
        said.push(*word);
        is_new.then_some(*meaning)
    };
    html! {
        @for sentence in sentences {
            p {
                @for (index, word) in sentence.split(' ').enumerate() {
                    @if index > 0 { " " }
                    @let letters = word.trim_matches(|letter: char| !letter.is_alphabetic());
                    @if let Some(number) = number(word) {
                        (number)
                    } @else if let Some(meaning) = meaning(letters) {
                        @let start = word.find(letters).unwrap_or_default();
                        // A finger has no pointer to hold over it.
                        (&word[..start]) abbr title=(meaning) tabindex="0" { (letters) } (&word[start + letters.len()..])
                    } @else {
                        (word)
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_has_its_meaning_where_it_first_stands() {
        let sentences = ["A load takes 4 sectors (all <b>).", "One sector: 32 lanes, no conflicts."].map(str::to_owned);
        let html = explained(&sentences).into_string();
        let sectors = "<b>4</b> <abbr title=\"32 bytes of memory: the least that moves\" tabindex=\"0\">sectors</abbr> (all &lt;b&gt;).";
        assert!(html.contains(sectors) && html.contains("<p>One sector: <b>32</b> <abbr"), "{html}");
        assert!(html.contains(">lanes</abbr>, no <abbr") && html.ends_with(">conflicts</abbr>.</p>"), "{html}");
        assert_eq!(html.matches("<abbr").count(), 3, "{html}");
    }
}

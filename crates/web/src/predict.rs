//! Judges what a reader predicts: a question of an exercise to explain, whose files the page has
//! given.

use std::path::Path;

use exercise::Exercise;
use exercise::questions::{Given, PredictionResult};
use exercise::run::LaunchLimits;
use maud::html;
use serde::Deserialize;
use serde_json::{Value, json};

/// The seed of sizes and values: the questions fix what matters.
const SEED: u64 = 1;

/// Far more than the given kernels take.
const LIMITS: LaunchLimits = LaunchLimits { steps: 10_000_000, faults: 100, cancel: None };

/// What a page asks.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// The question's name.
    question: String,
    /// The reader's number, if there is one yet.
    predicted: Option<f64>,
    /// Whether to explain a wrong one.
    explain: bool,
}

/// Whether the prediction is right, what there is to say of it, and the access in question: with
/// its cost once the answer is known.
///
/// # Errors
///
/// A sentence.
pub fn reply(exercise: &Exercise, ptx: &Path, asked: &Asked) -> Result<Value, String> {
    let Asked { question, predicted, explain } = asked;
    let meant = exercise.goals.question.iter().find(|other| other.name == *question);
    let meant = meant.ok_or_else(|| format!("there is no question '{question}'"))?;
    let given = Given::new(exercise, ptx, SEED, LIMITS);
    let result = given.and_then(|mut given| given.judge(meant, *predicted));
    let result = result.map_err(|problem| format!("the kernels did not run: {problem:?}"))?;
    let picture = result.drawn(*explain).map(|seen| picture::access_svg(&seen.scene));
    Ok(json!({"right": result.right(), "says": says(&result, *explain), "picture": picture}))
}

/// The explanation, as HTML, once it may be read.
fn says(result: &PredictionResult, explain: bool) -> Option<String> {
    let counted = wording::number(result.counted);
    let begin = match (result.right(), explain) {
        (true, _) => format!("Right: {counted}. "),
        (false, true) => format!("{} {counted}. ", result.by),
        (false, false) => return None,
    };
    let code = |(index, part): (usize, &str)| html! { @if index % 2 == 1 { code { (part) } } @else { (part) } };
    let why = result.why.trim().split('`').enumerate().map(code);
    Some(html! { (begin) @for part in why { (part) } }.into_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(question: &str, predicted: Option<f64>, explain: bool) -> Result<Value, String> {
        let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../exercises/predict_offset"));
        let exercise = Exercise::read(folder).unwrap();
        reply(&exercise, &folder.join("given.ptx"), &Asked { question: question.to_owned(), predicted, explain })
    }

    #[test]
    fn an_answer_is_shown_once_it_is_known() {
        for predicted in [None, Some(4.0)] {
            let open = ask("shifted_1_hopper", predicted, false).unwrap();
            assert_eq!((&open["right"], &open["says"]), (&json!(false), &Value::Null));
            let picture = open["picture"].as_str().unwrap();
            assert!(picture.contains("ask for 128 bytes") && !picture.contains("5 sectors"), "{picture}");
        }
        let right = ask("shifted_1_hopper", Some(5.0), false).unwrap();
        assert_eq!(right["right"], json!(true));
        assert!(right["says"].as_str().unwrap().starts_with("Right: 5. Words 1 to 32"), "{right}");
        assert!(right["picture"].as_str().unwrap().contains("5 sectors"), "{right}");
        let told = ask("shifted_1_fermi", Some(1.0), true).unwrap();
        assert!(told["says"].as_str().unwrap().starts_with("The simulator counts 2. "), "{told}");
    }

    #[test]
    fn an_unknown_question_is_refused() {
        assert_eq!(ask("shifted_2", None, false).unwrap_err(), "there is no question 'shifted_2'");
    }
}

//! Reads the numbers that a student predicts.

use std::collections::HashMap;

use exercise::Exercise;

/// The predictions in a text: a number for each question, or none yet.
pub fn read_predictions(text: &str, exercise: &Exercise) -> Result<HashMap<String, Option<f64>>, String> {
    let names: Vec<&str> = exercise.goals.question.iter().map(|question| question.name.as_str()).collect();
    let table: toml::Table = text.parse().map_err(|error| misread(text, &names, &error))?;
    if let Some(name) = table.keys().find(|name| !names.contains(&name.as_str())) {
        return Err(format!("there is no question '{name}'; the questions are {}", names.join(", ")));
    }
    let prediction = |name: &str| match table.get(name) {
        Some(toml::Value::Integer(number)) => Ok(Some(*number as f64)),
        Some(toml::Value::Float(number)) if number.is_finite() => Ok(Some(*number)),
        Some(toml::Value::String(text)) => match text.trim() {
            "?" => Ok(None),
            // Also accept a number in quotes.
            text => match text.parse::<f64>() {
                Ok(number) if number.is_finite() => Ok(Some(number)),
                _ => Err(format!("{name} = \"{text}\": write a number in place of \"?\"")),
            },
        },
        Some(other) => Err(format!("{name} = {other}: write a number in place of \"?\"")),
        None => Err(format!("the line `{name} = ...` is missing")),
    };
    names.into_iter().map(|name| Ok((name.to_owned(), prediction(name)?))).collect()
}

/// Why a text is not TOML, and at which line: mostly a question has no number.
fn misread(text: &str, names: &[&str], error: &toml::de::Error) -> String {
    let before = error.span().map_or(0, |span| span.start.min(text.len()));
    let number = text.as_bytes()[..before].iter().filter(|&&byte| byte == b'\n').count();
    let line = text.lines().nth(number).unwrap_or_default();
    match line.split_once('=').map(|(name, value)| (name.trim(), value.trim())) {
        Some((name, "")) if names.contains(&name) => format!("line {}: write a number after `{name} =`", number + 1),
        Some((name, value)) if names.contains(&name) && value.parse::<f64>().is_err() => {
            let value: String = value.chars().take(40).collect();
            format!("line {}: {name} = {value}: write a number in place of \"?\"", number + 1)
        }
        _ => format!("line {}: {}", number + 1, error.message().lines().next().unwrap_or_default()),
    }
}

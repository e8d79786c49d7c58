//! Reads the numbers that a student predicts.

use std::collections::HashMap;

use exercise::Exercise;

/// The predictions in a text: a number for each question, or none yet.
pub fn read_predictions(text: &str, exercise: &Exercise) -> Result<HashMap<String, Option<f64>>, String> {
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| error.to_string().trim_end().to_owned())?;
    let names: Vec<&str> = exercise.goals.question.iter().map(|question| question.name.as_str()).collect();
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

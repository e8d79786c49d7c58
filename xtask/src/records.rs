//! Files of measurements: JSON with one record a line, so that files are short, and a diff shows
//! the records that changed.

use std::fs;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::program::{Error, file};

/// Reads a file of measurements.
pub fn read<T: DeserializeOwned>(path: &Path) -> Result<T, Error> {
    let text = fs::read_to_string(path).map_err(|problem| file(path, problem))?;
    serde_json::from_str(&text).map_err(|problem| file(path, problem))
}

/// Writes a file of measurements, which has records at this depth: whole, or not at all.
pub fn save(value: &impl Serialize, depth: usize, path: &Path) -> Result<(), Error> {
    let text = lines(value, depth).map_err(|problem| file(path, problem))?;
    Ok(cuda_builder::write_whole(path, &text)?)
}

/// A value as JSON. Objects and arrays are broken into lines down to this depth; what is in them is
/// one line.
fn lines(value: &impl Serialize, depth: usize) -> serde_json::Result<String> {
    let mut text = String::new();
    write(&mut text, &serde_json::to_value(value)?, depth, 0);
    text.push('\n');
    Ok(text)
}

fn write(text: &mut String, value: &Value, depth: usize, indent: usize) {
    let new_line = |text: &mut String, indent: usize| {
        text.push('\n');
        text.extend(std::iter::repeat_n(' ', indent));
    };
    let mut each = |bounds: [char; 2], entries: Vec<(Option<&String>, &Value)>| {
        text.push(bounds[0]);
        for (index, (key, value)) in entries.into_iter().enumerate() {
            if index > 0 {
                text.push(',');
            }
            new_line(text, indent + 1);
            if let Some(key) = key {
                text.push_str(&Value::from(key.as_str()).to_string());
                text.push_str(": ");
            }
            write(text, value, depth - 1, indent + 1);
        }
        new_line(text, indent);
        text.push(bounds[1]);
    };
    match value {
        Value::Object(entries) if depth > 0 && !entries.is_empty() => {
            each(['{', '}'], entries.iter().map(|(key, value)| (Some(key), value)).collect());
        }
        Value::Array(entries) if depth > 0 && !entries.is_empty() => {
            each(['[', ']'], entries.iter().map(|value| (None, value)).collect());
        }
        value => text.push_str(&value.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_lines_and_are_read_again() {
        let value = serde_json::json!({"runs": {"a \"b\"": [{"x": 1, "y": [1, 2]}, {}], "none": []}, "n": null});
        let text = lines(&value, 3).unwrap();
        assert_eq!(
            text,
            "{\n \"runs\": {\n  \"a \\\"b\\\"\": [\n   {\"x\":1,\"y\":[1,2]},\n   {}\n  ],\n  \"none\": []\n },\n \"n\": null\n}\n"
        );
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
        assert_eq!(lines(&value, 0).unwrap(), format!("{value}\n"));
    }

    #[test]
    fn a_file_is_replaced_not_overwritten() {
        use std::io::Read as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/records.json");
        save(&[1, 2], 1, &path).unwrap();
        let mut opened = fs::File::open(&path).unwrap();
        save(&[3], 1, &path).unwrap();
        let mut text = String::new();
        opened.read_to_string(&mut text).unwrap();
        assert_eq!((text.as_str(), read::<Vec<u8>>(&path).unwrap()), ("[\n 1,\n 2\n]\n", vec![3]));
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }
}

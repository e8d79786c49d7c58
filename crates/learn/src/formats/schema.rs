//! Rules of a JSON document, for the tests of the formats: names, types, allowed values, and which
//! names must be there. A name without a rule is an error, as is a number that is not finite.

use serde_json::Value;

/// The type of a value.
pub enum Kind {
    Number,
    /// From one number to another.
    From(f64, f64),
    Text,
    OneOf(&'static [&'static str]),
    Bool,
    /// A list of texts.
    Texts,
    /// A list of objects with these names.
    Objects(&'static [Rule]),
    /// An object that has numbers under any names.
    Numbers,
}

/// A name, its type, and whether it must be there.
pub struct Rule(pub &'static str, pub Kind, pub bool);

/// Checks an object. The error says where it breaks which rule.
pub fn check(value: &Value, rules: &[Rule]) -> Result<(), String> {
    let object = value.as_object().ok_or_else(|| format!("{value} is not an object"))?;
    for name in object.keys() {
        if !rules.iter().any(|rule| rule.0 == name) {
            return Err(format!("there is no name '{name}'"));
        }
    }
    for Rule(name, kind, required) in rules {
        match object.get(*name) {
            None if *required => return Err(format!("'{name}' is missing")),
            None => {}
            Some(value) => is_of(value, kind).map_err(|problem| format!("{name}: {problem}"))?,
        }
    }
    Ok(())
}

fn is_of(value: &Value, kind: &Kind) -> Result<(), String> {
    let number = |value: &Value| value.as_f64().is_some_and(f64::is_finite);
    let good = match kind {
        Kind::Number => number(value),
        Kind::From(least, most) => value.as_f64().is_some_and(|number| (*least..=*most).contains(&number)),
        Kind::Text => value.is_string(),
        Kind::OneOf(words) => value.as_str().is_some_and(|text| words.contains(&text)),
        Kind::Bool => value.is_boolean(),
        Kind::Texts => value.as_array().is_some_and(|list| list.iter().all(Value::is_string)),
        Kind::Numbers => value.as_object().is_some_and(|object| object.values().all(number)),
        Kind::Objects(rules) => {
            let list = value.as_array().ok_or_else(|| format!("{value} is not a list"))?;
            return list.iter().try_for_each(|one| check(one, rules));
        }
    };
    if good { Ok(()) } else { Err(format!("{value} is of another type")) }
}

#[test]
fn what_breaks_a_rule_is_found() {
    const RULES: &[Rule] = &[
        Rule("score", Kind::From(0.0, 1.0), true),
        Rule("tests", Kind::Objects(&[Rule("name", Kind::Text, true), Rule("is", Kind::OneOf(&["a"]), false)]), false),
    ];
    let checked = |text: &str| check(&serde_json::from_str(text).unwrap(), RULES);
    assert_eq!(checked(r#"{"score": 1, "tests": [{"name": "x", "is": "a"}]}"#), Ok(()));
    for (text, problem) in [
        ("[]", "[] is not an object"),
        ("{}", "'score' is missing"),
        (r#"{"score": 2}"#, "score: 2 is of another type"),
        (r#"{"score": 0, "more": 1}"#, "there is no name 'more'"),
        (r#"{"score": 0, "tests": 1}"#, "tests: 1 is not a list"),
        (r#"{"score": 0, "tests": [{}]}"#, "tests: 'name' is missing"),
        (r#"{"score": 0, "tests": [{"name": "x", "is": "b"}]}"#, "tests: is: \"b\" is of another type"),
    ] {
        assert_eq!(checked(text), Err(problem.to_owned()));
    }
}

//! Parses and evaluates the arithmetic of goals and exercises: `ceil(rows / 32)`, `1.2 * solution`,
//! `i * 7 % n`. Pure.
//!
//! Numbers are `f64`, which represents every size of an exercise exactly. Division is not rounded:
//! a number of blocks needs `ceil`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, de};

/// A parsed expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    text: String,
    node: Node,
}

#[derive(Clone, Debug, PartialEq)]
enum Node {
    Number(f64),
    Name(String),
    Negative(Box<Node>),
    Binary(char, Box<Node>, Box<Node>),
    Call(Function, Vec<Node>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Function {
    Ceil,
    Floor,
    Min,
    Max,
}

/// The deepest nesting of brackets and signs.
const DEEPEST: usize = 64;
/// The longest expression: operators of a chain are nested, too.
const LONGEST: usize = 1000;

impl Expression {
    /// The value, with the values of names from `value_of`.
    ///
    /// # Errors
    ///
    /// A sentence that names the unknown name.
    pub fn evaluate(&self, value_of: &dyn Fn(&str) -> Option<f64>) -> Result<f64, String> {
        self.node.evaluate(value_of).map_err(|name| format!("'{self}': unknown name '{name}'"))
    }

    /// The value as a whole number from 0 to `most`.
    ///
    /// # Errors
    ///
    /// A sentence that names the expression.
    pub fn whole(&self, value_of: &dyn Fn(&str) -> Option<f64>, most: u64) -> Result<u64, String> {
        let value = self.evaluate(value_of)?;
        if value.fract() == 0.0 && value >= 0.0 && value <= most as f64 {
            return Ok(value as u64);
        }
        Err(format!("'{self}' is {value}, and must be a whole number from 0 to {most}"))
    }

    /// Whether it uses a name that is wanted.
    pub fn uses(&self, wanted: &dyn Fn(&str) -> bool) -> bool {
        self.first(wanted).is_some()
    }

    /// The first name that is wanted.
    pub fn first(&self, wanted: &dyn Fn(&str) -> bool) -> Option<&str> {
        self.node.first(wanted)
    }

    /// The name, if the expression is only a name.
    pub fn as_name(&self) -> Option<&str> {
        match &self.node {
            Node::Name(name) => Some(name),
            _ => None,
        }
    }
}

impl Node {
    fn evaluate<'a>(&'a self, value_of: &dyn Fn(&str) -> Option<f64>) -> Result<f64, &'a str> {
        Ok(match self {
            Self::Number(number) => *number,
            Self::Name(name) => value_of(name).ok_or(name.as_str())?,
            Self::Negative(inner) => -inner.evaluate(value_of)?,
            Self::Binary(operator, left, right) => {
                let (left, right) = (left.evaluate(value_of)?, right.evaluate(value_of)?);
                match operator {
                    '+' => left + right,
                    '-' => left - right,
                    '*' => left * right,
                    '/' => left / right,
                    _ => left % right,
                }
            }
            Self::Call(function, arguments) => {
                let values = arguments.iter().map(|argument| argument.evaluate(value_of));
                let values = values.collect::<Result<Vec<f64>, _>>()?;
                match function {
                    Function::Ceil => values[0].ceil(),
                    Function::Floor => values[0].floor(),
                    Function::Min => values.into_iter().fold(f64::INFINITY, f64::min),
                    Function::Max => values.into_iter().fold(f64::NEG_INFINITY, f64::max),
                }
            }
        })
    }

    fn first(&self, wanted: &dyn Fn(&str) -> bool) -> Option<&str> {
        match self {
            Self::Number(_) => None,
            Self::Name(name) => Some(&**name).filter(|name| wanted(name)),
            Self::Negative(inner) => inner.first(wanted),
            Self::Binary(_, left, right) => left.first(wanted).or_else(|| right.first(wanted)),
            Self::Call(_, arguments) => arguments.iter().find_map(|argument| argument.first(wanted)),
        }
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for Expression {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.len() > LONGEST {
            return Err(format!("an expression has at most {LONGEST} bytes, and this one {}", text.len()));
        }
        let mut parser = Parser { rest: text, depth: 0 };
        let node = parser.sum().map_err(|problem| format!("'{text}': {problem}"))?;
        parser.skip_spaces();
        match parser.rest.is_empty() {
            true => Ok(Self { text: text.to_owned(), node }),
            false => Err(format!("'{text}': unexpected '{}'", parser.rest)),
        }
    }
}

/// From a string or a number.
impl<'de> Deserialize<'de> for Expression {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Expression;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, or an expression such as \"ceil(n / 256)\"")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Expression, E> {
                text.parse().map_err(E::custom)
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Expression, E> {
                number.to_string().parse().map_err(E::custom)
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Expression, E> {
                number.to_string().parse().map_err(E::custom)
            }

            fn visit_f64<E: de::Error>(self, number: f64) -> Result<Expression, E> {
                number.to_string().parse().map_err(E::custom)
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

struct Parser<'a> {
    rest: &'a str,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn skip_spaces(&mut self) {
        self.rest = self.rest.trim_start();
    }

    /// The next character that is not a space.
    fn peek(&mut self) -> Option<char> {
        self.skip_spaces();
        self.rest.chars().next()
    }

    fn take(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.rest = &self.rest[wanted.len_utf8()..];
        }
        found
    }

    fn run(&mut self, belongs: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|c| !belongs(c)).unwrap_or(self.rest.len());
        let (run, rest) = self.rest.split_at(end);
        self.rest = rest;
        run
    }

    fn sum(&mut self) -> Result<Node, String> {
        self.chain(&['+', '-'], Self::product)
    }

    fn product(&mut self) -> Result<Node, String> {
        self.chain(&['*', '/', '%'], Self::factor)
    }

    /// Parses operands joined by operators of one precedence, from left to right.
    fn chain(&mut self, operators: &[char], operand: fn(&mut Self) -> Result<Node, String>) -> Result<Node, String> {
        let mut left = operand(self)?;
        while let Some(operator) = self.peek().filter(|c| operators.contains(c)) {
            self.take(operator);
            left = Node::Binary(operator, Box::new(left), Box::new(operand(self)?));
        }
        Ok(left)
    }

    fn factor(&mut self) -> Result<Node, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err("too many brackets".to_owned());
        }
        let node = self.factor_within();
        self.depth -= 1;
        node
    }

    fn factor_within(&mut self) -> Result<Node, String> {
        if self.take('-') {
            return Ok(Node::Negative(Box::new(self.factor()?)));
        }
        if self.take('(') {
            let inner = self.sum()?;
            return if self.take(')') { Ok(inner) } else { Err("a ')' is missing".to_owned()) };
        }
        match self.peek() {
            Some(c) if c.is_ascii_digit() => {
                let digits = self.run(|c| c.is_ascii_digit() || c == '.' || c == '_').replace('_', "");
                digits.parse().map(Node::Number).map_err(|_| format!("'{digits}' is not a number"))
            }
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                let name = self.run(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
                if self.take('(') { self.call(name) } else { Ok(Node::Name(name.to_owned())) }
            }
            Some(c) => Err(format!("unexpected '{c}'")),
            None => Err("a number or a name is missing at the end".to_owned()),
        }
    }

    fn call(&mut self, name: &str) -> Result<Node, String> {
        let (function, most) = match name {
            "ceil" => (Function::Ceil, 1),
            "floor" => (Function::Floor, 1),
            "min" => (Function::Min, usize::MAX),
            "max" => (Function::Max, usize::MAX),
            _ => return Err(format!("unknown function '{name}': use ceil, floor, min or max")),
        };
        let mut arguments = vec![self.sum()?];
        while self.take(',') {
            arguments.push(self.sum()?);
        }
        if !self.take(')') {
            return Err("a ')' is missing".to_owned());
        }
        if arguments.len() > most {
            return Err(format!("{name} takes one number"));
        }
        Ok(Node::Call(function, arguments))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Result<f64, String> {
        let expression: Expression = text.parse()?;
        expression.evaluate(&|name| match name {
            "n" => Some(1000.0),
            "input.pitch" => Some(128.0),
            _ => None,
        })
    }

    #[test]
    fn a_chain_is_as_long_as_the_stack_can_follow() {
        assert_eq!(value(&format!("{}1", "1+".repeat(499))), Ok(500.0));
        let long = value(&format!("{}1", "1+".repeat(60_000))).unwrap_err();
        assert!(long.contains("at most 1000 bytes"), "{long}");
    }

    #[test]
    fn arithmetic_has_its_usual_order() {
        for (text, expected) in [
            ("1 + 2 * 3", 7.0),
            ("(1 + 2) * 3", 9.0),
            ("10 - 4 - 3", 3.0),
            ("7 % 4 * 2", 6.0),
            ("ceil(n / 256)", 4.0),
            ("floor(n / 256)", 3.0),
            ("min(n, 5, 7) + max(1, 2)", 7.0),
            ("-3 + - -4", 1.0),
            ("1_000 * 1.5", 1500.0),
            ("input.pitch * 2", 256.0),
        ] {
            assert_eq!(value(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, expected) in [
            ("", "'': a number or a name is missing at the end"),
            ("1 +", "'1 +': a number or a name is missing at the end"),
            ("(1", "'(1': a ')' is missing"),
            ("1 2", "'1 2': unexpected '2'"),
            ("1.2.3", "'1.2.3': '1.2.3' is not a number"),
            ("sqrt(2)", "'sqrt(2)': unknown function 'sqrt': use ceil, floor, min or max"),
            ("ceil(1, 2)", "'ceil(1, 2)': ceil takes one number"),
            ("m + 1", "'m + 1': unknown name 'm'"),
            ("n & 1", "'n & 1': unexpected '& 1'"),
        ] {
            assert_eq!(value(text), Err(expected.to_owned()), "{text}");
        }
        assert!(value(&"(".repeat(100_000)).is_err());
        assert!(value(&"-".repeat(100_000)).is_err());
    }

    #[test]
    fn whole_numbers_are_asked_for() {
        let whole = |text: &str| text.parse::<Expression>().unwrap().whole(&|_| None, 10);
        assert_eq!(whole("20 / 2"), Ok(10));
        for text in ["1 / 2", "-1", "11", "0 / 0", "1 / 0"] {
            assert!(whole(text).unwrap_err().contains("must be a whole number from 0 to 10"), "{text}");
        }
    }
}

//! What `--print`, `--save` and `arg:` refer to: an argument of a launch, or a variable of the
//! module. `argument` and `flags` parse it. Plain data.

use std::fmt;
use std::str::FromStr;

/// An argument of a launch; both count from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ArgumentId {
    /// The launch's number.
    pub launch: usize,
    /// The argument's number in it.
    pub argument: usize,
}

impl FromStr for ArgumentId {
    type Err = ();

    /// `2`, of the first launch, or `1.2`.
    fn from_str(text: &str) -> Result<Self, ()> {
        let number = |text: &str| match text.bytes().all(|digit| digit.is_ascii_digit()) {
            true => text.parse().map_err(drop),
            false => Err(()),
        };
        match text.split_once('.') {
            None => Ok(Self { launch: 0, argument: number(text)? }),
            Some((launch, argument)) => Ok(Self { launch: number(launch)?, argument: number(argument)? }),
        }
    }
}

/// Parses the part after `arg:`: an argument, with or without bytes from the start of its buffer.
///
/// # Errors
///
/// A message that says what is accepted.
pub fn reference(text: &str) -> Result<(ArgumentId, u64), String> {
    let (id, offset) = text.split_once('+').unwrap_or((text, "0"));
    let digits = offset.bytes().all(|digit| digit.is_ascii_digit());
    match (id.parse(), offset.parse()) {
        (Ok(id), Ok(offset)) if digits => Ok((id, offset)),
        _ => Err(format!(
            "'{text}' does not name an argument; give its number, as in arg:1, or arg:1.0 for argument 0 of launch 1 (all count from \
             0), with or without +BYTES"
        )),
    }
}

impl fmt::Display for ArgumentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.launch {
            0 => write!(f, "{}", self.argument),
            launch => write!(f, "{launch}.{}", self.argument),
        }
    }
}

/// What to print or save.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Named {
    /// The buffer of an argument.
    Argument(ArgumentId),
    /// A variable of the module, by its name, with or without `:TYPE` after it.
    Variable(String),
}

impl FromStr for Named {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // No name of PTX, C++ or Rust begins with a digit.
        if !text.is_empty() && !text.starts_with(|c: char| c.is_ascii_digit() || "-+.".contains(c)) {
            return Ok(Self::Variable(text.to_owned()));
        }
        text.parse().map(Self::Argument).map_err(|()| {
            "give the number of an argument (2; 1.2 of launch 1; all count from 0) or the name of a variable".to_owned()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_have_numbers_and_variables_names() {
        let id = |launch, argument| Ok(Named::Argument(ArgumentId { launch, argument }));
        assert_eq!("2".parse(), id(0, 2));
        assert_eq!("1.20".parse(), id(1, 20));
        for text in ["coefficients", "ns::table:f32", "_Z1x", "$str"] {
            assert_eq!(text.parse(), Ok(Named::Variable(text.to_owned())));
        }
        for text in ["", "-1", "1.", ".1", "1.2.3", "2x", "99999999999999999999", "1.+2"] {
            assert!(text.parse::<Named>().unwrap_err().contains("(2; 1.2 of launch 1"), "{text}");
        }
        assert_eq!(ArgumentId { launch: 0, argument: 3 }.to_string(), "3");
        assert_eq!(ArgumentId { launch: 2, argument: 3 }.to_string(), "2.3");
    }
}

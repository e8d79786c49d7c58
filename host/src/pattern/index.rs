//! An index that somebody typed, `tile[x*33 + y]`: its parser, and its value for a thread. The
//! parser makes a list of operations for a stack, so that neither evaluation nor release recurses.
//! Pure.

/// The thread whose index is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Thread {
    /// Its position in the block.
    pub x: i64,
    /// Likewise.
    pub y: i64,
    /// Likewise.
    pub z: i64,
    /// Its lane.
    pub lane: i64,
    /// The number of its warp in the block.
    pub warp: i64,
    /// The number of its block.
    pub block: i64,
    /// Its number in the grid.
    pub i: i64,
}

/// The names that an index may have.
const NAMES: [&str; 7] = ["x", "y", "z", "lane", "warp", "block", "i"];

/// Operators of two operands, by precedence, the weakest first, as in Rust.
const LEVELS: [&[(&str, Op)]; 6] = [
    &[("|", Op::Or)],
    &[("^", Op::Xor)],
    &[("&", Op::And)],
    &[("<<", Op::Left), (">>", Op::Right)],
    &[("+", Op::Add), ("-", Op::Subtract)],
    &[("*", Op::Multiply), ("/", Op::Divide), ("%", Op::Remainder)],
];

/// Deeper brackets and signs are an error.
const DEEPEST: u32 = 64;
/// Longer indices are an error.
const LONGEST: usize = 1000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Op {
    Number(i64),
    /// A name, by its place in [`NAMES`].
    Name(usize),
    Negate,
    Or,
    Xor,
    And,
    Left,
    Right,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

/// An index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Index {
    /// The array's name.
    pub array: String,
    /// The operations, each with the column it stands at.
    code: Vec<(Op, usize)>,
    /// The last number in it: its first column, from 0, and its characters. A slider moves it.
    pub last_number: Option<(usize, usize)>,
}

/// What is wrong with an index, and in which column, from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// The column.
    pub column: usize,
    /// What is wrong there, and what belongs there.
    pub says: String,
}

impl std::fmt::Display for Wrong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "column {}: {}", self.column, self.says)
    }
}

impl Index {
    /// Reads an index, with or without the array's name: `tile[x*33 + y]`, `x*33 + y`.
    ///
    /// # Errors
    ///
    /// What is wrong, and where.
    pub fn parse(text: &str) -> Result<Self, Wrong> {
        let chars: Vec<char> = text.chars().collect();
        if chars.len() > LONGEST {
            return Err(Wrong { column: LONGEST + 1, says: format!("an index has at most {LONGEST} characters") });
        }
        let mut parser = Parser { chars, at: 0, depth: 0, code: Vec::new(), last_number: None };
        let array = parser.array();
        parser.level(0)?;
        parser.space();
        if array.is_some() && !parser.skip("]") {
            return Err(parser.wrong("the index's ] is missing here"));
        }
        parser.space();
        if parser.at < parser.chars.len() {
            return Err(parser.wrong("nothing belongs after the index"));
        }
        let Parser { code, last_number, .. } = parser;
        Ok(Self { array: array.unwrap_or_else(|| "a".into()), code, last_number })
    }

    /// The index of a thread.
    ///
    /// # Errors
    ///
    /// What cannot be computed: a division by zero, a number of more than 64 bits.
    pub fn of(&self, thread: Thread) -> Result<i64, Wrong> {
        let Thread { x, y, z, lane, warp, block, i } = thread;
        let names = [x, y, z, lane, warp, block, i];
        let mut stack: Vec<i64> = Vec::new();
        for &(op, at) in &self.code {
            let value = match op {
                Op::Number(number) => Some(number),
                Op::Name(name) => Some(names[name]),
                Op::Negate => stack.pop().and_then(i64::checked_neg),
                _ => {
                    let (right, left) = (stack.pop().unwrap_or(0), stack.pop().unwrap_or(0));
                    operate(op, left, right)
                }
            };
            let Some(value) = value else {
                let says = match op {
                    Op::Divide | Op::Remainder => format!("lane {lane} divides by zero"),
                    Op::Left | Op::Right => format!("lane {lane} shifts by a number that is not from 0 to 63"),
                    _ => format!("lane {lane}'s number has more than 64 bits"),
                };
                return Err(Wrong { column: at + 1, says });
            };
            stack.push(value);
        }
        Ok(stack.pop().unwrap_or(0))
    }
}

fn operate(op: Op, left: i64, right: i64) -> Option<i64> {
    let bits = || u32::try_from(right).ok().filter(|bits| *bits < 64);
    match op {
        Op::Or => Some(left | right),
        Op::Xor => Some(left ^ right),
        Op::And => Some(left & right),
        Op::Left => {
            let shifted = left.checked_shl(bits()?)?;
            // No bit may be lost.
            (shifted >> bits()? == left).then_some(shifted)
        }
        Op::Right => left.checked_shr(bits()?),
        Op::Add => left.checked_add(right),
        Op::Subtract => left.checked_sub(right),
        Op::Multiply => left.checked_mul(right),
        Op::Divide => left.checked_div(right),
        Op::Remainder => left.checked_rem(right),
        Op::Number(_) | Op::Name(_) | Op::Negate => None,
    }
}

struct Parser {
    chars: Vec<char>,
    at: usize,
    depth: u32,
    code: Vec<(Op, usize)>,
    last_number: Option<(usize, usize)>,
}

impl Parser {
    fn wrong(&self, says: impl Into<String>) -> Wrong {
        Wrong { column: self.at + 1, says: says.into() }
    }

    fn space(&mut self) {
        while self.chars.get(self.at).is_some_and(|c| c.is_whitespace()) {
            self.at += 1;
        }
    }

    /// Skips this text, if it stands here.
    fn skip(&mut self, text: &str) -> bool {
        let here = text.chars().enumerate().all(|(index, c)| self.chars.get(self.at + index) == Some(&c));
        self.at += if here { text.chars().count() } else { 0 };
        here
    }

    /// The word that stands here; empty if none does.
    fn word(&self) -> String {
        let is_part = |c: &&char| c.is_ascii_alphanumeric() || **c == '_';
        self.chars[self.at.min(self.chars.len())..].iter().take_while(is_part).collect()
    }

    /// The array's name and its bracket, if the text begins with them.
    fn array(&mut self) -> Option<String> {
        let begin = self.at;
        self.space();
        let word = self.word();
        if word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            self.at += word.len();
            self.space();
            if self.skip("[") {
                return Some(word);
            }
        }
        self.at = begin;
        None
    }

    /// Operators of this level and of stronger ones.
    fn level(&mut self, level: usize) -> Result<(), Wrong> {
        let Some(operators) = LEVELS.get(level) else { return self.operand() };
        self.level(level + 1)?;
        loop {
            self.space();
            let at = self.at;
            let Some(op) = operators.iter().find(|(sign, _)| self.skip(sign)).map(|(_, op)| *op) else {
                return Ok(());
            };
            self.level(level + 1)?;
            self.code.push((op, at));
        }
    }

    /// A number, a name, something in brackets, or one of these with a sign.
    fn operand(&mut self) -> Result<(), Wrong> {
        self.space();
        let at = self.at;
        if self.depth >= DEEPEST {
            return Err(self.wrong(format!("at most {DEEPEST} brackets and signs may be within each other")));
        }
        self.depth += 1;
        let read = if self.skip("(") {
            self.level(0)?;
            self.space();
            if self.skip(")") { Ok(()) } else { Err(self.wrong("a closing bracket is missing here")) }
        } else if self.skip("-") {
            self.operand()?;
            self.code.push((Op::Negate, at));
            Ok(())
        } else {
            self.leaf()
        };
        self.depth -= 1;
        read
    }

    fn leaf(&mut self) -> Result<(), Wrong> {
        let word = self.word();
        let op = match word.chars().next() {
            Some('0'..='9') => {
                let digits = word.to_ascii_lowercase();
                let number = match digits.strip_prefix("0x") {
                    Some(digits) => i64::from_str_radix(digits, 16),
                    None => digits.parse(),
                };
                self.last_number = Some((self.at, word.len()));
                Op::Number(number.map_err(|_| self.wrong(format!("'{word}' is no whole number of 64 bits")))?)
            }
            Some(_) => {
                let name = NAMES.iter().position(|name| *name == word);
                let unknown = || self.wrong(format!("'{word}' is not known; known are {}", NAMES.join(", ")));
                Op::Name(name.ok_or_else(unknown)?)
            }
            None => {
                let rest = &self.chars[self.at.min(self.chars.len())..];
                return Err(match rest.first() {
                    None => self.wrong("the index ends too early"),
                    Some(_) => self.wrong("a number, a name or a bracket belongs here"),
                });
            }
        };
        self.code.push((op, self.at));
        self.at += word.len();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Result<i64, String> {
        let thread = Thread { x: 3, y: 5, z: 0, lane: 7, warp: 2, block: 1, i: 100 };
        Index::parse(text).and_then(|index| index.of(thread)).map_err(|wrong| wrong.to_string())
    }

    #[test]
    fn an_index_is_what_rust_makes_of_it() {
        for (text, expected) in [
            ("x*33 + y", 3 * 33 + 5),
            ("tile[x*33 + y]", 104),
            (" tile [ x * 33+y ] ", 104),
            ("i", 100),
            ("lane ^ 5 & 4 | 8", 7 ^ 5 & 4 | 8),
            ("1 << 2 + 3", 1 << (2 + 3)),
            ("-(x - y) % 2", 0),
            ("-7 / 2", -3),
            ("- -lane", 7),
            ("block*256 + warp*32 + lane", 256 + 64 + 7),
            ("0x1F & i", 0x1f & 100),
            ("2*(3 + (4))", 14),
            ("10 - 3 - 2", 5),
        ] {
            assert_eq!(value(text), Ok(expected), "{text}");
        }
        assert_eq!(Index::parse("tile[x*33 + y]").unwrap().last_number, Some((7, 2)));
        assert_eq!(Index::parse("x").unwrap().array, "a");
    }

    #[test]
    fn what_is_wrong_is_said_with_its_column() {
        for (text, says) in [
            ("", "column 1: the index ends too early"),
            ("x*", "column 3: the index ends too early"),
            ("x**2", "column 3: a number, a name or a bracket belongs here"),
            ("tile[x", "column 7: the index's ] is missing here"),
            ("tile[x]]", "column 8: nothing belongs after the index"),
            ("tile[tid]", "column 6: 'tid' is not known; known are x, y, z, lane, warp, block, i"),
            ("(x + 1", "column 7: a closing bracket is missing here"),
            ("x 1", "column 3: nothing belongs after the index"),
            ("1x", "column 1: '1x' is no whole number of 64 bits"),
            ("99999999999999999999", "column 1: '99999999999999999999' is no whole number of 64 bits"),
            ("1 / (x - 3)", "column 3: lane 7 divides by zero"),
            ("1 << 64", "column 3: lane 7 shifts by a number that is not from 0 to 63"),
            ("0x7fffffffffffffff + 1", "column 20: lane 7's number has more than 64 bits"),
            ("x < 3", "column 3: nothing belongs after the index"),
            ("é", "column 1: a number, a name or a bracket belongs here"),
            ("[x]", "column 1: a number, a name or a bracket belongs here"),
        ] {
            assert_eq!(value(text), Err(says.to_owned()), "{text}");
        }
    }

    #[test]
    fn no_text_makes_it_panic_or_recurse_without_end() {
        let deep = format!("{}x{}", "(".repeat(400), ")".repeat(400));
        assert!(value(&deep).unwrap_err().contains("at most 64 brackets"));
        assert!(value(&"-".repeat(999)).unwrap_err().contains("at most 64 brackets"));
        assert!(value(&"x+".repeat(600)).unwrap_err().contains("at most 1000 characters"));
        assert_eq!(value(&format!("x{}", "+1".repeat(499))), Ok(3 + 499));
        // Every text of up to four of these, and the values at the ends of 64 bits.
        let parts = ["x", "[", "]", "(", ")", "-", "<<", "/", "%", "9223372036854775807", "0", " ", "a[", "^", "é"];
        let mut texts = vec![String::new()];
        for _ in 0..4 {
            let longer = texts.iter().flat_map(|text| parts.iter().map(move |part| format!("{text}{part}")));
            texts = longer.collect();
            texts.iter().for_each(|text| drop(value(text)));
        }
        assert!(value("(-9223372036854775807 - 1) / (0 - 1)").is_err());
        assert!(value("(-9223372036854775807 - 1) % (0 - 1)").is_err());
    }
}

//! The contract of a PTX kernel, a TOML file: its sizes, arguments and launches. Parsed and
//! checked; nothing runs.
//!
//! ```toml
//! [sizes]
//! n = { max = 4096 }
//!
//! [[argument]]
//! name = "x"
//! type = "f32"
//! length = "n"
//!
//! [[argument]]
//! name = "y"
//! type = "f32"
//! length = "n"
//! role = "out"
//!
//! [[argument]]
//! name = "n"
//! type = "u32"
//! value = "n"
//!
//! [[launch]]
//! kernel = "scale"
//! grid = ["ceil(n / 256)"]
//! block = [256]
//! ```
//!
//! `[[candidate]]` has the candidate's launches, where they are others.

use std::collections::BTreeMap;

use goals::expression::Expression;
use serde::Deserialize;

use super::element::Element;

/// The longest buffer, in elements.
const MOST_ELEMENTS: u64 = 1 << 26;

/// What a file says.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contract {
    /// The sizes that are drawn.
    pub sizes: BTreeMap<String, Range>,
    #[serde(rename = "argument")]
    pub arguments: Vec<Argument>,
    launch: Vec<Launch>,
    #[serde(default)]
    candidate: Vec<Launch>,
    /// How far floats may differ, relatively; by their type, if it says nothing.
    pub tolerance: Option<f64>,
}

/// From which numbers a size is drawn.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Range {
    #[serde(default)]
    pub min: u64,
    #[serde(default = "usual_most")]
    pub max: u64,
    #[serde(default = "one")]
    pub multiple: u64,
}

const fn usual_most() -> u64 {
    5000
}

const fn one() -> u64 {
    1
}

/// An argument of the kernels.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Argument {
    pub name: String,
    #[serde(rename = "type")]
    ty: String,
    /// A number's value, if it is not drawn.
    pub value: Option<Expression>,
    /// A buffer's length.
    pub length: Option<Expression>,
    #[serde(default)]
    pub role: Role,
    /// Drawn numbers are whole, from 0 and below this.
    pub below: Option<Expression>,
    /// Drawn floats are from -scale to scale.
    pub scale: Option<f64>,
    #[serde(skip)]
    element: Option<Element>,
}

/// What a buffer is for.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// It is read, and must not change.
    #[default]
    In,
    /// It is written, and holds nothing before.
    Out,
    /// It is read and written.
    Inout,
    /// Room that kernels may use; it is not compared.
    Scratch,
}

/// A launch.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Launch {
    pub kernel: String,
    pub grid: Vec<Expression>,
    pub block: Vec<Expression>,
    /// Bytes of dynamic shared memory.
    pub shared: Option<Expression>,
    /// The names of its arguments; if it says nothing, all but scratch, in order.
    arguments: Option<Vec<String>>,
}

/// A launch at certain sizes.
#[derive(Clone, Debug)]
pub struct Shape {
    pub kernel: String,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub shared: u32,
    /// Indices of arguments.
    pub arguments: Vec<usize>,
}

/// Values of the sizes.
pub type Sizes = BTreeMap<String, u64>;

/// Which of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Reference,
    Candidate,
}

impl Range {
    /// Checks that there are such numbers.
    pub fn check(&self, name: &str) -> Result<(), String> {
        let Self { min, max, multiple } = *self;
        let first = if multiple == 0 { None } else { min.checked_next_multiple_of(multiple) };
        match first.is_some_and(|first| first <= max) && max <= u64::from(u32::MAX) {
            true => Ok(()),
            false => {
                Err(format!("size '{name}': no multiple of {multiple} is from {min} to {max}, or it has no 32 bits"))
            }
        }
    }
}

impl Contract {
    /// Parses and checks the text of a file.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut contract: Self = toml::from_str(text).map_err(|error| {
            let line = error.span().map_or(1, |span| 1 + text[..span.start.min(text.len())].matches('\n').count());
            format!("line {line}: {}", error.message())
        })?;
        if contract.sizes.is_empty() {
            return Err("[sizes] names no size, as in n = { max = 4096 }".to_owned());
        }
        for (name, range) in &contract.sizes {
            range.check(name)?;
        }
        for argument in &mut contract.arguments {
            argument.check()?;
        }
        let mut names: Vec<&str> = contract.arguments.iter().map(|argument| &*argument.name).collect();
        names.sort_unstable();
        if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(format!("argument '{}' is there twice", twice[0]));
        }
        if !contract.arguments.iter().any(|argument| matches!(argument.role, Role::Out | Role::Inout)) {
            return Err("no argument has role = \"out\" or \"inout\": nothing would be compared".to_owned());
        }
        if contract.tolerance.is_some_and(|tolerance| !(0.0..1.0).contains(&tolerance)) {
            return Err("tolerance: give a number from 0 to 1".to_owned());
        }
        if contract.launch.is_empty() {
            return Err("there is no [[launch]]".to_owned());
        }
        // Unknown names show at any size.
        let smallest = contract.sizes.iter().map(|(name, range)| (name.clone(), range.max)).collect();
        for side in [Side::Reference, Side::Candidate] {
            contract.shapes(side, &smallest)?;
        }
        contract.arguments.iter().try_for_each(|argument| argument.length(&smallest).map(|_| ()))?;
        Ok(contract)
    }

    /// The launches of a side at these sizes. A launch of no blocks is left out.
    pub fn shapes(&self, side: Side, sizes: &Sizes) -> Result<Vec<Shape>, String> {
        let shapes =
            self.launches(side).iter().map(|launch| self.shape(launch, sizes)).collect::<Result<Vec<_>, _>>()?;
        Ok(shapes.into_iter().filter(|shape| !shape.grid.contains(&0)).collect())
    }

    /// The kernels that a side launches.
    pub fn kernels(&self, side: Side) -> Vec<&str> {
        self.launches(side).iter().map(|launch| &*launch.kernel).collect()
    }

    fn launches(&self, side: Side) -> &[Launch] {
        match side {
            Side::Candidate if !self.candidate.is_empty() => &self.candidate,
            _ => &self.launch,
        }
    }

    fn shape(&self, launch: &Launch, sizes: &Sizes) -> Result<Shape, String> {
        let extents = |what: &str, texts: &[Expression]| {
            if texts.is_empty() || texts.len() > 3 {
                return Err(format!("launch of {}: {what} has 1 to 3 numbers", launch.kernel));
            }
            let mut all = [1; 3];
            for (extent, text) in all.iter_mut().zip(texts) {
                *extent = whole(text, sizes, u32::MAX.into()).map_err(|why| format!("{what}: {why}"))? as u32;
            }
            Ok(all)
        };
        let arguments = match &launch.arguments {
            None => (0..self.arguments.len()).filter(|&at| self.arguments[at].role != Role::Scratch).collect(),
            Some(names) => {
                let at = |name: &String| {
                    let known = self.arguments.iter().position(|argument| argument.name == *name);
                    known.ok_or_else(|| format!("launch of {}: there is no argument '{name}'", launch.kernel))
                };
                names.iter().map(at).collect::<Result<_, _>>()?
            }
        };
        let shared = launch.shared.as_ref().map_or(Ok(0), |text| whole(text, sizes, 1 << 20));
        Ok(Shape {
            kernel: launch.kernel.clone(),
            grid: extents("grid", &launch.grid)?,
            block: extents("block", &launch.block)?,
            shared: shared.map_err(|why| format!("shared: {why}"))? as u32,
            arguments,
        })
    }
}

impl Argument {
    fn check(&mut self) -> Result<(), String> {
        let Self { name, ty, .. } = &*self;
        let element = Element::named(ty).ok_or_else(|| {
            format!("argument '{name}': there is no type '{ty}'; there are {}", Element::NAMES.join(", "))
        })?;
        let wrong = match self {
            Self { value: Some(_), length: Some(_), .. } => Some("give a value or a length, not both"),
            Self { length: None, role: Role::Out | Role::Inout | Role::Scratch, .. } => {
                Some("a number is an input: give a length, or leave the role out")
            }
            Self { below: Some(_), .. } if element.is_float() => Some("below is for whole numbers; floats have scale"),
            Self { scale: Some(_), .. } if !element.is_float() => Some("scale is for floats; whole numbers have below"),
            Self { scale: Some(scale), .. } if !scale.is_finite() => Some("scale: give a number"),
            _ => None,
        };
        self.element = Some(element);
        wrong.map_or(Ok(()), |wrong| Err(format!("argument '{}': {wrong}", self.name)))
    }

    /// The type of its elements.
    pub fn element(&self) -> Element {
        self.element.unwrap_or(Element::Whole(1))
    }

    /// How many elements a buffer has; `None` for a number.
    pub fn length(&self, sizes: &Sizes) -> Result<Option<usize>, String> {
        let length = self.length.as_ref().map(|text| whole(text, sizes, MOST_ELEMENTS));
        let length = length.transpose().map_err(|why| format!("argument '{}': length: {why}", self.name))?;
        Ok(length.map(|length| length as usize))
    }
}

/// The value of an expression over the sizes.
pub fn whole(text: &Expression, sizes: &Sizes, most: u64) -> Result<u64, String> {
    text.whole(&|name| sizes.get(name).map(|&size| size as f64), most)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "
[sizes]
n = { min = 1, max = 100 }
[[argument]]
name = 'x'
type = 'f32'
length = 'n'
[[argument]]
name = 'y'
type = 'f32'
length = '2 * n'
role = 'out'
[[launch]]
kernel = 'k'
grid = ['ceil(n / 32)']
block = [32]
";

    #[test]
    fn launches_depend_on_sizes() {
        let contract = Contract::parse(TEXT).unwrap();
        let sizes = Sizes::from([("n".to_owned(), 33)]);
        let shapes = contract.shapes(Side::Candidate, &sizes).unwrap();
        assert_eq!((shapes[0].grid, shapes[0].block, &shapes[0].arguments), ([2, 1, 1], [32, 1, 1], &vec![0, 1]));
        assert_eq!(contract.arguments[1].length(&sizes), Ok(Some(66)));
        let empty = contract.shapes(Side::Reference, &Sizes::from([("n".to_owned(), 0)])).unwrap();
        assert!(empty.is_empty());
    }

    #[test]
    fn what_is_wrong_is_a_line() {
        for (from, to, said) in [
            ("min = 1", "min = 200", "size 'n': no multiple of 1 is from 200 to 100"),
            ("'f32'", "'float99'", "argument 'x': there is no type 'float99'; there are u8, "),
            ("role = 'out'", "role = 'in'", "no argument has role"),
            ("ceil(n / 32)", "ceil(m / 32)", "grid: 'ceil(m / 32)': unknown name 'm'"),
            ("name = 'y'", "name = 'x'", "argument 'x' is there twice"),
            ("block = [32]", "block = [32]\nspeed = 1", "line 17: unknown field `speed`"),
            ("length = '2 * n'\n", "", "argument 'y': a number is an input"),
        ] {
            let problem = Contract::parse(&TEXT.replacen(from, to, 1)).unwrap_err();
            assert!(problem.starts_with(said), "{problem}");
        }
    }
}

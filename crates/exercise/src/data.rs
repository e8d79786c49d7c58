//! Draws the sizes and values of a run from a seed, so that a run can be repeated. Also says where
//! an element is, in words. `run` fills buffers with it, verdicts use its words. Pure.

use std::time::{SystemTime, UNIX_EPOCH};

use common::random::Random;
use indexmap::IndexMap;

use crate::goals_file::{Data, Element, Goals, Size, Values};
use goals::expression::Expression;

/// The sizes of a run, by name.
pub type Sizes = IndexMap<String, u64>;

/// The contents of a run's buffers, by name, without padding between rows.
pub type Buffers = IndexMap<String, Vec<u8>>;

/// The maximum number of elements of a buffer.
const MOST_ELEMENTS: u64 = 1 << 26;

/// How many random sizes a run tries besides the fixed ones.
const DRAWN: usize = 3;

/// A random seed.
pub fn some_seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    // Six digits are short enough to type.
    Random::new(now.as_nanos() as u64).next_u64() % 1_000_000
}

/// The sizes at which the results are checked: the fixed ones, then random ones that a kernel
/// cannot anticipate.
pub fn tried(goals: &Goals, random: &mut Random) -> Vec<Sizes> {
    let fixed = goals.sizes.values().map(|size| size.always.len()).max().unwrap_or(0);
    let mut all: Vec<Sizes> = (0..fixed)
        .map(|index| {
            let of = |size: &Size| match size.always.get(index).or(size.always.last()) {
                Some(&fixed) => fixed,
                None => size.from.next_multiple_of(size.multiple_of),
            };
            goals.sizes.iter().map(|(name, size)| (name.clone(), of(size))).collect()
        })
        .collect();
    if goals.sizes.values().any(|size| size.from < size.to) || fixed == 0 {
        all.extend(
            (0..DRAWN)
                .map(|_| goals.sizes.iter().map(|(name, size)| (name.clone(), draw(size, random))).collect::<Sizes>()),
        );
    }
    all
}

/// More elements than an index of 16 bits can tell apart.
const LARGE: usize = (1 << 16) + 1;

/// The sizes of the largest run, whose indices need more than 16 bits. `None` if the exercise has
/// no such run, or none beyond those that are measured or predicted.
pub fn large(goals: &Goals, random: &mut Random) -> Option<Sizes> {
    let others = |name: &String, size: &Size| (name.clone(), size.from.next_multiple_of(size.multiple_of));
    match &goals.large {
        Some(large) if large.is_empty() => None,
        Some(large) => {
            let of = |(name, size): (&String, &Size)| (name.clone(), draw(large.get(name).unwrap_or(size), random));
            Some(goals.sizes.iter().map(of).collect())
        }
        None => {
            let of = |(name, size): (&String, &Size)| others(name, goals.measured.get(name).unwrap_or(size));
            let measured: Sizes = goals.sizes.iter().map(of).collect();
            let mut all = goals.sizes.iter();
            let ((name, size), None) = (all.next()?, all.next()) else { return None };
            if is_large(goals, &measured) || !goals.predicted.is_empty() {
                return None;
            }
            // The first power of two that is enough, and then the smallest.
            let sizes_of = |count: u64| -> Sizes { [(name.clone(), count * size.multiple_of)].into_iter().collect() };
            let is_enough = |count: u64| is_large(goals, &sizes_of(count));
            let mut high = (0..=17).map(|bits| 1 << bits).find(|&count| is_enough(count))?;
            let mut low = high / 2;
            while high - low > 1 {
                let middle = low + (high - low) / 2;
                *if is_enough(middle) { &mut high } else { &mut low } = middle;
            }
            Some(sizes_of(high + random.next_u64() % (high / 16 + 1)))
        }
    }
}

/// Whether data of these sizes has more elements than an index of 16 bits can tell apart.
pub fn is_large(goals: &Goals, sizes: &Sizes) -> bool {
    goals.data.values().any(|data| shape(data, sizes).is_ok_and(|[rows, columns]| rows * columns >= LARGE))
}

/// The sizes at which goals are counted.
pub fn measured(goals: &Goals, random: &mut Random) -> Sizes {
    let of = |(name, size): (&String, &Size)| (name.clone(), draw(goals.measured.get(name).unwrap_or(size), random));
    goals.sizes.iter().map(of).collect()
}

/// The sizes at which a GPU is timed, or those at which times are predicted: `others`, where goals
/// are counted at `measured`.
pub fn instead(others: &IndexMap<String, Size>, measured: &Sizes, random: &mut Random) -> Sizes {
    let of = |(name, &size): (&String, &u64)| (name.clone(), others.get(name).map_or(size, |size| draw(size, random)));
    measured.iter().map(of).collect()
}

fn draw(size: &Size, random: &mut Random) -> u64 {
    let first = size.from.div_ceil(size.multiple_of);
    let last = size.to / size.multiple_of;
    (first + random.next_u64() % (last - first + 1)) * size.multiple_of
}

/// The value of a size, for expressions.
pub fn lookup(sizes: &Sizes) -> impl Fn(&str) -> Option<f64> {
    |name| sizes.get(name).map(|&size| size as f64)
}

/// The rows and columns of data. A buffer with a length has one row.
///
/// # Errors
///
/// A sentence that names the expression.
pub fn shape(data: &Data, sizes: &Sizes) -> Result<[usize; 2], String> {
    let of = |expression: &Option<Expression>| match expression {
        Some(expression) => expression.whole(&lookup(sizes), MOST_ELEMENTS),
        None => Ok(1),
    };
    let columns = if data.length.is_some() { &data.length } else { &data.columns };
    let (rows, columns) = (of(&data.rows)?, of(columns)?);
    if rows.saturating_mul(columns) > MOST_ELEMENTS || rows * columns == 0 {
        return Err(format!("{rows} x {columns} elements: there must be from 1 to {MOST_ELEMENTS}"));
    }
    Ok([rows as usize, columns as usize])
}

/// The initial bytes of a buffer of `count` elements.
///
/// # Errors
///
/// A sentence that names the expression.
pub fn values(data: &Data, count: usize, sizes: &Sizes, random: &mut Random) -> Result<Vec<u8>, String> {
    let element = data.element;
    let mut bytes = Vec::with_capacity(count * element.bytes());
    match data.values.as_ref().unwrap_or(&Values::Random) {
        Values::Random => match element {
            Element::F32 => bytes.extend_from_slice(bytemuck::cast_slice(&random.vector(count))),
            Element::F64 => (0..count).for_each(|_| bytes.extend(f64::from(random.next_f32()).to_le_bytes())),
            _ => bytes = random.low_bytes(count, element.bytes()),
        },
        Values::Between(from, to) => {
            let span = to.abs_diff(*from).wrapping_add(1).max(1);
            (0..count).for_each(|_| push(element, (*from + (random.next_u64() % span) as i64) as f64, &mut bytes));
        }
        Values::Permutation => {
            let mut numbers: Vec<usize> = (0..count).collect();
            for last in (1..count).rev() {
                numbers.swap(last, (random.next_u64() % (last as u64 + 1)) as usize);
            }
            numbers.into_iter().for_each(|number| push(element, number as f64, &mut bytes));
        }
        Values::Formula(formula) => {
            let size_of = lookup(sizes);
            for i in 0..count {
                let value = formula.evaluate(&|name| if name == "i" { Some(i as f64) } else { size_of(name) })?;
                push(element, value, &mut bytes);
            }
        }
    }
    Ok(bytes)
}

fn push(element: Element, value: f64, bytes: &mut Vec<u8>) {
    match element {
        Element::F32 => bytes.extend((value as f32).to_le_bytes()),
        Element::F64 => bytes.extend(value.to_le_bytes()),
        Element::I32 => bytes.extend((value as i32).to_le_bytes()),
        Element::U32 => bytes.extend((value as u32).to_le_bytes()),
        Element::I64 => bytes.extend((value as i64).to_le_bytes()),
        Element::U64 => bytes.extend((value as u64).to_le_bytes()),
        Element::U8 => bytes.push(value as u8),
    }
}

/// An element as a number, for a comparison with a tolerance.
pub fn number(element: Element, bytes: &[u8]) -> f64 {
    fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
        let mut array = [0; N];
        array.copy_from_slice(&bytes[..N]);
        array
    }
    match element {
        Element::F32 => f32::from_le_bytes(array(bytes)).into(),
        Element::F64 => f64::from_le_bytes(array(bytes)),
        Element::I32 => i32::from_le_bytes(array(bytes)).into(),
        Element::U32 => u32::from_le_bytes(array(bytes)).into(),
        Element::I64 => i64::from_le_bytes(array(bytes)) as f64,
        Element::U64 => u64::from_le_bytes(array(bytes)) as f64,
        Element::U8 => bytes[0].into(),
    }
}

/// An element as text.
pub fn text(element: Element, bytes: &[u8]) -> String {
    let value = number(element, bytes);
    let is_long = value.is_finite() && value != 0.0 && !(1e-6..1e15).contains(&value.abs());
    match element {
        Element::F32 if is_long => format!("{:e}", value as f32),
        Element::F64 if is_long => format!("{value:e}"),
        Element::F32 => format!("{}", value as f32),
        Element::I64 => format!("{}", bytemuck::pod_read_unaligned::<i64>(bytes)),
        Element::U64 => format!("{}", bytemuck::pod_read_unaligned::<u64>(bytes)),
        _ => format!("{value}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(from: u64, to: u64, multiple_of: u64) -> Size {
        Size { always: Vec::new(), from, to, multiple_of }
    }

    #[test]
    fn sizes_are_within_their_bounds_and_multiples() {
        let mut random = Random::new(1);
        for _ in 0..1000 {
            let drawn = draw(&size(5, 33, 8), &mut random);
            assert!((8..=32).contains(&drawn) && drawn.is_multiple_of(8), "{drawn}");
        }
        assert_eq!(draw(&size(7, 7, 1), &mut random), 7);
    }

    #[test]
    fn each_exercise_of_the_course_has_a_size_that_16_bit_indices_do_not_survive() {
        let course = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../exercises");
        let mut without = Vec::new();
        for folder in std::fs::read_dir(course).unwrap().map(|entry| entry.unwrap().path()) {
            if !folder.join("goals.toml").exists() {
                continue;
            }
            let exercise = crate::Exercise::read(&folder).unwrap();
            let goals = &exercise.goals;
            let mut random = Random::new(1);
            let measured = measured(goals, &mut random);
            let predicted = instead(&goals.predicted, &measured, &mut random);
            let mut all = large(goals, &mut random).into_iter().chain([measured, predicted]);
            if goals.question.is_empty() && !all.any(|sizes| is_large(goals, &sizes)) {
                without.push(exercise.name.clone());
            }
        }
        without.sort();
        // In one, blocks wait for each other; the work of the other grows with the square of the size.
        assert_eq!(without, ["stale_message", "two_barriers"]);
    }

    #[test]
    fn a_permutation_has_each_number_once() {
        let data: Data = toml::from_str("type = \"u32\"\nlength = 100\nvalues = \"permutation\"").unwrap();
        let bytes = values(&data, 100, &Sizes::new(), &mut Random::new(2)).unwrap();
        let mut numbers: Vec<u32> = bytemuck::pod_collect_to_vec(&bytes);
        assert!(!numbers.is_sorted());
        numbers.sort_unstable();
        assert!(numbers.into_iter().eq(0..100));
    }

    #[test]
    fn formulas_and_ranges_fill_elements_of_their_type() {
        let sizes: Sizes = [("n".to_owned(), 3)].into_iter().collect();
        let data: Data = toml::from_str("type = \"i32\"\nlength = 4\nvalues = \"n - i\"").unwrap();
        let bytes = values(&data, 4, &sizes, &mut Random::new(2)).unwrap();
        assert_eq!(bytemuck::pod_collect_to_vec::<u8, i32>(&bytes), [3, 2, 1, 0]);
        let data: Data = toml::from_str("type = \"u8\"\nlength = 4\nvalues = { from = 7, to = 8 }").unwrap();
        let bytes = values(&data, 64, &sizes, &mut Random::new(2)).unwrap();
        assert!(bytes.contains(&7) && bytes.contains(&8) && bytes.iter().all(|byte| (7..=8).contains(byte)));
    }

    #[test]
    fn shapes_have_limits() {
        let data: Data = toml::from_str("type = \"f32\"\nrows = \"n\"\ncolumns = \"n\"").unwrap();
        let of = |n| shape(&data, &[("n".to_owned(), n)].into_iter().collect());
        assert_eq!(of(5), Ok([5, 5]));
        assert!(of(1 << 20).is_err() && of(0).is_err());
    }
}

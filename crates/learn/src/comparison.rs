//! Compares the buffers after a student's run with those after the reference's, within the
//! exercise's tolerance. [`crate::judge`] calls it after each run. Pure.

use approx::relative_eq;
use exercise::Exercise;
use exercise::data::{self, Buffers, Sizes};
use exercise::goals_file::Element;
use exercise::run::Outcome;

use crate::verdict::{Failure, Position, Wrong};

/// The first difference between a student's results and the right ones, or a change of data that is
/// only input.
pub fn compare(
    exercise: &Exercise,
    student: &Outcome,
    right: &Outcome,
    values: &Buffers,
    sizes: Sizes,
) -> Result<(), Failure> {
    let tolerance = exercise.goals.reference.as_ref().map_or(0.0, |reference| reference.tolerance);
    for (name, plan) in exercise.goals.data.iter().filter(|(_, plan)| !plan.scratch) {
        let (is, expected) = (&student.buffers[name], if plan.output { &right.buffers[name] } else { &values[name] });
        if is == expected {
            continue;
        }
        let size = plan.element.bytes();
        let columns = data::shape(plan, &sizes).map_or(1, |[_, columns]| columns);
        let place = |index: usize| Position {
            buffer: name.clone(),
            row: plan.rows.as_ref().map(|_| index / columns),
            column: index % columns,
        };
        let pairs = || is.chunks_exact(size).zip(expected.chunks_exact(size)).enumerate();
        if !plan.output {
            if let Some((index, _)) = pairs().find(|(_, (is, was))| is != was) {
                return Err(Failure::InputChanged(sizes, place(index)));
            }
            continue;
        }
        let wrong = |&(_, (is, expected)): &(usize, (&[u8], &[u8]))| !close(plan.element, is, expected, tolerance);
        let Some((index, (element, expected))) = pairs().find(wrong) else { continue };
        let poisoned = |element: &[u8]| element.iter().all(|&byte| byte == device::POISON);
        return Err(Failure::Wrong(
            sizes,
            Box::new(Wrong {
                first: place(index),
                is: (!poisoned(element)).then(|| data::text(plan.element, element)),
                should_be: data::text(plan.element, expected),
                count: pairs().filter(wrong).count(),
                unwritten: pairs().filter(wrong).filter(|(_, (is, _))| poisoned(is)).count(),
                of: is.len() / size,
            }),
        ));
    }
    Ok(())
}

/// Whether two elements are equal within the tolerance.
fn close(element: Element, is: &[u8], expected: &[u8], tolerance: f64) -> bool {
    if is == expected {
        return true;
    }
    if !matches!(element, Element::F32 | Element::F64) {
        return false;
    }
    let (is, expected) = (data::number(element, is), data::number(element, expected));
    // Zeros of either sign are equal, and so are NaNs. Near an infinity is only itself.
    let allowed = tolerance * (1.0 + expected.abs());
    is.is_nan() && expected.is_nan() || relative_eq!(is, expected, epsilon = allowed, max_relative = 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_number_is_near_no_number() {
        const NAN: f32 = f32::NAN;
        const INFINITY: f32 = f32::INFINITY;
        for (is, expected, equal) in [
            (1.0, 1.001, true),
            (1.0, 1.1, false),
            (-0.0, 0.0, true),
            (NAN, -NAN, true),
            (NAN, 1.0, false),
            (1.0, NAN, false),
            (INFINITY, INFINITY, true),
            (INFINITY, 1.0, false),
            (1.0, INFINITY, false),
            (-INFINITY, INFINITY, false),
            (NAN, INFINITY, false),
        ] {
            let close = close(Element::F32, &f32::to_le_bytes(is), &f32::to_le_bytes(expected), 1e-3);
            assert_eq!(close, equal, "{is} for {expected}");
        }
    }
}

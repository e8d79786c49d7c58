//! The check of the target `argument`: what must hold for every argument of `host run`. The crate's
//! table of targets calls it. It makes data in memory and runs nothing.

use host::run::argument::{Argument, Fill, Prepared};
use host::run::value::Type;

/// The largest buffer that is made here.
const MADE: u64 = 1 << 16;

/// Parses the argument, and makes its data if it is small and not a file.
///
/// # Panics
///
/// If its description does not fit its data, or an error is not one line.
pub fn check(text: &str) {
    let argument: Argument = match text.parse() {
        Ok(argument) => argument,
        Err(complaint) => {
            let complaint: String = complaint;
            assert!(complaint.len() > 10 && complaint.len() < 300 + 2 * text.len(), "{complaint}");
            // What the user wrote is escaped when it is printed; the rest is one line.
            assert!(text.contains('\n') || !complaint.contains('\n'), "{complaint}");
            return;
        }
    };
    assert_eq!(argument.text, text);
    if let references @ [_, ..] = argument.references().as_slice() {
        assert!(argument.bytes() >= 8 * references.len() && !argument.is_buffer());
        return;
    }
    if argument.number().is_some() {
        // Its type is the parameter's.
        assert_eq!(argument.as_number(Type::F64).expect("any number is a float").bytes(), 8);
        return;
    }
    if !argument.is_buffer() {
        let Prepared::Value(bytes) = argument.prepare().expect("values need nothing") else {
            panic!("{text:?} is a value");
        };
        assert!(bytes.len() == argument.bytes() && !bytes.is_empty());
        return;
    }
    assert_eq!(argument.bytes(), 8);
    let small = text
        .split_once('[')
        .and_then(|(_, rest)| rest.split_once(']')?.0.parse().ok())
        .is_some_and(|length: u64| length < MADE);
    if small && !text.contains('@') {
        let Prepared::Buffer(data) = argument.prepare().expect("it is small") else { panic!("{text:?} is a buffer") };
        assert!(data.offset <= data.bytes());
        assert_eq!(data.bytes(), data.shape.iter().product::<usize>() as u64 * data.ty.bytes() as u64);
        if let Fill::Values(values) = &data.fill {
            assert_eq!(values.bytes().len() as u64, data.bytes());
            assert_eq!(values.texts().count(), data.length);
        }
    }
}

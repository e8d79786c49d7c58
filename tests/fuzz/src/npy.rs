//! The check of the target `npy`: what must hold for every file that is read as `.npy`. The crate's
//! table of targets calls it. It writes only to a temporary folder.

use std::io::Write;
use std::path::Path;

use host::npy;
use host::run::value::Type;

/// Writes the bytes to a file and reads it as each type and rank.
///
/// # Panics
///
/// If an array does not have the elements that it declares or is not read back as written, or an
/// error is not one line.
pub fn check(bytes: &[u8]) {
    let mut file = tempfile::Builder::new().suffix(".npy").tempfile().expect("a file for a while");
    file.write_all(bytes).expect("it is written");
    let path = file.path();
    let complaint = |error: device::Error| {
        let text = error.to_string();
        assert!(!text.contains('\n') && text.starts_with(&path.display().to_string()), "{text}");
    };
    let Ok(_) = npy::contents(path).map_err(complaint) else { return };
    for dimensions in 1..=2 {
        match npy::read::<f32>(path, dimensions) {
            Ok(array) => {
                assert_eq!(array.shape.iter().product::<usize>(), array.data.len());
                assert!(array.data.len() * 4 <= bytes.len());
                round(path, &array);
            }
            Err(error) => complaint(error),
        }
    }
    match Type::read(None, path) {
        Ok((values, shape)) => {
            assert_eq!(shape.iter().product::<usize>() * values.ty().bytes(), values.bytes().len());
            assert!(values.bytes().len() <= bytes.len());
        }
        Err(error) => complaint(error),
    }
}

/// Checks that an array is read as it was written.
fn round(path: &Path, array: &npy::Array<f32>) {
    npy::write(path, &array.shape, &array.data).expect("there is room");
    let back = npy::read::<f32>(path, array.shape.len()).expect("it was just written");
    assert_eq!(back.shape, array.shape);
    assert!(back.data.iter().zip(&array.data).all(|(back, first)| back.to_bits() == first.to_bits()));
}

//! Students' own data: NumPy files in and out.

use std::fs;
use std::path::Path;

use npyz::WriterBuilder;

use crate::{fails, files_in, host};

/// Writes a matrix of f32 as NumPy would.
fn write_matrix(path: &Path, rows: u64, columns: u64, values: &[f32]) {
    let file = fs::File::create(path).expect("the file is created");
    let mut writer =
        npyz::WriteOptions::new().default_dtype().shape(&[rows, columns]).writer(file).begin_nd().expect("a header");
    writer.extend(values.iter().copied()).expect("the values are written");
    writer.finish().expect("the file is finished");
}

fn read_matrix(path: &Path) -> (Vec<u64>, Vec<f32>) {
    let bytes = fs::read(path).expect("the file is read");
    let file = npyz::NpyFile::new(&bytes[..]).expect("a .npy file");
    (file.shape().to_vec(), file.into_vec().expect("f32 values"))
}

#[test]
fn a_matrix_goes_in_and_its_transpose_comes_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let (input, result) = (folder.path().join("m.npy"), folder.path().join("t.npy"));
    let values: Vec<f32> = (0..35 * 70).map(|i| i as f32 * 0.5 - 3.0).collect();
    write_matrix(&input, 35, 70, &values);
    host("transpose --padded --pitched --device sim --input")
        .arg(&input)
        .arg("--output")
        .arg(&result)
        .assert()
        .success();
    let (shape, found) = read_matrix(&result);
    assert_eq!(shape, [70, 35]);
    for row in 0..70 {
        for column in 0..35 {
            assert_eq!(found[row * 35 + column], values[column * 70 + row]);
        }
    }
    assert_eq!(files_in(folder.path()).len(), 2, "nothing else is left");
}

#[test]
fn nothing_is_written_when_the_run_fails() {
    let folder = tempfile::tempdir().expect("a folder");
    let result = folder.path().join("t.npy");
    let mut command = host("transpose --padded --device sim --input missing.npy --output");
    command.arg(&result);
    fails(command, 2, &["missing.npy"]);
    assert!(files_in(folder.path()).is_empty());
}

#[test]
fn what_is_no_matrix_of_f32_is_refused_with_its_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).expect("the file is written");
        path
    };
    let matrix = folder.path().join("good.npy");
    write_matrix(&matrix, 3, 4, &[1.0; 12]);
    let good = fs::read(&matrix).expect("the file is read");
    let cases = [
        (write("empty.npy", b""), vec!["empty.npy"]),
        (write("text.npy", b"1 2 3\n4 5 6\n"), vec!["text.npy"]),
        (write("cut.npy", &good[..good.len() - 5]), vec!["cut.npy", "damaged"]),
        (write("long.npy", &[&good[..], &[0; 8]].concat()), vec!["long.npy", "damaged"]),
        (write("header.npy", &good[..20]), vec!["header.npy"]),
        (folder.path().to_owned(), vec!["folder"]),
    ];
    for (path, parts) in cases {
        let mut command = host("transpose --padded --device sim --input");
        command.arg(path);
        fails(command, 2, &parts);
    }
    let doubles = folder.path().join("doubles.npy");
    let file = fs::File::create(&doubles).expect("the file is created");
    let mut writer =
        npyz::WriteOptions::new().default_dtype().shape(&[2, 2]).writer(file).begin_nd().expect("a header");
    writer.extend([1.0f64, 2.0, 3.0, 4.0]).expect("the values are written");
    writer.finish().expect("the file is finished");
    let mut command = host("transpose --padded --device sim --input");
    command.arg(&doubles);
    fails(command, 2, &["doubles.npy", "float32"]);
    let mut command = host("offset --read --offset 1 --device sim --input");
    command.arg(&matrix);
    fails(command, 2, &["good.npy", "dimension"]);
}

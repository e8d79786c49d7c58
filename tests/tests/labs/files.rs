//! NumPy files in and out, for every lab that takes them.

use host::npy;

use crate::labs::table::{Input, rows};
use crate::labs::{right, run_on, simulator};

/// The elements of an array, all different.
fn elements(shape: &[usize], of: usize) -> Vec<f32> {
    (0..shape.iter().product()).map(|i| ((i * 37 + of * 11) % 101) as f32 / 101.0 - 0.25).collect()
}

#[test]
fn files_go_in_and_results_come_out() {
    let device = simulator("sim");
    let folder = tempfile::tempdir().expect("a folder");
    for row in rows() {
        for Input { flags, files, output } in row.inputs {
            let mut line = flags.to_string();
            for (index, (flag, shape)) in files.iter().enumerate() {
                let path = folder.path().join(format!("{}{index}.npy", row.lab));
                npy::write(&path, shape, &elements(shape, index)).expect("the file is written");
                line += &format!(" {flag} {}", path.display());
            }
            let path = folder.path().join(format!("{}.out.npy", row.lab));
            line += &format!(" --output {}", path.display());
            let report = right(run_on(&device, row.lab, &line), &line);
            for (flag, _) in *files {
                let name = flag.trim_start_matches("--").replace('-', "_");
                assert!(report.parameters.contains_key(&name), "{} does not name {flag}", row.lab);
            }
            let result = npy::read::<f32>(&path, output.len()).unwrap_or_else(|error| panic!("{line}: {error}"));
            assert_eq!(result.shape, *output, "{line}");
            assert!(result.data.iter().all(|value| value.is_finite() && value.abs() < 1e6), "{line}: {result:?}");
            // A second run gives the same result.
            let again = std::fs::read(&path).expect("the output is there");
            right(run_on(&device, row.lab, &line), &line);
            assert_eq!(again, std::fs::read(&path).expect("the output is there"), "{line}");
        }
    }
}

#[test]
fn what_comes_out_is_what_the_lab_computes() {
    let device = simulator("sim");
    let folder = tempfile::tempdir().expect("a folder");
    let [a, b, out] = ["a.npy", "b.npy", "out.npy"].map(|name| folder.path().join(name));
    let run = |lab: &str, flags: &str, dimensions: usize| {
        let line = flags.replace("A.npy", &a.display().to_string()).replace("B.npy", &b.display().to_string())
            + &format!(" --output {}", out.display());
        right(run_on(&device, lab, &line), &line);
        npy::read::<f32>(&out, dimensions).expect("the result").data
    };
    let vectors = [[1.0_f32, -2.0, 3.0], [4.0, 5.0, -6.0]];
    npy::write(&a, &[3], &vectors[0]).expect("a file");
    npy::write(&b, &[3], &vectors[1]).expect("a file");
    assert_eq!(run("offset", "--input A.npy --input-b B.npy --read --offset 1", 1), [3.0, -3.0]);
    assert_eq!(run("offset", "--input A.npy --input-b B.npy --write --offset 1", 1), [5.0, 3.0]);
    assert_eq!(run("dot", "--input A.npy --input-b B.npy --shared --aligned", 0), [-24.0]);
    assert_eq!(run("reduce", "--input A.npy --operation sum --reduce1", 0), [2.0]);
    assert_eq!(run("reduce", "--input A.npy --operation product --reduce6", 0), [-6.0]);
    assert_eq!(run("reduce", "--input A.npy --operation min --best", 0), [-2.0]);
    assert_eq!(run("launch", "--input A.npy --word f32 --loads 1", 1), [2.0, -1.0, 4.0]);
    npy::write(&a, &[3], &[0.0_f32, 1.0, 0.0]).expect("a file");
    assert_eq!(run("constant", "--input A.npy --gamma --global", 1), [0.0, 0.95, 0.0]);
    npy::write(&a, &[2, 3], &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0]).expect("a file");
    npy::write(&b, &[3, 1], &[1.0_f32, 0.0, -1.0]).expect("a file");
    assert_eq!(run("matmul", "--input A.npy --input-b B.npy --tiled16", 2), [-2.0, -2.0]);
    assert_eq!(run("gram", "--input A.npy --padded32", 2), [14.0, 32.0, 32.0, 77.0]);
    assert_eq!(run("transpose", "--input A.npy --tiled", 2), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    assert_eq!(run("rows", "--input A.npy --max --global", 1), [3.0, 6.0]);
    assert_eq!(run("rows", "--input A.npy --column-means --shared", 1), [2.5, 3.5, 4.5]);
    assert_eq!(run("pitch", "--input A.npy --by-columns", 2), [2.0, 8.0, 4.0, 10.0, 6.0, 12.0]);
}

/// The sums of 5 and of 7 points, of values with a few that are not 0; also of a volume that is
/// stored by columns, as Fortran does.
#[test]
fn stencils_add_up_the_values_in_files() {
    let device = simulator("sim");
    let folder = tempfile::tempdir().expect("a folder");
    let [values, out] = ["values.npy", "out.npy"].map(|name| folder.path().join(name));
    npy::write(&values, &[2, 3], &[8.0_f32, 0.0, 0.0, 0.0, 16.0, 0.0]).expect("a file");
    for way in ["global", "shared", "texture", "wide"] {
        let line = format!("--input {} --points 5 --{way} --output {}", values.display(), out.display());
        right(run_on(&device, "stencil", &line), &line);
        assert_eq!(npy::read::<f32>(&out, 2).expect("the result").data, [4.0, 3.0, 0.0, 3.0, 8.0, 2.0], "{way}");
    }
    // Planes of one row of two: (1, 0) is 8.
    npy::write(&values, &[2, 1, 2], &[0.0_f32, 0.0, 8.0, 0.0]).expect("a file");
    let rows_first = std::fs::read(&values).expect("the file");
    let by_columns = rows_first.windows(5).position(|bytes| bytes == b"False").expect("the order");
    let mut columns_first = rows_first.clone();
    columns_first[by_columns..by_columns + 5].copy_from_slice(b"True ");
    for (bytes, expected) in [(rows_first, [1.0, 0.0, 2.0, 1.0]), (columns_first, [1.0, 2.0, 0.0, 1.0])] {
        std::fs::write(&values, bytes).expect("the file is written");
        for way in ["global", "shared", "registers", "both", "wide"] {
            let line = format!("--input-volume {} --{way} --output {}", values.display(), out.display());
            right(run_on(&device, "stencil", &line), &line);
            assert_eq!(npy::read::<f32>(&out, 3).expect("the result").data, expected, "{way}");
        }
    }
}

#[test]
fn a_histogram_is_of_the_bytes_in_a_file() {
    let device = simulator("sim");
    let folder = tempfile::tempdir().expect("a folder");
    let [values, out] = ["values.npy", "out.npy"].map(|name| folder.path().join(name));
    let bytes: Vec<u8> = (0..1000_u32).map(|i| (i * i % 251) as u8).collect();
    npy::write(&values, &[1000], &bytes).expect("a file");
    for method in ["global", "ballot", "match", "shared", "warp"] {
        let line = format!("--input {} --{method} --output {}", values.display(), out.display());
        let report = right(run_on(&device, "atomics", &line), &line);
        assert_eq!(report.variants[0].name, format!("{method}-file"));
        let counts = npy::read::<u32>(&out, 1).expect("the result").data;
        let expected = |bin: usize| bytes.iter().filter(|&&value| usize::from(value) == bin).count() as u32;
        assert_eq!(counts, (0..256).map(expected).collect::<Vec<_>>(), "{method}");
    }
}

#[test]
fn numbers_of_a_file_are_worked_on_in_chunks() {
    let device = simulator("sim");
    let folder = tempfile::tempdir().expect("a folder");
    let [values, out] = ["values.npy", "out.npy"].map(|name| folder.path().join(name));
    let numbers: Vec<u32> = (0..1003_u32).map(|i| i.wrapping_mul(0x9E37_79B9)).collect();
    npy::write(&values, &[1003], &numbers).expect("a file");
    for (flags, rounds) in [("--streams-2 --rounds 7", 7), ("--mapped", 1)] {
        let line = format!("--input {} {flags} --output {}", values.display(), out.display());
        right(run_on(&device, "transfer", &line), &line);
        let after = |number: &u32| kernels::transfer::after_rounds(*number, rounds);
        let expected: Vec<u32> = numbers.iter().map(after).collect();
        assert_eq!(npy::read::<u32>(&out, 1).expect("the result").data, expected, "{flags}");
    }
}

#[test]
fn prefix_sums_and_what_is_kept_are_of_the_numbers_in_a_file() {
    let device = simulator("sim");
    let folder = tempfile::tempdir().expect("a folder");
    let [values, out] = ["values.npy", "out.npy"].map(|name| folder.path().join(name));
    let numbers: Vec<u32> = (0..5001_u32).map(|i| if i % 3 == 0 { 0 } else { i.wrapping_mul(0x9E37_79B9) }).collect();
    npy::write(&values, &[5001], &numbers).expect("a file");
    let result = |method: &str| {
        let line = format!("--input {} --{method} --output {}", values.display(), out.display());
        right(run_on(&device, "scan", &line), &line);
        npy::read::<u32>(&out, 1).expect("the result").data
    };
    let add = |sum: &mut u32, number: &u32| {
        *sum = sum.wrapping_add(*number);
        Some(*sum)
    };
    let sums: Vec<u32> = numbers.iter().scan(0, add).collect();
    for method in ["hillis-steele", "blelloch", "padded", "shuffle", "two-reads", "single", "window"] {
        assert_eq!(result(method), sums, "{method}");
    }
    let kept: Vec<u32> = numbers.iter().copied().filter(|number| *number != 0).collect();
    for method in ["compact-two-reads", "compact-single"] {
        assert_eq!(result(method), kept, "{method}");
    }
}

#[test]
fn a_sparse_matrix_is_that_of_a_matrix_market_file() {
    let device = simulator("sim");
    let folder = tempfile::tempdir().expect("a folder");
    let [matrix, x, out] = ["a.mtx", "x.npy", "out.npy"].map(|name| folder.path().join(name));
    let text = "%%MatrixMarket matrix coordinate integer symmetric\n% a comment\n4 4 4\n1 1 2\n4 1 -3\n2 2 5\n4 3 1\n";
    std::fs::write(&matrix, text).expect("a file");
    npy::write(&x, &[4], &[1.0_f32, 10.0, 100.0, 1000.0]).expect("a file");
    for format in ["coo", "segments", "csr-threads", "csr-warps", "ell", "sliced"] {
        let files = format!("--matrix {} --input {} --output {}", matrix.display(), x.display(), out.display());
        let line = format!("{files} --{format}");
        let report = right(run_on(&device, "sparse", &line), &line);
        assert_eq!(report.variants[0].name, format!("{format}-file"));
        let product = npy::read::<f32>(&out, 1).expect("the result").data;
        assert_eq!(product, [2.0 - 3000.0, 50.0, 1000.0, -3.0 + 100.0], "{format}");
    }
}

//! Matrix Market files that are right, wrong and random.

use common::random::Random;

use super::*;

fn entries(text: &str) -> Vec<(u32, u32, f32)> {
    let matrix = parse(text.as_bytes(), |_| Ok(())).expect("a matrix");
    let rows = matrix.rows_of_entries().into_iter();
    rows.zip(&matrix.indices).zip(&matrix.values).map(|((row, &column), &value)| (row, column, value)).collect()
}

#[test]
fn every_supported_kind_is_read() {
    let general =
        "%%MatrixMarket matrix coordinate real general\n% a comment\n\n2 3 3\n2 3 -1.5e1\n1 1 2\r\n 2 1 .5\n\n";
    assert_eq!(entries(general), [(0, 0, 2.0), (1, 2, -15.0), (1, 0, 0.5)]);
    let symmetric = "%%matrixmarket MATRIX Coordinate Integer Symmetric\n2 2 2\n1 1 7\n2 1 -3\n";
    assert_eq!(entries(symmetric), [(0, 0, 7.0), (0, 1, -3.0), (1, 0, -3.0)]);
    let skew = "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 1\n3 1 4";
    assert_eq!(entries(skew), [(0, 2, -4.0), (2, 0, 4.0)]);
    assert_eq!(entries("%%MatrixMarket matrix coordinate pattern general\n1 2 1\n1 2\n"), [(0, 1, 1.0)]);
}

#[test]
fn what_is_wrong_is_named_with_its_line() {
    let real = |rest: &str| format!("%%MatrixMarket matrix coordinate real general\n{rest}");
    for (text, says) in [
        (String::new(), "line 1: the file does not begin with"),
        ("%%MatrixMarket matrix array real general\n".into(), "line 1: the format 'array'"),
        ("%%MatrixMarket matrix coordinate complex general\n".into(), "line 1: entries that are 'complex'"),
        ("%%MatrixMarket matrix coordinate real hermitian\n".into(), "line 1: 'hermitian' is not supported"),
        (real(""), "ends before the numbers of rows"),
        (real("2 2\n"), "line 2: the numbers of rows, columns and entries"),
        (real("% \n0 2 1\n"), "line 3: '0' is not a whole number from 1 to"),
        (real("2 99999999999 1\n"), "line 2: '99999999999' is not a whole number from 1 to"),
        (real("2 2 2\n1 1 1\n"), "ends after 1 of 2 entries"),
        (real("2 2 1\n1 3 1\n"), "line 3: the column '3' is not from 1 to 2"),
        (real("2 2 1\n0 1 1\n"), "line 3: the row '0' is not from 1 to 2"),
        (real("2 2 1\n1 1\n"), "line 3: a row, a column and a value are needed"),
        (real("2 2 1\n1 1 x\n"), "line 3: the value 'x' is not a number"),
        (real("2 2 1\n1 1 1e39\n"), "line 3: the value '1e39' is not a number"),
        (real("2 2 1\n1 1 1\n1 2 1\n"), "line 4: is beyond the 1 entries"),
        (real(&"1".repeat(5000)), "line 2 is longer than 4096 bytes"),
        ("%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 1.5\n".into(), "not a whole number"),
        ("%%MatrixMarket matrix coordinate real symmetric\n2 3 1\n1 1 1\n".into(), "as many rows as columns"),
        ("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n1 1 1\n".into(), "line 3: a skew-symmetric"),
    ] {
        let error = parse(text.as_bytes(), |_| Ok(())).map(drop).unwrap_err();
        assert!(error.contains(says) && !error.contains('\n'), "{text:?}: {error}");
    }
    assert_eq!(parse(&b"%%MatrixMarket \xff\n"[..], |_| Ok(())).map(drop).unwrap_err(), "line 1 is not text");
}

/// Files made of the format's own pieces, and of pieces with some bytes changed.
#[test]
fn no_file_panics_and_no_error_has_a_second_line() {
    const PIECES: [&str; 18] = [
        "%%MatrixMarket matrix coordinate real general\n",
        "%%MatrixMarket matrix coordinate pattern symmetric\n",
        "%%MatrixMarket matrix coordinate integer skew-symmetric\n",
        "% comment\n",
        "3 3 1\n",
        "3 2 -4\n",
        "1 2 300\n",
        "2 1 4294967296\n",
        "1 1 1\n",
        "2 1\n",
        "3 3 -1e-40\n",
        "18446744073709551616 1 nan\n",
        "\n",
        " ",
        "\r\n",
        "-1 0 inf\n",
        "\u{7f}\u{0}",
        "1073741824 1073741824 1073741824\n",
    ];
    let mut random = Random::new(52);
    let mut draw = |below: usize| (random.next_u64() % below as u64) as usize;
    let mut read = 0;
    for _ in 0..20_000 {
        let mut file = PIECES[draw(3)].as_bytes().to_vec();
        file.extend_from_slice(["", "3 3 1\n"][draw(2)].as_bytes());
        (0..draw(8)).for_each(|_| file.extend_from_slice(PIECES[draw(PIECES.len())].as_bytes()));
        for _ in 0..draw(3) {
            let at = draw(file.len());
            file[at] = draw(256) as u8;
        }
        match parse(&file[..], |bytes| if bytes < 1 << 20 { Ok(()) } else { Err("too large".into()) }) {
            Ok(matrix) => read += usize::from(matrix.rows > 0),
            Err(error) => assert!(error.lines().count() == 1 && error.len() < 200, "{error:?}"),
        }
    }
    assert!(read > 20, "only {read} of the files are matrices");
}

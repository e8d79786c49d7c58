//! The labs' table: for each lab its flags, sizes, files and closed forms. The tests of this folder
//! go through it.

use std::fs;
use std::path::Path;

use host::labs;

use crate::labs::closed_forms;

/// A lab, as the tests run it.
pub struct Row {
    pub lab: &'static str,
    /// Flags that run all of its variants, of every kind, in little time.
    pub all: &'static str,
    /// Flags for awkward sizes: 1, 31, 32, 33, 1000 and ragged ones.
    pub sizes: &'static [&'static str],
    /// The files that it takes.
    pub inputs: &'static [Input],
    /// The test of its counters.
    pub closed_forms: fn(),
}

/// A run with files, and all files that the lab then takes.
pub struct Input {
    /// Flags beside the files, which choose one result.
    pub flags: &'static str,
    /// Flags that take a file, each with the shape of the array in it.
    pub files: &'static [(&'static str, &'static [usize])],
    /// The shape of the result.
    pub output: &'static [usize],
}

const VECTOR: &[&str] = &["--size 1", "--size 31", "--size 32", "--size 33", "--size 1000", "--size 4099"];

const MATRIX: &[&str] = &[
    "--rows 1 --cols 1",
    "--rows 31 --cols 33",
    "--rows 33 --cols 31 --pitched",
    "--rows 32 --cols 32 --pitched",
    "--rows 1 --cols 777",
    "--rows 333 --cols 1 --pitched",
    "--rows 97 --cols 130",
];

pub const TABLE: &[Row] = &[
    Row {
        lab: "launch",
        all: "--block 32,256 --grid 1,7 --size 5000",
        sizes: VECTOR,
        inputs: &[Input { flags: "--word f32x4 --loads 2", files: &[("--input", &[77])], output: &[77] }],
        closed_forms: closed_forms::launch,
    },
    Row {
        lab: "offset",
        all: "--size 3000 --offset 0,1,8,31,128",
        sizes: &[
            "--size 1",
            "--size 31",
            "--size 32 --block 1",
            "--size 33 --block 1024",
            "--size 1000",
            "--size 4099",
        ],
        inputs: &[Input {
            flags: "--read --offset 3",
            files: &[("--input", &[77]), ("--input-b", &[77])],
            output: &[74],
        }],
        closed_forms: closed_forms::offset,
    },
    Row {
        lab: "access",
        all: "--all --size 64 --stride 2,33",
        sizes: &["--size 1", "--size 31", "--size 32", "--size 33", "--size 1000 --stride 2"],
        inputs: &[],
        closed_forms: closed_forms::access,
    },
    Row { lab: "layout", all: "--size 500", sizes: VECTOR, inputs: &[], closed_forms: closed_forms::layout },
    Row {
        lab: "vector",
        all: "--size 5000",
        sizes: &[
            "--size 1",
            "--size 2",
            "--size 3 --block 1",
            "--size 31",
            "--size 32",
            "--size 33",
            "--size 1000",
            // Two and four words a thread.
            "--size 1100001 --best",
            "--size 2200003 --best --block 96",
        ],
        inputs: &[Input { flags: "--copy16", files: &[("--input", &[77])], output: &[77] }],
        closed_forms: closed_forms::vector,
    },
    Row {
        lab: "cache",
        all: "--all --size 300",
        sizes: &["--size 1", "--size 31", "--size 33", "--size 1000 --pattern table,stencil"],
        inputs: &[],
        closed_forms: closed_forms::cache,
    },
    Row {
        lab: "pitch",
        all: "--by-rows --by-columns --transposed --copies --rows 70 --cols 33",
        sizes: &["--rows 1 --cols 1", "--rows 31 --cols 33", "--rows 1000 --cols 1", "--rows 2 --cols 1001"],
        inputs: &[Input { flags: "--by-rows --pitched", files: &[("--input", &[5, 7])], output: &[5, 7] }],
        closed_forms: closed_forms::pitch,
    },
    Row {
        lab: "constant",
        all: "--polynomial --gamma --lookup --set --size 700",
        sizes: VECTOR,
        inputs: &[],
        closed_forms: closed_forms::constant,
    },
    Row { lab: "table", all: "--size 700 --step 0.7", sizes: VECTOR, inputs: &[], closed_forms: closed_forms::table },
    Row {
        lab: "transpose",
        all: "--rows 97 --cols 130 --pitched",
        sizes: &[
            MATRIX[0],
            MATRIX[1],
            MATRIX[2],
            MATRIX[3],
            MATRIX[4],
            MATRIX[5],
            MATRIX[6],
            // The input's pitch is a multiple of four, the output's is not, and the other way
            // round.
            "--rows 97 --cols 132 --best",
            "--rows 132 --cols 97 --best",
            // Few tiles, and many.
            "--rows 96 --cols 68 --best",
            "--rows 1476 --cols 1500 --best",
            "--rows 97 --cols 130 --pitched --padded --phased",
            "--rows 1 --cols 33 --phased",
            "--rows 64 --cols 32 --phased",
            "--rows 100 --cols 130 --tiled --padded --batched --naive --copy",
            // Diagonals that wrap around, of matrices that are wide, tall and square.
            "--rows 70 --cols 333 --padded --diagonal",
            "--rows 333 --cols 70 --pitched --diagonal",
            "--rows 96 --cols 96 --diagonal",
            "--rows 1 --cols 1 --diagonal",
            "--rows 100 --cols 130 --block 7,9 --block16",
            "--rows 100 --cols 130 --tile-width 32,33,50,64 --padded",
        ],
        inputs: &[Input { flags: "--padded --pitched", files: &[("--input", &[5, 7])], output: &[7, 5] }],
        closed_forms: closed_forms::transpose,
    },
    Row {
        lab: "matmul",
        all: "--m 70 --n 33 --k 50 --pitched",
        sizes: &[
            "--m 1 --n 1 --k 1",
            "--m 31 --n 33 --k 32",
            "--m 33 --n 31 --k 1 --pitched",
            "--m 1 --n 200 --k 17",
            "--m 130 --n 129 --k 9 --block 5,3",
            "--m 70 --n 33 --k 50 --pitched --async2 --async3",
            "--m 65 --n 130 --k 33 --pitched --best",
            "--m 64 --n 128 --k 48 --best",
            "--m 1399 --n 1301 --k 5 --best",
            "--m 1399 --n 1304 --k 5 --best",
            "--m 70 --n 33 --k 50 --pitched --phased16",
            "--m 1 --n 1 --k 1 --phased16",
            "--m 32 --n 48 --k 16 --phased16",
            // Shared tiles, in words of 16 bytes and of 4.
            "--m 65 --n 384 --k 1003 --best",
            "--m 130 --n 399 --k 1000 --best",
        ],
        inputs: &[Input { flags: "--best", files: &[("--input", &[5, 7]), ("--input-b", &[7, 3])], output: &[5, 3] }],
        closed_forms: closed_forms::matmul,
    },
    Row {
        lab: "gram",
        all: "--rows 70 --cols 33 --pitched",
        sizes: &[
            MATRIX[0],
            MATRIX[1],
            MATRIX[2],
            MATRIX[3],
            MATRIX[4],
            "--rows 70 --cols 1",
            "--rows 143 --cols 33 --pitched --best",
            "--rows 1542 --cols 5 --best",
            "--rows 70 --cols 33 --pitched --phased32",
            "--rows 1 --cols 1 --phased32",
            // Shared tiles.
            "--rows 193 --cols 1001 --best",
            // A transposed matrix.
            "--rows 1911 --cols 181 --best",
        ],
        inputs: &[Input { flags: "--best", files: &[("--input", &[5, 7])], output: &[5, 5] }],
        closed_forms: closed_forms::gram,
    },
    Row {
        lab: "reduce",
        all: "--size 3000 --operation sum,product,min,max --type f32,i32 --block 64",
        sizes: &[
            "--size 1",
            "--size 31",
            "--size 32",
            "--size 33 --block 1024",
            "--size 1000 --operation product,max",
            "--size 4099 --block 64 --type i32",
            // One block takes 8192 values; beyond that, several blocks share them, and must not
            // skip the ragged ones.
            "--size 8192 --best",
            "--size 8193 --best --operation sum,product,min,max --type f32,i32",
            "--size 20011 --best --operation sum,max --type f32,i32",
            "--size 150003 --best --type i32",
            "--size 1 --phased3 --phased6",
            "--size 1000 --phased3 --phased6",
            "--size 20011 --phased3 --phased6",
        ],
        inputs: &[Input { flags: "--reduce6 --operation sum", files: &[("--input", &[77])], output: &[] }],
        closed_forms: closed_forms::reduce,
    },
    Row {
        lab: "dot",
        all: "--size 3001",
        sizes: &[
            "--size 1",
            "--size 31 --block 32",
            "--size 32",
            "--size 33 --block 1024",
            "--size 1000",
            "--size 20004 --best",
            "--size 20011 --best",
        ],
        inputs: &[Input { flags: "--best --linear", files: &[("--input", &[77]), ("--input-b", &[77])], output: &[] }],
        closed_forms: closed_forms::dot,
    },
    Row {
        lab: "rows",
        all: "--rows 70 --cols 33 --all",
        sizes: &[
            "--rows 1 --cols 1 --all",
            "--rows 31 --cols 33 --all",
            "--rows 1 --cols 1000 --all",
            "--rows 1000 --cols 1 --block 32 --all",
            // Eight lanes for each row, a warp, a block, and several blocks; rows aligned to 16
            // bytes, and not.
            "--rows 33 --cols 128 --best --all",
            "--rows 20 --cols 129 --best --all",
            "--rows 300 --cols 132 --best --column-means --max",
            "--rows 3 --cols 2051 --best --all",
            "--rows 2 --cols 20011 --best --all",
            "--rows 1 --cols 1 --phased --all",
            "--rows 33 --cols 257 --phased --all",
            "--rows 9 --cols 1000 --phased --all",
        ],
        inputs: &[Input { flags: "--mean --shared", files: &[("--input", &[5, 7])], output: &[5] }],
        closed_forms: closed_forms::rows,
    },
    Row {
        lab: "banks",
        all: "--all",
        sizes: &["--blocks 1 --rounds 1", "--blocks 3 --rounds 128"],
        inputs: &[],
        closed_forms: closed_forms::banks,
    },
    Row {
        lab: "shared",
        all: "--all --size 70000",
        sizes: &["--size 1", "--size 31", "--size 33 --block 1", "--size 1000", "--size 4097 --kilobytes 1,7"],
        inputs: &[Input { flags: "--dynamic --kilobytes 1", files: &[("--input", &[777])], output: &[777] }],
        closed_forms: closed_forms::shared,
    },
    Row {
        lab: "texture",
        all: "--all --size 32",
        sizes: &["--size 32", "--size 64 --walks"],
        inputs: &[Input { flags: "--linear", files: &[("--input", &[32, 32])], output: &[1024] }],
        closed_forms: closed_forms::texture,
    },
    Row {
        lab: "atomics",
        all: "--size 3000 --each 5",
        sizes: &[
            "--size 1",
            "--size 31 --each 1",
            "--size 32 --distinct 1",
            "--size 33 --each 1",
            "--size 1000",
            "--size 4099 --each 7 --distinct 5",
        ],
        // Its values are bytes: files.rs has a test of its own.
        inputs: &[],
        closed_forms: closed_forms::atomics,
    },
    Row {
        lab: "consistency",
        all: "--launches 2",
        sizes: &["--blocks 2 --launches 1", "--blocks 3", "--blocks 64 --launches 3"],
        inputs: &[],
        closed_forms: closed_forms::consistency,
    },
    Row {
        lab: "spill",
        all: "--rows 20 --cols 70 --lists 70 --steps 5",
        sizes: &[
            "--rows 1 --cols 1 --lists 1 --steps 1",
            "--rows 9 --cols 33 --bounded",
            "--rows 17 --cols 40 --words 16 --all",
            "--rows 65 --cols 129 --lists 2049 --steps 3",
            "--rows 64 --cols 300 --words 64 --bounded --registers --local",
            "--full --alone --lists 600 --steps 33",
        ],
        inputs: &[Input { flags: "--words 16 --local --registers", files: &[("--input", &[19, 40])], output: &[40] }],
        closed_forms: closed_forms::spill,
    },
    Row {
        lab: "scan",
        all: "--size 5000",
        sizes: &[
            "--size 1",
            "--size 31 --keep 0",
            "--size 32 --log-banks 0",
            "--size 33 --keep 100",
            "--size 257",
            "--size 1000 --log-banks 4",
            "--size 4097",
            "--size 70001 --keep 3",
        ],
        // Its values are whole numbers: files.rs has a test of its own.
        inputs: &[],
        closed_forms: closed_forms::scan,
    },
    Row {
        lab: "transfer",
        all: "--size 3000 --rounds 5 --bytes 4,1K,100K",
        sizes: &[
            "--size 1 --chunks 64",
            "--size 31 --rounds 1",
            "--size 33 --chunks 3",
            "--size 1000 --bytes 4",
            "--size 4099 --chunks 7 --streams-2 --streams-4",
        ],
        // Its values are whole numbers: files.rs has a test of its own.
        inputs: &[],
        closed_forms: closed_forms::transfer,
    },
    Row {
        lab: "sparse",
        all: "--rows 300 --each 9",
        sizes: &[
            "--rows 1 --each 1",
            "--rows 31 --each 3 --log-slice 0",
            "--rows 32 --each 40 --spread 1",
            "--rows 33 --log-slice 3 --spread 1000",
            "--rows 257 --each 1 --log-slice 16",
            "--rows 1000 --power-law",
        ],
        inputs: &[Input { flags: "--rows 50 --power-law --sliced", files: &[("--input", &[50])], output: &[50] }],
        closed_forms: closed_forms::sparse,
    },
    Row {
        lab: "stencil",
        all: "--rows 70 --cols 50 --volume 18,11,37",
        sizes: &[
            "--rows 1 --cols 1 --volume 1,1,1",
            "--rows 31 --cols 33 --volume 2,9,31 --pitched",
            "--rows 33 --cols 31 --volume 17,8,33",
            "--rows 3 --cols 32 --volume 3,3,3 --pitched",
            "--rows 1 --cols 1000 --volume 16,1,32",
            "--rows 1000 --cols 3 --volume 33,33,1",
            "--rows 97 --cols 130 --volume 15,16,129",
            "--rows 2 --cols 4 --points 5,25",
        ],
        inputs: &[
            Input { flags: "--points 5", files: &[("--input", &[19, 40])], output: &[19, 40] },
            Input { flags: "--wide --points 25 --pitched", files: &[("--input", &[40, 19])], output: &[40, 19] },
            Input { flags: "", files: &[("--input-volume", &[17, 9, 33])], output: &[17, 9, 33] },
        ],
        closed_forms: closed_forms::stencil,
    },
    Row {
        lab: "pipeline",
        all: "--size 5000",
        sizes: &[
            "--size 1",
            "--size 2047 --stages 2,4",
            "--size 2049 --load --registers --blocks 8",
            "--size 600000 --async --bulk --blocks 1",
            "--size 1100000 --bulk --stages 3 --blocks 3,5",
        ],
        inputs: &[Input { flags: "--registers --blocks 1", files: &[("--input", &[4099])], output: &[132 * 256] }],
        closed_forms: closed_forms::pipeline,
    },
    Row {
        lab: "order",
        all: "--m 40 --n 70 --k 50 --entries 2048 --passes 2",
        sizes: &[
            "--m 1 --n 1 --k 1 --entries 4 --passes 1",
            "--m 33 --n 31 --k 33 --entries 4096 --passes 3",
            "--m 300 --n 40 --k 65 --side 3",
            "--m 65 --n 500 --k 31 --side 100 --curve --squares",
            "--table --window --entries 65540 --passes 5",
        ],
        inputs: &[Input {
            flags: "--row-by-row --squares --curve",
            files: &[("--input", &[19, 40]), ("--input-b", &[40, 50])],
            output: &[19, 50],
        }],
        closed_forms: closed_forms::order,
    },
];

/// The row of each lab, in the course's order; a lab without one fails.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    labs::ALL.iter().map(|lab| {
        let row = TABLE.iter().find(|row| row.lab == lab.name);
        row.unwrap_or_else(|| panic!("the tests know nothing of the lab {}: give it a row in table.rs", lab.name))
    })
}

#[test]
fn every_row_is_a_lab() {
    assert_eq!(rows().count(), TABLE.len());
}

/// Lists of labs that the compiler cannot check.
#[test]
fn every_lab_has_a_twin_and_results() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let read = |file: &str| fs::read_to_string(root.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
    let (plan, readme) = (read("xtask/src/results/plan.rs"), read("README.md"));
    let (labs, twins) = plan.split_once("const TWINS").expect("both lists");
    for lab in labs::ALL {
        let name = lab.name;
        let lists =
            |list: &str| list.contains(&format!("\n    \"{name}\",")) || list.contains(&format!("\n    \"{name} "));
        assert!(lists(labs), "{name} is not in LABS of xtask/src/results/plan.rs");
        assert!(lists(twins), "{name} is not in TWINS of xtask/src/results/plan.rs");
        assert!(root.join(format!("docs/compare/{name}.cu")).is_file(), "there is no docs/compare/{name}.cu");
        assert!(readme.contains(&format!("`{name}`")), "the README's table of labs lacks {name}");
    }
}

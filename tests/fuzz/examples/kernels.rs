//! Writes random kernels as PTX, twenty to a file, to check that `ptxas` accepts all of them. The
//! README says how to run it.
//!
//! `cargo run -p coalesce-fuzz --example kernels -- FOLDER FIRST_SEED FILES`

use std::fmt::Write;

use coalesce_fuzz::kernel::operations::OBJECTS;
use coalesce_fuzz::kernel::{HEADER, Kind};
use coalesce_fuzz::machine;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, folder, first, files] = arguments.as_slice() else {
        eprintln!("give a folder, the first seed and how many files");
        std::process::exit(2);
    };
    let number = |text: &String| text.parse::<u64>().expect("a number");
    for file in 0..number(files) {
        let mut text = format!("{HEADER}{OBJECTS}");
        for seed in 0..20 {
            let seed = number(first) + 20 * file + seed;
            let _ = writeln!(
                text,
                "{}",
                machine::seeded(seed, [Kind::Exact, Kind::Wild, Kind::Loose][seed as usize % 3])
                    .text(&format!("k{seed}"))
            );
        }
        std::fs::write(format!("{folder}/{file}.ptx"), text).expect("the file is written");
    }
}

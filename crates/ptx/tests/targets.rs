//! Which `.target` and which `.version` an instruction needs: the parser must agree with NVIDIA's
//! assembler, whose answers are in `data/targets.txt` and `data/versions.txt`.

use std::path::Path;

/// The targets that the assembler was asked about.
const TARGETS: [u32; 6] = [75, 80, 86, 89, 90, 100];

/// The versions that each instruction is tried with.
const VERSIONS: [&str; 32] = [
    "2.3", "3.0", "3.1", "3.2", "4.0", "4.1", "4.2", "4.3", "5.0", "6.0", "6.1", "6.2", "6.3", "6.4", "6.5", "7.0",
    "7.1", "7.2", "7.3", "7.4", "7.5", "7.6", "7.7", "7.8", "8.0", "8.1", "8.2", "8.3", "8.4", "8.5", "8.6", "8.8",
];

/// A module with one kernel, with registers of every type, that has this instruction.
pub(super) fn module(version: &str, target: &str, instruction: &str) -> String {
    let wide = if instruction.contains("%q") { ".reg .b128 %q<3>;" } else { "" };
    format!(
        ".version {version}\n.target sm_{target}\n.address_size 64\n.shared .align 16 .b8 sh[1024];\n.visible .entry k(.param .u64 p)\n{{\n\
         .reg .pred %p<5>;\n.reg .b8 %b<3>;\n.reg .b16 %h<9>;\n.reg .b32 %r<20>;\n.reg .b64 %rd<9>;\n.reg .f32 %f<20>;\n.reg .f64 %d<9>;\n\
         {wide}\n{instruction}\nret;\n}}\n"
    )
}

#[test]
fn what_a_version_does_not_have_is_refused_with_the_one_that_has_it() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/versions.txt");
    let text = std::fs::read_to_string(path).expect("the file is there");
    let mut failures = String::new();
    let mut count = 0;
    let number = |version: &str| version.parse::<f64>().expect("a version");
    for line in text.lines().filter(|line| !line.starts_with("//")) {
        let mut words = line.splitn(3, ' ');
        let [needed, target, instruction] = std::array::from_fn(|_| words.next().expect("three words"));
        let target_came = match target {
            "20" => 2.0,
            "75" => 6.3,
            "80" => 7.0,
            "86" => 7.1,
            "90a" => 8.0,
            "100" => 8.6,
            _ => 7.8,
        };
        for version in VERSIONS {
            let found = ptx::parse("k.ptx", &module(version, target, instruction)).map(|_| ());
            let says =
                |what: &str| found.as_ref().is_err_and(|errors| errors.iter().any(|e| e.problem.to_string() == what));
            let last = instruction.rsplit("; ").next().expect("an instruction");
            let name = last.split([' ', ';']).next().expect("a name");
            let of_instruction = says(&format!("`{name}` needs `.version {needed}` or later"))
                || name.starts_with("mov.")
                    && found.as_ref().is_err_and(|errors| errors.to_string().contains("needs `.version"));
            let fits = match number(version) {
                version if version >= number(needed) => found.is_ok(),
                version if version >= target_came => of_instruction,
                _ => found.is_err(),
            };
            if !fits {
                failures += &format!("{version}: {line}: {found:?}\n");
            }
            count += 1;
        }
    }
    assert!(failures.is_empty(), "{failures}");
    assert!(count > 5000, "{count}");
}

#[test]
fn what_a_target_does_not_have_is_refused_with_the_one_that_has_it() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/targets.txt");
    let text = std::fs::read_to_string(path).expect("the file is there");
    let mut failures = String::new();
    let mut count = 0;
    for line in text.lines().filter(|line| !line.starts_with("//")) {
        let (needed, instruction) = line.split_once(' ').expect("a target and an instruction");
        let needed: u32 = needed.parse().expect("a number");
        for target in TARGETS {
            let found = ptx::parse("k.ptx", &module("8.8", &target.to_string(), instruction))
                .map(|_| ())
                .map_err(|error| error.to_string());
            let wanted = format!("needs `.target sm_{needed}` or later");
            let fits = match &found {
                Ok(()) => target >= needed,
                Err(error) => target < needed && error.contains(&wanted),
            };
            if !fits {
                failures += &format!("sm_{target}: {line}: {found:?}\n");
            }
            count += 1;
        }
    }
    assert!(failures.is_empty(), "{failures}");
    assert!(count > 500, "{count}");
}

//! Which `.target` an instruction needs: `data/targets.txt` has what NVIDIA's assembler says.

use std::path::Path;

/// The targets that the assembler was asked about.
const TARGETS: [u32; 5] = [75, 80, 86, 89, 90];

fn module(target: u32, instruction: &str) -> String {
    format!(
        ".version 8.8\n.target sm_{target}\n.address_size 64\n.shared .align 16 .b8 sh[1024];\n.visible .entry k(.param .u64 p)\n{{\n\
         .reg .pred %p<5>;\n.reg .b16 %h<9>;\n.reg .b32 %r<20>;\n.reg .b64 %rd<9>;\n.reg .f32 %f<20>;\n.reg .f64 %d<9>;\n\
         .reg .b128 %q<3>;\n{instruction}\nret;\n}}\n"
    )
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
            let found =
                ptx::parse("k.ptx", &module(target, instruction)).map(|_| ()).map_err(|error| error.to_string());
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

//! `--picture`: what the accesses of a kernel look like, below their lines or alone.

use crate::{fails, files_in, host, output};

/// The picture of an access, as the lectures draw it.
const OFFSET: &str = "\
A warp's load from global memory, 4 bytes a lane (block 0, 0, 0, warp 0):
lane 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
   ┌───────────────────────┬───────────────────────┬───────────────────────┬───────────────────────┐
  0│ ·  ·  ·  ·  ·  ·  ·  ·│░░░░░░░░░ 0  1  2  3  4│ 5  6  7  8  9 10 11 12│13 14 15 16 17 18 19 20│
  1│21 22 23 24 25 26 27 28│29 30 31░░░░░░░░░░░░░░░│ ·  ·  ·  ·  ·  ·  ·  ·│ ·  ·  ·  ·  ·  ·  ·  ·│
   └───────────────────────┴───────────────────────┴───────────────────────┴───────────────────────┘
sum           1 ×                     2 ×                     1 ×                     1 ×
32 lanes ask for 128 bytes; 5 sectors, 160 bytes, move: 80 % used.
";

const SHIFTED: &str = "offset --read --offset 11 --size 4096 --device sim";

#[test]
fn each_access_of_a_lab_is_drawn_alone_or_below_its_line() {
    let alone = output(&format!("{SHIFTED} --picture"));
    assert!(alone.contains(OFFSET), "{alone}");
    // Both loads look alike, and are drawn once.
    assert_eq!(alone.matches("A warp's load").count(), 1, "{alone}");
    assert!(alone.contains("access by access") && !alone.contains("line by line"), "{alone}");
    let below = output(&format!("{SHIFTED} --lines --picture"));
    let (line, picture) = (below.find("global loads: 4.98 sectors per request"), below.find(OFFSET));
    assert!(line.is_some() && line < picture, "{below}");
    assert!(!output(&format!("{SHIFTED} --lines")).contains("lane 0"));
}

#[test]
fn pictures_use_the_width_there_is() {
    for width in [100, 80, 60, 40] {
        let run = host(&format!("{SHIFTED} --picture")).env("COLUMNS", width.to_string()).assert().success();
        let text = String::from_utf8_lossy(&run.get_output().stdout).into_owned();
        let (_, pictures) = text.split_once("access by access").expect("they are there");
        assert!(pictures.contains('┌'), "{text}");
        assert!(pictures.lines().all(|line| line.chars().count() <= width), "{width}: {text}");
        assert!(!text.contains('\x1b'), "no colours in a pipe: {text}");
    }
}

#[test]
fn the_33rd_column_pays() {
    let drawn = |variant: &str| output(&format!("transpose --{variant} --rows 64 --cols 64 --device sim --picture"));
    let (tiled, padded) = (drawn("tiled"), drawn("padded"));
    assert!(tiled.contains("32 lanes, 32 wavefronts, 31 for bank conflicts: one bank has 32 of the words."), "{tiled}");
    assert!(padded.contains("32 lanes, 1 wavefront: no bank has two of the words."), "{padded}");
    assert!(!padded.contains("for bank conflicts"), "{padded}");
}

#[test]
fn a_model_serves_accesses_by_its_own_rules() {
    let drawn = |model: &str| output(&format!("{SHIFTED}:{model} --picture"));
    assert!(drawn("g80").contains("32 transactions, 1024 bytes, move: 12.5 % used."), "{}", drawn("g80"));
    assert!(drawn("fermi").contains("2 lines, 256 bytes, move: 50 % used."), "{}", drawn("fermi"));
    // A model's own default: past L1.
    assert!(drawn("kepler").contains("5 sectors, 160 bytes, move: 80 % used."), "{}", drawn("kepler"));
}

#[test]
fn a_line_is_chosen_by_its_number_and_one_without_an_access_is_an_error() {
    let all = output(&format!("{SHIFTED} --picture"));
    let line = all.split("kernels/src/offset.rs:").nth(1).and_then(|rest| rest.split(':').next()).expect("a line");
    let chosen = output(&format!("{SHIFTED} --picture {line}"));
    assert!(chosen.contains(OFFSET), "{chosen}");
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = host(&format!("{SHIFTED} --picture 1 --output x.npy"));
    command.current_dir(&folder);
    fails_after_its_note(command, &["--picture", "line 1 makes no access to memory", &format!("line {line} does")]);
    assert!(files_in(folder.path()).is_empty());
}

#[test]
fn any_ptx_is_drawn() {
    let folder = tempfile::tempdir().expect("a folder");
    let ptx = ".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n\
               .reg .b32 %r<3>;\n.reg .b64 %rd<4>;\nld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\n\
               mul.wide.u32 %rd2, %r1, 8;\nadd.s64 %rd3, %rd1, %rd2;\nst.global.u32 [%rd3], %r1;\nret;\n}\n";
    std::fs::write(folder.path().join("k.ptx"), ptx).expect("the folder is there");
    let run = |flags: &str| {
        let mut command = host(&format!("run k.ptx k u32[64] --grid 1 --block 32 --device sim {flags}"));
        command.current_dir(&folder);
        command
    };
    let shown = run("--picture").assert().success();
    let text = String::from_utf8_lossy(&shown.get_output().stdout).into_owned();
    assert!(text.contains("Access by access:\nk.ptx:12: st.global.u32 [%rd3], %r1;"), "{text}");
    assert!(text.contains("32 lanes write 128 bytes; 8 sectors, 256 bytes, move: 50 % used."), "{text}");
    fails(run("--picture 3"), 2, &["--picture", "line 3 makes no access", "line 12 does"]);
    fails(run("--picture --format json"), 2, &["--picture", "--format table"]);
}

#[test]
fn memory_is_drawn_of_one_row_or_of_two() {
    let drawn = output("matmul --m 64 --naive --tiled32 --device sim:hopper --picture memory");
    for said in [
        "tiled32: 64 KiB from L1/TEX to kernel, not 1024 KiB: 16.0× less.",
        "kernel ◀ L1/TEX      loads   naive    16384 requests      1024 KiB",
        "hits 87.5 %",
        "stay in L2",
    ] {
        assert!(drawn.contains(said), "no {said}:\n{drawn}");
    }
    assert!(!drawn.contains("not counted") && !drawn.contains("access by access"), "{drawn}");
    // Of more rows, the two that make the lab's point.
    let chosen = output("vector --size 4096 --device sim --picture memory");
    assert!(chosen.contains("copy16: 32 loads from global memory, not 128: 4.00× fewer."), "{chosen}");
    let flat = chosen.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("L1, L2 and DRAM are counted on a GPU's model") && !chosen.contains("◀ DRAM"), "{chosen}");
    fails(host("banks --device sim --picture memory"), 2, &["--picture", "24 would run, choose among them"]);
    fails(host("vector --device sim --picture memory --format csv"), 2, &["--picture", "--format table"]);
    fails(host("vector --device sim --picture memory --predict"), 2, &["--picture", "--predict"]);
}

#[test]
fn how_often_each_element_is_loaded_is_drawn() {
    let drawn = output("matmul --m 64 --naive --tiled16 --tiled32 --device sim --picture elements");
    let flat = drawn.split_whitespace().collect::<Vec<_>>().join(" ");
    let said = "Loads by lanes of each word of A: naive 64, tiled16 4, tiled32 2.";
    assert!(flat.contains(said) && flat.contains("B: 64 times B: 4 times B: 2 times"), "{drawn}");
    let drawn = output("dot --size 4096 --device sim --picture elements");
    let flat = drawn.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        flat.contains("Loads by lanes of each word of the partial sums: global-linear 2.00, shared-linear 0."),
        "{drawn}"
    );
    let drawn = output("gram --rows 64 --cols 64 --device sim --picture elements");
    assert!(drawn.contains("A: tiled16 8, tiled32 4."), "{drawn}");
    let drawn = output("layout --points --size 1024 --device sim --picture elements");
    let flat = drawn.split_whitespace().collect::<Vec<_>>().join(" ");
    let said = "Requests that move each sector of points: points-direct 3, points-staged 1.";
    assert!(flat.contains(said) && flat.contains("x (y and z alike): once"), "{drawn}");
    for flags in ["--format csv", "--predict"] {
        fails(host(&format!("dot --device sim --picture elements {flags}")), 2, &["--picture"]);
    }
    fails(host("dot --device sim --picture element"), 2, &["--picture", "memory, or elements"]);
}

#[test]
fn memory_of_any_ptx_is_drawn() {
    let folder = tempfile::tempdir().expect("a folder");
    let ptx = ".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n\
               .reg .b32 %r<3>;\n.reg .b64 %rd<4>;\nld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\n\
               mul.wide.u32 %rd2, %r1, 8;\nadd.s64 %rd3, %rd1, %rd2;\nst.global.u32 [%rd3], %r1;\nret;\n}\n";
    std::fs::write(folder.path().join("k.ptx"), ptx).expect("the folder is there");
    let mut command = host("run k.ptx k u32[64] --grid 1 --block 32 --device sim:hopper --picture memory");
    let shown = command.current_dir(&folder).assert().success();
    let text = String::from_utf8_lossy(&shown.get_output().stdout).into_owned();
    assert!(text.contains("kernel ▶ L1/TEX      stores  1 request       256 B"), "{text}");
}

/// As [`fails`], after notes.
fn fails_after_its_note(mut command: assert_cmd::Command, parts: &[&str]) {
    let run = command.assert().code(2);
    let output = run.get_output();
    assert!(output.stdout.is_empty());
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let errors: Vec<&str> = text.lines().filter(|line| line.starts_with("error: ")).collect();
    assert!(errors.len() == 1 && parts.iter().all(|part| errors[0].contains(part)), "{text}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_gpu_shows_no_addresses() {
    let command = crate::gpu::on_gpu("offset --size 4096 --picture --device gpu", "");
    fails(command, 2, &["--picture", "--counters", "--device sim"]);
}

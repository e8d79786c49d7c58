//! Submissions that look solved and are not: they meet goals without the work that these are about.
//! Each was marked solved once. `tests/red` has them, as `ATTACK/EXERCISE/kernel.rs`; they are
//! graded with the course's own exercises.

use std::process::Command as Process;

use serde_json::Value;

use super::*;

/// Numbers of jobs that no other test has.
const JUDGES: &str = "28";

/// Attack, exercise, status, and words of the report.
const ATTACKS: [(&str, &str, &str, &str); 24] = [
    // Needless accesses improve a ratio.
    ("d_bank_stride", "bank_stride", "goals_missed", "wrong  loads.sectors is"),
    ("d_constant_from_local", "constant_broadcast", "goals_missed", "wrong  constants.requests is"),
    // There is nothing to count.
    ("v_pitched_rows_empty_blur", "pitched_rows", "goals_missed", "nothing to count (the solution: 4)"),
    // One block, or one warp, does all.
    ("o_histogram_block0", "histogram", "goals_missed", "wrong  working_blocks of histogram is"),
    ("o_one_warp", "reduce_lanes", "goals_missed", "wrong  working_warps of sum is"),
    ("o_one_warp", "reduce_banks", "goals_missed", "wrong  shared.bank_conflicts: nothing to count"),
    ("o_one_warp", "reduce_last_warp", "goals_missed", "wrong  working_warps of sum is"),
    ("o_one_warp", "reduce_shuffle", "goals_missed", "wrong  working_warps of sum is"),
    // The exercise's point is avoided.
    ("p_raw_phased", "race_in_phases", "goals_missed", "wrong  unsafe is 1; goal: 0"),
    (
        "p_raw_phased",
        "scatter_in_phases",
        "goals_missed",
        "wrong  shared.loads.requests is 0; goal: at least solution / 4",
    ),
    ("p_raw_phased", "transpose_in_phases", "goals_missed", "wrong  unsafe of transpose_phased is 2; goal: 0"),
    (
        "p_no_shared",
        "missing_barrier",
        "goals_missed",
        "wrong  shared.loads.requests is 0; goal: at least solution / 4",
    ),
    (
        "p_no_shared",
        "unwritten_shared",
        "goals_missed",
        "wrong  shared.loads.requests is 0; goal: at least solution / 4",
    ),
    ("p_no_shared", "dynamic_shared", "goals_missed", "wrong  shared.loads.requests is 0; goal: at least solution / 4"),
    (
        "p_no_shared",
        "barrier_in_branch",
        "goals_missed",
        "wrong  shared.loads.requests is 0; goal: at least solution / 4",
    ),
    // One kernel has `unsafe` code, by a macro or a helper, for all.
    ("u_macro", "transpose_in_phases", "goals_missed", "wrong  unsafe of transpose_phased is 3; goal: 0"),
    ("u_alias", "transpose_in_phases", "goals_missed", "wrong  unsafe of transpose_phased is 1; goal: 0"),
    // A parameter has another value in the next launch.
    ("c_factor", "guard", "wrong", "wrong results at n = 256"),
    // Right where 16 bits are enough for an index.
    ("p_16_bit_index", "guard", "wrong", "and the results are wrong"),
    // rustc writes a long type's name to a file, and says where.
    ("l_long_type_path", "guard", "does_not_compile", "reached the recursion limit"),
    // rustc says which library has the other definition.
    ("l_library_path", "guard", "does_not_compile", "duplicate lang item"),
    // And some that are as they should be.
    ("h_wide", "grid_stride", "solved", "loads.sectors is"),
    ("h_wide", "three_words", "solved", "stores.sectors is"),
    ("honest", "guard", "solved", "right at 8 sizes"),
];

#[test]
#[ignore = "long: `.ci/run` runs it"]
fn goals_are_not_met_without_the_work() {
    if !has_compiler() {
        return;
    }
    let class = tempfile::tempdir().unwrap();
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    for (attack, exercise, ..) in ATTACKS {
        let file = format!("{attack}/{exercise}/kernel.rs");
        let from = match attack {
            "honest" => root().join("exercises/guard/solution.rs"),
            _ => here.join("red").join(&file),
        };
        fs::create_dir_all(class.path().join(&file).parent().unwrap()).unwrap();
        fs::copy(from, class.path().join(&file)).unwrap();
    }
    let mut exercises: Vec<&str> = ATTACKS.iter().map(|(_, exercise, ..)| *exercise).collect();
    exercises.sort_unstable();
    exercises.dedup();
    let marks = class.path().with_extension("json");
    let mut command = Process::new(env!("CARGO_BIN_EXE_learn"));
    command.args(["grade", "--seed", "1", "--jobs", "2", "--time-limit", "300", "--student-time-limit", "3000"]);
    command.args(["--only", &exercises.join(",")]).arg("--json").arg(&marks).arg(class.path());
    let output = command.current_dir(root()).env("LEARN_JOB", JUDGES).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = fs::read_to_string(&marks).unwrap();
    fs::remove_file(&marks).unwrap();
    let json: Value = serde_json::from_str(&text).unwrap();
    let place = root().canonicalize().unwrap();
    for (attack, exercise, status, words) in ATTACKS {
        let student = json["students"].as_array().unwrap().iter().find(|student| student["name"] == attack).unwrap();
        let mark = student["marks"].as_array().unwrap().iter().find(|mark| mark["exercise"] == exercise).unwrap();
        let report = mark["report"].as_str().unwrap();
        assert_eq!(mark["status"], status, "{attack} {exercise}: {report}");
        assert!(report.contains(words), "{attack} {exercise}, without {words}: {report}");
        for path in [place.to_str().unwrap(), "/target/", "long-type"] {
            assert!(!report.contains(path), "{attack} {exercise}: {report}");
        }
    }
}

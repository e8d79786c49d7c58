//! Tests of the labs' results: right values, expected counters, and what is reported of wrong ones.

use crate::{host, json, output, variant};

#[test]
fn the_main_job_prints_a_table_that_fits_the_terminal() {
    let table = output("transpose --padded --device sim");
    assert!(table.contains("padded"), "{table}");
    let flat = table.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("takes 1 wavefront."), "{table}");
    for line in table.lines() {
        assert!(line.chars().count() <= 100, "{} columns: {line}", line.chars().count());
    }
}

#[test]
fn with_no_gpu_auto_takes_the_simulator_and_says_so() {
    let run = host("transpose --padded --rows 40 --cols 50 --format json").assert().success();
    let report: serde_json::Value = serde_json::from_slice(&run.get_output().stdout).expect("JSON");
    let note = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
    assert_eq!(note.starts_with("note: running on the simulator: "), report["device"]["name"] == "simulator", "{note}");
}

#[test]
fn the_padding_ends_the_bank_conflicts() {
    let report = json("transpose --rows 1024 --cols 512");
    let expected = [
        // (variant, sectors of loads, of stores, wavefronts of shared loads, bank conflicts), per
        // warp of 32 elements.
        ("strided-writes", 4, 32, 0, 0),
        ("strided-reads", 32, 4, 0, 0),
        ("block16", 4, 16, 0, 0),
        ("tiled", 4, 4, 32, 31),
        ("padded", 4, 4, 1, 0),
        ("copy", 4, 4, 0, 0),
    ];
    let warps = 1024 * 512 / 32;
    for (name, loads, stores, wavefronts, conflicts) in expected {
        let variant = variant(&report, name);
        assert_eq!(variant["correct"], true, "{name}");
        assert_eq!(variant["max_error"], 0.0, "{name}");
        assert!(variant["time_ms"].is_null() && variant["gbps"].is_null(), "{name}: the simulator has no clock");
        let counters = &variant["counters"];
        for (counter, expected) in [
            ("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 1),
            ("l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", 1),
            ("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", loads),
            ("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", stores),
            ("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", wavefronts),
            ("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", conflicts),
        ] {
            assert_eq!(counters[counter], expected * warps, "{name}: {counter}");
        }
    }
}

#[test]
fn the_worked_example_s_offsets_use_100_80_and_100_percent() {
    let report = json("offset --read --offset 0,11,128 --size 65664");
    let used = |name| {
        let percent =
            &variant(&report, name)["counters"]["smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct"];
        percent.as_f64().expect("a percentage").round()
    };
    assert_eq!(["read+0", "read+11", "read+128"].map(used), [100.0, 80.0, 100.0]);
}

#[test]
fn the_offset_sweep_has_both_sides_and_all_offsets() {
    let report = json("offset --all --size 4096");
    let names: Vec<_> = report["variants"].as_array().expect("a list").iter().map(|v| v["name"].as_str()).collect();
    assert_eq!(names.len(), 2 * 34);
    assert!(names.contains(&Some("read+32")) && names.contains(&Some("write+128")));
    assert!(report["variants"].as_array().expect("a list").iter().all(|variant| variant["correct"] == true));
}

#[test]
fn odd_shapes_blocks_and_pitches_are_right() {
    for arguments in [
        "transpose --rows 1 --cols 1",
        "transpose --rows 1 --cols 777",
        "transpose --rows 333 --cols 1 --pitched",
        "transpose --rows 31 --cols 33 --pitched",
        "transpose --rows 100 --cols 130 --tiled --padded --batched --naive --copy",
        "transpose --rows 100 --cols 130 --block 7,9 --block16",
        "offset --size 1 --offset 0",
        "offset --size 1000 --block 1 --offset 999",
        "offset --size 1000 --block 1024 --offset 3",
    ] {
        let report = json(arguments);
        for variant in report["variants"].as_array().expect("a list") {
            assert_eq!(variant["correct"], true, "{arguments}: {variant}");
        }
    }
}

/// What a lab's numbers show, in its words.
fn conclusions(arguments: &str) -> String {
    let report = json(arguments);
    let sentences = report["conclusions"].as_array().into_iter().flatten();
    sentences.map(|sentence| sentence.as_str().expect("a sentence")).collect::<Vec<_>>().join(" ")
}

#[test]
fn dot_says_that_a_sector_ends_with_linear_vectors_only_where_it_does() {
    for (size, ends, counted) in [(9, false, false), (17, false, false), (24, true, false), (1001, false, true)] {
        let text = conclusions(&format!("dot --size {size}"));
        assert_eq!(text.contains("end on a sector boundary"), ends, "{size}: {text}");
        assert_eq!(text.contains("begins inside a sector"), counted, "{size}: {text}");
    }
}

#[test]
fn no_lab_compares_a_variant_with_itself() {
    for alone in ["offset --offset 0", "offset --offset 0,16", "offset --size 1", "shared --dynamic --kilobytes 4"] {
        assert_eq!(conclusions(alone), "", "{alone}");
    }
    assert!(!conclusions("launch --size 3").contains("load requests instead"));
    assert!(
        conclusions("offset --offset 0,1").contains("takes 4 sectors at offset 0 and 5 at offset 1: 100 % and 80.0 %")
    );
    assert!(conclusions("shared --dynamic --kilobytes 4,64").contains("with 4 KiB each, occupancy is"));
    assert!(conclusions("launch --size 16384").contains("with 512 load requests instead of 128."));
}

#[test]
fn a_value_given_twice_is_one_variant() {
    for (lab, variants) in [
        ("offset --offset 1,1", 2),
        ("shared --dynamic --kilobytes 4,8,4", 2),
        ("launch --word f32,f32 --loads 2,2 --block 64,64 --grid 3,3", 1),
        ("banks --pattern permuted,permuted", 2),
        ("access --loads --stride 2,2 --models hopper,hopper", 6),
        ("cache --operators --pattern table,table", 7),
        ("reduce --best --operation min,min --type i32,i32", 1),
    ] {
        let report = json(lab);
        assert_eq!(report["variants"].as_array().map(Vec::len), Some(variants), "{lab}");
    }
}

#[test]
fn the_seed_decides_the_data_and_nothing_else_does() {
    let folder = tempfile::tempdir().expect("a folder");
    let bytes = |name: &str, seed: u32| {
        let file = folder.path().join(name);
        let arguments = format!("transpose --padded --rows 50 --cols 40 --device sim --seed {seed} --output");
        host(&arguments).arg(&file).assert().success();
        std::fs::read(file).expect("the output is there")
    };
    let first = bytes("a.npy", 1);
    assert_eq!(first, bytes("b.npy", 1));
    assert_ne!(first, bytes("c.npy", 2));
}

#[test]
fn a_wrong_kernel_is_reported_and_ends_with_exit_code_1() {
    // The kernels' PTX, with the copy under the name of the padded transpose.
    let text =
        kernels::PTX[0].text.replace("transpose_padded", "elsewhere").replace("transpose_copy", "transpose_padded");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("wrong.ptx");
    std::fs::write(&file, text).expect("the file is written");
    let run =
        host("transpose --padded --rows 64 --cols 64 --device sim --format json --ptx").arg(&file).assert().code(1);
    let report: serde_json::Value = serde_json::from_slice(&run.get_output().stdout).expect("JSON");
    let padded = variant(&report, "padded");
    assert_eq!(padded["correct"], false);
    assert!(padded["max_error"].as_f64().expect("a number") > 0.0);
    let table = host("transpose --padded --rows 64 --cols 64 --device sim --ptx").arg(&file).assert().code(1);
    assert!(String::from_utf8_lossy(&table.get_output().stdout).contains("NO"));
}

#[test]
fn lists_name_every_lab_and_the_simulator() {
    let (table, names) = (output("list"), output("list --format json"));
    for name in host::labs::ALL.iter().map(|lab| lab.name).chain(["devices"]) {
        assert!(table.contains(&format!("\n {name} ")), "{table}");
    }
    for name in ["transpose", "transpose_padded", "offset_write"] {
        assert!(names.contains(&format!("\"{name}\"")), "{names}");
    }
    assert!(output("devices").contains("simulator"));
}

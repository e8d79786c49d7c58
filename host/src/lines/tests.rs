//! Tests of `--lines`: counts of a small kernel, and their listing as text and JSON, on the
//! simulator.

use simt::Report;

use super::text::TITLES;
use super::*;

/// A kernel whose stores are in lines 3 and 9 of a file, if it has line information; the second one
/// stores a column of a matrix. Its last store has only the line that it was inlined into, 11; its
/// end has none.
fn report(locations: bool) -> Report {
    report_on(locations, None)
}

fn report_on(locations: bool, model: Option<&'static simt::Model>) -> Report {
    let text = "
.version 7.8
.target sm_75
.address_size 64
.file 1 \"no/such/kernel.rs\"
.visible .entry k(.param .u64 out) {
.reg .b32 %r<3>;
.reg .b64 %rd<5>;
.shared .b32 tile;
.loc 1 2 1
ld.param.u64 %rd1, [out];
mov.u32 %r1, %tid.x;
mul.wide.u32 %rd2, %r1, 4;
add.s64 %rd3, %rd1, %rd2;
.loc 1 3 1
st.global.u32 [%rd3], %r1;
.loc 1 9 1
mul.wide.u32 %rd2, %r1, 128;
add.s64 %rd4, %rd1, %rd2;
st.global.u32 [%rd4], %r1;
.loc 1 9 5
ld.global.u32 %r2, [%rd3];
.loc 1 0 3, function_name $inlined, inlined_at 1 11 1
st.shared.u32 [tile], %r2;
.loc 1 0 1
ret;
}
";
    let text = match locations {
        true => text.to_owned(),
        false => text.lines().filter(|line| !line.starts_with(".loc")).map(|line| format!("{line}\n")).collect(),
    };
    let module = ptx::parse("k.ptx", &text).unwrap();
    let mut memory = simt::Memory::new(1 << 20);
    let program = simt::Program::load(&module, &mut memory).unwrap();
    let out = memory.allocate(8192).unwrap();
    let (block, arguments): (_, [&[u8]; 1]) = ([64, 1, 1], [&out.to_le_bytes()]);
    let launch =
        simt::Launch { kernel: "k", block, arguments: &arguments, model, predicts: model, ..simt::Launch::default() };
    program.launch(&memory, &launch).unwrap()
}

fn lines(locations: bool, hot: Option<u64>) -> Lines {
    let mut counts = LineCounts::default();
    counts.add(&report(locations));
    Lines::of(counts, "k.ptx", &[], hot)
}

#[test]
fn several_launches_are_added_up() {
    for locations in [true, false] {
        let mut counts = LineCounts::default();
        counts.add(&report(locations));
        counts.add(&report(locations));
        let twice = Lines::of(counts, "k.ptx", &[], None);
        let once = lines(locations, None);
        let executed = |lines: &Lines| lines.rows.iter().map(|row| row.counted.all.executed).collect::<Vec<_>>();
        assert_eq!(executed(&twice), executed(&once).iter().map(|count| 2 * count).collect::<Vec<_>>());
    }
}

#[test]
fn lines_stand_in_the_order_of_the_source_and_loads_and_stores_apart() {
    let text = lines(true, None).text(100);
    let expected = "\
no/such/kernel.rs
     2            8   32.0
     3            2   32.0
                  2         = global stores: 4.00 sectors per request
    ...
     9            8   32.0
                  2         = global loads: 4.00 sectors per request
                  2         = global stores: 32.0 sectors per request
    10
    11            2   32.0
                  2         = shared stores: 1.00 wavefronts per request, no bank conflicts
     -            2   32.0  (no line of its own: the compiler moved it or shares it between lines)
no/such/kernel.rs was not found, so its text is missing: it is looked for below the PTX's folder,
the current one and their projects; --sources of `host run` names others.
";
    assert_eq!(text, format!("{TITLES}{expected}"));
}

#[test]
fn the_worst_come_first() {
    let lines = lines(true, Some(2));
    let json = serde_json::to_value(&lines).unwrap();
    assert_eq!(
        json,
        json!([
            {
                "file": "no/such/kernel.rs", "line": 9, "source": null, "instructions": 8, "active_lanes": 32.0,
                "requests": 4, "sectors_per_request": 18.0, "bank_conflicts": 0,
                "accesses": [
                    {"memory": "global", "kind": "load", "requests": 2, "sectors": 8, "sectors_per_request": 4.0},
                    {"memory": "global", "kind": "store", "requests": 2, "sectors": 64, "sectors_per_request": 32.0},
                ],
            },
            {
                "file": "no/such/kernel.rs", "line": 3, "source": null, "instructions": 2, "active_lanes": 32.0,
                "requests": 2, "sectors_per_request": 4.0, "bank_conflicts": 0,
                "accesses": [
                    {"memory": "global", "kind": "store", "requests": 2, "sectors": 8, "sectors_per_request": 4.0},
                ],
            },
        ])
    );
}

#[test]
fn the_rows_add_up_to_the_launch() {
    let executed: u64 = lines(true, None).rows.iter().map(|row| row.counted.all.executed).sum();
    assert_eq!(executed, report(true).counters().instructions_executed);
    let all = serde_json::to_value(lines(true, None)).unwrap();
    let last = all.as_array().unwrap().last().unwrap();
    assert_eq!((&last["file"], &last["line"], &last["instructions"]), (&Value::Null, &Value::Null, &json!(2)));
}

#[test]
fn without_locations_the_ptx_is_listed() {
    let text = lines(false, Some(1)).text(100);
    let expected = "\
k.ptx
    17            2   32.0  st.global.u32 [%rd4], %r1;
                  2         = global stores: 32.0 sectors per request
The PTX names no lines of its source: nvcc writes them with -lineinfo, clang with
-gline-tables-only, numba with @cuda.jit(lineinfo=True).
";
    assert_eq!(text, format!("{TITLES}{expected}"));
}

#[test]
fn no_width_cuts_a_line() {
    for width in [40, 60, 100, 200] {
        let text = lines(false, None).text(width);
        assert!(text.lines().all(|line| line.chars().count() <= width), "{width}: {text}");
        let words: Vec<&str> = text.split_whitespace().collect();
        let words = words.join(" ");
        assert!(words.contains("global stores: 32.0 sectors per request"), "{width}: {text}");
        assert!(words.contains("mul.wide.u32 %rd2, %r1, 128;"), "{width}: {text}");
    }
}

#[test]
fn with_a_predicted_time_lines_say_where_warps_wait() {
    let mut counts = LineCounts::default();
    counts.add(&report_on(true, simt::Model::named("hopper")));
    let lines = Lines::of(counts, "k.ptx", &[], None);
    let json = serde_json::to_value(&lines).unwrap();
    let parts = json.as_array().unwrap().iter().map(|line| line["predicted_waiting"].as_f64().unwrap());
    assert!((parts.sum::<f64>() - 1.0).abs() < 1e-9, "{json}");
    // The store to shared memory needs nothing but its turn; what is loaded in line 9 nothing uses.
    let text = lines.text(100);
    assert!(text.contains(" %         = of all waiting, predicted\n"), "{text}");
    assert!(lines.legend(100).contains("Waiting is a part of the predicted time"));
    assert!(!super::tests::lines(true, None).legend(100).contains("Waiting"));
}

//! PTX against PTX.

use serde_json::{Value, json};

use super::{Bench, beside, error, run, verdict};

const SCALE: &str = include_str!("scale.ptx");
const CONTRACT: &str = include_str!("scale.toml");

/// The reference with other text in one place.
fn with(from: &str, to: &str) -> String {
    assert_eq!(SCALE.matches(from).count(), 1, "{from}");
    SCALE.replace(from, to)
}

/// The verdict on this candidate.
fn judged(candidate: &str) -> (Value, Option<i32>) {
    let bench = Bench::new();
    let contract = beside("scale.toml");
    let contract = contract.to_str().expect("UTF-8");
    verdict(&beside("scale.ptx"), &bench.file("new.ptx", candidate), &["--contract", contract])
}

/// The first rule that is broken.
fn rule(verdict: &Value) -> &str {
    verdict["problems"][0]["rule"].as_str().unwrap_or("none")
}

#[test]
fn an_honest_candidate_is_right_and_is_counted_beside_the_reference() {
    let (verdict, code) = judged(&with("mul.f32 %f4, %f1, %f2", "fma.rn.f32 %f4, %f2, %f1, 0f00000000"));
    assert_eq!((&verdict["verdict"], code), (&json!("right"), Some(0)));
    let sizes = verdict["sizes"].as_array().expect("sizes");
    assert_eq!((sizes.len(), &verdict["right_at"]), (12, &verdict["sizes"]));
    assert_eq!(verdict["measured_at"], json!({"n": 4096}));
    let kernel = &verdict["kernels"]["candidate"][0];
    assert_eq!((&kernel["kernel"], &kernel["counters"]["loads.sectors"]), (&json!("scale"), &json!(512.0)));
    assert_eq!(kernel["counters"], verdict["kernels"]["reference"][0]["counters"]);
    assert!(kernel["predicted_us"].as_f64().is_some_and(|us| us > 1.0), "{kernel}");
    assert_eq!(verdict["times_as_fast"], json!(1.0));
    assert_eq!((&verdict["calls"], &verdict["orders"]), (&json!(24), &json!(16)));
    assert!(verdict["sure"]["result"].as_str().is_some_and(|text| text.contains("not a proof")));
}

#[test]
fn the_seed_decides_everything() {
    let bench = Bench::new();
    let candidate = bench.file("new.ptx", SCALE);
    let contract = beside("scale.toml");
    let contract = contract.to_str().expect("UTF-8");
    let with_seed = |seed| run(&beside("scale.ptx"), &candidate, &["--contract", contract, "--seed", seed]).stdout;
    let verdicts = |seed| verdict(&beside("scale.ptx"), &candidate, &["--contract", contract, "--seed", seed]).0;
    assert_eq!((with_seed("7"), verdicts("7")), (with_seed("7"), verdicts("7")));
    assert_ne!(verdicts("7")["sizes"], verdicts("8")["sizes"]);
    let text = String::from_utf8(with_seed("7")).expect("UTF-8");
    assert!(text.contains("new.ptx: right\n") && text.contains("predicted us"), "{text}");
    assert!(text.lines().all(|line| line.len() <= 100), "{text}");
    let mut command = assert_cmd::Command::cargo_bin("coalesce").expect("the program");
    command.args(["judge", "--contract", contract, "--format", "json"]);
    command.args(sandbox::missing().map(|_| "--no-sandbox"));
    command.arg("--reference").arg(beside("scale.ptx")).arg("--candidate").arg(&candidate);
    let seed = |output: Vec<u8>| serde_json::from_slice::<Value>(&output).expect("JSON")["seed"].clone();
    let [one, other] = [(); 2].map(|()| seed(command.output().expect("it runs").stdout));
    assert_ne!(one, other, "each verdict has a seed of its own");
}

/// As a program of nvcc: code, and a fat binary.
fn with_fat_binary(ptx: &str) -> Vec<u8> {
    let mut file = vec![0u8; 64];
    file[0] = 1;
    file[4] = 64;
    for at in [8, 16] {
        file[at..at + 4].copy_from_slice(&(ptx.len() as u32).to_le_bytes());
    }
    file[28] = 80;
    file.extend(ptx.as_bytes());
    let header = [0xba55_ed50u32.to_le_bytes(), [1, 0, 16, 0]].concat();
    [b"\x7fELFcode".as_slice(), &header, &(file.len() as u64).to_le_bytes(), &file, b"data"].concat()
}

#[test]
fn ptx_is_found_in_programs_by_the_kernels_name_in_the_source() {
    let bench = Bench::new();
    let contract = beside("scale.toml");
    let more = ["--contract", contract.to_str().expect("UTF-8"), "--cases", "3"];
    let mangled = SCALE.replace("scale(", "_Z5scalejfPfS_(");
    let other = SCALE.replace("scale(", "other(");
    let write = |name: &str, bytes: &[u8]| {
        let path = bench.folder.path().join(name);
        std::fs::write(&path, bytes).expect("a file");
        path
    };
    let nvcc = write("nvcc", &[with_fat_binary(&other), with_fat_binary(&mangled)].concat());
    // As `include_str!` leaves it: text follows text.
    let rust =
        write("rust", &[b"\x7fELF\0\x01", other.as_bytes(), b"{\n}\0", SCALE.as_bytes(), b"a text {}\xff"].concat());
    for candidate in [&nvcc, &rust] {
        let (verdict, code) = verdict(&beside("scale.ptx"), candidate, &more);
        assert_eq!((&verdict["verdict"], code), (&json!("right"), Some(0)), "{verdict}");
        assert!(verdict["kernels"]["candidate"][0]["kernel"].as_str().is_some_and(|it| it.starts_with("scale")));
    }
    let (verdict, code) = verdict(&nvcc, &write("none", b"\x7fELF, and no PTX"), &more);
    assert_eq!((rule(&verdict), code), ("invalid", Some(1)), "{verdict}");
    let text = error(&write("only other", &with_fat_binary(&other)), &nvcc, &more);
    assert!(text.contains("only other: there is no PTX in it with scale; nvcc puts PTX"), "{text}");
}

#[test]
fn the_costliest_access_is_drawn() {
    let bench = Bench::new();
    // Each lane loads from a sector of its own.
    let strided = with("ld.global.f32 %f2, [%rd4];", "ld.global.f32 %f2, [%rd4+28];")
        .replace("add.s64 %rd4, %rd1, %rd3;", "mad.wide.u32 %rd4, %r5, 32, %rd1;");
    let contract = CONTRACT
        .replace("name = \"x\"\ntype = \"f32\"\nlength = \"n\"", "name = \"x\"\ntype = \"f32\"\nlength = \"8 * n\"");
    let contract = bench.file("contract.toml", &contract);
    let more = ["--contract", contract.to_str().expect("UTF-8"), "--cases", "2", "--explain"];
    let candidate = bench.file("strided.ptx", &strided);
    let output = run(&candidate, &candidate, &more);
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(text.contains("32 sectors, 1024 bytes, move"), "{text}");
    assert!(text.lines().any(|line| line.contains("22") && line.contains("ld.global.f32 %f2, [%rd4+28];")), "{text}");
}

#[test]
fn wrong_candidates_are_named() {
    // (what is wrong, the candidate, the rule)
    let cases = [
        ("a guard that lets one too many through", with("setp.ge.u32", "setp.gt.u32"), "finding"),
        ("another sum", with("mul.f32 %f4", "add.f32 %f4"), "result"),
        ("an input that changes", with("st.global.f32 [%rd5], %f4;", "st.global.f32 [%rd4], %f4;\nst.global.f32 [%rd5], %f4;"), "input_changed"),
        (
            "the last element is left out",
            with("    setp.ge.u32 %p1, %r5, %r1;", "    sub.u32 %r1, %r1, 1;\n    setp.ge.u32 %p1, %r5, %r1;"),
            "not_written",
        ),
        ("a loop without an end", with("    mul.f32 %f4, %f1, %f2;", "again:\n    mul.f32 %f4, %f1, %f2;\n    bra again;"), "stopped"),
        ("another kernel", with("scale(", "other("), "invalid"),
        ("no PTX", "int main() {}".to_owned(), "invalid"),
        (
            "a result that depends on the order of blocks",
            with(".visible .entry", ".global .u32 ticket;\n.visible .entry")
                .replace("    mul.wide.u32 %rd3, %r5, 4;\n    add.s64 %rd4, %rd1, %rd3;\n", "    mul.wide.u32 %rd3, %r5, 4;\n    add.s64 %rd4, %rd1, %rd3;\n    atom.global.add.u32 %r5, [ticket], 1;\n    rem.u32 %r5, %r5, %r1;\n    mul.wide.u32 %rd3, %r5, 4;\n"),
            "other_order",
        ),
    ];
    for (what, candidate, wanted) in cases {
        let (verdict, code) = judged(&candidate);
        assert_eq!(
            (&verdict["verdict"], rule(&verdict), code),
            (&json!("wrong"), wanted, Some(1)),
            "{what}: {verdict}"
        );
    }
}

#[test]
fn tricks_are_refused() {
    let cases = [
        ("nothing is computed", with("    st.global.f32 [%rd5], %f4;\n", ""), "nothing_computed", "refused"),
        ("the size of the largest case", with("ld.param.u32 %r1, [n];", "mov.u32 %r1, 4096;"), "finding", "wrong"),
        ("a factor that is drawn", with("ld.param.f32 %f1, [a];", "mov.f32 %f1, 0f3F000000;"), "result", "wrong"),
    ];
    for (what, candidate, wanted, status) in cases {
        let (verdict, code) = judged(&candidate);
        assert_eq!((rule(&verdict), &verdict["verdict"], code), (wanted, &json!(status), Some(1)), "{what}: {verdict}");
    }
}

#[test]
fn an_output_of_an_earlier_call_is_refused() {
    // A second kernel notes that there was a call.
    let candidate = with(".visible .entry", ".global .u32 calls;\n.visible .entry").replace(
        "    mul.f32 %f4, %f1, %f2;",
        "    mul.f32 %f4, %f1, %f2;\n    ld.global.u32 %r2, [calls];\n    setp.ne.u32 %p1, %r2, 0;\n    @%p1 bra done;",
    ) + "\n.visible .entry note() {\n    st.global.u32 [calls], 1;\n    ret;\n}\n";
    let contract = CONTRACT.to_owned()
        + "\n[[candidate]]\nkernel = 'scale'\ngrid = ['ceil(n / 256)']\nblock = [256]\n\
           [[candidate]]\nkernel = 'note'\ngrid = [1]\nblock = [1]\narguments = []\n";
    let bench = Bench::new();
    let contract = bench.file("contract.toml", &contract);
    let (verdict, code) = verdict(
        &beside("scale.ptx"),
        &bench.file("new.ptx", &candidate),
        &["--contract", contract.to_str().expect("UTF-8")],
    );
    assert_eq!(
        (rule(&verdict), &verdict["verdict"], code),
        ("earlier_output", &json!("refused"), Some(1)),
        "{verdict}"
    );
}

#[test]
fn what_cannot_be_judged_is_one_line() {
    let bench = Bench::new();
    let reference = beside("scale.ptx");
    let contract = beside("scale.toml");
    let usual = ["--contract", contract.to_str().expect("UTF-8")];
    let wrong = bench.file("wrong.toml", &CONTRACT.replace("\"n\"\nrole", "\"m\"\nrole"));
    let faulty = bench.file("faulty.ptx", &with("setp.ge.u32", "setp.gt.u32"));
    for (said, text) in [
        ("--contract FILE.toml: PTX needs one", error(&reference, &reference, &[])),
        (
            "argument 'y': length: 'm': unknown name 'm'",
            error(&reference, &reference, &["--contract", wrong.to_str().expect("UTF-8")]),
        ),
        ("the reference, ", error(&faulty, &reference, &usual)),
        ("none.ptx: No such file", error(&reference, &bench.folder.path().join("none.ptx"), &usual)),
        ("/dev/zero: this is no file", error(&reference, std::path::Path::new("/dev/zero"), &usual)),
        ("give two Python files, or two with PTX", error(&reference, &bench.file("a.py", ""), &usual)),
        (
            "--model: there is no 'voodoo'",
            error(&reference, &reference, &[&usual[..], &["--model", "voodoo"]].concat()),
        ),
    ] {
        assert!(text.contains(said), "{text}");
    }
}

#[test]
fn who_takes_too_much_is_to_blame() {
    let bench = Bench::new();
    let contract = bench.file("contract.toml", &CONTRACT.replace("max = 4096", "min = 60000000, max = 60000000"));
    let reference = beside("scale.ptx");
    let limits = ["--memory-limit", "256", "--cases", "1", "--contract"];
    let text = error(&reference, &reference, &[&limits[..], &[contract.to_str().expect("UTF-8")]].concat());
    assert!(text.contains("the reference"), "{text}");
    let contract = beside("scale.toml");
    let large = with(".visible .entry", ".global .align 4 .b8 large[400000000];\n.visible .entry");
    let more = [&limits[..], &[contract.to_str().expect("UTF-8")]].concat();
    let (verdict, code) = verdict(&reference, &bench.file("large.ptx", &large), &more);
    assert_eq!((&verdict["verdict"], code), (&json!("wrong"), Some(1)), "{verdict}");
    assert!(["invalid", "resources"].contains(&rule(&verdict)), "{verdict}");
}

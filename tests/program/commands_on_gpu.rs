//! Every subcommand on a GPU, that of the driver that executes: a table of command lines, with the
//! exit code and what stands on the standard error. Subcommands and flags come from the program
//! itself, so a new one without a row fails.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::LazyLock;

use clap::parser::ValueSource;

use crate::gpu::{folder, on_gpu};

/// A lab's rows.
struct Lab {
    name: &'static str,
    /// The flags that make it quick.
    size: &'static str,
    /// Its own flags. A row with `--input` goes without the size.
    own: &'static [&'static str],
    /// Flags with which one variant runs, which `--output` and `--why` need; `None` for a lab that
    /// always runs several.
    one: Option<&'static str>,
}

const LABS: [Lab; 27] = [
    Lab {
        name: "launch",
        size: "--size 300",
        own: &["--word f32 --loads 1,2 --block 64 --grid 2", "--input v.npy", "--plot"],
        one: Some("--word f32 --loads 1 --block 64 --grid 2"),
    },
    Lab {
        name: "offset",
        size: "--size 300",
        own: &["--offset 0,11 --block 64 --read --write", "--all", "--input v.npy --input-b v.npy", "--plot"],
        one: Some("--offset 1 --read"),
    },
    Lab { name: "access", size: "--size 64", own: &["--stride 2 --loads --stores", "--all --plot"], one: None },
    Lab { name: "layout", size: "--size 64", own: &["--points --particles --sums --matrix"], one: None },
    Lab {
        name: "vector",
        size: "--size 300",
        own: &["--copy4 --copy8 --copy16 --best --block 64 --multiprocessors 80", "--input v.npy"],
        one: Some("--copy4"),
    },
    Lab {
        name: "cache",
        size: "--size 300",
        own: &["--operators --configurations --carveouts --compiled", "--all", "--pattern table", "--plot"],
        one: None,
    },
    Lab {
        name: "pitch",
        size: "--rows 20 --cols 30",
        own: &["--by-rows --by-columns --transposed --copies --linear --pitched --block 64", "--input m.npy"],
        one: Some("--by-rows --linear"),
    },
    Lab {
        name: "constant",
        size: "--size 300",
        own: &["--polynomial --gamma --lookup --set --constant --global --block 64", "--input v.npy"],
        one: Some("--gamma --constant"),
    },
    Lab { name: "table", size: "--size 300", own: &["--step 0.5 --accurate --fast --block 64"], one: Some("--fast") },
    Lab {
        name: "transpose",
        size: "--rows 40 --cols 30",
        own: &[
            "--tile-width 32,33 --block 8,8 --block16 --pitched --naive --tiled --padded --batched --diagonal --phased \
             --best --copy --multiprocessors 80",
            "--input m.npy",
        ],
        one: Some("--tiled"),
    },
    Lab {
        name: "matmul",
        size: "--m 30 --n 20 --k 10",
        own: &[
            "--block 8,8 --pitched --naive --tiled16 --phased16 --tiled32 --registers --wide --async2 --async3 --best \
             --multiprocessors 80",
            "--input s.npy --input-b s.npy",
        ],
        one: Some("--naive"),
    },
    Lab {
        name: "gram",
        size: "--rows 20 --cols 30",
        own: &[
            "--pitched --tiled16 --padded16 --tiled32 --padded32 --phased32 --mirrored --registers --best \
             --multiprocessors 80",
            "--input m.npy",
        ],
        one: Some("--tiled16"),
    },
    Lab {
        name: "reduce",
        size: "--size 300",
        own: &[
            "--operation sum,min --type f32,i32 --block 64 --reduce1 --reduce2 --reduce3 --reduce4 --reduce5 --reduce6 \
             --phased3 --phased6 --best --multiprocessors 80",
            "--input v.npy",
        ],
        one: Some("--reduce3"),
    },
    Lab {
        name: "dot",
        size: "--size 300",
        own: &[
            "--block 64 --global --shared --best --linear --aligned --multiprocessors 80",
            "--input v.npy --input-b v.npy",
        ],
        one: Some("--global --linear"),
    },
    Lab {
        name: "rows",
        size: "--rows 20 --cols 30",
        own: &[
            "--sum --mean --max --min --squares --column-means --global --shared --phased --best --linear --pitched \
             --block 64 --multiprocessors 80",
            "--all",
            "--input m.npy",
        ],
        one: Some("--sum --global --linear"),
    },
    Lab {
        name: "banks",
        size: "--blocks 2 --rounds 2",
        own: &["--pattern stride-1", "--stride 1,2", "--all", "--plot"],
        one: Some("--pattern stride-1"),
    },
    Lab {
        name: "shared",
        size: "--size 3000",
        own: &["--kilobytes 1,16 --static --dynamic --carveouts --block 64", "--all", "--input v.npy"],
        one: Some("--static"),
    },
    Lab {
        name: "texture",
        size: "--size 32",
        own: &["--linear --sampling --walks --made", "--all", "--input t.npy"],
        one: None,
    },
    Lab {
        name: "atomics",
        size: "--size 300",
        own: &[
            "--global --ballot --match --shared --warp --spread --skewed --alike --each 2 --distinct 3",
            "--input bytes.npy",
        ],
        one: Some("--shared --spread"),
    },
    Lab {
        name: "consistency",
        size: "--blocks 2 --launches 2",
        own: &[
            "--volatile --relaxed --block-fence --device-fence --release --packed",
            "--lookback-relaxed --lookback-release --lookback-packed",
        ],
        one: Some("--release"),
    },
    Lab {
        name: "spill",
        size: "--rows 20 --cols 40 --lists 64 --steps 3",
        own: &[
            "--all --local --shared --registers --bounded --words 16,64",
            "--full --alone",
            "--lists 64 --input m.npy",
        ],
        one: Some("--local --words 16"),
    },
    Lab {
        name: "scan",
        size: "--size 300",
        own: &[
            "--hillis-steele --blelloch --padded --log-banks 4 --shuffle --two-reads --single --window",
            "--compact-two-reads --compact-single --keep 10",
            "--window --input u.npy",
        ],
        one: Some("--window"),
    },
    Lab {
        name: "transfer",
        size: "--size 300 --rounds 2",
        own: &[
            "--to-device-pageable --to-device-pinned --to-host-pageable --to-host-pinned --on-device --bytes 4,1K --plot",
            "--streams-1 --streams-2 --streams-4 --copied --mapped --managed --prefetched --chunks 3",
            "--to-peer --streams-1",
            "--largest 2K --to-device-pinned",
            "--streams-2 --input u.npy",
        ],
        one: Some("--streams-2"),
    },
    Lab {
        name: "sparse",
        size: "--rows 300",
        own: &[
            "--coo --segments --csr-threads --csr-warps --ell --sliced --uniform --power-law",
            "--each 5 --spread 3 --log-slice 2",
            "--matrix a.mtx --input v.npy",
        ],
        one: Some("--ell --uniform"),
    },
    Lab {
        name: "stencil",
        size: "--rows 40 --cols 50 --volume 3,9,40",
        own: &[
            "--global --shared --registers --both --texture --wide --points 5,25,7 --pitched",
            "--plot",
            "--input m.npy",
            "--input-volume w.npy",
        ],
        one: Some("--wide --points 25"),
    },
    Lab {
        name: "pipeline",
        size: "--size 3000",
        own: &["--load --registers --async --blocks 1,2", "--bulk --stages 2,3,4", "--load --blocks 1 --input v.npy"],
        one: Some("--load --blocks 1"),
    },
    Lab {
        name: "order",
        size: "--m 40 --n 70 --k 50 --entries 2048 --passes 2",
        own: &[
            "--row-by-row --squares --side 2 --curve",
            "--table --streaming --evict-first --evict-last --window",
            "--squares --input s.npy --input-b s.npy --entries 2048 --passes 2 --multiprocessors 24",
        ],
        one: Some("--squares"),
    },
];

/// The flags that every lab has.
const COMMON: [&str; 6] = [
    "--seed 2 --cache-config l1 --carveout 50 --time-limit 0.01 --format csv",
    "--once --counters --lines --hot 2 --picture --check all --memory-limit 512M --heap-limit 1M --output-limit 10M \
     --step-limit 100000000 --fault-limit 10 --schedule usual:1",
    "--once --counters --no-predict --legend --schedules 2",
    "--once --predict --thread-registers 40 --format markdown",
    // Times are predicted, and nothing is computed.
    "--compare-models --format json",
    "--report page.html --play --time-limit 0.01 --ptx best.ptx --ptx kernels.ptx",
];

/// What `--output` and `--why` say of several variants.
const SEVERAL: [&str; 2] =
    ["error: --output: the variants have different results, such as ...", "error: --why: it explains one row; ..."];

/// Flags of labs that have tests elsewhere.
const ELSEWHERE: [(&str, &str); 4] = [
    ("peer", "peers.rs: with libraries"),
    ("peer_library", "peers.rs"),
    ("models", "only the simulator without a model compares models"),
    ("plot", "plots.rs; most labs have none, and say so"),
];

const RUN: &str = "run it.ptx k --grid 1 --block 32 u32[16]";

/// The other subcommands: the arguments, the exit code and what stands on the standard error.
const OTHERS: &[(&str, i32, &str)] = &[
    ("list", 0, ""),
    ("list --format json", 0, ""),
    ("check it.ptx --format csv", 0, ""),
    ("check it.ptx --decoded k", 0, ""),
    ("compare before.json before.json --report compared.html", 0, ""),
    ("compare before.json before.json --format markdown", 0, ""),
    (
        "pattern tile[x*33+y] --memory shared --type f64 --store --block 16,16 --warp 1 --block-number 2 --device sim:fermi \
         --svg index.svg --play --format json",
        0,
        "",
    ),
    ("litmus mp-relaxed --device gpu --runs 10 --format json --report litmus.html", 0, ""),
    ("pattern i --device gpu", 2, "error: --device: no kernel runs here; give sim or sim:MODEL\n"),
    ("devices --device auto", 0, ""),
    ("devices --device gpu --format json --heap-limit 1M --output-limit 1M", 0, ""),
    ("devices --device gpu --format csv --memory-limit 512M --step-limit 1000 --fault-limit 10", 0, ""),
    ("completions bash", 0, ""),
    ("man course", 0, ""),
    // Those that the device has too little memory for say so.
    (
        "course --device gpu --time-limit 0.001 --seed 2 --check none --ptx best.ptx --ptx kernels.ptx --format csv",
        1,
        "",
    ),
    (
        "course --device gpu --time-limit 0.001 --report course.html --format json --memory-limit 512M --heap-limit 1M \
         --output-limit 10M --step-limit 100000000 --fault-limit 10",
        1,
        "",
    ),
    (
        "course --device gpu --check race",
        2,
        "error: --check: only the simulator runs checks; give --device sim or --counters\n",
    ),
    ("--device gpu --time-limit 0.01 --print 0 --save 0=out.npy --bytes 1K --shared 1K --carveout 50", 0, ""),
    ("--device gpu --once --cooperative --format json", 0, ""),
    ("--device gpu --once --registers 40 --report run.html --sources . --format csv", 0, ""),
    (
        "run it.ptx k --device gpu --grid 4 --cluster 2 --block 32 u32[16] --once --then k --grid 1 --block 32 arg:0",
        0,
        "",
    ),
    (
        "--device gpu --once --counters --no-predict --lines --hot 1 --picture --check all --memory-limit 512M \
         --heap-limit 1M --output-limit 10M --step-limit 1000 --fault-limit 10",
        0,
        "",
    ),
    ("--device gpu --once --counters --no-predict --schedules 2 --seed 3", 0, ""),
    ("--device gpu --once --counters --no-predict --require launches==1 --goals goals.toml", 0, ""),
    ("--device gpu --once --counters --no-predict --baseline b.json --allow 1% --save-baseline saved.json", 0, ""),
    ("--device gpu --once --counters --no-predict --sarif s.sarif --junit j.xml --gitlab g.json", 0, ""),
    (
        "--device gpu --once --require launches==1",
        2,
        "error: --require: only the simulator counts; give --counters or --device sim\n",
    ),
    (
        "--device gpu --once --counters --schedule usual:1",
        2,
        "error: --schedule: an order is for the simulator without a model; give --device sim\n",
    ),
    ("--device gpu --once --counters --no-predict --explore --orders 9 --preemptions 1", 0, ""),
    ("--device gpu --once --predict --why --thread-registers 40", 0, ""),
    (
        "run table.ptx k --device gpu --grid 1 --block 32 --once --set coefficients=f32[4]=ramp --print coefficients",
        0,
        "",
    ),
    (
        "--device gpu --compare-models",
        2,
        "error: --compare-models: only labs have it; give --device sim:MODEL for each model\n",
    ),
];

/// What only a simulator can do, and what the program says.
const REFUSED: [(&str, &str); 6] = [
    ("--lines", "error: --lines: a GPU has no counts by line; give --counters or --device sim\n"),
    ("--picture", "error: --picture: a GPU shows no addresses; give --counters or --device sim\n"),
    ("--schedules 2", "error: --schedules: only the simulator runs other orders; give --device sim or --counters\n"),
    ("--check race", "error: --check: only the simulator runs checks; give --device sim or --counters\n"),
    (
        "--no-predict",
        "error: --no-predict: a GPU is timed, not predicted; give --predict, too, or --device sim or sim:MODEL\n",
    ),
    (
        "--thread-registers 40",
        "error: --thread-registers: a GPU is timed, not predicted; give --predict, too, or --device sim or sim:MODEL\n",
    ),
];

/// The folder of the driver, with the files that the rows name.
fn files() -> &'static Path {
    static FILES: LazyLock<()> = LazyLock::new(|| {
        let write = |name: &str, shape: &[usize]| {
            let ramp: Vec<f32> = (0..shape.iter().product::<usize>()).map(|i| i as f32 / 2048.0).collect();
            host::npy::write(&folder().join(name), shape, &ramp).expect("the file is written");
        };
        write("v.npy", &[300]);
        write("m.npy", &[20, 30]);
        write("s.npy", &[30, 30]);
        write("t.npy", &[32, 32]);
        write("w.npy", &[3, 9, 11]);
        host::npy::write(&folder().join("bytes.npy"), &[300], &[7_u8; 300]).expect("the file is written");
        host::npy::write(&folder().join("u.npy"), &[300], &[7_u32; 300]).expect("the file is written");
        let put = |name: &str, text: &str| std::fs::write(folder().join(name), text).expect("the file is written");
        put("a.mtx", "%%MatrixMarket matrix coordinate real general\n3 300 2\n1 300 2.5\n3 1 -1\n");
        put("kernels.ptx", kernels::PTX[0].text);
        put("best.ptx", best_kernels::PTX[0].text);
        put("table.ptx", crate::variables::VARIABLES);
        put("goals.toml", "[[goal]]\nthat = \"launches == 1\"\n");
        put("b.json", "{\"coalesce_baseline\": 1, \"device\": \"sim\", \"kernels\": []}");
        let lab = "transpose --padded --rows 64 --cols 64 --device gpu --time-limit 0.01 --format json";
        let run = on_gpu(lab, "").output().expect("the program runs");
        put("before.json", &String::from_utf8_lossy(&run.stdout));
    });
    LazyLock::force(&FILES);
    folder()
}

/// The memory of a GPU that can run the labs with little data, and few of the course: 3 MiB.
const LITTLE: &str = "3145728";

/// Runs a row; returns what is wrong. `...` at the end of `errors` stands for the rest of a line.
fn problem(arguments: &str, code: i32, errors: &str) -> Option<String> {
    let mut command = on_gpu(arguments, "");
    command.current_dir(files()).env("COALESCE_MEMORY", (512 << 20).to_string());
    let first = arguments.split(' ').next().unwrap_or_default();
    if first == "course" || LABS.iter().any(|lab| lab.name == first) {
        // Bulk copies and priorities in the level-2 cache are newer than Turing.
        match first {
            "order" | "pipeline" => command.env("COALESCE_DEVICE", "hopper"),
            _ => command.envs([("COALESCE_DEVICE", "turing"), ("COALESCE_MEMORY", LITTLE)]),
        };
    }
    let run = command.output().expect("the program runs");
    let all = String::from_utf8_lossy(&run.stderr);
    // The driver, too, says that there is too little memory.
    let said: String =
        all.lines().filter(|line| !line.starts_with("coalesce: ")).map(|line| format!("{line}\n")).collect();
    let says = match errors.strip_suffix("...") {
        Some(begin) => said.starts_with(begin) && said.lines().count() == 1,
        None => said == errors,
    };
    let as_expected = run.status.code() == Some(code) && says;
    (!as_expected).then(|| format!("host {arguments}: {:?}, {said}", run.status.code()))
}

/// The flags that these command lines of a subcommand leave out.
fn left_out(name: &str, rows: &[String]) -> Vec<String> {
    let program = host::cli::command();
    let command = program.find_subcommand(name).expect("the subcommand");
    let mut given = BTreeSet::new();
    for row in rows {
        let words = std::iter::once("host").chain(row.split_whitespace());
        let matches = program.clone().try_get_matches_from(words).unwrap_or_else(|error| panic!("{row}: {error}"));
        let (_, matches) = matches.subcommand().expect("a subcommand");
        let is_given = |id: &&clap::Id| matches.value_source(id.as_str()) == Some(ValueSource::CommandLine);
        given.extend(matches.ids().filter(is_given).map(|id| id.to_string()));
    }
    let all = command.get_arguments().map(|argument| argument.get_id().to_string());
    all.filter(|id| id != "help" && !given.contains(id)).collect()
}

#[test]
#[ignore = "long: `.ci/run` runs it"]
fn every_flag_of_every_lab_runs_on_a_gpu() {
    let names: Vec<_> = host::labs::ALL.iter().map(|lab| lab.name).collect();
    assert_eq!(LABS.map(|lab| lab.name).to_vec(), names, "a row for each lab");
    files();
    let problems_of = |labs: &[Lab]| {
        let mut problems = Vec::new();
        for Lab { name, size, own, one } in labs {
            let mut rows: Vec<(String, i32, &str)> = Vec::new();
            for flags in *own {
                let size = if flags.contains("--input") { "" } else { size };
                rows.push((format!("{name} --device gpu --once --counters {size} {flags}"), 0, ""));
            }
            rows.extend(COMMON.map(|flags| {
                // All of its rows run on a model, which has no other orders.
                let (code, said) = match *name == "banks" && flags.contains("--schedule") {
                    true => (2, "error: --schedule..."),
                    false => (0, ""),
                };
                // Others than races: some of its rows race on purpose.
                let races = host::labs::Entry::named(name).is_some_and(|lab| lab.races);
                let flags = if races { flags.replace("--check all", "--check memory") } else { flags.to_owned() };
                // The PTX of the files has no bulk copies.
                let older = *name == "pipeline" && flags.contains("--ptx");
                let flags = if older { format!("--load {flags}") } else { flags };
                (format!("{name} --device gpu {size} {flags}"), code, said)
            }));
            let (one, said) = match one {
                Some(one) => (*one, ["", ""]),
                None => ("", SEVERAL),
            };
            for (flags, said) in ["--once --output out.npy", "--once --predict --why"].into_iter().zip(said) {
                let code = if said.starts_with("error") { 2 } else { 0 };
                rows.push((format!("{name} --device gpu {size} {one} {flags}"), code, said));
            }
            problems.extend(rows.iter().filter_map(|(arguments, code, said)| problem(arguments, *code, said)));
            let lines: Vec<String> = rows.into_iter().map(|(arguments, ..)| arguments).collect();
            let left = left_out(name, &lines);
            let left = left.iter().filter(|id| ELSEWHERE.iter().all(|(elsewhere, _)| elsewhere != id));
            problems.extend(left.map(|id| format!("no row of {name} has the flag {id}")));
        }
        problems
    };
    let parts = LABS.chunks(LABS.len().div_ceil(4));
    let problems: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = parts.map(|labs| scope.spawn(move || problems_of(labs))).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect()
    });
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
#[ignore = "long: `.ci/run` runs it"]
fn every_other_command_runs_on_a_gpu() {
    let rows: Vec<(String, i32, &str)> = OTHERS
        .iter()
        .map(|&(arguments, code, said)| match arguments.starts_with("--") {
            true => (format!("{RUN} {arguments}"), code, said),
            false => (arguments.to_owned(), code, said),
        })
        .collect();
    let mut problems: Vec<_> =
        rows.iter().filter_map(|(arguments, code, said)| problem(arguments, *code, said)).collect();
    let program = host::cli::command();
    let labs = |name: &str| LABS.iter().any(|lab| lab.name == name);
    for command in program.get_subcommands().map(|command| command.get_name()).filter(|name| !labs(name)) {
        let begins = |arguments: &&String| arguments.split_whitespace().next() == Some(command);
        let lines: Vec<String> = rows.iter().map(|(arguments, ..)| arguments).filter(begins).cloned().collect();
        problems.extend(left_out(command, &lines).iter().map(|id| format!("no row of {command} has {id}")));
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn what_only_a_simulator_does_is_refused_on_a_gpu() {
    let lab = "transpose --padded --rows 64 --cols 64 --device gpu";
    for command in [lab.to_owned(), format!("{RUN} --device gpu")] {
        for (flags, said) in REFUSED {
            assert_eq!(problem(&format!("{command} {flags}"), 2, said), None);
        }
    }
}

/// `course` asked each lab for what only a simulator has, so that on a GPU each said no.
#[test]
fn the_course_runs_each_lab_on_a_gpu() {
    let mut command = on_gpu("course --device gpu --time-limit 0.001 --seed 7 --format json", "");
    command.envs([("COALESCE_DEVICE", "turing"), ("COALESCE_MEMORY", LITTLE)]);
    let run = command.assert().code(1);
    let report: serde_json::Value = serde_json::from_slice(&run.get_output().stdout).expect("JSON");
    assert_eq!((&report["correct"], &report["seed"]), (&false.into(), &7.into()));
    for lab in report["labs"].as_array().expect("a list") {
        // Too large for the memory, or right.
        let is_large = lab["error"].as_str().is_some_and(|error| error.contains("but device Coalesce simulator of"));
        let is_right = lab["error"].is_null() && lab["wrong"] == serde_json::json!([]);
        assert!(is_large || is_right, "{lab}");
    }
}

//! What workers say of real kernels, and what a hostile one reaches.

use std::path::Path;

use class::settings::Limits;
use class::store::{State, Verdict};

use crate::database::{Class, PATIENCE, PROGRAM, file, root, stays};

impl Class {
    pub fn verdict(&self, run: i64) -> Verdict {
        self.runtime.block_on(self.store.verdict(run)).unwrap().expect("it was judged")
    }
}

#[test]
#[ignore = "long: it compiles and runs kernels"]
fn kernels_get_their_verdicts() {
    for class in Class::each(&["anna", "ben"]) {
        let solution = file("guard/solution.rs");
        let solved = class.enqueue("anna", "guard", &solution, false);
        let starter = class.enqueue("anna", "guard", &file("guard/starter.rs"), false);
        let broken = class.enqueue("ben", "guard", "fn x( {", false);
        let unknown = class.enqueue("ben", "no_such_exercise", &solution, false);
        // What fills a disk is not kept.
        let constants = format!(
            "{solution}\npub static A: [u32; 1 << 21] = [7; 1 << 21];\n#[kernel]\npub unsafe fn other(o: *mut u32) {{\n    \
             *o = A[*o as usize];\n}}\n"
        );
        let large = class.enqueue("ben", "guard", &constants, false);
        let _worker = class.worker();
        class.wait();
        let verdict = class.verdict(solved);
        assert_eq!(verdict.status, "solved", "{}", verdict.report);
        assert!(verdict.milliseconds > 0 && verdict.course.len() == 16 && verdict.grader.len() == 16);
        let page: serde_json::Value = serde_json::from_str(&verdict.page.expect("it has a page")).unwrap();
        assert_eq!((&page["event"], &page["solved"]), (&"verdict".into(), &true.into()));
        assert!(page["html"].as_str().unwrap().contains("axpy"));
        // The same text again, now submitted, takes no time.
        let again = class.enqueue("anna", "guard", &solution, true);
        class.wait();
        assert_eq!(class.verdict(again), Verdict { milliseconds: 0, ..class.verdict(solved) });
        let verdict = class.verdict(starter);
        assert_eq!(verdict.status, "wrong");
        let places: serde_json::Value = serde_json::from_str(&verdict.places).unwrap();
        assert!(places[0]["line"].as_u64().is_some_and(|line| line > 1), "{}", verdict.places);
        let verdict = class.verdict(broken);
        assert_eq!(verdict.status, "does_not_compile");
        let of_judge = format!("{}{}", verdict.report, verdict.page.unwrap_or_default());
        assert!(!of_judge.contains("target/learn"), "it names the judge's folder: {of_judge}");
        assert_eq!(class.verdict(unknown).status, "failed");
        let verdict = class.verdict(large);
        assert!(verdict.status == "does_not_compile" && verdict.report.contains(" MiB of PTX"), "{}", verdict.report);
    }
}

/// Kernels that try to have the compiler read a file.
pub fn readers_of(file: &Path) -> [String; 4] {
    let (solution, path) = (crate::database::file("guard/solution.rs"), file.display());
    [
        format!("{solution}\nconst X: &[u8] = include_bytes!(\"{path}\");\n"),
        format!(
            "{solution}\nmacro_rules! m {{ ($p:ident $e:tt) => {{ #[$p = \"{path}\"] mod x $e }} }}\nm!(path ;);\n"
        ),
        format!("#![debugger_visualizer(gdb_script_file = \"{path}\")]\n{solution}"),
        format!(
            "{solution}\nmacro_rules! m {{ ($a:ident $b:ident) => {{ ${{concat($a, $b)}}!(\"{path}\") }} }}\n\
             const X: &[u8] = m!(include _bytes);\n"
        ),
    ]
}

#[test]
#[ignore = "long: it compiles and runs kernels"]
fn a_kernel_does_not_read_the_database() {
    for class in Class::each(&["anna", "eve"]) {
        let Some(database) = class::store::file(&class.address) else { continue };
        class.enqueue("anna", "guard", "// SECRET-OF-ANNA", false);
        let runs = readers_of(&database).map(|text| class.enqueue("eve", "guard", &text, false));
        let _worker = class.worker();
        class.wait();
        for verdict in runs.map(|run| class.verdict(run)) {
            assert_ne!(verdict.status, "solved");
            assert!(!format!("{verdict:?}").contains("SECRET-OF-ANNA"), "{}", verdict.report);
        }
    }
}

/// What keeps the file closed when a kernel gets past all that reads its text.
#[test]
fn the_judges_sandbox_does_not_open_the_database() {
    let class = &Class::each(&[])[0];
    let database = class::store::file(&class.address).unwrap();
    assert!(std::fs::read(&database).is_ok());
    let judge = std::thread::spawn(move || {
        sandbox::Sandbox::new([root().join("exercises/guard")], [std::env::temp_dir().join("none")]).enter().unwrap();
        (std::fs::read(root().join("exercises/guard/starter.rs")).is_ok(), std::fs::read(&database).is_ok())
    });
    assert_eq!(judge.join().unwrap(), (true, false));
}

#[test]
fn a_database_that_the_judge_could_read_is_refused() {
    let course = root().join("exercises");
    let address = format!("sqlite:{}", course.join("course.toml").display());
    let output = learn(&["worker", "--database", &address]);
    assert_eq!(
        output,
        (Some(2), format!("error: {address}: a judge may read what is there: put the file elsewhere\n"))
    );
}

#[test]
fn a_worker_with_another_course_takes_no_jobs() {
    for class in Class::each(&["anna"]) {
        let server = crate::server::Server::start(&class, 0);
        let run = class.enqueue("anna", "guard", "x", false);
        let course = || class.runtime.block_on(class.store.course()).unwrap().unwrap();
        // The server keeps the versions of its exercises.
        let servers: serde_json::Value = serde_json::from_str(&course()).unwrap();
        assert!(servers["guard"].as_str().is_some_and(|version| version.len() == 16), "{servers}");
        drop(server);
        let other = serde_json::json!({ "guard": "0", "no_such": "1", "padding": "2" }).to_string();
        class.runtime.block_on(class.store.put_course(&other)).unwrap();
        let (code, text) = learn(&["worker", "--database", &class.address]);
        assert!(code == Some(2) && text.lines().count() == 1, "{text}");
        assert!(text.contains("is not the server's: guard, no_such, padding differ"), "{text}");
        let state = class.runtime.block_on(class.store.run(run)).unwrap().unwrap().state;
        assert_eq!(state, State::Waiting);
    }
}

#[test]
fn a_worker_names_what_is_wrong() {
    let said = |address: &str| learn(&["worker", "--database", address]);
    assert_eq!(
        said("sqlite:/nowhere/x").1,
        "error: sqlite:/nowhere/x: there is no such file: start the server first\n"
    );
    let (code, text) = said("postgres://anna:s3cr37@127.0.0.1:1/class");
    assert!(code == Some(2) && text.starts_with("error: the database postgres://anna@127.0.0.1:1/class: "), "{text}");
    assert!(!text.contains("s3cr37") && text.lines().count() == 1, "{text}");
}

/// The program's exit code, and what it says on the standard error.
fn learn(arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = std::process::Command::new(PROGRAM);
    let output = command.args(arguments).args(stays()).current_dir(root()).output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
#[ignore = "long: it compiles and runs kernels"]
fn an_endless_run_can_be_stopped_and_costs_its_time() {
    for class in Class::each(&["anna"]) {
        let endless = file("guard/solution.rs").replace(
            "let i = thread::linear_index();",
            "let i = thread::linear_index();\n    while core::hint::black_box(true) {}",
        );
        let run = class.enqueue("anna", "guard", &endless, false);
        let _worker = class.worker();
        let state = || class.runtime.block_on(class.store.run(run)).unwrap().unwrap();
        let begun = std::time::Instant::now();
        while !state().step.is_some_and(|step| step.starts_with("running")) {
            assert!(begun.elapsed() < PATIENCE, "it does not run: {:?}", state());
            assert_ne!(state().state, State::Done, "{:?}", class.verdict(run));
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        assert!(class.runtime.block_on(class.store.cancel("anna", run, 0)).unwrap());
        class.wait();
        assert_eq!(state().state, State::Cancelled);
        // Its time is spent: with a bound of a second, the next waits for the next hour.
        let next = class.enqueue("anna", "guard", "x", false);
        let limits = Limits { seconds_per_hour: 1, ..Limits::default() };
        let position = class.runtime.block_on(async {
            let now = class.store.now().await.unwrap();
            class.store.position(next, &limits, now).await.unwrap()
        });
        assert!(position.is_none_or(|position| position.out_of_time));
    }
}

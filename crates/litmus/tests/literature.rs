//! The litmus tests of the literature, each with its answers: `library/*.litmus`, where a comment
//! behind each question says whether PTX allows that outcome.

use litmus::{LIBRARY, Outcomes, explained, read};

#[test]
fn each_question_has_the_answer_behind_it() {
    let mut wrong = Vec::new();
    let mut questions = 0;
    for (name, text) in LIBRARY {
        let program = read(name, text).unwrap_or_else(|error| panic!("{error}"));
        let outcomes = Outcomes::of(&program).unwrap_or_else(|error| panic!("{name}: {error}"));
        let answers =
            text.lines().filter(|line| line.starts_with("ask:")).map(|line| line.rsplit_once("// ").unwrap().1);
        for (question, answer) in program.questions.iter().zip(answers) {
            questions += 1;
            let found = outcomes.answers(question);
            let axioms = found.first().map(|(_, witness)| explained(&outcomes, witness));
            let said = if outcomes.allows(question) { "allowed" } else { "forbidden" };
            if said != answer {
                wrong.push(format!(
                    "{name}: {} is {answer}, here {said}\n{}",
                    question.text,
                    axioms.unwrap_or_default()
                ));
            }
        }
    }
    assert!(questions > 80, "{questions}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Each file of the folder is in the list.
#[test]
fn the_library_is_complete() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("library");
    assert_eq!(std::fs::read_dir(folder).expect("the library").count(), LIBRARY.len());
}

/// What is shown of an outcome that is allowed, and of some that are not.
#[test]
fn an_execution_is_explained() {
    let shown = |name: &str| {
        let program = read(name, litmus::named(name).expect("it is there")).expect("a test");
        let outcomes = Outcomes::of(&program).expect("outcomes");
        let (_, witness) = outcomes.answers(&program.questions[0])[0];
        explained(&outcomes, witness)
    };
    assert_eq!(
        shown("mp-release-acquire"),
        "\
thread 0, in block 0
  a  st.weak.global.u32 [x], 1
  b  st.release.gpu.global.u32 [y], 1
thread 1, in block 1
  c  ld.acquire.gpu.global.u32 r0, [y]  finds 1, from b
  d  ld.weak.global.u32 r1, [x]         finds 0, as it was at the beginning
Synchronises: b with c.
Against Causality: a comes before d by causality; a replaces what d has found.
"
    );
    let relaxed = shown("mp-relaxed");
    assert!(!relaxed.contains("Synchronises") && !relaxed.contains("Against"), "{relaxed}");
    for (name, reason) in [
        ("atomicity", "Against Atomicity: a stores before b; a replaces what b has found.\n"),
        ("sb-fence-sc", "Against "),
        ("corr-relaxed", "Against SC-per-Location: "),
        ("coww", "Against "),
    ] {
        let text = shown(name);
        assert!(text.contains(reason), "{name}: {text}");
    }
}

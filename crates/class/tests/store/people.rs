//! Students, links, sessions, attempts, drafts, answers.

use class::settings::Limits;
use class::store::{Answer, Done, NewRun, Saved, Store, Student, Verdict, Who};
use sqlx::{AssertSqlSafe, Connection as _};

use crate::databases::{add, on_each, run, verdict};

fn anna() -> Who {
    Who::Student("anna".to_owned())
}

#[test]
fn a_roster_may_come_again() {
    on_each(async |store, _| {
        let student = |id: &str, name: &str| Student { id: id.into(), name: name.into(), email: "a@b".into() };
        assert_eq!(store.add_students(&[student("b", "Zoe"), student("a", "Anna")], 1).await.unwrap(), 2);
        assert_eq!(store.add_students(&[student("a", "Anne"), student("c", "Cleo")], 2).await.unwrap(), 1);
        let all = [student("a", "Anne"), student("c", "Cleo"), student("b", "Zoe")];
        assert_eq!(store.students().await.unwrap(), all);
        assert_eq!(store.student("b").await.unwrap(), Some(student("b", "Zoe")));
        assert_eq!(store.student("x' OR '1'='1").await.unwrap(), None);
        // All or none.
        assert!(store.add_students(&[student("d", "Dora"), student("", "?")], 3).await.is_err());
        assert_eq!(store.student("d").await.unwrap(), None);
        let other = store.add_students(&[student("d", "Dora"), student("A", "Anna")], 3).await.unwrap_err();
        assert_eq!(other.to_string(), "the id \"A\" exists as \"a\": use that spelling");
    });
}

#[test]
fn ids_of_an_old_table_that_differ_in_case_are_named() {
    on_each(async |store, address| {
        add(&store, &["anna", "ben"]).await;
        let mut connection = sqlx::AnyConnection::connect(&address).await.unwrap();
        let old = "INSERT INTO students (id, name, email, added, served, spent_hour, spent)
            VALUES ('Anna', 'A', '', 0, 0, 0, 0)";
        sqlx::query(old).execute(&mut connection).await.unwrap();
        let student = |id: &str| [Student { id: id.into(), name: "New".into(), email: String::new() }];
        for (id, other) in [("anna", "Anna"), ("Anna", "anna")] {
            let said = store.add_students(&student(id), 1).await.unwrap_err().to_string();
            let wanted = format!("the ids {id:?} and {other:?} differ in case alone: remove one with ");
            assert!(said.starts_with(&wanted) && !said.contains('\n'), "{said}");
        }
        assert_eq!(store.add_students(&student("ben"), 1).await.unwrap(), 0);
        store.remove("Anna", 2).await.unwrap();
        assert_eq!(store.add_students(&student("anna"), 3).await.unwrap(), 0);
        assert!(store.add_students(&student("Anna"), 4).await.is_err());
        assert!(store.add_students(&student("ANNA"), 4).await.is_err());
    });
}

#[test]
fn a_new_link_replaces_the_one_before() {
    on_each(async |store, _| {
        add(&store, &["anna", "ben"]).await;
        store.put_link("h1", &anna(), 1).await.unwrap();
        store.put_link("t1", &Who::Teacher, 1).await.unwrap();
        store.put_link("b1", &Who::Student("ben".into()), 1).await.unwrap();
        store.put_session("s1", &anna(), 1, 100).await.unwrap();
        store.put_session("u1", &Who::Teacher, 1, 100).await.unwrap();
        store.put_link("h2", &anna(), 2).await.unwrap();
        assert_eq!(store.who_of_session("s1", 2).await.unwrap(), None, "it was begun by the one before");
        assert_eq!(store.who_of_session("u1", 2).await.unwrap(), Some(Who::Teacher));
        assert_eq!(store.who_of_link("h1").await.unwrap(), None);
        assert_eq!(store.who_of_link("h2").await.unwrap(), Some(anna()));
        assert_eq!(store.who_of_link("t1").await.unwrap(), Some(Who::Teacher));
        store.put_link("t2", &Who::Teacher, 3).await.unwrap();
        assert_eq!(store.who_of_link("t1").await.unwrap(), None);
        assert_eq!(store.linked().await.unwrap(), ["anna", "ben"]);
        assert!(store.put_link("x", &Who::Student("nobody".into()), 1).await.is_err());
    });
}

#[test]
fn revoking_ends_links_and_sessions_of_one_person() {
    on_each(async |store, _| {
        add(&store, &["anna"]).await;
        store.put_link("h", &anna(), 1).await.unwrap();
        store.put_link("t", &Who::Teacher, 1).await.unwrap();
        store.put_session("s", &anna(), 1, 100).await.unwrap();
        store.put_session("u", &Who::Teacher, 1, 100).await.unwrap();
        assert!(store.enter("h", "v", &anna(), 1, 100).await.unwrap());
        assert_eq!(store.who_of_session("v", 1).await.unwrap(), Some(anna()));
        assert_eq!(store.revoke(&anna()).await.unwrap(), 1);
        assert_eq!(store.who_of_link("h").await.unwrap(), None);
        // Who had opened the link at the same moment stays out, too.
        assert!(!store.enter("h", "w", &anna(), 1, 100).await.unwrap());
        for session in ["v", "w"] {
            assert_eq!(store.who_of_session(session, 1).await.unwrap(), None);
        }
        assert_eq!(store.who_of_session("s", 2).await.unwrap(), None);
        assert_eq!(store.who_of_session("u", 2).await.unwrap(), Some(Who::Teacher));
        assert_eq!(store.revoke(&Who::Teacher).await.unwrap(), 1);
        assert_eq!(store.who_of_session("u", 2).await.unwrap(), None);
    });
}

#[test]
fn a_person_has_so_many_sessions() {
    on_each(async |store, _| {
        add(&store, &["anna"]).await;
        store.put_session("teacher", &Who::Teacher, 0, 1000).await.unwrap();
        for at in 0..60 {
            store.put_session(&format!("s{at}"), &anna(), at, 1000).await.unwrap();
        }
        assert_eq!(store.who_of_session("teacher", 99).await.unwrap(), Some(Who::Teacher));
        for (at, expected) in [(9, None), (10, Some(anna())), (59, Some(anna()))] {
            assert_eq!(store.who_of_session(&format!("s{at}"), 99).await.unwrap(), expected, "{at}");
        }
    });
}

/// Two students' work: a run that is judged, one that waits, a draft, a hint, an answer, a session.
async fn work(store: &Store) -> [i64; 4] {
    add(store, &["anna", "ben"]).await;
    let limits = Limits::default();
    let mut runs = Vec::new();
    for (student, own) in [("anna", "// of anna"), ("ben", "// of ben")] {
        for text in ["// of both", own] {
            let new = NewRun { submitted: true, ..run(student, text) };
            runs.push(store.enqueue(&new, &limits, 1).await.unwrap());
        }
        let job = store.take("w", &limits, 2, 100).await.unwrap().unwrap();
        store.finish(&job.lease, &Verdict { report: own.to_owned(), ..verdict("wrong", 1) }, 3).await.unwrap();
        store.save_draft(student, "guard", own, None, 4).await.unwrap();
        store.set_hints(student, "guard", 1).await.unwrap();
        let (student, question) = (student.to_owned(), "sectors".to_owned());
        store.put_link(&format!("l {student}"), &Who::Student(student.clone()), 4).await.unwrap();
        store.put_session(&format!("s {student}"), &Who::Student(student.clone()), 4, 100).await.unwrap();
        let answer = Answer { student, question, answer: own.to_owned(), correct: None, at: 5 };
        store.add_answer("guard", &answer).await.unwrap();
    }
    runs.try_into().unwrap()
}

#[test]
fn a_student_who_was_removed_is_nowhere_until_added_again() {
    on_each(async |store, _| {
        let [first, waiting, ..] = work(&store).await;
        assert!(store.remove("anna", 6).await.unwrap());
        assert!(!store.remove("anna", 6).await.unwrap() && !store.remove("nobody", 6).await.unwrap());
        let ids = |students: Vec<Student>| students.into_iter().map(|student| student.id).collect::<Vec<_>>();
        assert_eq!(ids(store.students().await.unwrap()), ["ben"]);
        assert_eq!(ids(store.removed().await.unwrap()), ["anna"]);
        assert_eq!(store.student("anna").await.unwrap(), None);
        assert_eq!(store.linked().await.unwrap(), ["ben"]);
        // A session that began at the same moment opens nothing.
        store.put_session("late", &anna(), 6, 100).await.unwrap();
        assert_eq!(store.who_of_session("s anna", 7).await.unwrap(), None);
        assert_eq!(store.who_of_session("late", 7).await.unwrap(), None);
        assert_eq!(store.who_of_link("l anna").await.unwrap(), None);
        assert!(store.who_of_session("s ben", 7).await.unwrap().is_some());
        let is_refused = store.enqueue(&run("anna", "3"), &Limits::default(), 7).await;
        assert!(is_refused.unwrap_err().to_string().contains("no such student"));
        let of_ben = |students: Vec<String>| students.iter().all(|student| student == "ben") && !students.is_empty();
        assert!(of_ben(store.cells().await.unwrap().into_iter().map(|cell| cell.student).collect()));
        assert!(of_ben(store.submissions().await.unwrap().into_iter().map(|one| one.student).collect()));
        assert!(of_ben(store.runs_of_exercise("guard", 9).await.unwrap().into_iter().map(|one| one.student).collect()));
        assert!(of_ben(store.answers("guard", None).await.unwrap().into_iter().map(|one| one.student).collect()));
        assert_eq!(store.run(first).await.unwrap(), None);
        assert_eq!(store.regrade("guard", true).await.unwrap(), 1);
        // What was accepted is judged and kept.
        while let Some(job) = store.take("w", &Limits::default(), 8, 100).await.unwrap() {
            store.finish(&job.lease, &verdict("solved", 1), 9).await.unwrap();
        }
        let again = Student { id: "anna".into(), name: "Anna".into(), email: String::new() };
        assert_eq!(store.add_students(&[again], 10).await.unwrap(), 1);
        assert_eq!(store.run(waiting).await.unwrap().unwrap().last.unwrap().status, "solved");
        assert_eq!(store.draft("anna", "guard").await.unwrap().unwrap().text, "// of anna");
        assert_eq!((store.submissions().await.unwrap().len(), store.linked().await.unwrap().len()), (4, 1));
    });
}

#[test]
fn nothing_is_left_of_a_student_who_was_erased() {
    on_each(async |store, address| {
        let [first, waiting, other, _] = work(&store).await;
        assert!(!store.erase("anna").await.unwrap(), "not removed before");
        assert_eq!(store.queue_length().await.unwrap(), (2, 0));
        // One is being judged meanwhile.
        let job = store.take("w", &Limits::default(), 5, 100).await.unwrap().unwrap();
        assert_eq!(job.run, waiting);
        store.remove("anna", 6).await.unwrap();
        assert_eq!(store.queue_length().await.unwrap(), (1, 0), "a removed student's are not counted");
        assert!(store.erase("anna").await.unwrap() && !store.erase("anna").await.unwrap());
        // Until it is done.
        assert!(store.must_compact("anna").await.unwrap() && !store.must_compact("ana").await.unwrap());
        store.compact().await.unwrap();
        assert!(!store.must_compact("anna").await.unwrap());
        assert_eq!(store.renew(&job.lease, None, 7, 100).await.unwrap(), Done::Lost);
        assert_eq!(store.finish(&job.lease, &verdict("solved", 1), 7).await.unwrap(), Done::Lost);
        assert!(store.removed().await.unwrap().is_empty());
        for run in [first, waiting] {
            assert_eq!((store.text_of(run).await.unwrap(), store.verdicts(run).await.unwrap()), (None, vec![]));
        }
        assert_eq!(store.draft("anna", "guard").await.unwrap(), None);
        assert_eq!(store.hints("anna", "guard").await.unwrap(), 0);
        assert!(store.answers("guard", Some("anna")).await.unwrap().is_empty());
        // What another student has had, too, is the other's.
        assert_eq!(store.text_of(other).await.unwrap().as_deref(), Some("// of both"));
        assert_eq!(store.queue_length().await.unwrap(), (1, 0));
        // One who comes with the same id begins anew.
        add(&store, &["anna"]).await;
        assert!(store.last_runs("anna").await.unwrap().is_empty());
        // Nor is it in the files.
        if let Some(file) = class::store::file(&address) {
            let bytes = ["", "-wal"].map(|ending| std::fs::read(format!("{}{ending}", file.display())).unwrap());
            let has = |words: &str| bytes.concat().windows(words.len()).any(|part| part == words.as_bytes());
            assert_eq!((has("// of anna"), has("// of ben")), (false, true));
        }
    });
}

#[test]
#[ignore = "long: it waits for a reader"]
fn what_others_read_is_compacted_later() {
    on_each(async |store, address| {
        work(&store).await;
        store.remove("anna", 6).await.unwrap();
        assert!(store.erase("anna").await.unwrap());
        let Some(_) = class::store::file(&address) else { return };
        let mut reader = sqlx::AnyConnection::connect(&address).await.unwrap();
        for command in ["BEGIN", "SELECT count(*) FROM students"] {
            sqlx::query(AssertSqlSafe(command)).fetch_all(&mut reader).await.unwrap();
        }
        let said = store.compact().await.unwrap_err().to_string();
        assert!(said.contains("the database is in use") && store.must_compact("anna").await.unwrap(), "{said}");
        reader.close().await.unwrap();
        store.compact().await.unwrap();
        assert!(!store.must_compact("anna").await.unwrap());
    });
}

#[test]
fn a_text_is_accepted_while_another_student_with_it_is_erased() {
    on_each(async |store, _| {
        add(&store, &["ben"]).await;
        let limits = Limits { waiting_per_student: 1000, ..Limits::default() };
        let erased = async {
            for _ in 0..40 {
                add(&store, &["anna"]).await;
                store.enqueue(&run("anna", "// of both"), &limits, 1).await.unwrap();
                store.remove("anna", 2).await.unwrap();
                assert!(store.erase("anna").await.unwrap());
            }
        };
        let accepted = async {
            for _ in 0..120 {
                let id = store.enqueue(&run("ben", "// of both"), &limits, 1).await.unwrap();
                assert_eq!(store.text_of(id).await.unwrap().as_deref(), Some("// of both"));
                // The next finds the text gone, or going.
                store.cancel("ben", id, 2).await.unwrap();
                store.remove("ben", 3).await.unwrap();
                store.erase("ben").await.unwrap();
                add(&store, &["ben"]).await;
            }
        };
        tokio::join!(erased, accepted);
    });
}

#[test]
fn sessions_expire() {
    on_each(async |store, _| {
        add(&store, &["anna"]).await;
        store.put_session("s", &anna(), 0, 100).await.unwrap();
        assert_eq!(store.who_of_session("s", 99).await.unwrap(), Some(anna()));
        assert_eq!(store.who_of_session("s", 100).await.unwrap(), None);
        store.put_session("s2", &anna(), 200, 300).await.unwrap();
        assert_eq!(store.who_of_session("s", 50).await.unwrap(), None, "it is forgotten");
        store.end_session("s2").await.unwrap();
        assert_eq!(store.who_of_session("s2", 250).await.unwrap(), None);
    });
}

#[test]
fn attempts_are_counted_by_address() {
    on_each(async |store, _| {
        for (at, wanted) in [(10, 1), (20, 2), (30, 3)] {
            assert_eq!(store.note_attempt("::1", 0, at).await.unwrap(), wanted);
        }
        assert_eq!(store.note_attempt("::2", 0, 31).await.unwrap(), 1);
        assert_eq!(store.attempts("::1", 20).await.unwrap(), 2);
        assert_eq!(store.note_attempt("::1", 25, 40).await.unwrap(), 2, "older ones are forgotten");
    });
}

async fn save(store: &Store, text: &str, base: Option<&str>) -> Saved {
    store.save_draft("anna", "guard", text, base, 7).await.unwrap()
}

#[test]
fn a_draft_that_was_changed_meanwhile_is_a_conflict() {
    on_each(async |store, _| {
        add(&store, &["anna"]).await;
        assert_eq!(store.draft("anna", "guard").await.unwrap(), None);
        let Saved::Yes(first) = save(&store, "one", Some("")).await else { panic!("there is none yet") };
        assert_eq!(store.draft("anna", "guard").await.unwrap().as_ref(), Some(&first));
        let Saved::Yes(second) = save(&store, "two", Some(&first.digest)).await else { panic!("nobody changed it") };
        assert_eq!(save(&store, "three", Some(&first.digest)).await, Saved::Conflict(second.clone()));
        assert_eq!(save(&store, "two", Some(&first.digest)).await, Saved::Yes(second));
        assert!(matches!(save(&store, "four", None).await, Saved::Yes(_)));
        assert_eq!(store.draft("anna", "guard").await.unwrap().unwrap().text, "four");
    });
}

#[test]
fn hints_and_answers_are_kept() {
    on_each(async |store, _| {
        add(&store, &["anna", "ben"]).await;
        assert_eq!(store.hints("anna", "guard").await.unwrap(), 0);
        store.set_hints("anna", "guard", 2).await.unwrap();
        store.set_hints("anna", "guard", 3).await.unwrap();
        assert_eq!(store.hints("anna", "guard").await.unwrap(), 3);
        let answer = |student: &str, correct| Answer {
            student: student.into(),
            question: "sectors".into(),
            answer: "4".into(),
            correct,
            at: 5,
        };
        let [one, other] = [answer("anna", Some(false)), answer("ben", None)];
        store.add_answer("predict_offset", &one).await.unwrap();
        store.add_answer("predict_offset", &other).await.unwrap();
        assert_eq!(store.answers("predict_offset", None).await.unwrap(), [one.clone(), other]);
        assert_eq!(store.answers("predict_offset", Some("anna")).await.unwrap(), [one]);
        assert_eq!(store.answers("guard", None).await.unwrap(), []);
    });
}

//! Runs, verdicts, limits, what a teacher sees, and the file.

use class::DAY;
use class::error::Error;
use class::settings::Limits;
use class::store::{Done, NewRun, State, Store};
use class::worker::Versions;
use sqlx::Connection as _;

use crate::databases::{add, enqueue, on_each, run, verdict};

#[test]
fn a_run_is_kept_with_its_text_and_verdict() {
    on_each(async |store, address| {
        add(&store, &["anna"]).await;
        let text = "fn a() {} // \u{1f980} '; DROP TABLE runs; --";
        let new = NewRun { student: "anna", exercise: "guard", text, submitted: true };
        let id = store.enqueue(&new, &Limits::default(), 5).await.unwrap();
        let waiting = store.run(id).await.unwrap().unwrap();
        assert_eq!((waiting.state, waiting.submitted, waiting.queued, &waiting.last), (State::Waiting, true, 5, &None));
        let job = store.take("w", &Limits::default(), 10, 100).await.unwrap().unwrap();
        assert_eq!(
            (job.run, job.student.as_str(), job.exercise.as_str(), job.text.as_str()),
            (id, "anna", "guard", text)
        );
        store.renew(&job.lease, Some("compiling"), 20, 100).await.unwrap();
        let running = store.run(id).await.unwrap().unwrap();
        assert_eq!((running.state, running.step.as_deref()), (State::Running, Some("compiling")));
        assert_eq!(store.finish(&job.lease, &verdict("solved", 1500), 30).await.unwrap(), Done::Yes);
        // Another process sees the same.
        let store = Store::open(&address).await.unwrap();
        let done = store.run(id).await.unwrap().unwrap();
        let last = done.last.unwrap();
        assert_eq!((done.state, last.status.as_str(), last.started, last.ended), (State::Done, "solved", 10, 30));
        assert_eq!((last.course.as_str(), last.grader.as_str(), last.milliseconds), ("c1", "g1", 1500));
        assert_eq!(store.verdict(id).await.unwrap(), Some(verdict("solved", 1500)));
        assert_eq!(store.text_of(id).await.unwrap().as_deref(), Some(text));
        assert_eq!(store.solved("anna").await.unwrap(), ["guard"]);
        assert_eq!(store.run(id + 1).await.unwrap(), None);
    });
}

#[test]
fn lists_are_newest_first_and_bounded() {
    on_each(async |store, _| {
        add(&store, &["anna", "ben"]).await;
        let ids = [enqueue(&store, "anna", "1", 1).await, enqueue(&store, "anna", "2", 2).await];
        let other = enqueue(&store, "ben", "3", 3).await;
        let keys = async |before, most| {
            let runs = store.runs_of("anna", "guard", before, most).await.unwrap();
            runs.into_iter().map(|run| run.id).collect::<Vec<_>>()
        };
        assert_eq!(keys(None, 10).await, [ids[1], ids[0]]);
        assert_eq!(keys(None, 1).await, [ids[1]]);
        assert_eq!(keys(Some(ids[1]), 10).await, [ids[0]]);
        let last: Vec<i64> = store.last_runs("ben").await.unwrap().into_iter().map(|run| run.id).collect();
        assert_eq!(last, [other]);
    });
}

#[test]
fn what_is_too_much_is_refused_in_one_line() {
    on_each(async |store, _| {
        add(&store, &["anna", "ben"]).await;
        let limits =
            Limits { source_bytes: 4, waiting_per_student: 2, waiting: 3, runs_per_day: 4, ..Limits::default() };
        let tried = async |student: &str, text: &str, now| match store.enqueue(&run(student, text), &limits, now).await
        {
            Ok(id) => Ok(id),
            Err(Error::Refused(why)) => Err(why),
            Err(other) => panic!("{other}"),
        };
        assert!(tried("anna", "12345", 1).await.unwrap_err().starts_with("the text has 5 bytes"));
        assert!(tried("anna", "a\0b", 1).await.unwrap_err().contains("zero byte"));
        assert!(tried("nobody", "1", 1).await.unwrap_err().contains("no such student"));
        tried("anna", "1", 1).await.unwrap();
        tried("anna", "2", 1).await.unwrap();
        assert!(tried("anna", "3", 1).await.unwrap_err().starts_with("you have 2 runs waiting"));
        tried("ben", "1", 1).await.unwrap();
        assert!(tried("ben", "2", 1).await.unwrap_err().starts_with("too many runs are waiting"));
        for _ in 0..3 {
            let job = store.take("w", &limits, 2, 100).await.unwrap().unwrap();
            store.finish(&job.lease, &verdict("wrong", 1), 3).await.unwrap();
        }
        tried("anna", "3", 4).await.unwrap();
        tried("anna", "4", 4).await.unwrap();
        let job = store.take("w", &limits, 5, 100).await.unwrap().unwrap();
        store.finish(&job.lease, &verdict("wrong", 1), 6).await.unwrap();
        assert!(tried("anna", "5", 6).await.unwrap_err().starts_with("you have had 4 runs within a day"));
        tried("anna", "5", 2 + DAY).await.unwrap();
    });
}

#[test]
fn a_regrade_adds_verdicts_and_keeps_the_old_ones() {
    on_each(async |store, _| {
        add(&store, &["anna", "ben"]).await;
        let limits = Limits::default();
        let submitted = NewRun { submitted: true, ..run("anna", "1") };
        let first = store.enqueue(&submitted, &limits, 1).await.unwrap();
        enqueue(&store, "ben", "2", 1).await;
        for _ in 0..2 {
            let job = store.take("w", &limits, 2, 100).await.unwrap().unwrap();
            store.finish(&job.lease, &verdict("wrong", 1), 3).await.unwrap();
        }
        assert_eq!(store.regrade("padding", false).await.unwrap(), 0);
        assert_eq!(store.regrade("guard", true).await.unwrap(), 1);
        assert_eq!(store.regrade("guard", false).await.unwrap(), 1, "the other one");
        // New runs come first.
        let new = enqueue(&store, "ben", "3", 4).await;
        let job = store.take("w", &limits, 5, 100).await.unwrap().unwrap();
        assert_eq!(job.run, new);
        store.finish(&job.lease, &verdict("solved", 1), 6).await.unwrap();
        let job = store.take("w", &limits, 7, 100).await.unwrap().unwrap();
        assert_eq!((job.run, job.text.as_str()), (first, "1"));
        let there = store.run(first).await.unwrap().unwrap();
        assert_eq!(
            (there.state, there.last.unwrap().status.as_str()),
            (State::Running, "wrong"),
            "it counts until then"
        );
        store.finish(&job.lease, &verdict("solved", 1), 8).await.unwrap();
        let all: Vec<String> = store.verdicts(first).await.unwrap().into_iter().map(|one| one.status).collect();
        assert_eq!(all, ["wrong", "solved"]);
        let counted = store.submissions().await.unwrap();
        assert_eq!(store.submissions_of("anna").await.unwrap(), counted);
        assert_eq!(store.submissions_of("ben").await.unwrap(), []);
        assert_eq!(counted.len(), 1);
        assert_eq!((counted[0].run, counted[0].status.as_deref(), counted[0].queued), (first, Some("solved"), 1));
        let reports = store.reports(&[first, new, 999]).await.unwrap();
        let report = |milliseconds| (verdict("solved", 1).report, milliseconds);
        assert_eq!(reports, [(first, report(1)), (new, report(1))].into());
        assert!(store.reports(&[]).await.unwrap().is_empty());
        let cells = store.cells().await.unwrap();
        let ben = cells.iter().find(|cell| cell.student == "ben").unwrap();
        assert_eq!((ben.runs, ben.submissions, ben.solved, ben.last), (2, 0, true, 4));
        let runs = store.runs_of_exercise("guard", 2).await.unwrap();
        assert_eq!(runs.iter().map(|one| one.student.as_str()).collect::<Vec<_>>(), ["ben", "ben"]);
    });
}

#[test]
fn a_regrade_that_fails_keeps_the_verdict_before() {
    on_each(async |store, _| {
        add(&store, &["anna"]).await;
        let limits = Limits::default();
        let run = store.enqueue(&NewRun { submitted: true, ..run("anna", "1") }, &limits, 1).await.unwrap();
        let judged = async |status| {
            let job = store.take("w", &limits, 2, 100).await.unwrap().unwrap();
            assert_eq!(store.finish(&job.lease, &verdict(status, 1), 3).await.unwrap(), Done::Yes);
            let counted = store.submissions().await.unwrap().remove(0).status.unwrap();
            (counted, store.verdict(run).await.unwrap().unwrap().status)
        };
        let both = |status: &str| (status.to_owned(), status.to_owned());
        assert_eq!(judged("failed").await, both("failed"));
        for (status, wanted) in [("solved", "solved"), ("failed", "solved"), ("wrong", "wrong")] {
            assert_eq!(store.regrade("guard", true).await.unwrap(), 1);
            assert_eq!(judged(status).await, both(wanted));
        }
        assert_eq!(store.verdicts(run).await.unwrap().len(), 4, "what was said is kept");
    });
}

#[test]
fn workers_learn_limits_and_earlier_mistakes() {
    on_each(async |store, address| {
        assert_eq!(store.limits().await.unwrap(), None);
        for waiting in [7, 8] {
            let limits = Limits { waiting, memory_mib: 512, seconds_per_file: 3, ..Limits::default() };
            store.put_limits(&limits).await.unwrap();
            assert_eq!(Store::open(&address).await.unwrap().limits().await.unwrap(), Some(limits));
        }
        let limits = store.limits().await.unwrap().unwrap();
        add(&store, &["anna"]).await;
        for (status, wrong_before) in [("wrong", 0), ("does_not_compile", 1), ("wrong", 1), ("solved", 2)] {
            enqueue(&store, "anna", "1", 1).await;
            let job = store.take("w", &limits, 2, 100).await.unwrap().unwrap();
            assert_eq!((job.wrong_before, job.memory_mib, job.seconds), (wrong_before, 512, 3));
            store.finish(&job.lease, &verdict(status, 1), 3).await.unwrap();
        }
    });
}

#[test]
fn a_verdict_is_known_for_the_same_text_student_and_versions() {
    on_each(async |store, _| {
        add(&store, &["anna", "ben"]).await;
        let versions = |course: &str| Versions { course: course.to_owned(), grader: "g1".to_owned() };
        let limits = Limits::default();
        // What was judged before: a text, and its verdict.
        for (text, status) in [("1", "solved"), ("2", "wrong"), ("3", "timed_out"), ("4", "does_not_compile")] {
            enqueue(&store, "anna", text, 1).await;
            let job = store.take("w", &limits, 2, 100).await.unwrap().unwrap();
            store.finish(&job.lease, &verdict(status, 9), 3).await.unwrap();
        }
        let known = async |new: NewRun<'_>, course: &str| {
            store.enqueue(&new, &limits, 4).await.unwrap();
            let job = store.take("w", &limits, 5, 100).await.unwrap().unwrap();
            let known = store.known_verdict(&job, &versions(course)).await.unwrap();
            store.finish(&job.lease, &verdict("failed", 0), 6).await.unwrap();
            known.map(|verdict| verdict.status)
        };
        assert_eq!(known(run("anna", "1"), "c1").await.as_deref(), Some("solved"));
        assert_eq!(known(run("anna", "4"), "c1").await.as_deref(), Some("does_not_compile"));
        assert_eq!(known(run("anna", "1"), "c2").await, None, "another course");
        assert_eq!(known(run("ben", "1"), "c1").await, None, "another student");
        assert_eq!(known(NewRun { exercise: "padding", ..run("anna", "1") }, "c1").await, None);
        for text in ["2", "3", "5"] {
            assert_eq!(known(run("anna", text), "c1").await, None, "{text}");
        }
        store.regrade("guard", false).await.unwrap();
        let job = store.take("w", &limits, 7, 100).await.unwrap().unwrap();
        assert!(job.again);
        assert_eq!(store.known_verdict(&job, &versions("c1")).await.unwrap(), None);
    });
}

#[test]
fn pages_of_old_verdicts_are_forgotten() {
    on_each(async |store, _| {
        add(&store, &["anna", "ben"]).await;
        let mut ids = vec![enqueue(&store, "ben", "1", 0).await];
        for at in 0..8 {
            ids.push(enqueue(&store, "anna", "1", at).await);
            while let Some(job) = store.take("w", &Limits::default(), at, 100).await.unwrap() {
                store.finish(&job.lease, &verdict("wrong", 1), at).await.unwrap();
            }
        }
        let mut has_page = Vec::new();
        for id in ids {
            has_page.push(store.verdict(id).await.unwrap().unwrap().page.is_some());
        }
        assert_eq!(has_page, [true, false, false, false, true, true, true, true, true]);
    });
}

#[test]
fn a_database_of_another_version_is_refused() {
    on_each(async |store, address| {
        store.close().await;
        let mut connection = sqlx::AnyConnection::connect(&address).await.unwrap();
        sqlx::query("UPDATE version SET version = '99'").execute(&mut connection).await.unwrap();
        let said = Store::open(&address).await.unwrap_err().to_string();
        assert!(said.contains("its tables have version 99, and this program has 2"), "{said}");
    });
}

#[test]
fn a_database_of_version_1_goes_on() {
    on_each(async |store, address| {
        add(&store, &["anna"]).await;
        enqueue(&store, "anna", "1", 1).await;
        store.close().await;
        let mut connection = sqlx::AnyConnection::connect(&address).await.unwrap();
        for command in
            ["ALTER TABLE students DROP COLUMN removed", "DROP INDEX runs_of_text", "UPDATE version SET version = '1'"]
        {
            sqlx::query(command).execute(&mut connection).await.unwrap();
        }
        for _ in 0..2 {
            let store = Store::open(&address).await.unwrap();
            assert_eq!(store.last_runs("anna").await.unwrap().len(), 1);
            assert!(store.removed().await.unwrap().is_empty());
        }
    });
}

#[test]
fn an_address_that_is_wrong_is_one_line_without_a_password() {
    on_each(async |_, _| {
        for address in [
            "mysql://a:s3cr37@b/c",
            "sqlite:/nowhere/class.db",
            "postgres://a:s3cr37?@127.0.0.1:1/c",
            "postgres://a:s3cr37@127.0.0.1:1/c",
            "x",
        ] {
            let said = Store::open(address).await.unwrap_err().to_string();
            assert!(said.starts_with("the database ") && !said.contains('\n') && !said.contains("s3cr37"), "{said}");
        }
    });
}

#[test]
#[cfg(unix)]
fn only_its_owner_reads_the_file() {
    use std::os::unix::fs::PermissionsExt as _;
    on_each(async |store, address| {
        let Some(file) = class::store::file(&address) else { return };
        add(&store, &["anna"]).await;
        let mode = |ending: &str| {
            let file = format!("{}{ending}", file.display());
            std::fs::metadata(file).unwrap().permissions().mode() & 0o777
        };
        assert_eq!(["", "-wal", "-shm"].map(mode), [0o600; 3]);
        // One that everybody may read is closed.
        store.close().await;
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
        Store::open(&address).await.unwrap();
        assert_eq!(mode(""), 0o600);
    });
}

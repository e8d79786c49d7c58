//! The queue: fair, bounded, and nothing is lost.

use class::HOUR;
use class::settings::Limits;
use class::store::{Done, Job, NewRun, State, Store};

use crate::databases::{add, enqueue, on_each, run, verdict};

async fn take(store: &Store, now: i64) -> Option<Job> {
    store.take("w", &Limits::default(), now, 100).await.unwrap()
}

async fn finish(store: &Store, job: &Job, now: i64) -> Done {
    store.finish(&job.lease, &verdict("wrong", 1), now).await.unwrap()
}

/// Whose jobs are judged, in their order, by one worker.
async fn order(store: &Store) -> Vec<String> {
    let mut order = Vec::new();
    while let Some(job) = take(store, 1000 + order.len() as i64).await {
        finish(store, &job, 1000 + order.len() as i64).await;
        order.push(format!("{}{}", job.student, job.text));
    }
    order
}

#[test]
fn students_take_turns() {
    on_each(async |store, _| {
        add(&store, &["a", "b", "c"]).await;
        for (student, text) in [("a", "1"), ("a", "2"), ("a", "3"), ("b", "1"), ("c", "1"), ("c", "2")] {
            enqueue(&store, student, text, 1).await;
        }
        assert_eq!(order(&store).await, ["a1", "b1", "c1", "a2", "c2", "a3"]);
        // Who was served longest ago comes first.
        for student in ["a", "c", "b"] {
            enqueue(&store, student, "4", 5).await;
        }
        assert_eq!(order(&store).await, ["b4", "c4", "a4"]);
    });
}

#[test]
fn a_student_has_one_running_job() {
    on_each(async |store, _| {
        add(&store, &["a", "b"]).await;
        for (student, text) in [("a", "1"), ("a", "2"), ("b", "1")] {
            enqueue(&store, student, text, 1).await;
        }
        let [one, other] = [take(&store, 2).await.unwrap(), take(&store, 3).await.unwrap()];
        assert_eq!((one.student.as_str(), other.student.as_str()), ("a", "b"));
        assert_eq!(take(&store, 4).await, None);
        assert_eq!(store.queue_length().await.unwrap(), (1, 2));
        finish(&store, &one, 5).await;
        assert_eq!(take(&store, 6).await.unwrap().text, "2");
    });
}

#[test]
fn positions_say_the_order() {
    on_each(async |store, _| {
        let limits = Limits { waiting_per_student: 9, ..Limits::default() };
        add(&store, &["a", "b", "c", "d"]).await;
        // Each has been served before, in another order.
        for student in ["c", "a", "d", "b"] {
            enqueue(&store, student, "0", 1).await;
            let job = take(&store, 1).await.unwrap();
            finish(&store, &job, 2).await;
        }
        let mut runs = Vec::new();
        for student in "aabbacdbcaad".split_terminator("").skip(1) {
            runs.push(store.enqueue(&run(student, "x"), &limits, 3).await.unwrap());
        }
        let mut said = Vec::new();
        for id in &runs {
            let position = store.position(*id, &limits, 4).await.unwrap().unwrap();
            assert!(!position.out_of_time && position.running == 0);
            said.push((position.ahead, *id));
        }
        said.sort_unstable();
        let mut taken = Vec::new();
        while let Some(job) = take(&store, 10 + taken.len() as i64).await {
            finish(&store, &job, 10 + taken.len() as i64).await;
            taken.push((taken.len() as u64, job.run));
        }
        assert_eq!(said, taken);
        assert_eq!(store.position(runs[0], &limits, 99).await.unwrap(), None);
    });
}

/// Host code may sleep: it takes no processor time, and nobody else has the worker meanwhile.
#[test]
fn a_job_costs_half_of_the_time_that_it_has_the_worker() {
    on_each(async |store, _| {
        add(&store, &["a"]).await;
        let limits = Limits { seconds_per_hour: 30, ..Limits::default() };
        for _ in 0..3 {
            enqueue(&store, "a", "1", 1).await;
        }
        for (begins, ends) in [(10, 30_010), (30_010, 60_010)] {
            let job = store.take("w", &limits, begins, 100).await.unwrap().unwrap();
            store.finish(&job.lease, &verdict("wrong", 7), ends).await.unwrap();
        }
        assert_eq!(store.take("w", &limits, 60_010, 100).await.unwrap(), None);
        assert!(store.take("w", &limits, HOUR, 100).await.unwrap().is_some());
    });
}

#[test]
fn a_lease_that_ends_is_given_to_another() {
    on_each(async |store, _| {
        add(&store, &["a"]).await;
        let id = enqueue(&store, "a", "1", 1).await;
        let first = take(&store, 10).await.unwrap();
        assert_eq!(take(&store, 110).await, None, "it lasts until then");
        assert_eq!(store.renew(&first.lease, None, 110, 100).await.unwrap(), Done::Yes);
        assert_eq!(take(&store, 210).await, None);
        let second = take(&store, 211).await.unwrap();
        assert_eq!((second.run, second.text.as_str()), (id, "1"));
        // The first worker was only slow.
        assert_eq!(store.renew(&first.lease, None, 212, 100).await.unwrap(), Done::Lost);
        assert_eq!(finish(&store, &first, 212).await, Done::Lost);
        assert_eq!(store.give_back(&first.lease).await.unwrap(), Done::Lost);
        assert_eq!(finish(&store, &second, 213).await, Done::Yes);
        assert_eq!(finish(&store, &second, 214).await, Done::Lost);
        assert_eq!(store.verdicts(id).await.unwrap().len(), 1);
        assert_eq!(store.queue_length().await.unwrap(), (0, 0));
    });
}

#[test]
fn a_job_that_is_given_back_is_next() {
    on_each(async |store, _| {
        add(&store, &["a", "b"]).await;
        for student in ["a", "b"] {
            enqueue(&store, student, "1", 1).await;
        }
        let job = take(&store, 2).await.unwrap();
        assert_eq!(store.give_back(&job.lease).await.unwrap(), Done::Yes);
        assert_eq!(order(&store).await, ["a1", "b1"]);
    });
}

#[test]
fn a_job_that_loses_every_judge_is_given_up() {
    on_each(async |store, _| {
        add(&store, &["a"]).await;
        let id = enqueue(&store, "a", "1", 1).await;
        let mut now = 0;
        let mut times = 0;
        while take(&store, now).await.is_some() {
            now += 1000;
            times += 1;
            assert!(times < 100, "it ends");
        }
        assert_eq!(times, 20);
        let verdict = store.verdict(id).await.unwrap().unwrap();
        assert_eq!((verdict.status.as_str(), verdict.report.as_str()), ("failed", "the judge was lost 20 times"));
        enqueue(&store, "a", "2", 1).await;
        assert_eq!(take(&store, now).await.unwrap().text, "2");
    });
}

#[test]
fn runs_can_be_stopped() {
    on_each(async |store, _| {
        add(&store, &["a", "b"]).await;
        let [waits, runs] = [enqueue(&store, "a", "1", 1).await, enqueue(&store, "b", "1", 1).await];
        assert!(!store.cancel("b", waits, 2).await.unwrap(), "it is another's");
        assert!(store.cancel("a", waits, 2).await.unwrap());
        assert!(!store.cancel("a", waits, 2).await.unwrap(), "once");
        let job = take(&store, 3).await.unwrap();
        assert_eq!(job.run, runs);
        assert!(store.cancel("b", runs, 4).await.unwrap());
        assert_eq!(store.run(runs).await.unwrap().unwrap().state, State::Running);
        assert_eq!(store.renew(&job.lease, None, 5, 100).await.unwrap(), Done::Cancelled);
        assert_eq!(finish(&store, &job, 6).await, Done::Cancelled);
        for id in [waits, runs] {
            assert_eq!(store.run(id).await.unwrap().unwrap().state, State::Cancelled);
            assert_eq!(store.verdict(id).await.unwrap(), None);
        }
        // A stopped one whose worker was killed.
        let id = enqueue(&store, "a", "2", 7).await;
        take(&store, 8).await.unwrap();
        store.cancel("a", id, 9).await.unwrap();
        assert_eq!(take(&store, 1000).await, None);
        assert_eq!(store.run(id).await.unwrap().unwrap().state, State::Cancelled);
        // What is submitted stays.
        let new = NewRun { submitted: true, ..run("a", "3") };
        let id = store.enqueue(&new, &Limits::default(), 10).await.unwrap();
        assert!(!store.cancel("a", id, 11).await.unwrap());
        assert_eq!(order(&store).await, ["a3"]);
    });
}

#[test]
fn processor_time_is_bounded_by_the_hour() {
    on_each(async |store, _| {
        add(&store, &["a", "b"]).await;
        let limits = Limits { seconds_per_hour: 10, seconds_per_file: 60, ..Limits::default() };
        let take = async |now| store.take("w", &limits, now, 100).await.unwrap();
        for text in ["1", "2", "3"] {
            enqueue(&store, "a", text, 0).await;
        }
        let job = take(HOUR).await.unwrap();
        assert_eq!(job.seconds, 60, "a file has its time, whatever is left of the hour");
        store.finish(&job.lease, &verdict("wrong", 6000), HOUR + 1).await.unwrap();
        let job = take(HOUR + 2).await.unwrap();
        assert_eq!(job.seconds, 60);
        store.finish(&job.lease, &verdict("wrong", 4000), HOUR + 3).await.unwrap();
        assert_eq!(take(HOUR + 4).await, None);
        let waits = store.runs_of("a", "guard", None, 1).await.unwrap()[0].id;
        assert!(store.position(waits, &limits, HOUR + 4).await.unwrap().unwrap().out_of_time);
        // Others do not wait for it.
        let other = enqueue(&store, "b", "1", HOUR + 5).await;
        let position = store.position(other, &limits, HOUR + 5).await.unwrap().unwrap();
        assert_eq!((position.ahead, position.out_of_time), (0, false));
        let job = take(HOUR + 6).await.unwrap();
        assert_eq!(job.run, other);
        finish(&store, &job, HOUR + 7).await;
        let job = take(2 * HOUR).await.unwrap();
        assert_eq!((job.run, job.seconds), (waits, 60));
        // To judge again costs a student nothing.
        store.finish(&job.lease, &verdict("wrong", 60_000), 2 * HOUR + 1).await.unwrap();
        store.regrade("guard", false).await.unwrap();
        let again = [take(2 * HOUR + 2).await.unwrap(), take(2 * HOUR + 3).await.unwrap()];
        assert_eq!(again.map(|job| (job.student, job.seconds)), [("b".to_owned(), 60), ("a".to_owned(), 60)]);
    });
}

//! Empty databases for tests, one of each kind.

use std::future::Future;

use class::settings::Limits;
use class::store::{NewRun, Store, Student, Verdict};
use sqlx::{AssertSqlSafe, Connection as _};

/// A server of PostgreSQL: `postgres://USER@HOST/NAME?host=FOLDER`.
const SERVER: &str = "CLASS_TEST_POSTGRES";

/// Runs a test on each kind of database. It gets the address, too, to open the database again.
pub fn on_each<F: Future<Output = ()>>(test: impl Fn(Store, String) -> F) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let folder = tempfile::tempdir().unwrap();
        let address = format!("sqlite:{}", folder.path().join("class.db").display());
        test(Store::open(&address).await.unwrap(), address).await;
        if let Ok(server) = std::env::var(SERVER) {
            let address = new_database(&server).await;
            test(Store::open(&address).await.unwrap(), address).await;
        }
    });
}

/// Makes a database on the server. It goes with the server's folder.
async fn new_database(server: &str) -> String {
    sqlx::any::install_default_drivers();
    let name = format!("class_{}", &class::secret::new().unwrap()[..16]);
    let mut connection = sqlx::AnyConnection::connect(server).await.unwrap();
    sqlx::query(AssertSqlSafe(format!("CREATE DATABASE {name}"))).execute(&mut connection).await.unwrap();
    let (server, parameters) = server.split_once('?').unwrap_or((server, ""));
    let (server, _) = server.rsplit_once('/').unwrap();
    format!("{server}/{name}?{parameters}")
}

/// Adds students.
pub async fn add(store: &Store, ids: &[&str]) {
    let student = |id: &&str| Student { id: (*id).to_owned(), name: id.to_uppercase(), email: String::new() };
    store.add_students(&ids.iter().map(student).collect::<Vec<_>>(), 0).await.unwrap();
}

/// A run of `guard`.
pub fn run<'a>(student: &'a str, text: &'a str) -> NewRun<'a> {
    NewRun { student, exercise: "guard", text, submitted: false }
}

/// Queues a run.
pub async fn enqueue(store: &Store, student: &str, text: &str, now: i64) -> i64 {
    store.enqueue(&run(student, text), &Limits::default(), now).await.unwrap()
}

/// A verdict.
pub fn verdict(status: &str, milliseconds: i64) -> Verdict {
    Verdict {
        status: status.to_owned(),
        milliseconds,
        report: format!("{status}: 'quotes' \"and\" \u{e9}"),
        places: "[]".to_owned(),
        page: Some("{}".to_owned()),
        course: "c1".to_owned(),
        grader: "g1".to_owned(),
    }
}

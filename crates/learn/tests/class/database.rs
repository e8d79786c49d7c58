//! Databases, and workers of the program on them.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use class::settings::Limits;
use class::store::{NewRun, Store, Student};
use tokio::runtime::Runtime;

/// The longest wait for workers: the first compiles the device library and `cust`.
pub const PATIENCE: Duration = Duration::from_secs(600);

/// A class's database, for a program that waits.
pub struct Class {
    pub runtime: Runtime,
    pub store: Store,
    pub address: String,
    /// Removed at the end.
    pub folder: tempfile::TempDir,
}

/// The clone.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The program.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_learn");

/// Arguments by which a program that root starts stays root's.
pub fn stays() -> &'static [&'static str] {
    if rustix::process::geteuid().is_root() { &["--user", "root"] } else { &[] }
}

/// A file of the clone's course.
pub fn file(name: &str) -> String {
    std::fs::read_to_string(root().join("exercises").join(name)).unwrap()
}

impl Class {
    /// Empty databases of each kind, with these students.
    pub fn each(students: &[&str]) -> Vec<Self> {
        let mut all = vec![Self::at(None, students)];
        all.extend(std::env::var("CLASS_TEST_POSTGRES").ok().map(|server| Self::at(Some(&server), students)));
        all
    }

    fn at(server: Option<&str>, students: &[&str]) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let address = match server {
            Some(server) => runtime.block_on(new_database(server)),
            None => format!("sqlite:{}", folder.path().join("class.db").display()),
        };
        let store = runtime.block_on(Store::open(&address)).unwrap();
        let student = |id: &&str| Student { id: (*id).to_owned(), name: (*id).to_owned(), email: String::new() };
        let students: Vec<Student> = students.iter().map(student).collect();
        runtime.block_on(store.add_students(&students, 0)).unwrap();
        Self { runtime, store, address, folder }
    }

    /// Queues a run.
    pub fn enqueue(&self, student: &str, exercise: &str, text: &str, submitted: bool) -> i64 {
        let new = NewRun { student, exercise, text, submitted };
        let limits = Limits { waiting_per_student: 1000, ..Limits::default() };
        self.runtime.block_on(async {
            let now = self.store.now().await.unwrap();
            self.store.enqueue(&new, &limits, now).await.unwrap()
        })
    }

    /// A worker's process.
    pub fn worker(&self) -> Worker {
        let mut command = Command::new(PROGRAM);
        command.args(["worker", "--database", &self.address]).args(stays()).current_dir(root());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Worker(command.spawn().unwrap())
    }

    /// Waits until the queue is empty.
    pub fn wait(&self) {
        let begun = Instant::now();
        while self.runtime.block_on(self.store.queue_length()).unwrap() != (0, 0) {
            assert!(begun.elapsed() < PATIENCE, "the queue is not empty");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

/// A worker, killed at the end.
pub struct Worker(pub Child);

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Makes a database on the server. It goes with the server's folder.
async fn new_database(server: &str) -> String {
    use sqlx::Connection as _;
    sqlx::any::install_default_drivers();
    let name = format!("class_{}", &class::secret::new().unwrap()[..16]);
    let mut connection = sqlx::AnyConnection::connect(server).await.unwrap();
    let create = sqlx::AssertSqlSafe(format!("CREATE DATABASE {name}"));
    sqlx::query(create).execute(&mut connection).await.unwrap();
    let (server, parameters) = server.split_once('?').unwrap_or((server, ""));
    let (server, _) = server.rsplit_once('/').unwrap();
    format!("{server}/{name}?{parameters}")
}

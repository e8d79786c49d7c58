//! The program's server for a class, which can be killed and started again.

use std::fs;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use class::store::Who;

use crate::database::{Class, PROGRAM, root};
use crate::http::Browser;

/// How long it may take to answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server, killed at the end.
pub struct Server {
    pub address: String,
    file: PathBuf,
    child: Child,
}

impl Server {
    /// Starts one for a class, whose settings are written beside its database or in its folder.
    pub fn start(class: &Class, workers: u32) -> Self {
        Self::with(class, workers, "")
    }

    /// The same with further tables of settings.
    pub fn with(class: &Class, workers: u32, more: &str) -> Self {
        let listen = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let file = class.folder.path().join("class.toml");
        let settings = format!(
            "title = 'Test'\nlisten = '{listen}'\nworkers = {workers}\n{}database = '{}'\n[[exercise]]\nname = 'guard'\n\
             [limits]\nwaiting_per_student = 20\nseconds_per_hour = 3600\n{more}",
            user(),
            class.address
        );
        fs::write(&file, settings).unwrap();
        let child = spawn(&file);
        let server = Self { address: format!("http://{listen}"), file, child };
        server.wait();
        server
    }

    fn wait(&self) {
        let begun = Instant::now();
        while Browser::new(&self.address).get("/").is_err() {
            assert!(begun.elapsed() < PATIENCE, "the server does not answer");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Its process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// What it has written since it was started last.
    pub fn log(&self) -> String {
        fs::read_to_string(self.file.with_extension("log")).unwrap()
    }

    /// Kills it, and starts it again.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.child = spawn(&self.file);
        self.wait();
    }

    /// Kills one of its workers, if it has one.
    pub fn kill_a_worker(&self, which: usize) {
        let own = format!("PPid:\t{}", self.child.id());
        let processes = fs::read_dir("/proc").unwrap().filter_map(Result::ok).map(|entry| entry.path());
        let is_worker = |path: &PathBuf| {
            fs::read_to_string(path.join("status")).is_ok_and(|status| status.lines().any(|line| line == own))
                && fs::read(path.join("cmdline"))
                    .is_ok_and(|line| line.split(|byte| *byte == 0).any(|word| word == b"worker"))
        };
        let workers: Vec<PathBuf> = processes.filter(is_worker).collect();
        let Some(worker) = workers.get(which % workers.len().max(1)) else { return };
        let id = worker.file_name().and_then(|name| name.to_str()?.parse().ok());
        if let Some(id) = id.and_then(rustix::process::Pid::from_raw) {
            // It may have ended meanwhile.
            let _ = rustix::process::kill_process(id, rustix::process::Signal::KILL);
        }
    }

    /// A browser of a student.
    pub fn browser(&self, class: &Class, student: &str) -> Browser {
        let secret = class::secret::new().unwrap();
        let who = Who::Student(student.to_owned());
        class.runtime.block_on(class.store.put_link(&class::secret::hash(&secret), &who, 0)).unwrap();
        let mut browser = Browser::new(&self.address);
        browser.sign_in(&secret).unwrap();
        browser
    }
}

/// The setting by which a program that root starts stays root's.
pub fn user() -> &'static str {
    if rustix::process::geteuid().is_root() { "user = 'root'\n" } else { "" }
}

fn spawn(file: &PathBuf) -> Child {
    let mut command = Command::new(PROGRAM);
    command.args(["serve", "--plain", "--class"]).arg(file).current_dir(root());
    let log = fs::File::create(file.with_extension("log")).unwrap();
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn().unwrap()
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

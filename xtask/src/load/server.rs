//! The class that is measured: its files, its students, and the program that serves it.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use super::http::Browser;
use super::{Error, Options, input};
use crate::program::{Failed, learn_with_class, succeed, user_of_class};

/// How long the server may take to answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long workers may take, which compile the device library.
const WORKERS_PATIENCE: Duration = Duration::from_secs(600);

/// A class with its server.
pub struct Server {
    learn: PathBuf,
    root: PathBuf,
    /// Removed at the end.
    folder: tempfile::TempDir,
    address: String,
    links: Vec<String>,
    running: Option<Child>,
    /// How many workers have begun to take jobs.
    ready: Arc<AtomicU32>,
}

impl Server {
    /// Writes the class's files, and makes links for its students.
    ///
    /// # Errors
    ///
    /// What failed.
    pub fn prepare(root: &Path, options: &Options) -> Result<Self, Error> {
        let folder = tempfile::tempdir().map_err(input("a temporary folder"))?;
        let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let listen = free.map_err(input("127.0.0.1"))?;
        let database = options.database.as_ref().map(|url| format!("database = {url:?}\n")).unwrap_or_default();
        let settings = format!(
            "title = \"Load\"\nlisten = \"{listen}\"\nworkers = {}\n{}{database}[[exercise]]\nname = {:?}\n\
             [limits]\nseconds_per_hour = 3600\n",
            options.workers,
            user_of_class(folder.path()),
            options.exercise
        );
        let students: String = (0..options.students).map(|number| format!("Student {number},s{number},\n")).collect();
        for (name, text) in [("class.toml", settings), ("students.csv", format!("name,id,email\n{students}"))] {
            fs::write(folder.path().join(name), text).map_err(input(name))?;
        }
        let learn = learn_with_class()?;
        let mut server = Self {
            learn,
            root: root.to_owned(),
            folder,
            address: format!("http://{listen}"),
            links: Vec::new(),
            running: None,
            ready: Arc::default(),
        };
        let file = server.file("students.csv");
        succeed(server.learn(&["roster", "add"]).arg(file).arg("--class").arg(server.file("class.toml")))?;
        let links = succeed(server.learn(&["roster", "link", "--class"]).arg(server.file("class.toml")))?;
        server.links = links.lines().skip(1).filter_map(|line| line.rsplit(',').next()).map(str::to_owned).collect();
        Ok(server)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn learn(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.learn);
        command.args(arguments).current_dir(&self.root);
        command
    }

    /// Starts the program, and waits until it answers.
    ///
    /// # Errors
    ///
    /// That it does not.
    pub fn start(&mut self) -> Result<(), Error> {
        let mut command = self.learn(&["serve", "--plain", "--class"]);
        command.arg(self.file("class.toml")).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|problem| Failed::of(&command, problem))?;
        let (said, ready) = (child.stderr.take(), Arc::clone(&self.ready));
        std::thread::spawn(move || {
            for line in said.into_iter().flat_map(|said| BufReader::new(said).lines().map_while(Result::ok)) {
                eprintln!("{line}");
                ready.fetch_add(u32::from(line.contains(" takes jobs from ")), Ordering::Relaxed);
            }
        });
        self.running = Some(child);
        let begun = Instant::now();
        while Browser::new(&self.address).get("/").is_err() {
            if begun.elapsed() > PATIENCE {
                return Err(Error::Server(format!("{}: the server does not answer", self.address)));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }

    /// Waits until so many workers take jobs.
    ///
    /// # Errors
    ///
    /// That they do not.
    pub fn wait_for_workers(&self, count: u32) -> Result<(), Error> {
        let begun = Instant::now();
        while self.ready.load(Ordering::Relaxed) < count {
            if begun.elapsed() > WORKERS_PATIENCE {
                return Err(Error::Server("the workers are not ready: see above".to_owned()));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    /// Signs all students in.
    ///
    /// # Errors
    ///
    /// That one cannot.
    pub fn sign_all_in(&self) -> Result<Vec<Browser>, Error> {
        let one = |link: &String| {
            let mut browser = Browser::new(&self.address);
            browser.sign_in(link).map(|()| browser).map_err(input("a student's link"))
        };
        self.links.iter().map(one).collect()
    }

    /// The memory of the server and of its workers.
    pub fn memory(&self) -> Memory {
        let Some(server) = self.running.as_ref().map(Child::id) else { return Memory::default() };
        let stat = |path: &Path, name: &str| {
            let text = fs::read_to_string(path.join("status")).ok()?;
            let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
            line.split_ascii_whitespace().next()?.parse::<u64>().ok()
        };
        let memory = |path: &Path| stat(path, "VmRSS").unwrap_or(0) as f64 / 1024.0;
        let processes = fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
        let children = processes.map(|process| process.path());
        let children = children.filter(|path| stat(path, "PPid") == Some(u64::from(server)));
        Memory {
            server: memory(&Path::new("/proc").join(server.to_string())),
            workers: children.map(|path| memory(&path)).sum(),
        }
    }
}

/// Memory in MiB.
#[derive(Clone, Copy, Debug, Default)]
pub struct Memory {
    pub server: f64,
    pub workers: f64,
}

/// How many threads wanted a core within the last minute: others may work on the machine, too.
pub fn load() -> String {
    let averages = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    averages.split(' ').next().unwrap_or_default().to_owned()
}

/// The processor's ticks a second, on Linux.
const TICKS: f64 = 100.0;

impl Server {
    /// The processor time that the server alone has taken, in seconds: on a busy machine it says more
    /// than the clock.
    pub fn processor(&self) -> f64 {
        let Some(server) = self.running.as_ref().map(Child::id) else { return 0.0 };
        let stat = fs::read_to_string(format!("/proc/{server}/stat")).unwrap_or_default();
        // Behind the name, which may contain anything, in the twelfth and thirteenth field.
        let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields).split_ascii_whitespace();
        fields.skip(11).take(2).filter_map(|field| field.parse::<f64>().ok()).sum::<f64>() / TICKS
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(running) = &mut self.running {
            let _ = running.kill();
            let _ = running.wait();
        }
    }
}

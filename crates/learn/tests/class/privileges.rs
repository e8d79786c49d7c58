//! What the server, its workers and their judges may do. Started by root they are an unprivileged
//! user's; started by anybody else they are that user's, as any program.

use std::collections::HashMap;
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use class::store::Store;
use cuda_builder::toolchain::{DeviceCompiler, RUSTC_VARIABLE};

use crate::database::{Class, PATIENCE, PROGRAM, Worker, file, root};
use crate::server::Server;
use crate::worker::readers_of;

/// Whom root becomes here: each Linux has this user.
const USER: &str = "nobody";

/// A kernel that does not end.
fn endless() -> String {
    file("guard/solution.rs").replace(
        "let i = thread::linear_index();",
        "let i = thread::linear_index();\n    while core::hint::black_box(true) {}",
    )
}

/// What Linux says of a process.
struct Process {
    parent: u32,
    command: String,
    status: HashMap<String, String>,
}

impl Process {
    /// All processes, by number.
    fn all() -> HashMap<u32, Self> {
        let numbers = fs::read_dir("/proc").unwrap().flatten();
        let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        numbers.filter_map(|number| Some((number, Self::of(number)?))).collect()
    }

    fn of(number: u32) -> Option<Self> {
        let status = fs::read_to_string(format!("/proc/{number}/status")).ok()?;
        let fields = status.lines().filter_map(|line| line.split_once(':'));
        let status: HashMap<_, _> = fields.map(|(name, value)| (name.to_owned(), value.trim().to_owned())).collect();
        let command = String::from_utf8_lossy(&fs::read(format!("/proc/{number}/cmdline")).ok()?).replace('\0', " ");
        Some(Self { parent: status.get("PPid")?.parse().ok()?, command, status })
    }

    /// A process and all that it and its children have started.
    fn below(number: u32) -> Vec<Self> {
        let mut all = Self::all();
        let mut found = vec![number];
        for at in 0.. {
            let Some(&parent) = found.get(at) else { break };
            found.extend(all.iter().filter(|(_, process)| process.parent == parent).map(|(number, _)| *number));
        }
        found.iter().filter_map(|number| all.remove(number)).collect()
    }

    /// The numbers of a field.
    fn numbers(&self, field: &str) -> Vec<u32> {
        self.status[field].split_whitespace().map(|number| number.parse().unwrap()).collect()
    }

    /// Whether all of it is this user's, and can be nobody else's again.
    fn is_only(&self, (user, group): (u32, u32)) -> bool {
        let none = |field: &str| self.status[field].bytes().all(|digit| digit == b'0');
        self.numbers("Uid") == [user; 4]
            && self.numbers("Gid") == [group; 4]
            && self.numbers("Groups").is_empty()
            && ["CapPrm", "CapEff", "CapAmb"].into_iter().all(none)
            && self.status["NoNewPrivs"] == "1"
    }
}

/// Waits for a process below this one with such a word, and returns all of them.
fn waited_for(number: u32, word: &str) -> Vec<Process> {
    let begun = Instant::now();
    loop {
        let all = Process::below(number);
        if all.iter().any(|process| process.command.split(' ').any(|one| one == word)) {
            return all;
        }
        assert!(!all.is_empty() && begun.elapsed() < PATIENCE, "there is no {word}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[test]
#[ignore = "long: it judges a kernel"]
fn who_is_not_root_stays_the_same_user() {
    if is_root() {
        return;
    }
    let class = &Class::each(&["anna"])[0];
    let server = Server::start(class, 1);
    class.enqueue("anna", "guard", &endless(), false);
    let own = rustix::process::getuid().as_raw();
    let all = waited_for(server.id(), "grade-one");
    assert!(all.len() >= 3 && all.iter().all(|process| process.numbers("Uid") == [own; 4]));
}

/// What the program says that is started with these settings, on the standard error.
fn refused(settings: &str, folder: &Path) -> String {
    let file = folder.join("class.toml");
    fs::write(&file, format!("title = 'Test'\nlisten = '127.0.0.1:0'\nworkers = 0\n{settings}")).unwrap();
    let mut command = Command::new(PROGRAM);
    command.args(["serve", "--plain", "--class"]).arg(file).current_dir(root());
    let output = command.stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(2) && said.lines().count() == 1, "{said}");
    said
}

#[test]
fn a_user_that_the_class_cannot_have_is_refused_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let said = |settings: &str| refused(settings, folder.path());
    assert_eq!(said("user = 'no_such_user'\n"), "error: user \"no_such_user\": this system has no such user\n");
    assert_eq!(said("user = '-s'\n"), "error: user \"-s\": this system has no such user\n");
    if !is_root() {
        assert!(said("user = 'root'\n").starts_with("error: user \"root\": only root can become root: "));
        return;
    }
    if fs::metadata(root()).unwrap().uid() == 0 {
        assert!(said("").starts_with("error: this runs as root, "));
    }
    let own = folder.path().display();
    assert_eq!(
        said("user = 'nobody'\n"),
        format!("error: {own}: it belongs to another user than nobody, who runs the class: give it to nobody\n")
    );
}

/// A clone, a course, a compiler and a program that each user can reach, and a class that root has.
struct Place {
    folder: tempfile::TempDir,
    rustc: PathBuf,
    account: (u32, u32),
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::Builder::new().permissions(fs::Permissions::from_mode(0o755)).tempdir().unwrap();
        let number = |of: &str| {
            let output = Command::new("id").args([of, USER]).output().unwrap();
            String::from_utf8(output.stdout).unwrap().trim().parse().unwrap()
        };
        let account = (number("-u"), number("-g"));
        let at = |name: &str| folder.path().join(name);
        for name in ["course", "bin"] {
            fs::create_dir(at(name)).unwrap();
        }
        run(Command::new("cp").arg("-r").arg(root().join("exercises/guard")).arg(at("course")));
        fs::write(at("course/course.toml"), "[[chapter]]\ntitle = 'One'\nexercises = ['guard']\n").unwrap();
        let mut export = Command::new(PROGRAM);
        run(export.arg("--course").arg(at("course")).arg("export").arg(at("clone")).current_dir(root()));
        if fs::hard_link(PROGRAM, at("bin/learn")).is_err() {
            fs::copy(PROGRAM, at("bin/learn")).unwrap();
        }
        // rustup keeps compilers in a home that is often its owner's alone.
        let DeviceCompiler { rustc, sysroot, .. } = DeviceCompiler::find().unwrap();
        let mut asks = Command::new(&rustc);
        asks.arg("-V").uid(account.0).gid(account.1).stdout(Stdio::null());
        let rustc = match asks.status() {
            Ok(status) if status.success() => rustc,
            _ => {
                fs::create_dir(at("toolchain")).unwrap();
                for name in ["bin", "lib"] {
                    let copied =
                        |how| Command::new("cp").arg(how).arg(sysroot.join(name)).arg(at("toolchain")).status();
                    // A second name for each file, on the same disk.
                    if !copied("-al").unwrap().success() {
                        assert!(copied("-a").unwrap().success());
                    }
                }
                at("toolchain/bin/rustc")
            }
        };
        Self { folder, rustc, account }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn learn(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.at("bin/learn"));
        command.arg("--course").arg(self.at("course")).args(arguments).current_dir(self.at("clone"));
        command.env(RUSTC_VARIABLE, &self.rustc).env_remove("LEARN_JOB").stdin(Stdio::null());
        command
    }

    /// The class's settings, which each user can read.
    fn write(&self, listen: &str) {
        let settings = format!(
            "title = 'Test'\nlisten = '{listen}'\nworkers = 1\nuser = '{USER}'\ndatabase = 'data/class.db'\n\
             [[exercise]]\nname = 'guard'\n[limits]\nwaiting_per_student = 20\nseconds_per_hour = 3600\n"
        );
        let students = "name,id,email\nAnna,anna,\nEve,eve,\n";
        for (name, text) in [("class.toml", settings.as_str()), ("students.csv", students)] {
            fs::write(self.at(name), text).unwrap();
            fs::set_permissions(self.at(name), fs::Permissions::from_mode(0o644)).unwrap();
        }
    }

    /// Whether the user's process can read a file, in the sandbox of a student's program or outside.
    fn reads(&self, confined: bool, file: &Path) -> bool {
        let mut command = self.learn(&["start", &format!("--parent={}", std::process::id())]);
        if confined {
            command.args(["--confined", "--read=/bin", "--read=/usr", "--read=/lib", "--read=/lib64"]);
            command.arg("--read").arg(self.at("course/guard"));
        }
        command.args(["--", "/bin/cat"]).arg(file).uid(self.account.0).gid(self.account.1);
        command.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap().success()
    }
}

fn run(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A port that only root may have, unless the system says otherwise.
fn low_port() -> u16 {
    let free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    (700..1024).rev().find(free).expect("a port below 1024 is free")
}

/// Waits until the server of the class keeps its limits: then it serves.
fn served(server: &mut Child, class: &Class) {
    let begun = Instant::now();
    while class.runtime.block_on(class.store.course()).unwrap().is_none() {
        assert!(server.try_wait().unwrap().is_none() && begun.elapsed() < PATIENCE, "it does not serve");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
#[ignore = "long: it compiles the device library in a clone of another user"]
fn a_class_that_root_starts_is_an_unprivileged_users() {
    if !is_root() {
        return;
    }
    let place = Place::new();
    let listen = format!("127.0.0.1:{}", low_port());
    place.write(&listen);
    // The device library, for which cargo needs root's packages; then it is the user's.
    let compiled = place.learn(&["run", "guard"]).output().unwrap();
    assert_eq!(compiled.status.code(), Some(1), "{}", String::from_utf8_lossy(&compiled.stderr));
    run(Command::new("chown").arg("-R").arg(USER).arg(place.at("clone/target/learn")));
    // The roster makes the folder of the database, which then is the user's alone.
    let class = place.at("class.toml");
    let [class_file, students] = [&class, &place.at("students.csv")].map(|path| path.to_str().unwrap().to_owned());
    run(&mut place.learn(&["roster", "--class", &class_file, "add", &students]));
    let (database, data) = (place.at("data/class.db"), fs::metadata(place.at("data")).unwrap());
    assert_eq!((data.uid(), data.gid(), data.mode() & 0o777), (place.account.0, place.account.1, 0o700));
    assert_eq!(fs::metadata(&database).unwrap().uid(), place.account.0);
    // The server.
    let mut server = Worker(place.learn(&["serve", "--plain", "--class", &class_file]).spawn().unwrap());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let address = format!("sqlite:{}", database.display());
    let store = runtime.block_on(Store::open(&address)).unwrap();
    let class = Class { runtime, store, address, folder: tempfile::tempdir().unwrap() };
    served(&mut server.0, &class);
    assert!(crate::http::Browser::new(&format!("http://{listen}")).get("/").is_ok());
    // Hostile kernels.
    class.enqueue("anna", "guard", "// SECRET-OF-ANNA", false);
    let runs = readers_of(&database).map(|text| class.enqueue("eve", "guard", &text, false));
    class.wait();
    for verdict in runs.map(|run| class.verdict(run)) {
        assert_ne!(verdict.status, "solved");
        assert!(!format!("{verdict:?}").contains("SECRET-OF-ANNA"), "{}", verdict.report);
    }
    let solved = class.enqueue("anna", "guard", &file("guard/solution.rs"), true);
    class.wait();
    assert_eq!(class.verdict(solved).status, "solved");
    // All processes, while one judges.
    class.enqueue("eve", "guard", &endless(), false);
    let all = waited_for(server.0.id(), "grade-one");
    assert!(all.len() >= 3, "the server, a worker, a judge");
    if let Some(Process { command, status, .. }) = all.iter().find(|process| !process.is_only(place.account)) {
        panic!("{command}: {status:?}");
    }
    let judge = all.iter().find(|process| process.command.contains(" grade-one ")).unwrap();
    assert_eq!(judge.status["Seccomp"], "2");
    // A student's program that runs as that user reads nothing of the class, nor of other jobs.
    let secrets =
        ["data/class.db", "data/class.db-wal", "class.toml", "students.csv", "clone/target/learn/999/compiler.json"];
    for name in secrets {
        let file = place.at(name);
        assert_eq!([false, true].map(|confined| place.reads(confined, &file)), [true, false], "{name}");
    }
    assert!(place.reads(true, &place.at("course/guard/starter.rs")));
    // A worker that root starts by hand.
    let worker = place.learn(&["worker", "--user", USER, "--database", &class.address]).spawn().unwrap();
    let worker = Worker(worker);
    let begun = Instant::now();
    while !Process::of(worker.0.id()).is_some_and(|process| process.is_only(place.account)) {
        assert!(begun.elapsed() < PATIENCE, "it stays root's");
        std::thread::sleep(Duration::from_millis(20));
    }
}

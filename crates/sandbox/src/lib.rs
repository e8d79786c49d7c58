//! A sandbox for what handles the text of strangers: the processes in which `cargo learn grade`
//! compiles and judges submissions, and those in which `coalesce judge` runs candidates.
//!
//! In it a process reads and writes only what is listed, opens no socket, and looks into no other
//! process. On Linux, Landlock guards the files and seccomp the rest; elsewhere there is no
//! sandbox, and [`missing`] says so. A sandbox in a sandbox allows what both allow.
//!
//! *Invariant:* a sandbox that cannot be made is an error, never a program that runs without it.

use std::path::{Path, PathBuf};

/// Where systems keep their shared libraries, and the list of these.
const LIBRARIES: [&str; 8] =
    ["/usr/lib", "/usr/lib32", "/usr/lib64", "/lib", "/lib32", "/lib64", "/nix/store", "/etc/ld.so.cache"];

/// What a process may read and write.
#[derive(Clone, Debug, Default)]
pub struct Sandbox {
    reads: Vec<PathBuf>,
    writes: Vec<PathBuf>,
    /// Folders that it may write to, and run programs from.
    programs: Vec<PathBuf>,
}

impl Sandbox {
    /// A sandbox that reads these files and folders and the system's libraries, and reads and
    /// writes those.
    pub fn new(reads: impl IntoIterator<Item = PathBuf>, writes: impl IntoIterator<Item = PathBuf>) -> Self {
        let reads = reads.into_iter().chain(LIBRARIES.map(PathBuf::from)).collect();
        // The standard library opens it for a program without input.
        let writes = writes.into_iter().chain([PathBuf::from("/dev/null")]).collect();
        Self { reads, writes, programs: Vec::new() }
    }

    /// The same, for a judge of host code: with a folder whose programs it may write and run, and
    /// what these and their compiler read.
    #[cfg(target_os = "linux")]
    pub fn with_host(mut self, folder: PathBuf, reads: Vec<PathBuf>) -> Self {
        self.reads.extend(reads);
        self.programs.push(folder);
        self
    }

    /// Confines this thread for ever, and all threads and processes that it starts.
    ///
    /// # Errors
    ///
    /// What the system lacks.
    pub fn enter(&self) -> Result<(), String> {
        confine(&self.reads, &self.writes, &self.programs)
    }

    /// Itself as arguments `--read` and `--write` of a program that enters it.
    #[cfg(target_os = "linux")]
    pub fn arguments(&self) -> impl Iterator<Item = std::ffi::OsString> {
        let of = |name, paths: &[PathBuf]| {
            paths.iter().flat_map(move |path| [std::ffi::OsString::from(name), path.into()]).collect::<Vec<_>>()
        };
        of("--read", &self.reads).into_iter().chain(of("--write", &self.writes))
    }
}

/// Why this machine has no sandbox; `None` if it has one. It is tried, not asked for.
pub fn missing() -> Option<String> {
    in_new_thread(|| {
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        let opens = |path: &Path| std::fs::File::open(path);
        opens(&program).map_err(|error| format!("{}: {error}", program.display()))?;
        confine(&[], &[], &[])?;
        match (opens(&program), std::net::UdpSocket::bind("127.0.0.1:0")) {
            (Ok(_), _) => Err("it opens files in spite of Landlock".to_owned()),
            (_, Ok(_)) => Err("it opens sockets in spite of seccomp".to_owned()),
            _ => Ok(()),
        }
    })
    .err()
}

/// Runs `work` in a new thread: a thread that has entered a sandbox cannot leave it.
fn in_new_thread<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| scope.spawn(work).join()).unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

#[cfg(target_os = "linux")]
fn confine(reads: &[PathBuf], writes: &[PathBuf], programs: &[PathBuf]) -> Result<(), String> {
    use landlock::{
        ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _,
        RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope, path_beneath_rules,
    };
    // Linux 6.2, the first that guards every way to change a file. What newer ones guard comes on
    // top.
    const NEEDED: ABI = ABI::V3;
    const NEWEST: ABI = ABI::V10;
    let landlock = || -> Result<_, RulesetError> {
        Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessFs::from_all(NEEDED))?
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_all(NEWEST))?
            .handle_access(AccessNet::from_all(NEWEST))?
            .scope(Scope::from_all(NEWEST))?
            .create()?
            .add_rules(path_beneath_rules(reads, AccessFs::from_read(NEWEST)))?
            .add_rules(path_beneath_rules(writes, AccessFs::from_all(NEWEST) & !AccessFs::Execute))?
            .add_rules(path_beneath_rules(programs, AccessFs::from_all(NEWEST)))?
            .restrict_self()
    };
    match landlock() {
        Ok(status) if status.ruleset != RulesetStatus::NotEnforced => {}
        Ok(_) => return Err("the kernel has no Landlock".to_owned()),
        Err(error) => return Err(format!("the kernel's Landlock is missing or too old (Linux 6.2 has it): {error}")),
    }
    refuse_calls().map_err(|error| format!("the kernel has no seccomp filters: {error}"))
}

/// Refuses sockets and what looks into other processes, for this thread and all that it starts.
#[cfg(target_os = "linux")]
fn refuse_calls() -> Result<(), seccompiler::Error> {
    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch};
    let calls = [
        libc::SYS_socket,
        libc::SYS_socketpair,
        libc::SYS_io_uring_setup,
        libc::SYS_ptrace,
        libc::SYS_process_vm_readv,
        libc::SYS_process_vm_writev,
    ];
    let rules = calls.into_iter().map(|call| (call, Vec::new())).collect();
    let refused = SeccompAction::Errno(libc::EPERM.cast_unsigned());
    let arch = TargetArch::try_from(std::env::consts::ARCH)?;
    let filter: BpfProgram = SeccompFilter::new(rules, SeccompAction::Allow, refused, arch)?.try_into()?;
    seccompiler::apply_filter(&filter)
}

/// Keeps this process, and the program that it becomes, alone: it starts no other process, sends
/// signals to itself only, changes no limit, priority or group, and shares no memory but with its
/// threads. What it is confined to before stays.
#[cfg(target_os = "linux")]
pub fn alone() -> Result<(), String> {
    refuse_company().map_err(|error| format!("the kernel has no seccomp filters: {error}"))
}

#[cfg(target_os = "linux")]
fn refuse_company() -> Result<(), seccompiler::Error> {
    use seccompiler::{
        BpfProgram, SeccompAction, SeccompCmpArgLen as Length, SeccompCmpOp as Is, SeccompCondition as If,
        SeccompFilter, SeccompRule, TargetArch,
    };
    let own = u64::from(std::process::id());
    let when = |argument, length, is, value| If::new(argument, length, is, value);
    let other = |argument| when(argument, Length::Dword, Is::Ne, own);
    let always = [
        #[cfg(target_arch = "x86_64")]
        libc::SYS_fork,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_vfork,
        libc::SYS_tkill,
        libc::SYS_pidfd_send_signal,
        libc::SYS_pidfd_open,
        libc::SYS_setsid,
        libc::SYS_setpgid,
        libc::SYS_setpriority,
        libc::SYS_sched_setaffinity,
        libc::SYS_sched_setscheduler,
        libc::SYS_sched_setattr,
        libc::SYS_sched_setparam,
        libc::SYS_ioprio_set,
        libc::SYS_unshare,
        libc::SYS_setns,
        libc::SYS_shmget,
        libc::SYS_msgget,
        libc::SYS_semget,
        libc::SYS_mq_open,
        libc::SYS_memfd_create,
        libc::SYS_add_key,
        libc::SYS_request_key,
        libc::SYS_keyctl,
        libc::SYS_bpf,
        libc::SYS_perf_event_open,
        libc::SYS_userfaultfd,
        libc::SYS_process_madvise,
        libc::SYS_kcmp,
    ];
    let mut rules: std::collections::BTreeMap<i64, Vec<SeccompRule>> =
        always.into_iter().map(|call| (call, Vec::new())).collect();
    // Threads alone.
    let no_thread = when(0, Length::Qword, Is::MaskedEq(libc::CLONE_THREAD as u64), 0)?;
    rules.insert(libc::SYS_clone, vec![SeccompRule::new(vec![no_thread])?]);
    for call in [libc::SYS_kill, libc::SYS_tgkill, libc::SYS_rt_sigqueueinfo, libc::SYS_rt_tgsigqueueinfo] {
        rules.insert(call, vec![SeccompRule::new(vec![other(0)?])?]);
    }
    let not_zero = when(0, Length::Dword, Is::Ne, 0)?;
    rules.insert(libc::SYS_prlimit64, vec![SeccompRule::new(vec![not_zero, other(0)?])?]);
    // It ends with its parent.
    let dies = when(0, Length::Dword, Is::Eq, libc::PR_SET_PDEATHSIG as u64)?;
    rules.insert(libc::SYS_prctl, vec![SeccompRule::new(vec![dies])?]);
    // The C library tries `clone` when this is missing: the filter sees its flags.
    let newer = std::iter::once((libc::SYS_clone3, Vec::new())).collect();
    for (rules, error) in [(rules, libc::EPERM), (newer, libc::ENOSYS)] {
        let refused = SeccompAction::Errno(error.cast_unsigned());
        let arch = TargetArch::try_from(std::env::consts::ARCH)?;
        let filter: BpfProgram = SeccompFilter::new(rules, SeccompAction::Allow, refused, arch)?.try_into()?;
        seccompiler::apply_filter(&filter)?;
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn confine(_reads: &[PathBuf], _writes: &[PathBuf], _programs: &[PathBuf]) -> Result<(), String> {
    Err(format!("there is none on {}: it needs Linux 6.2 or newer", std::env::consts::OS))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs;
    use std::io;
    use std::os::unix::fs::PermissionsExt as _;
    use std::process::Command;

    use super::*;

    /// The system's programs, which the tests run.
    fn programs() -> Vec<PathBuf> {
        ["/bin", "/usr/bin"].map(PathBuf::from).to_vec()
    }

    fn shell(sandbox: &Sandbox, command: &str) -> (bool, String) {
        let run = || {
            sandbox.enter().map_err(io::Error::other)?;
            Command::new("/bin/sh").args(["-c", command]).output()
        };
        let output = in_new_thread(run).unwrap();
        (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
    }

    #[test]
    fn this_machine_has_one_or_the_kernel_is_old() {
        if let Some(why) = missing() {
            assert!(why.starts_with("the kernel"), "{why}");
        }
    }

    #[test]
    fn only_what_is_listed_is_read_and_written() {
        if missing().is_some() {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in ["own", "library", "other"] {
            fs::create_dir(path(name)).unwrap();
            fs::write(path(name).join("file"), name).unwrap();
        }
        std::os::unix::fs::symlink(path("other/file"), path("own/link")).unwrap();
        let sandbox = Sandbox::new(programs().into_iter().chain([path("library")]), [path("own")]);
        let done = |command: &str| shell(&sandbox, &format!("cd {} || exit 1; {command}", path("own").display()));
        assert_eq!(done("cat file ../library/file"), (true, "ownlibrary".to_owned()));
        for refused in [
            "cat ../other/file",
            "cat link",
            "ls ..",
            "ls /",
            "cat /etc/passwd",
            "cat /proc/self/environ",
            "cat /proc/1/cmdline",
            "head -c 1 /dev/zero",
            "echo x > ../library/file",
            "echo x > ../library/new",
            "echo x > ../new",
            "mv file ../library/",
            "ln file ../library/hard",
            "ln ../other/file hard && cat hard",
            "rm ../other/file",
            "echo 'echo x' > run && chmod +x run && ./run",
        ] {
            assert!(!done(refused).0, "{refused}");
        }
        assert_eq!(done("echo x > new && cat new && mkdir a && mv new a/"), (true, "x\n".to_owned()));
        assert_eq!(fs::read(path("other/file")).unwrap(), b"other");
        // This thread is not confined.
        assert!(fs::metadata("/etc/passwd").is_ok() && fs::read("/etc/passwd").is_ok());
        assert!(std::net::UdpSocket::bind("127.0.0.1:0").is_ok());
    }

    #[test]
    fn there_are_no_sockets() {
        if missing().is_some() {
            return;
        }
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        in_new_thread(|| {
            Sandbox::default().enter().unwrap();
            assert!(std::net::TcpStream::connect(address).is_err());
            assert!(std::net::UdpSocket::bind("127.0.0.1:0").is_err());
            assert!(std::os::unix::net::UnixStream::pair().is_err());
        });
    }

    #[test]
    fn what_is_alone_reaches_no_other_process() {
        use rustix::process::{
            Pid, Resource, Rlimit, getpid, getppid, getrlimit, prlimit, set_parent_process_death_signal, setpgid,
            setsid, test_kill_process, test_kill_process_group,
        };
        if missing().is_some() {
            return;
        }
        let mut child = Command::new("/bin/sleep").arg("100").spawn().unwrap();
        let other = Pid::from_child(&child);
        in_new_thread(|| {
            alone().unwrap();
            assert_eq!(std::thread::spawn(|| 7).join().unwrap(), 7);
            assert!(Command::new("/bin/true").status().is_err());
            assert!(test_kill_process(getpid()).is_ok() && getrlimit(Resource::Cpu).current.is_none());
            let refused = |result: rustix::io::Result<()>| result == Err(rustix::io::Errno::PERM);
            assert!(refused(test_kill_process(other)));
            assert!(refused(test_kill_process(getppid().unwrap())));
            assert!(refused(test_kill_process_group(other)));
            let limit = Rlimit { current: Some(1), maximum: Some(1) };
            assert!(refused(prlimit(Some(other), Resource::Cpu, limit).map(|_| ())));
            assert!(refused(set_parent_process_death_signal(None)));
            assert!(refused(setpgid(None, None)));
            assert!(refused(setsid().map(|_| ())));
        });
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn a_sandbox_in_a_sandbox_allows_what_both_allow() {
        if missing().is_some() {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("outer"), "x").unwrap();
        fs::write(path("both"), "x").unwrap();
        fs::set_permissions(path("both"), fs::Permissions::from_mode(0o644)).unwrap();
        in_new_thread(|| {
            Sandbox::new([folder.path().to_owned()], []).enter().unwrap();
            assert!(fs::read(path("outer")).is_ok());
            in_new_thread(|| {
                Sandbox::new([path("both"), PathBuf::from("/etc")], []).enter().unwrap();
                assert!(fs::read(path("both")).is_ok());
                assert!(fs::read(path("outer")).is_err() && fs::read("/etc/passwd").is_err());
            });
        });
    }
}

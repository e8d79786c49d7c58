//! A sandbox for what handles the text of strangers: the compiler's processes ([`crate::process`])
//! and the judge's ([`crate::apart`]).
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
}

impl Sandbox {
    /// A sandbox that reads these files and folders and the system's libraries, and reads and writes those.
    pub fn new(reads: impl IntoIterator<Item = PathBuf>, writes: impl IntoIterator<Item = PathBuf>) -> Self {
        let reads = reads.into_iter().chain(LIBRARIES.map(PathBuf::from)).collect();
        // The standard library opens it for a program without input.
        let writes = writes.into_iter().chain([PathBuf::from("/dev/null")]).collect();
        Self { reads, writes }
    }

    /// Confines this thread for ever, and all threads and processes that it starts.
    ///
    /// # Errors
    ///
    /// What the system lacks.
    pub fn enter(&self) -> Result<(), String> {
        confine(&self.reads, &self.writes)
    }

    /// The arguments of `start` for it: see [`crate::start`].
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
    apart(|| {
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        let opens = |path: &Path| std::fs::File::open(path);
        opens(&program).map_err(|error| format!("{}: {error}", program.display()))?;
        confine(&[], &[])?;
        match (opens(&program), std::net::UdpSocket::bind("127.0.0.1:0")) {
            (Ok(_), _) => Err("it opens files in spite of Landlock".to_owned()),
            (_, Ok(_)) => Err("it opens sockets in spite of seccomp".to_owned()),
            _ => Ok(()),
        }
    })
    .err()
}

/// Does something in a thread of its own, because none can leave a sandbox.
fn apart<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| scope.spawn(work).join()).unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

#[cfg(target_os = "linux")]
fn confine(reads: &[PathBuf], writes: &[PathBuf]) -> Result<(), String> {
    use landlock::{
        ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _,
        RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope, path_beneath_rules,
    };
    // Linux 6.2, the first that guards every way to change a file. What newer ones guard comes on top.
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

#[cfg(not(target_os = "linux"))]
fn confine(_reads: &[PathBuf], _writes: &[PathBuf]) -> Result<(), String> {
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
        let output = apart(run).unwrap();
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
        apart(|| {
            Sandbox::default().enter().unwrap();
            assert!(std::net::TcpStream::connect(address).is_err());
            assert!(std::net::UdpSocket::bind("127.0.0.1:0").is_err());
            assert!(std::os::unix::net::UnixStream::pair().is_err());
        });
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
        apart(|| {
            Sandbox::new([folder.path().to_owned()], []).enter().unwrap();
            assert!(fs::read(path("outer")).is_ok());
            apart(|| {
                Sandbox::new([path("both"), PathBuf::from("/etc")], []).enter().unwrap();
                assert!(fs::read(path("both")).is_ok());
                assert!(fs::read(path("outer")).is_err() && fs::read("/etc/passwd").is_err());
            });
        });
    }
}

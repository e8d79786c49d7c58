//! As whom the server and workers run, if root starts them. Who is not root cannot test that.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::process::{Command, Stdio};

use crate::database::{Class, PATIENCE, program, root};

/// A user that every machine has, and who owns nothing.
const NOBODY: &str = "nobody";

#[test]
fn root_becomes_the_user_of_the_settings() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let class = &Class::each(&[])[0];
    let folder = class.folder.path();
    let (settings, log) = (folder.join("class.toml"), folder.join("log"));
    let write = |user: &str| {
        let text = format!("title = 'T'\nlisten = '127.0.0.1:0'\nworkers = 0\ndatabase = 'new.db'\nuser = '{user}'\n");
        fs::write(&settings, text).unwrap();
    };
    write(NOBODY);
    fs::set_permissions(folder, Permissions::from_mode(0o777)).unwrap();
    let learn = |arguments: &[&str]| {
        let mut command = Command::new(program());
        command.args(arguments).arg("--class").arg(&settings).current_dir(root()).stdin(Stdio::null());
        command
    };
    let mut server = learn(&["serve", "--plain"]);
    let mut server = server.stdout(Stdio::null()).stderr(fs::File::create(&log).unwrap()).spawn().unwrap();
    let (begun, database) = (std::time::Instant::now(), folder.join("new.db"));
    let owner = || fs::metadata(&database).ok().map(|file| file.uid());
    while owner().is_none() && server.try_wait().unwrap().is_none() {
        assert!(begun.elapsed() < PATIENCE, "the server does not begin");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let status = fs::read_to_string(format!("/proc/{}/status", server.id())).unwrap();
    let _ = server.kill();
    server.wait().unwrap();
    let log = fs::read_to_string(&log).unwrap();
    match owner() {
        Some(owner) => {
            let field = |name: &str| {
                let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
                line.split_whitespace().map(|id| id.parse::<u32>().unwrap()).collect::<Vec<_>>()
            };
            assert!(owner != 0 && field("Uid:") == [owner; 4], "{status}");
            assert!(!field("Gid:").contains(&0) && field("Groups:").is_empty(), "{status}");
            // A worker does not write what is root's.
            let output = learn(&["worker"]).output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.code() == Some(2) && said.contains("Permission denied"), "{said}");
        }
        // In a clone that only root can read it does not begin at all.
        None => assert!(log.contains("Permission denied") || log.contains("cannot be read"), "{log}"),
    }
    for (user, wanted) in [("root", "this is root"), ("no-such-user", "no such user")] {
        write(user);
        let output = learn(&["serve"]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(wanted) && said.lines().count() == 1, "{said}");
    }
}

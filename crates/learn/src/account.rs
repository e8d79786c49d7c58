//! The user that a class runs as. Started by root, `serve --class`, `worker` and `roster` make the
//! folders of that user, bind the server's address, give up root, and start anew as that user, with
//! that user's environment.
//!
//! Root is needed for a port below 1024 alone. The user is the one that is asked for, or else the owner
//! of the clone, whose programs these are. Root itself must be asked for by its name: a container may
//! have no other user.
//!
//! *Invariant:* who has given up root cannot become root again, and what cannot be given up is an error.
//! A program that somebody else has started stays as it is.

use std::net::TcpListener;

use class::settings::Settings;

use crate::arguments::User;
use crate::course::Course;
use crate::error::Result;

/// What the user needs.
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "root gives up nothing there"))]
pub struct Class<'a> {
    user: Option<&'a str>,
    course: Option<&'a Course>,
    database: &'a str,
    judges: bool,
}

impl<'a> Class<'a> {
    /// A class in this course, if that is known, and in this database. What the command line says comes
    /// before the settings.
    pub fn new(user: &'a User, settings: Option<&'a Settings>, course: Option<&'a Course>, database: &'a str) -> Self {
        let user = user.user.as_deref().or(settings.and_then(|settings| settings.user.as_deref()));
        Self { user, course, database, judges: true }
    }

    /// The same for a program that judges nothing.
    pub fn without_judges(self) -> Self {
        Self { judges: false, ..self }
    }

    /// Goes on if the right user runs this. If root does, this becomes the user's program, which has
    /// `listener` as its standard input.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`]: what is not the user's, or that there is no such user.
    pub fn settle(&self, listener: impl FnOnce() -> Result<Option<TcpListener>>) -> Result<()> {
        #[cfg(target_os = "linux")]
        return linux::settle(self, listener);
        #[cfg(not(target_os = "linux"))]
        {
            let _ = listener;
            elsewhere::settle(self)
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod elsewhere {
    use super::Class;
    use crate::error::{Error, Result};

    /// Refuses root, and users that it would have to become.
    pub fn settle(class: &Class<'_>) -> Result<()> {
        #[cfg(unix)]
        let is_root = rustix::process::geteuid().is_root();
        #[cfg(not(unix))]
        let is_root = false;
        match class.user {
            Some(user) if is_root && user != "root" => {
                Err(Error::Usage(format!("this runs as root, and becomes {user} on Linux alone: start it as {user}")))
            }
            None if is_root => {
                Err(Error::Usage("this runs as root: start it as the user who owns the clone".to_owned()))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs::{self, DirBuilder, File};
    use std::io::ErrorKind;
    use std::os::fd::OwnedFd;
    use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, fchown};
    use std::os::unix::process::CommandExt as _;
    use std::path::{Path, PathBuf};
    use std::process::{Command, Stdio};

    use rustix::process::{Gid, Uid, geteuid, getuid};
    use rustix::thread::{set_no_new_privs, set_thread_groups, set_thread_res_gid, set_thread_res_uid};

    use super::{Class, TcpListener};
    use crate::error::{Error, Result};
    use crate::programs;
    use crate::terminal::note;

    /// A user of this system.
    #[derive(Debug)]
    struct Account {
        name: String,
        user: Uid,
        group: Gid,
        home: PathBuf,
    }

    pub fn settle(class: &Class<'_>, listener: impl FnOnce() -> Result<Option<TcpListener>>) -> Result<()> {
        if !geteuid().is_root() {
            return match class.user.map(Account::named).transpose()? {
                Some(account) if account.user != getuid() => Err(Error::Usage(format!(
                    "user \"{0}\": only root can become {0}: start this as root, or as {0}",
                    account.name
                ))),
                _ => Ok(()),
            };
        }
        let account = match class.user {
            Some(name) => Account::named(name)?,
            None => class.course.and_then(|course| Account::owner(&course.root)).ok_or_else(|| {
                Error::Usage(
                    "this runs as root, and so would the students' judges: name an unprivileged user with `user = \
                     \"NAME\"` in class.toml or with --user"
                        .to_owned(),
                )
            })?,
        };
        if account.user.is_root() {
            return Ok(());
        }
        let mut folders = Vec::new();
        if let Some(file) = class::store::file(class.database) {
            let file = std::path::absolute(&file).map_err(Error::reading(&file))?;
            folders.extend(file.parent().map(Path::to_owned));
            if let Ok(there) = fs::metadata(&file) {
                account.has(&file, &there)?;
            }
        }
        folders.extend(class.course.filter(|_| class.judges).map(|course| course.root.join("target/learn")));
        for folder in &folders {
            account.has_folder(folder)?;
        }
        let listener = listener()?;
        note!("This runs as {}.", account.name);
        account.give_up_root()?;
        for folder in &folders {
            // What root has not made.
            DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(Error::writing(folder))?;
        }
        Err(account.start_anew(listener))
    }

    impl Account {
        /// The user of this name or number. The system's database of users may be on another machine,
        /// which its program asks.
        fn named(name: &str) -> Result<Self> {
            let unknown = || Error::Usage(format!("user {name:?}: this system has no such user"));
            if name.is_empty() || name.starts_with('-') || name.contains(|c: char| c == ':' || c.is_control()) {
                return Err(unknown());
            }
            let output = Command::new("getent").args(["passwd", name]).stdin(Stdio::null()).output();
            let output = output.map_err(|error| Error::Usage(format!("user \"{name}\": getent: {error}")))?;
            Self::of_line(&String::from_utf8_lossy(&output.stdout)).ok_or_else(unknown)
        }

        /// The user of a line of `passwd`.
        fn of_line(line: &str) -> Option<Self> {
            let fields: Vec<&str> = line.lines().next()?.split(':').collect();
            let &[name, _, user, group, _, home, _] = &fields[..] else { return None };
            let number = |text: &str| text.parse().ok().filter(|&number: &u32| number != u32::MAX);
            let (user, group) = (Uid::from_raw(number(user)?), Gid::from_raw(number(group)?));
            Some(Self { name: name.to_owned(), user, group, home: home.into() })
        }

        /// The owner of a folder, unless it is root or unknown to the system.
        fn owner(folder: &Path) -> Option<Self> {
            let owner = fs::metadata(folder).ok()?.uid();
            Self::named(&owner.to_string())
                .ok()
                .filter(|account| !account.user.is_root() && account.user.as_raw() == owner)
        }

        /// Refuses a folder that is another user's. One that is missing is made for this user alone, where root
        /// alone may make it; elsewhere the user does so.
        fn has_folder(&self, folder: &Path) -> Result<()> {
            match fs::metadata(folder) {
                Ok(there) => return self.has(folder, &there),
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(Error::reading(folder)(error)),
                Err(_) if !is_below_roots(folder) => return Ok(()),
                Err(_) => {}
            }
            folder.parent().map_or(Ok(()), fs::create_dir_all).map_err(Error::writing(folder))?;
            DirBuilder::new().mode(0o700).create(folder).map_err(Error::writing(folder))?;
            let opened = File::open(folder).map_err(Error::reading(folder))?;
            fchown(opened, Some(self.user.as_raw()), Some(self.group.as_raw())).map_err(Error::writing(folder))
        }

        /// Refuses what is another user's.
        fn has(&self, path: &Path, there: &fs::Metadata) -> Result<()> {
            if there.uid() == self.user.as_raw() {
                return Ok(());
            }
            let (path, name) = (path.display(), &self.name);
            Err(Error::Usage(format!(
                "{path}: it belongs to another user than {name}, who runs the class: give it to {name}"
            )))
        }

        /// Gives up root for this thread, in this order: without root nothing of it could be changed.
        fn give_up_root(&self) -> Result<()> {
            let failed = |call: &'static str| {
                move |error: rustix::io::Errno| {
                    Error::Usage(format!("user \"{}\": root cannot be given up: {call}: {error}", self.name))
                }
            };
            let (user, group) = (self.user, self.group);
            set_thread_groups(&[]).map_err(failed("setgroups"))?;
            set_thread_res_gid(group, group, group).map_err(failed("setresgid"))?;
            set_thread_res_uid(user, user, user).map_err(failed("setresuid"))?;
            set_no_new_privs(true).map_err(failed("no_new_privs"))?;
            // What is left of root would allow it.
            let root = (Uid::ROOT, Gid::ROOT);
            if set_thread_res_uid(root.0, root.0, root.0).is_ok() || set_thread_groups(&[root.1]).is_ok() {
                return Err(Error::Usage(format!("user \"{}\": root could be regained: this does not run", self.name)));
            }
            Ok(())
        }

        /// Becomes this program anew, as this thread is: all others end. Only returns an error.
        fn start_anew(&self, listener: Option<TcpListener>) -> Error {
            let program = programs::own_program();
            let mut command = Command::new(&program);
            command.args(std::env::args_os().skip(1)).args(listener.as_ref().map(|_| "--listening"));
            let roots = std::env::var_os("HOME").filter(|home| Path::new(home).parent().is_some());
            for (name, value) in std::env::vars_os() {
                // Where root keeps compilers and settings.
                if roots.as_ref().is_some_and(|home| Path::new(&value).starts_with(home)) && name != "PATH" {
                    command.env_remove(name);
                }
            }
            command.env("HOME", &self.home).env("USER", &self.name).env("LOGNAME", &self.name);
            if let Some(listener) = listener {
                command.stdin(OwnedFd::from(listener));
            }
            let error = command.exec();
            Error::Usage(format!("{}: {} cannot start it: {error}", program.display(), self.name))
        }
    }

    /// Whether root alone decides what is at a path: no other user can have put a link, or something else,
    /// into it.
    fn is_below_roots(path: &Path) -> bool {
        let mut above = path.ancestors().skip(1).filter_map(|folder| fs::symlink_metadata(folder).ok());
        let is_roots = |folder: &fs::Metadata| folder.is_dir() && folder.uid() == 0;
        let others_write = |folder: &fs::Metadata| folder.mode() & 0o022 != 0;
        // In a sticky folder such as /tmp, what is there stays what it is.
        above.next().is_some_and(|nearest| is_roots(&nearest) && !others_write(&nearest))
            && above.all(|folder| is_roots(&folder) && (!others_write(&folder) || folder.mode() & 0o1000 != 0))
    }

    #[cfg(test)]
    mod tests {
        use std::os::unix::fs::PermissionsExt as _;

        use super::*;

        #[test]
        fn users_are_those_of_the_system() {
            let account = Account::of_line("anna:x:1000:100:Anna:/home/anna:/bin/sh\n").unwrap();
            assert_eq!((account.name.as_str(), account.user.as_raw(), account.group.as_raw()), ("anna", 1000, 100));
            assert_eq!(account.home, Path::new("/home/anna"));
            for wrong in ["", "anna", "a:x:one:1::/:", "a:x:4294967295:1::/:", "a:x:1:4294967295::/:", "a:x:-1:1::/:"] {
                assert!(Account::of_line(wrong).is_none(), "{wrong}");
            }
            assert!(Account::named("root").unwrap().user.is_root());
            for unknown in ["", "-s", "no:such", "no such user", "a\nb"] {
                let said = Account::named(unknown).unwrap_err().to_string();
                assert!(said.contains("no such user") && !said.contains('\n'), "{said}");
            }
        }

        #[test]
        fn root_makes_nothing_where_others_may_have_put_a_link() {
            let folder = tempfile::tempdir().unwrap();
            let at = |name: &str| folder.path().join(name);
            for (name, mode) in [("own", 0o755), ("open", 0o777), ("sticky", 0o1777)] {
                fs::create_dir(at(name)).unwrap();
                fs::set_permissions(at(name), fs::Permissions::from_mode(mode)).unwrap();
            }
            assert_eq!(is_below_roots(&at("own/new/new")), geteuid().is_root());
            assert!(!is_below_roots(&at("open/new")) && !is_below_roots(&at("sticky/new")));
            std::os::unix::fs::symlink("/usr", at("link")).unwrap();
            assert!(!is_below_roots(&at("link/new")) && !is_below_roots(&at("link/none/new")));
        }
    }
}

//! As whom a class's server and workers run. If root starts them and `class.toml` names a user, the
//! program begins again as that user: all threads, groups and the environment are the user's from the
//! first moment.

use std::convert::Infallible;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use crate::error::{Error, Result};
use crate::programs;

/// The users of this machine.
const USERS: &str = "/etc/passwd";

/// A user.
#[derive(Debug, PartialEq, Eq)]
struct User<'t> {
    id: u32,
    group: u32,
    home: &'t str,
}

/// Goes on as this user, if root runs the program; without a name, as before.
///
/// # Errors
///
/// [`Error::Usage`] if there is no such user, or the program cannot be started as one.
pub fn become_user(name: Option<&str>) -> Result<()> {
    match name {
        Some(name) if rustix::process::geteuid().is_root() => begin_again(name).map(|never| match never {}),
        _ => Ok(()),
    }
}

fn begin_again(name: &str) -> Result<Infallible> {
    let problem = |why: String| Error::Usage(format!("user = {name:?}: {why}"));
    let users = std::fs::read_to_string(USERS).map_err(|error| problem(format!("{USERS}: {error}")))?;
    let User { id, group, home } = of(&users, name).map_err(|why| problem(why.to_owned()))?;
    let mut command = Command::new(programs::own_program());
    // Without root's groups, too: `uid` gives them up.
    command.args(std::env::args_os().skip(1)).uid(id).gid(group);
    command.env("HOME", home).env("USER", name).env("LOGNAME", name);
    Err(problem(format!("the program cannot be started as this user: {}", command.exec())))
}

/// The user of this name, in the form of `passwd(5)`.
fn of<'t>(users: &'t str, name: &str) -> std::result::Result<User<'t>, &'static str> {
    let fields = users.lines().map(|line| line.split(':').collect::<Vec<_>>()).find(|fields| fields[0] == name);
    let user = match fields.as_deref() {
        Some([_, _, id, group, _, home, ..]) => id.parse().ok().zip(group.parse().ok()).map(|ids| (ids, *home)),
        _ => None,
    };
    match user {
        None => Err("this machine has no such user: see /etc/passwd"),
        Some(((0, _), _)) => Err("this is root: name another user"),
        Some(((id, group), home)) => Ok(User { id, group, home }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_found_by_name() {
        let users =
            "root:x:0:0:root:/root:/bin/sh\nshort:x\n\nclass:x:990:991::/srv/class:/bin/false\nodd:x:a:1::/:/\n";
        assert_eq!(of(users, "class"), Ok(User { id: 990, group: 991, home: "/srv/class" }));
        for (name, wanted) in [("root", "root"), ("nobody", "no such user"), ("short", "no such"), ("odd", "no such")] {
            assert!(of(users, name).unwrap_err().contains(wanted), "{name}");
        }
    }
}

//! The programs that `cargo learn` starts, and the path of its own executable.

use std::path::PathBuf;
use std::sync::OnceLock;

use sandbox::Sandbox;

/// This program's file, as it was called when the program began: a new one may have taken its place
/// since.
pub fn own_program() -> PathBuf {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| std::env::current_exe().unwrap_or_else(|_| PathBuf::from("learn"))).clone()
}

/// A program that is started.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "there is neither a sandbox nor a wrapper"))]
pub enum Kind<'a> {
    /// cargo, which starts others, with this program's environment.
    Cargo,
    /// One with the variables of its command only, perhaps in a sandbox.
    Compiler(Option<&'a Sandbox>),
    /// A student's program, with the variables of its command only, perhaps in a sandbox.
    Native(Option<&'a Sandbox>),
}

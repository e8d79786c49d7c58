//! The class as it runs: the program's workers on real kernels, in the clone's course. Needs the
//! feature `class`, the device compiler and a sandbox; `.ci/run class` runs it.
//!
//! The databases are SQLite and, if the environment names a server in `CLASS_TEST_POSTGRES`,
//! PostgreSQL.

#[cfg(target_os = "linux")]
mod database;
#[cfg(target_os = "linux")]
#[allow(dead_code, reason = "`cargo xtask load` uses the rest")]
mod http;
#[cfg(target_os = "linux")]
mod killed;
#[cfg(target_os = "linux")]
mod openid;
#[cfg(target_os = "linux")]
mod privileges;
#[cfg(target_os = "linux")]
mod server;
#[cfg(target_os = "linux")]
mod trouble;
#[cfg(target_os = "linux")]
mod worker;

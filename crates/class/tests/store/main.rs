//! The database of a class: each test runs on SQLite and, if the environment names a server in
//! `CLASS_TEST_POSTGRES` (as `.ci/run class` does), on PostgreSQL.

mod databases;
mod people;
mod queue;
mod runs;
mod workers;

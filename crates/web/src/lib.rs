//! The labs in a browser: the page sends a request, and gets a reply, both as JSON. Nothing is
//! computed by the page; what it shows is what the program `host` would say for the same command
//! line.
//!
//! ```text
//! page ──JSON──▶ exports::call ──▶ Session::answer ──▶ host::cli ──▶ RunView ──▶ HTML, SVG ──JSON──▶ page
//! ```
//!
//! | request | reply |
//! | --- | --- |
//! | `{"do": "give", "texts": {NAME: TEXT}}` | nothing: the built-in PTX, sources, the user's PTX |
//! | `{"do": "text", "arguments": [...]}` | what the program writes: `output`, `messages`, `exit_code` |
//! | `{"do": "run", "slot": N, "arguments": [...]}` | the run's `overview`; it stays in the slot |
//! | `{"do": "source", "slot": N, "row": N}` | the source of a row beside its PTX, as HTML |
//! | `{"do": "picture", "slot": N, "row": N, "access": N, "request": N}` | one request of an access |
//! | `{"do": "pattern", "arguments": [...]}` | what an index costs: `says`, `svg`, `costs`, `lanes`; or an `error` |
//! | `{"do": "predict", "question": NAME, "predicted": X, "explain": B}` | whether it is `right`, what it `says`, its `picture` |
//!
//! *Invariant:* `exports` alone is unsafe; it passes bytes in and out. *Invariant:* each run has a
//! limit of memory and of steps, whatever the command line says.

#[cfg(target_family = "wasm")]
mod exports;
pub mod predict;
mod session;

pub use session::Session;

//! A progress bar on a terminal, shown after half a second. `cli` makes it, and the flow of labs,
//! `host run` and the devices advance it. It writes to the standard error alone.

#[cfg_attr(target_family = "wasm", path = "progress/no_bar.rs")]
mod bar;

use std::collections::HashSet;
use std::io::{IsTerminal, Write};
use std::sync::{Arc, Mutex, PoisonError};

use bar::Bar;

use crate::messages;

/// The progress that a lab reports. The default shows nothing.
#[derive(Clone, Default)]
pub struct Progress {
    shown: Option<Arc<Bar>>,
    /// The notes that are written once only.
    noted: Arc<Mutex<HashSet<String>>>,
}

impl Progress {
    /// A bar on the standard error if that is a terminal. It appears after half a second and
    /// disappears with the last clone.
    pub fn on_terminal() -> Self {
        Self { shown: Bar::on_terminal().map(Arc::new), ..Self::default() }
    }

    /// Adds this many steps.
    pub fn add_steps(&self, steps: usize) {
        if let Some(bar) = &self.shown {
            bar.add_steps(steps);
        }
    }

    /// Begins a step.
    pub fn begin(&self, what: impl FnOnce() -> String) {
        if let Some(bar) = &self.shown {
            bar.begin(what());
        }
    }

    /// For [`Device::watch`](device::Device::watch): a launch is a step.
    pub fn of_launch(&self) -> Option<device::Watch> {
        let bar = Arc::clone(self.shown.as_ref()?);
        Some(Box::new(move |done, whole| bar.part(done, whole)))
    }

    /// Ends the step.
    pub fn done(&self) {
        if let Some(bar) = &self.shown {
            bar.done();
        }
    }

    /// As [`Progress::note`], but only the first time, however many labs run.
    pub fn note_once(&self, text: &str) {
        if self.noted.lock().unwrap_or_else(PoisonError::into_inner).insert(text.to_owned()) {
            self.note(text);
        }
    }

    /// Writes a note of one line to the standard error, above the bar if there is one.
    pub fn note(&self, text: &str) {
        let line = wording::printable(text);
        let write = || messages::write(&format!("note: {line}\n"));
        match &self.shown {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }
}

/// Clears the terminal's line, which may show a bar, for code that ends the program without
/// dropping the bar.
pub fn clear_line() {
    let mut terminal = std::io::stderr();
    if terminal.is_terminal() {
        // If that fails, the prompt appears after the bar.
        let _ = write!(terminal, "\r\x1b[2K");
    }
}

impl std::fmt::Debug for Progress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Progress").field("shown", &self.shown.is_some()).finish()
    }
}

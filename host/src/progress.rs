//! A progress bar on a terminal, shown after a second. `cli` makes it, and the flow of labs, `host run` and the devices
//! advance it. It writes to the standard error alone.

use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Nothing is shown before this much time.
const DELAY: Duration = Duration::from_secs(1);

/// Units of the bar in one step.
const STEP: u64 = 1000;

/// The bar's length before the first step is known. A bar of length 0 would be full.
const NOTHING_KNOWN: u64 = 1;

/// The progress that a lab reports. The default shows nothing.
#[derive(Clone, Default)]
pub struct Progress {
    shown: Option<Arc<Shown>>,
}

struct Shown {
    bar: ProgressBar,
    /// Steps that are done.
    steps: AtomicU64,
    /// Dropped to wake the thread that shows the bar.
    end: Option<Sender<()>>,
    waiting: Option<JoinHandle<()>>,
}

impl Progress {
    /// A bar on the standard error if that is a terminal. It appears after a second and disappears with the last clone.
    pub fn on_terminal() -> Self {
        if !std::io::stderr().is_terminal() {
            return Self::default();
        }
        let bar = ProgressBar::with_draw_target(Some(NOTHING_KNOWN), ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{spinner} [{elapsed}] {bar:30} {percent:>3}% {wide_msg}") {
            bar.set_style(style);
        }
        let (end, ended) = channel();
        // If no thread can be started, there is no bar.
        let waiting = std::thread::Builder::new().spawn({
            let bar = bar.clone();
            move || {
                if ended.recv_timeout(DELAY) == Err(RecvTimeoutError::Timeout) {
                    bar.set_draw_target(ProgressDrawTarget::stderr());
                    bar.enable_steady_tick(Duration::from_millis(100));
                }
            }
        });
        Self { shown: Some(Arc::new(Shown { bar, steps: AtomicU64::new(0), end: Some(end), waiting: waiting.ok() })) }
    }

    /// Adds this many steps.
    pub fn add_steps(&self, steps: usize) {
        if let Some(shown) = &self.shown {
            let known = shown.bar.length().filter(|&length| length != NOTHING_KNOWN).unwrap_or(0);
            shown.bar.set_length(known + steps as u64 * STEP);
        }
    }

    /// Begins a step.
    pub fn begin(&self, what: impl FnOnce() -> String) {
        if let Some(shown) = &self.shown {
            shown.bar.set_message(what());
        }
    }

    /// Reports that `done` of `whole` of the step is done. Callable from any thread.
    pub fn part(&self, done: u64, whole: u64) {
        if let Some(shown) = &self.shown {
            let steps = shown.steps.load(Ordering::Relaxed);
            let part = done as f64 / whole.max(1) as f64;
            shown.bar.set_position(steps * STEP + (part.min(1.0) * STEP as f64) as u64);
        }
    }

    /// Ends the step.
    pub fn done(&self) {
        if let Some(shown) = &self.shown {
            let steps = shown.steps.fetch_add(1, Ordering::Relaxed) + 1;
            shown.bar.set_position(steps * STEP);
        }
    }

    /// Writes a note of one line to the standard error, above the bar if there is one.
    pub fn note(&self, text: &str) {
        let line = crate::error::printable(text);
        // If the standard error is closed, there is nowhere left to write this.
        let write = || drop(writeln!(std::io::stderr(), "note: {line}"));
        match &self.shown {
            Some(shown) => shown.bar.suspend(write),
            None => write(),
        }
    }
}

/// Clears the terminal's line, which may show a bar, for code that ends the program without dropping the bar.
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

impl Drop for Shown {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(waiting) = self.waiting.take() {
            // It does nothing that could panic.
            let _ = waiting.join();
        }
        self.bar.finish_and_clear();
    }
}

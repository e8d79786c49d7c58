//! The bar on a terminal. A thread shows it after half a second; it disappears with the last clone
//! of its [`Progress`](super::Progress).

use std::fmt;
use std::io::IsTerminal;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

/// Nothing is shown before this much time.
const DELAY: Duration = Duration::from_millis(500);

/// Units of the bar in one step.
const STEP: u64 = 1000;

/// The bar's length before the first step is known. A bar of length 0 would be full.
const NOTHING_KNOWN: u64 = 1;

pub(super) struct Bar {
    bar: ProgressBar,
    /// Steps that are done.
    steps: AtomicU64,
    /// Dropped to wake the thread that shows the bar.
    end: Option<Sender<()>>,
    waiting: Option<JoinHandle<()>>,
}

impl Bar {
    /// `None` if the standard error is no terminal.
    pub fn on_terminal() -> Option<Self> {
        if !std::io::stderr().is_terminal() {
            return None;
        }
        let bar = ProgressBar::with_draw_target(Some(NOTHING_KNOWN), ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{spinner} [{elapsed}] {bar:30} {percent:>3}%{left} {wide_msg}")
        {
            let style = style.with_key("left", |state: &ProgressState, out: &mut dyn fmt::Write| {
                // Nobody knows before something is done. A bar that cannot be written is no reason
                // to stop.
                if state.pos() > 0 {
                    let _ = write!(out, ", {:#} left", HumanDuration(state.eta()));
                }
            });
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
        Some(Self { bar, steps: AtomicU64::new(0), end: Some(end), waiting: waiting.ok() })
    }

    pub fn add_steps(&self, steps: usize) {
        let known = self.bar.length().filter(|&length| length != NOTHING_KNOWN).unwrap_or(0);
        self.bar.set_length(known + steps as u64 * STEP);
    }

    pub fn begin(&self, what: String) {
        self.bar.set_message(what);
    }

    pub fn part(&self, done: u64, whole: u64) {
        let steps = self.steps.load(Ordering::Relaxed);
        let part = done as f64 / whole.max(1) as f64;
        self.bar.set_position(steps * STEP + (part.min(1.0) * STEP as f64) as u64);
    }

    pub fn done(&self) {
        let steps = self.steps.fetch_add(1, Ordering::Relaxed) + 1;
        self.bar.set_position(steps * STEP);
    }

    /// Takes the bar away while `write` writes to the terminal.
    pub fn suspend(&self, write: impl FnOnce()) {
        self.bar.suspend(write);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(waiting) = self.waiting.take() {
            // It does nothing that could panic.
            let _ = waiting.join();
        }
        self.bar.finish_and_clear();
    }
}

//! A progress bar on a terminal, for whoever waits longer than a second.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Nothing is shown before this much time.
const PATIENCE: Duration = Duration::from_secs(1);

/// Where a lab says how far it is. The default shows nothing.
#[derive(Clone, Default)]
pub struct Progress {
    shown: Option<Arc<Shown>>,
}

struct Shown {
    bar: ProgressBar,
    /// Dropped to end the wait of the thread that shows the bar.
    end: Option<Sender<()>>,
    waiting: Option<JoinHandle<()>>,
}

impl Progress {
    /// A bar on the standard error if that is a terminal; it appears after a second and is gone when the last clone is.
    pub fn on_terminal() -> Self {
        if !std::io::stderr().is_terminal() {
            return Self::default();
        }
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{spinner} [{elapsed}] {bar:30} {pos}/{len} {wide_msg}") {
            bar.set_style(style);
        }
        let (end, ended) = channel();
        let waiting = std::thread::spawn({
            let bar = bar.clone();
            move || {
                if ended.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                    bar.set_draw_target(ProgressDrawTarget::stderr());
                    bar.enable_steady_tick(Duration::from_millis(100));
                }
            }
        });
        Self { shown: Some(Arc::new(Shown { bar, end: Some(end), waiting: Some(waiting) })) }
    }

    /// So many more steps are to come.
    pub fn add_steps(&self, steps: usize) {
        if let Some(shown) = &self.shown {
            shown.bar.inc_length(steps as u64);
        }
    }

    /// A step begins.
    pub fn begin(&self, what: impl FnOnce() -> String) {
        if let Some(shown) = &self.shown {
            shown.bar.set_message(what());
        }
    }

    /// The step is done.
    pub fn done(&self) {
        if let Some(shown) = &self.shown {
            shown.bar.inc(1);
        }
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

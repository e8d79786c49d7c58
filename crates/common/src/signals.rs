//! Ctrl-C and requests to terminate. `cli` and `learn grade` say what they do.

use signal_hook::consts::SIGINT;

/// Calls `handle` with the number of each such signal, on a thread of its own. Where that is not
/// possible, a signal still ends the program at once.
#[cfg(unix)]
pub fn on_each(handle: impl FnMut(i32) + Send + 'static) {
    use signal_hook::consts::{SIGHUP, SIGTERM};
    if let Ok(mut signals) = signal_hook::iterator::Signals::new([SIGHUP, SIGINT, SIGTERM]) {
        let wait = move || signals.forever().for_each(handle);
        let _ = std::thread::Builder::new().name("signals".to_owned()).spawn(wait);
    }
}

/// The same for Ctrl-C alone. Without Unix's signals, only a flag can tell the thread.
#[cfg(not(unix))]
pub fn on_each(mut handle: impl FnMut(i32) + Send + 'static) {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    let came = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&came);
    let wait = move || {
        loop {
            if flag.swap(false, Ordering::Relaxed) {
                handle(SIGINT);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    if std::thread::Builder::new().name("signals".to_owned()).spawn(wait).is_ok() {
        let _ = signal_hook::flag::register(SIGINT, came);
    }
}

/// Makes a write beyond `ulimit -f` fail like any other, by a handler. Without one, the signal ends
/// the program and leaves the unfinished file.
pub fn fail_beyond_the_file_limit() {
    #[cfg(unix)]
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, std::sync::Arc::default());
}

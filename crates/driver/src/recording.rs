//! Recordings that a process asks for itself: functions beyond NVIDIA's API, which the Python
//! package calls. While one is under way, launches of all threads run by its settings and are
//! recorded into its folder alone; a recording within another takes its launches from that.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use crate::boundary::{Out, Status, Text, driver};
use crate::record::Recorder;
use crate::settings::{LaunchSettings, Reader, SETTINGS, of_environment};
use crate::state::lock;

/// The settings of a recording: those of the environment, but for these lines `NAME=VALUE`.
fn settings_of(lines: &str) -> Result<LaunchSettings, String> {
    let given: HashMap<&str, &str> = lines.lines().filter_map(|line| line.split_once('=')).collect();
    let of = |name: &str| given.get(name).map(|value| (*value).to_owned()).or_else(|| of_environment(name));
    let problem = RefCell::new(None);
    let wrong = |text: String| _ = problem.borrow_mut().get_or_insert(text);
    let reader = Reader { of: &of, wrong: &wrong };
    let (launches, gpus) = (reader.launches(), reader.gpus());
    if let Some(problem) = problem.take() {
        return Err(problem);
    }
    let names = |gpus: &[&'static simt::Model]| gpus.iter().map(|gpu| gpu.name).collect::<Vec<_>>().join(",");
    let (wanted, fixed) = (names(&gpus), names(&SETTINGS.gpus));
    if wanted != fixed {
        return Err(format!("the driver runs as {fixed} since its first call; run {wanted} in another process"));
    }
    if launches.record.as_ref().is_none_or(|folder| !folder.is_dir()) {
        return Err("COALESCE_RECORD: name a folder".to_owned());
    }
    Ok(launches)
}

driver! {
    // Begins a recording. `problem` has `room` bytes for what is wrong with the settings. A fault
    // of an earlier launch is forgotten.
    fn coalesce_record_begin(settings: Text, problem: Out<u8>, room: usize) {
        let launches = match settings_of(&settings.get()?) {
            Ok(launches) => Arc::new(launches),
            Err(text) => {
                problem.put_text(&text, room)?;
                return Err(Status::INVALID_VALUE);
            }
        };
        let mut state = lock();
        let recorder = std::mem::replace(&mut state.recorder, Recorder::new(launches.record.clone()));
        let settings = std::mem::replace(&mut state.settings, launches);
        state.outer.push((settings, recorder));
        state.recover();
        Ok(())
    }

    // Ends the recording that was begun last, whose records are then complete.
    fn coalesce_record_end() {
        let mut state = lock();
        let (settings, recorder) = state.outer.pop().ok_or(Status::INVALID_VALUE)?;
        state.recorder.finish();
        if state.settings.notes_given {
            state.recorder.write_given();
        }
        (state.settings, state.recorder) = (settings, recorder);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::settings_of;

    #[test]
    fn settings_are_checked() {
        let folder = std::env::temp_dir();
        let folder = format!("COALESCE_RECORD={}", folder.display());
        let settings = settings_of(&format!("{folder}\nCOALESCE_CHECK=race\nCOALESCE_MODEL=1")).unwrap();
        assert!(settings.checks.race && !settings.checks.memory && settings.modelled);
        for (lines, said) in [
            ("COALESCE_RECORD=/none", "COALESCE_RECORD: name a folder"),
            ("COALESCE_CHECK=bank", "COALESCE_CHECK: "),
            ("COALESCE_DEVICE=voodoo", "COALESCE_DEVICE: there is no GPU 'voodoo'; there are "),
            ("COALESCE_DEVICE=ampere", "the driver runs as hopper since its first call; run ampere in "),
        ] {
            let problem = settings_of(&format!("{folder}\n{lines}")).err().unwrap();
            assert!(problem.starts_with(said), "{problem}");
        }
    }
}

//! Calls your function, and hands its result in.

use std::process::ExitCode;

use exercise_host::Task;

fn main() -> ExitCode {
    Task::run(|task| {
        let input: Vec<f32> = task.data("input");
        let output = host::double(task.module(), &input)?;
        task.result("output", &output);
        Ok(())
    })
}

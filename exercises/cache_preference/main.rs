//! Calls your function, and hands its result in.

use std::process::ExitCode;

use exercise_host::Task;

fn main() -> ExitCode {
    Task::run(|task| {
        let (input, index): (Vec<f32>, Vec<u32>) = (task.data("input"), task.data("index"));
        let output = host::reverse_and_gather(task.module(), &input, &index)?;
        task.result("output", &output);
        Ok(())
    })
}

//! Calls your function with an image, and hands its result in.

use std::process::ExitCode;

use exercise_host::Task;

fn main() -> ExitCode {
    Task::run(|task| {
        let (rows, columns) = (task.size("rows"), task.size("columns"));
        let image: Vec<f32> = task.data("image");
        let smooth = host::smooth(task.module(), &image, rows, columns)?;
        task.result("smooth", &smooth);
        Ok(())
    })
}

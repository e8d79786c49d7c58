//! Calls your function three times. The first two calls fail: there is no kernel of that name, and
//! there is no memory for so many elements. The program goes on after both, as a server would.

use std::process::ExitCode;

use exercise_host::Task;

fn main() -> ExitCode {
    Task::run(|task| {
        let input: Vec<f32> = task.data("input");
        let n = input.len();
        let module = task.module();
        if host::apply(module, "triple", &input, n).is_ok() {
            return Err("there is no kernel `triple`, and your function says nothing".into());
        }
        if host::apply(module, "double", &input, 1 << 40).is_ok() {
            return Err("there is no room for 4 TiB, and your function says nothing".into());
        }
        let output = host::apply(module, "double", &input, n)?;
        task.result("output", &output);
        Ok(())
    })
}

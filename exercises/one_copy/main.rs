//! Calls your function, and hands its result in.

use std::process::ExitCode;

use exercise_host::Task;

/// Elements of the rows, in turn.
const ROWS: [usize; 2] = [12, 20];

fn main() -> ExitCode {
    Task::run(|task| {
        let input: Vec<f32> = task.data("input");
        let (mut rows, mut rest) = (Vec::new(), input.as_slice());
        for length in ROWS.into_iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (row, after) = rest.split_at(length.min(rest.len()));
            rows.push(row.to_vec());
            rest = after;
        }
        let output = host::halve(task.module(), &rows)?.concat();
        task.result("output", &output);
        Ok(())
    })
}

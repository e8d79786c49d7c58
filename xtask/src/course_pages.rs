//! The pages of `cargo learn serve`, opened in a browser: `tests/browser/course.mjs` solves exercises
//! there, once with a text area, and once with the editor that npm makes. `browser` calls it; it
//! writes into a folder that is given, and `cargo learn` into the target folder.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::browser::{Error, Tools, copy, file};
use crate::program::{Failed, sibling};

/// The exercises of the course.
const EXERCISES: [&str; 3] = ["padding", "guard", "predict_banks"];

/// A server, which ends with this.
pub struct Server(pub Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Opens the pages of a course in `scratch`. Returns whether all is well.
///
/// # Errors
///
/// What could not be written or started.
pub fn check(root: &Path, tools: &Tools, scratch: &Path, screenshots: Option<&Path>) -> Result<bool, Error> {
    let mut good = true;
    for editor in ["text", "editor"] {
        let course = scratch.join(format!("served-{editor}"));
        for exercise in EXERCISES {
            copy(&root.join("exercises").join(exercise), &course.join(exercise))?;
        }
        let chapters = format!("[[chapter]]\ntitle = \"Three\"\nexercises = {EXERCISES:?}\n");
        fs::write(course.join("course.toml"), chapters).map_err(file(&course))?;
        let (server, address, token) = serve(root, &course, editor == "text")?;
        let mut check = Command::new(&tools.node);
        check.arg(root.join("tests/browser/course.mjs")).arg(&tools.browser).arg(address);
        check.arg(screenshots.unwrap_or(Path::new(""))).arg(token).arg(&course).arg(editor);
        good &= check.status().map_err(|problem| Failed::of(&check, problem))?.success();
        drop(server);
    }
    Ok(good)
}

/// Serves the course. Returns the address, and the token.
fn serve(root: &Path, course: &Path, plain: bool) -> Result<(Server, String, String), Error> {
    let mut command = Command::new(sibling("learn")?);
    command.arg("--course").arg(course).args(["serve", "--no-open", "--port", "0"]).args(plain.then_some("--plain"));
    let mut child = command.current_dir(root).stdout(Stdio::piped()).spawn();
    let output = child.as_mut().ok().and_then(|child| child.stdout.take());
    let server = Server(child.map_err(|problem| Failed::of(&command, problem))?);
    let mut line = String::new();
    output.map(|output| BufReader::new(output).read_line(&mut line)).transpose().map_err(file(course))?;
    let found = line.trim().split_once("http://").and_then(|(_, rest)| rest.split_once("?token="));
    let (address, token) = found.ok_or_else(|| Failed::of(&command, format!("it has no address: {line}")))?;
    Ok((server, format!("http://{address}"), token.to_owned()))
}

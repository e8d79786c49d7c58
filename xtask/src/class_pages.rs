//! The pages of `cargo learn serve --class`, opened in a browser: `tests/browser/class.mjs` signs in
//! there as students and as the teacher, once with a text area, and once with the editor that npm
//! makes. `browser` calls it; it writes into a folder that is given, and `cargo learn` into the
//! target folder.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::browser::{Error, Tools, copy, file};
use crate::course_pages::Server;
use crate::program::{Failed, learn_with_class, output};

/// The exercises of the class.
const EXERCISES: [&str; 3] = ["guard", "padding", "predict_banks"];

/// Who signs in: arguments of `roster link`.
const PEOPLE: [&str; 3] = ["anna", "ben", "--teacher"];

/// Opens the pages of a class in `scratch`. Returns whether all is well.
///
/// # Errors
///
/// What could not be written or started.
pub fn check(root: &Path, tools: &Tools, scratch: &Path, screenshots: Option<&Path>) -> Result<bool, Error> {
    let mut good = true;
    let program = learn_with_class()?;
    for editor in ["text", "editor"] {
        let folder = scratch.join(format!("class-{editor}"));
        // Apart from the rest: a judge may read the course.
        let course = folder.join("course");
        for exercise in EXERCISES {
            copy(&root.join("exercises").join(exercise), &course.join(exercise))?;
        }
        let chapters = format!("[[chapter]]\ntitle = \"Three\"\nexercises = {EXERCISES:?}\n");
        fs::write(course.join("course.toml"), chapters).map_err(file(&folder))?;
        let students = "name,id,email\nAnna,anna,anna@uni.edu\n\"=1+1, <b>Ben</b>\",ben,\n";
        fs::write(folder.join("students.csv"), students).map_err(file(&folder))?;
        // Free, and soon the server's.
        let free = TcpListener::bind(("127.0.0.1", 0)).and_then(|listener| listener.local_addr());
        let port = free.map_err(file(&folder))?.port();
        fs::write(folder.join("class.toml"), settings(port)).map_err(file(&folder))?;
        learn(root, &program, &folder, &["add", &folder.join("students.csv").to_string_lossy()])?;
        let mut secrets = Vec::new();
        for who in PEOPLE {
            let table = learn(root, &program, &folder, &["link", who])?;
            secrets.push(table.trim_end().rsplit('/').next().unwrap_or_default().to_owned());
        }
        let server = serve(root, &program, &folder, editor == "text")?;
        let mut check = Command::new(&tools.node);
        check.arg(root.join("tests/browser/class.mjs")).arg(&tools.browser).arg(format!("http://127.0.0.1:{port}/"));
        check.arg(screenshots.unwrap_or(Path::new(""))).arg(&course).arg(editor);
        check.args(secrets);
        good &= check.status().map_err(|problem| Failed::of(&check, problem))?.success();
        drop(server);
    }
    Ok(good)
}

fn settings(port: u16) -> String {
    format!(
        "title = \"GPU memory\"\nlisten = \"127.0.0.1:{port}\"\ncourse = \"course\"\nworkers = 1\n[late]\npercent_per_day = 10\n\
         cut_off_days = 7\n[[exercise]]\nname = \"guard\"\npoints = 2\ndeadline = 2999-12-01T23:59:00Z\n[[exercise]]\n\
         name = \"padding\"\n[[exercise]]\nname = \"predict_banks\"\n"
    )
}

/// Runs `cargo learn roster`. Returns what it prints.
fn learn(root: &Path, program: &Path, folder: &Path, arguments: &[&str]) -> Result<String, Error> {
    let mut command = Command::new(program);
    command.args(["roster", "--class"]).arg(folder.join("class.toml")).args(arguments).current_dir(root);
    Ok(String::from_utf8_lossy(&output(&mut command)?.stdout).into_owned())
}

/// Serves the class.
fn serve(root: &Path, program: &Path, folder: &Path, plain: bool) -> Result<Server, Error> {
    let mut command = Command::new(program);
    command.args(["serve", "--class"]).arg(folder.join("class.toml")).args(plain.then_some("--plain"));
    let mut child = command.current_dir(root).stdout(Stdio::piped()).spawn();
    let output = child.as_mut().ok().and_then(|child| child.stdout.take());
    let server = Server(child.map_err(|problem| Failed::of(&command, problem))?);
    let mut line = String::new();
    output.map(|output| BufReader::new(output).read_line(&mut line)).transpose().map_err(file(folder))?;
    match line.contains(" is at http://") {
        true => Ok(server),
        false => Err(Failed::of(&command, format!("it has no address: {line}")).into()),
    }
}

//! The pages of `cargo learn serve --class`, opened in a browser: `tests/browser/class.mjs` signs in
//! there as students and as the teacher, once with a text area, and once with the editor that npm
//! makes; `tests/browser/openid.mjs` signs in with accounts of an identity provider. `browser` calls
//! it; it writes into a folder that is given, and `cargo learn` into the target folder.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::browser::{Error, Tools, copy, file, install};
use crate::course_pages::Server;
use crate::program::{Failed, learn_with_class, output, user_of_class};

/// The exercises of the class.
const EXERCISES: [&str; 3] = ["guard", "padding", "predict_banks"];

/// The folder of its course.
const COURSE: &str = "course";

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
        let port = class(root, &program, &folder, "")?;
        let mut secrets = Vec::new();
        for who in PEOPLE {
            let table = learn(root, &program, &folder, &["link", who])?;
            secrets.push(table.trim_end().rsplit('/').next().unwrap_or_default().to_owned());
        }
        let server = serve(root, &program, &folder, editor == "text")?;
        let mut check = Command::new(&tools.node);
        check.arg(root.join("tests/browser/class.mjs")).arg(&tools.browser).arg(address(port));
        check.arg(screenshots.unwrap_or(Path::new(""))).arg(folder.join(COURSE)).arg(editor);
        check.args(secrets);
        good &= check.status().map_err(|problem| Failed::of(&check, problem))?.success();
        drop(server);
    }
    Ok(good && with_accounts(root, tools, &program, &scratch.join("class-openid"), screenshots)?)
}

/// Signs in with accounts of an identity provider, which npm installs beside the class. Returns whether
/// all is well.
fn with_accounts(
    root: &Path,
    tools: &Tools,
    program: &Path,
    folder: &Path,
    screenshots: Option<&Path>,
) -> Result<bool, Error> {
    let (own, at_provider) = (folder.join("provider"), free_port(folder)?);
    fs::create_dir_all(&own).map_err(file(&own))?;
    for name in ["package.json", "package-lock.json", ".npmrc", "provider.mjs"] {
        let from = root.join("crates/learn/tests/class/provider").join(name);
        fs::copy(&from, own.join(name)).map_err(file(&from))?;
    }
    install(&own)?;
    // For a browser this is another site than the class's.
    let issuer = format!("http://localhost:{at_provider}");
    let secret = "of the browser's test";
    let openid = format!("[openid]\nissuer = \"{issuer}\"\nclient_id = \"class\"\nsecret_file = \"secret\"\n");
    let port = class(root, program, folder, &openid)?;
    fs::write(folder.join("secret"), secret).map_err(file(folder))?;
    let mut provider = Command::new(&tools.node);
    provider.arg(own.join("provider.mjs")).arg(at_provider.to_string());
    provider.arg(address(port).trim_end_matches('/')).args([secret, "token", "localhost"]);
    let _provider = started(&mut provider, "ready")?;
    let _server = serve(root, program, folder, true)?;
    let mut check = Command::new(&tools.node);
    check.arg(root.join("tests/browser/openid.mjs")).arg(&tools.browser).arg(address(port));
    check.arg(screenshots.unwrap_or(Path::new(""))).arg(folder.join(COURSE)).arg(&issuer);
    Ok(check.status().map_err(|problem| Failed::of(&check, problem))?.success())
}

/// Makes a class in a folder, with its students and these further settings. Returns its port.
fn class(root: &Path, program: &Path, folder: &Path, more: &str) -> Result<u16, Error> {
    // Apart from the rest: a judge may read the course.
    let course = folder.join(COURSE);
    for exercise in EXERCISES {
        copy(&root.join("exercises").join(exercise), &course.join(exercise))?;
    }
    let chapters = format!("[[chapter]]\ntitle = \"Three\"\nexercises = {EXERCISES:?}\n");
    fs::write(course.join("course.toml"), chapters).map_err(file(folder))?;
    let students = "name,id,email\nAnna,anna,anna@uni.edu\n\"=1+1, <b>Ben</b>\",ben,\n";
    fs::write(folder.join("students.csv"), students).map_err(file(folder))?;
    let port = free_port(folder)?;
    let settings = format!("{}{}{more}", user_of_class(folder), settings(port));
    fs::write(folder.join("class.toml"), settings).map_err(file(folder))?;
    learn(root, program, folder, &["add", &folder.join("students.csv").to_string_lossy()])?;
    Ok(port)
}

/// A port that is free, and soon a server's.
fn free_port(folder: &Path) -> Result<u16, Error> {
    let free = TcpListener::bind(("127.0.0.1", 0)).and_then(|listener| listener.local_addr());
    Ok(free.map_err(file(folder))?.port())
}

fn address(port: u16) -> String {
    format!("http://127.0.0.1:{port}/")
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
    started(command.current_dir(root), " is at http://")
}

/// Starts a server that says these words when it listens.
fn started(command: &mut Command, words: &str) -> Result<Server, Error> {
    let mut child = command.stdout(Stdio::piped()).spawn();
    let output = child.as_mut().ok().and_then(|child| child.stdout.take());
    let server = Server(child.map_err(|problem| Failed::of(command, problem))?);
    let mut lines = output.map(|output| BufReader::new(output).lines().map_while(Result::ok)).into_iter().flatten();
    if !lines.any(|line| line.contains(words)) {
        return Err(Failed::of(command, format!("it does not say {words:?}")).into());
    }
    // It may say more.
    std::thread::spawn(move || lines.for_each(drop));
    Ok(server)
}

//! Takes the place of `ptxas` for programs that assemble PTX themselves, such as Triton: what it
//! writes is the PTX, in a container that the simulator's driver loads. No other driver can.
//!
//! ```console
//! $ export TRITON_PTXAS_PATH=$PWD/target/release/coalesce-ptxas
//! ```

use std::process::ExitCode;

#[cfg(target_os = "linux")]
fn run(arguments: &[String]) -> Result<(), String> {
    if arguments.iter().any(|argument| argument == "--version") {
        // Programs look for the release.
        println!("ptxas: the stand-in of Coalesce\nCuda compilation tools, release 12.8, V12.8.93");
        return Ok(());
    }
    let (mut input, mut output) = (None, "elf.o".to_owned());
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "-o" | "--output-file" => output = rest.next().ok_or("-o needs a file")?.clone(),
            // Of the options with a value in an argument of their own.
            "--opt-level" | "-O" | "--gpu-name" | "-arch" | "--maxrregcount" => _ = rest.next(),
            _ if argument.starts_with('-') => {}
            _ => input = Some(argument.clone()),
        }
    }
    let input = input.ok_or("no input file")?;
    let ptx = coalesce_driver::image::of_file(&input).map_err(|error| format!("{input}: {error}"))?;
    let text = String::from_utf8_lossy(&ptx);
    let text = text.trim_end_matches('\0');
    ptx::parse(&input, text).map_err(|errors| format!("{errors}"))?;
    let image = coalesce_driver::image::wrap(text);
    common::output_file::write_whole(output.as_ref(), |out| out.write_all(&image)).map_err(|error| error.to_string())
}

#[cfg(not(target_os = "linux"))]
fn run(_: &[String]) -> Result<(), String> {
    Err("the driver that runs on the simulator is for Linux".to_owned())
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("ptxas fatal   : {message}");
            ExitCode::FAILURE
        }
    }
}

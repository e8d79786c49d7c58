//! Registers of kernels, for goals: `ptxas` allocates them, so it is asked, where it is installed.

use std::collections::HashMap;
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;

use device::{Error, Result};
use simt::Model;
use wording::one_line;

/// Names another `ptxas` than that of `PATH` or of the CUDA toolkit.
const VARIABLE: &str = "COALESCE_PTXAS";

/// The installed `ptxas`.
pub fn ptxas() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os(VARIABLE) {
        return Some(PathBuf::from(named)).filter(|file| file.is_file());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let toolkits = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(std::env::var_os).map(PathBuf::from);
    let toolkits = toolkits.chain([PathBuf::from("/usr/local/cuda")]).map(|folder| folder.join("bin"));
    std::env::split_paths(&path).chain(toolkits).map(|folder| folder.join("ptxas")).find(|file| file.is_file())
}

/// The registers of each entry of a module, compiled for a model's chip, or for a newer one that
/// the module names.
///
/// # Errors
///
/// [`Error::Request`] if there is no `ptxas`, or it refuses the module.
pub fn of_module(text: &str, model: &Model) -> Result<HashMap<String, u32>> {
    let failed = |what: String| Error::request("registers", what);
    let io = |error: std::io::Error| failed(format!("ptxas: {error}"));
    let ptxas = ptxas().ok_or_else(|| failed(format!("there is no ptxas; name it in {VARIABLE}")))?;
    let mut file = tempfile::NamedTempFile::with_suffix(".ptx").map_err(io)?;
    file.write_all(text.as_bytes()).map_err(io)?;
    let chip = chip(text, model);
    let mut command = Command::new(ptxas);
    command.args(["-v", "-arch", &chip]).arg(file.path()).args(["-o", "/dev/null"]);
    let output = command.output().map_err(io)?;
    let said = String::from_utf8_lossy(&output.stderr);
    match output.status.success() {
        true => Ok(registers(&said)),
        false => Err(failed(format!("ptxas for {chip}: {}", said.lines().next().map(one_line).unwrap_or_default()))),
    }
}

/// The model's chip, unless the module is for a newer one, or for one alone, as `sm_90a`.
fn chip(text: &str, model: &Model) -> String {
    let (major, minor) = model.compute_capability;
    let usual = 10 * major + minor;
    let named = text.lines().find_map(|line| line.trim().strip_prefix(".target")?.trim().split([',', ' ']).next());
    let number = named.and_then(|name| name.strip_prefix("sm_"));
    match number.map(|number| (number, number.parse::<u32>())) {
        Some((_, Ok(number))) => format!("sm_{}", number.max(usual)),
        Some((name, Err(_))) => format!("sm_{name}"),
        None => format!("sm_{usual}"),
    }
}

/// What `ptxas -v` says.
fn registers(said: &str) -> HashMap<String, u32> {
    let mut all = HashMap::new();
    let mut entry = None;
    for line in said.lines() {
        if let Some((_, rest)) = line.split_once("Compiling entry function '") {
            entry = rest.split('\'').next();
        } else if let Some((_, rest)) = line.split_once("Used ")
            && let Some(count) = rest.split(' ').next().and_then(|count| count.parse().ok())
            && let Some(entry) = entry.take()
        {
            all.insert(entry.to_owned(), count);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ptxas_says_is_read() {
        let said = "ptxas info    : 0 bytes gmem\n\
            ptxas info    : Compiling entry function '_Z4copyPf' for 'sm_90'\n\
            ptxas info    : Function properties for _Z4copyPf\n    0 bytes stack frame, 0 bytes spill stores\n\
            ptxas info    : Used 10 registers, used 0 barriers, 376 bytes cmem[0]\n\
            ptxas info    : Function properties for helper\n\
            ptxas info    : Used 99 registers\n\
            ptxas info    : Compiling entry function 'scale' for 'sm_90'\n\
            ptxas info    : Used 128 registers, used 1 barriers\n";
        assert_eq!(registers(said), HashMap::from([("_Z4copyPf".to_owned(), 10), ("scale".to_owned(), 128)]));
    }

    #[test]
    fn a_module_is_compiled_for_a_chip_that_can_run_it() {
        let hopper = Model::named("hopper").unwrap();
        for (target, chip_of_it) in
            [("sm_75", "sm_90"), ("sm_100", "sm_100"), ("sm_90a", "sm_90a"), ("sm_80, debug", "sm_90"), ("", "sm_90")]
        {
            assert_eq!(chip(&format!(".version 7.8\n.target {target}\n"), hopper), chip_of_it, "{target}");
        }
    }
}

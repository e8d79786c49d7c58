//! A stand-in for nvJitLink, the library by which numba-cuda and cuda.core make machine code of PTX
//! where it is installed: what comes out is the PTX, in a container that this driver loads.
//!
//! `coalesce run` has a program load it with the driver, under the names `libnvJitLink.so.12` and
//! `.13`: Python's bindings take a library of that name that is loaded already. LTO-IR, the
//! compiler's own format, is refused. The functions are those of the manual "nvJitLink".

use std::collections::HashMap;
use std::ffi::c_uint;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use crate::boundary::{Done, In, Out, Status, Text, jit_linker, say};
use crate::image::{self, wrap};
use crate::join::with_most_registers;
use crate::link::{input, linked};

/// With an older version than 12.3, numba-cuda compiles to PTX and not to LTO-IR, and cuda.core
/// takes the driver's linker.
const VERSION: [c_uint; 2] = [12, 2];

// Results of the library, which are not those of the driver.
const UNRECOGNIZED_OPTION: Status = Status(1);
const MISSING_ARCHITECTURE: Status = Status(2);
const INVALID_INPUT: Status = Status(3);
const PTX_COMPILE: Status = Status(4);
const NVVM_COMPILE: Status = Status(5);
const UNRECOGNIZED_INPUT: Status = Status(8);

/// The kind of an input that is LTO-IR.
const LTO_IR: c_uint = 3;

/// What is linked.
#[derive(Default)]
struct Job {
    inputs: Vec<String>,
    /// The most registers of a thread, if that is limited.
    registers: Option<u32>,
    /// What went wrong.
    errors: String,
    /// The result, after it was completed.
    image: Vec<u8>,
}

impl Job {
    /// The result, which is there once the job was completed.
    fn completed(&self) -> Done<&[u8]> {
        if self.image.is_empty() { Err(INVALID_INPUT) } else { Ok(&self.image) }
    }
}

#[derive(Default)]
struct Jobs {
    made: usize,
    all: HashMap<usize, Job>,
}

fn jobs() -> MutexGuard<'static, Jobs> {
    static JOBS: LazyLock<Mutex<Jobs>> = LazyLock::new(Mutex::default);
    JOBS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Works on a job.
fn with<T>(handle: usize, work: impl FnOnce(&mut Job) -> Done<T>) -> Done<T> {
    jobs().all.get_mut(&handle).ok_or(INVALID_INPUT).and_then(work)
}

/// Notes an error, and returns its number.
fn failed(job: &mut Job, status: Status, message: &str) -> Status {
    say(message);
    job.errors += message;
    job.errors.push('\n');
    status
}

fn add(handle: usize, kind: c_uint, bytes: &[u8]) -> Done {
    with(handle, |job| {
        if kind == LTO_IR {
            let message = "nvJitLink: LTO-IR is not PTX, which is all that the simulator runs: compile without LTO";
            return Err(failed(job, NVVM_COMPILE, message));
        }
        // Any other kind is known by its first bytes.
        let input = input(bytes).map_err(|_| {
            failed(job, UNRECOGNIZED_INPUT, "nvJitLink: an input has no PTX, which is all that the simulator runs")
        })?;
        job.inputs.extend(input);
        Ok(())
    })
}

/// Options that change nothing here: PTX is neither optimised nor made machine code.
const KNOWN: &str = "\
    -time -verbose -lto -O0 -O1 -O2 -O3 -g -lineinfo -optimize-unused-variables -no-cache \
    -ftz -prec-div -prec-sqrt -fma -kernels-used -variables-used -split-compile \
    -split-compile-extended -jump-table-density -device-stack-protector -cta-id -kernel -variable";

fn is_known(option: &str) -> bool {
    let name = option.split('=').next().unwrap_or_default();
    KNOWN.split_whitespace().any(|known| known == name) || name.starts_with("-Xptxas") || name.starts_with("-Xnvvm")
}

jit_linker! {
    fn nvJitLinkCreate(to: Out<usize>, count: u32, options: In<Text>) {
        to.check()?;
        let (mut architecture, mut registers) = (false, None);
        for option in options.list(count as usize) {
            let option = option.get().map_err(|_| UNRECOGNIZED_OPTION)?;
            match option.as_str() {
                "-ptx" => {
                    say("nvJitLink: -ptx is for LTO-IR, which is not PTX; the simulator runs PTX alone");
                    return Err(UNRECOGNIZED_OPTION);
                }
                _ if option.starts_with("-arch=") => architecture = true,
                _ if option.starts_with("-maxrregcount=") => {
                    let most = option.split('=').nth(1).and_then(|most| most.parse().ok());
                    registers = Some(most.ok_or(UNRECOGNIZED_OPTION)?);
                }
                _ if is_known(&option) => {}
                _ => {
                    say(&format!("nvJitLink: {option}: an unknown option"));
                    return Err(UNRECOGNIZED_OPTION);
                }
            }
        }
        if !architecture {
            return Err(MISSING_ARCHITECTURE);
        }
        let mut jobs = jobs();
        jobs.made += 1;
        let handle = jobs.made;
        jobs.all.insert(handle, Job { registers, ..Job::default() });
        to.put(handle)
    }

    fn nvJitLinkDestroy(handle: In<usize>) {
        jobs().all.remove(&handle.get().map_err(|_| INVALID_INPUT)?).map(|_| ()).ok_or(INVALID_INPUT)
    }

    fn nvJitLinkAddData(handle: usize, kind: c_uint, data: In<u8>, bytes: usize, name: Text) {
        add(handle, kind, &data.bytes(bytes).map_err(|_| INVALID_INPUT)?)
    }

    fn nvJitLinkAddFile(handle: usize, kind: c_uint, path: Text) {
        let path = path.get().map_err(|_| INVALID_INPUT)?;
        let bytes = image::of_file(&path).map_err(|error| {
            with(handle, |job| Err::<(), _>(failed(job, INVALID_INPUT, &format!("nvJitLink: {path}: {error}"))))
                .expect_err("an error is returned")
        })?;
        add(handle, kind, &bytes)
    }

    fn nvJitLinkComplete(handle: usize) {
        with(handle, |job| match linked(&job.inputs) {
            Ok(text) => {
                let text = match job.registers {
                    Some(most) if most > 0 => with_most_registers(&text, most),
                    _ => text,
                };
                job.image = wrap(&text);
                Ok(())
            }
            Err(problem) => Err(failed(job, PTX_COMPILE, &problem)),
        })
    }

    fn nvJitLinkGetLinkedCubinSize(handle: usize, to: Out<usize>) {
        with(handle, |job| to.put(job.completed()?.len()))
    }

    fn nvJitLinkGetLinkedCubin(handle: usize, to: Out<u8>) {
        with(handle, |job| to.put_all(job.completed()?.iter().copied()))
    }

    fn nvJitLinkGetLinkedPtxSize(handle: usize, to: Out<usize>) {
        Err(INVALID_INPUT)
    }

    fn nvJitLinkGetLinkedPtx(handle: usize, to: Out<u8>) {
        Err(INVALID_INPUT)
    }

    fn nvJitLinkGetLinkedLTOIRSize(handle: usize, to: Out<usize>) {
        Err(INVALID_INPUT)
    }

    fn nvJitLinkGetLinkedLTOIR(handle: usize, to: Out<u8>) {
        Err(INVALID_INPUT)
    }

    fn nvJitLinkGetErrorLogSize(handle: usize, to: Out<usize>) {
        with(handle, |job| to.put(job.errors.len() + 1))
    }

    fn nvJitLinkGetErrorLog(handle: usize, to: Out<u8>) {
        with(handle, |job| to.put_text(&job.errors, job.errors.len() + 1))
    }

    fn nvJitLinkGetInfoLogSize(handle: usize, to: Out<usize>) {
        with(handle, |_| to.put(1))
    }

    fn nvJitLinkGetInfoLog(handle: usize, to: Out<u8>) {
        with(handle, |_| to.put(0))
    }

    fn nvJitLinkVersion(major: Out<c_uint>, minor: Out<c_uint>) {
        major.put(VERSION[0])?;
        minor.put(VERSION[1])
    }
}

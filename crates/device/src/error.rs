//! The errors. Each is one line that says what is wrong, where, and what to do about it.
//!
//! Every fallible function of this library returns [`Error`]. A program prints it after `error: `
//! and exits with [`Error::exit_code`].

use std::path::{Path, PathBuf};

/// A result of this library.
pub type Result<T> = std::result::Result<T, Error>;

/// An error. Its `Display` is one line.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A request that cannot be carried out, such as a bad value of a flag.
    #[error("{what}: {problem}")]
    Request {
        /// What of the request is wrong, such as a flag.
        what: String,
        /// What is wrong with it and what is accepted.
        problem: String,
    },
    /// A file that cannot be read, understood or written.
    #[error("{}: {problem}", path.display())]
    File {
        /// The file as the user named it.
        path: PathBuf,
        /// What is wrong with it and what is accepted.
        problem: String,
    },
    /// A GPU was requested, but there is no working driver.
    #[error("no GPU: {0}")]
    NoGpu(String),
    /// The requested GPU does not exist.
    #[error("no GPU {index}: this machine has {}{advice}", gpus(*count))]
    NoSuchGpu {
        /// The requested number.
        index: u32,
        /// How many GPUs there are.
        count: u32,
        /// What to do about it.
        advice: &'static str,
    },
    /// The driver cannot read the kernels' PTX, because it is older.
    #[error(
        "the NVIDIA driver is too old for these kernels: they are PTX {ptx}, the driver supports CUDA {driver}; update the \
         driver{advice}"
    )]
    DriverTooOld {
        /// The PTX version of the kernels, such as `8.7`.
        ptx: String,
        /// The newest CUDA version that the driver supports, such as `11.4`.
        driver: String,
        /// What else to do about it.
        advice: &'static str,
    },
    /// The GPU is older than all targets that the kernels are compiled for.
    #[error("{device} has compute capability {capability}, but the kernels need {needed} or later{advice}")]
    DeviceTooOld {
        /// The device's name.
        device: String,
        /// Its compute capability, such as `6.1`.
        capability: String,
        /// The oldest compute capability that the kernels are compiled for.
        needed: String,
        /// What to do about it.
        advice: &'static str,
    },
    /// The driver's compiler or the simulator rejects the kernels' PTX.
    #[error("{name}: {problem}")]
    Ptx {
        /// Which PTX: a file, or the built-in one.
        name: String,
        /// The first error, on one line.
        problem: String,
    },
    /// A device or the host has too little memory.
    #[error(
        "{what} needs {} of memory, but {place} has {}; use smaller sizes{limit}",
        wording::units::bytes(*needed),
        wording::units::bytes(*available),
    )]
    OutOfMemory {
        /// What needs the memory, in the singular.
        what: String,
        /// Whose memory: the host's, or a device's.
        place: String,
        /// Bytes needed.
        needed: u64,
        /// Bytes available.
        available: u64,
        /// What the limit of memory allows, for the end of the message, where that limit decides
        /// and [`Advice::memory_limit`](crate::Advice::memory_limit) names it.
        limit: String,
    },
    /// A kernel was started with a configuration that its device does not allow.
    #[error("kernel {}: {problem}", crate::names::shown(kernel))]
    Launch {
        /// The kernel's name.
        kernel: String,
        /// What is wrong with it and what is allowed.
        problem: String,
    },
    /// Memory of a device that another one was to use.
    #[error("{user}: memory of another device; allocate it on the device that uses it")]
    OtherDevice {
        /// What was to use it, such as `kernel add`.
        user: String,
    },
    /// A pitched matrix whose rows do not consist of whole elements.
    #[error(
        "a pitched matrix of {columns} columns: its rows start {pitch} bytes apart, which is no multiple of the {element} bytes \
         of an element; make the matrix linear"
    )]
    Pitch {
        /// Its columns.
        columns: usize,
        /// From row to row, in bytes.
        pitch: u64,
        /// The size of an element in bytes.
        element: usize,
    },
    /// A static that the kernels lack, or whose size differs.
    #[error("variable {}: {problem}", crate::names::shown(symbol))]
    Symbol {
        /// Its name.
        symbol: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A kernel was stopped by a fault, such as an access out of bounds.
    #[error("{fault}")]
    Fault {
        /// The kernel's name.
        kernel: String,
        /// The fault: the kernel, what it did, the line of Rust, block, thread and address, as far
        /// as the device reports them.
        fault: String,
        /// The same as data, if the simulator found it.
        trap: Option<Box<simt::Trap>>,
    },
    /// Kernels completed, but the sanitizer found faults, which have been printed already.
    #[error("{}: the checks found {}", named(kernels), faults(*count))]
    Findings {
        /// The kernels' names.
        kernels: Vec<String>,
        /// The number of distinct findings.
        count: usize,
    },
    /// A launch did not meet a goal.
    #[error(transparent)]
    Missed(#[from] goals::Missed),
    /// A call of the driver failed.
    #[error("{doing} failed on the GPU: {status}")]
    Driver {
        /// What was attempted.
        doing: String,
        /// The driver's status, its name and text.
        status: String,
    },
    /// The simulator's device memory was misused.
    #[error("{doing} failed on the simulator: {problem}")]
    Simulator {
        /// What was attempted.
        doing: String,
        /// The simulator's message.
        problem: String,
    },
    /// An array, texture or surface that a device does not have.
    #[error("texture: {0}")]
    Texture(#[from] simt::textures::TextureError),
    /// An invalid tensor map.
    #[error("tensor map: {0}")]
    Tensor(#[from] simt::tensors::TensorMapError),
    /// The report cannot be written to the standard output.
    #[error("standard output: {0}")]
    Output(#[from] std::io::Error),
}

impl Error {
    /// The error for a request that cannot be carried out.
    pub fn request(what: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Request { what: what.into(), problem: problem.into() }
    }

    /// The error for a file that cannot be used.
    pub fn file(path: impl AsRef<Path>, problem: impl Into<String>) -> Self {
        Self::File { path: path.as_ref().to_owned(), problem: problem.into() }
    }

    /// The program's exit code for this error: 1 if a kernel ran and misbehaved, 2 if the request
    /// or the machine is to blame.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Fault { .. } | Self::Findings { .. } | Self::Missed(_) => 1,
            _ => 2,
        }
    }
}

fn faults(count: usize) -> String {
    if count == 1 { "1 fault".to_owned() } else { format!("{count} faults") }
}

/// Kernels by their names.
fn named(kernels: &[String]) -> String {
    let several = if kernels.len() == 1 { "" } else { "s" };
    let names: Vec<_> = kernels.iter().map(|kernel| crate::names::shown(kernel)).collect();
    format!("kernel{several} {}", names.join(", "))
}

/// How many GPUs there are, as text.
fn gpus(count: u32) -> String {
    match count {
        0 => "none".to_owned(),
        1 => "one, number 0".to_owned(),
        count => format!("{count}, numbers 0 to {}", count - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_say_what_where_and_what_to_do() {
        let cases = [
            (
                Error::NoSuchGpu { index: 3, count: 1, advice: "; see the list" },
                "no GPU 3: this machine has one, number 0; see the list",
            ),
            (Error::NoSuchGpu { index: 9, count: 8, advice: "" }, "no GPU 9: this machine has 8, numbers 0 to 7"),
            (Error::NoGpu("the NVIDIA driver sees no GPU".into()), "no GPU: the NVIDIA driver sees no GPU"),
            (Error::request("rows", "0 is not a size; give at least 1"), "rows: 0 is not a size; give at least 1"),
            (
                Error::OutOfMemory {
                    what: "a matrix of 16384 x 16384".into(),
                    place: "the host".into(),
                    needed: 3 << 30,
                    available: 3 << 29,
                    limit: String::new(),
                },
                "a matrix of 16384 x 16384 needs 3.00 GiB of memory, but the host has 1.50 GiB; use smaller sizes",
            ),
            (
                Error::OutOfMemory {
                    what: "an allocation".into(),
                    place: "the simulator".into(),
                    needed: 4096,
                    available: 512,
                    limit: crate::Advice { memory_limit: Some("--memory"), ..crate::Advice::DEFAULT }
                        .memory_note(Some(1024)),
                },
                "an allocation needs 4.00 KiB of memory, but the simulator has 512 B; use smaller sizes (--memory allows \
                 1.00 KiB)",
            ),
        ];
        for (error, text) in cases {
            assert_eq!(error.to_string(), text);
            assert_eq!(error.exit_code(), 2);
        }
    }

    #[test]
    fn a_kernel_that_misbehaves_is_exit_code_one() {
        let error = Error::Fault { kernel: "offset_read".into(), fault: "out of bounds".into(), trap: None };
        assert_eq!(error.exit_code(), 1);
    }
}

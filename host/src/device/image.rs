//! The PTX that devices load: the built-in kernels, or a file's. Also checks launches against its kernels' signatures. Both
//! backends load from it. It only reads PTX.

use std::borrow::Cow;
use std::collections::HashMap;

use cuda_std::launch::Arguments;

use super::{ComputeCapability, PtxFile};
use crate::error::{Error, Result, one_line};

/// A PTX text for one target.
#[derive(Clone, Debug)]
pub(super) struct Image {
    /// Its name in errors.
    pub name: String,
    /// The target that the text itself names, such as `sm_75`.
    pub target: String,
    /// The oldest compute capability that runs it.
    pub capability: ComputeCapability,
    /// The PTX version that the text itself names, such as `8.7`.
    pub version: String,
    /// The text.
    pub text: Cow<'static, str>,
}

/// The digest of the kernels' sources when this program was built.
pub(super) const KERNEL_SOURCES: &str = env!("COALESCE_KERNEL_SOURCES");

/// The note that the built-in PTX was compiled from sources other than those that the program was built with.
pub(super) fn stale(images: &[kernels::PtxImage], sources: &str) -> Option<String> {
    let stale = images.iter().find(|image| image.sources() != sources)?;
    Some(format!("the kernels' sources are newer than their PTX for {}; run `cargo xtask build-ptx`", stale.arch))
}

/// The PTX texts to choose from, from the oldest target to the newest; at least one.
pub(super) struct Images(Vec<Image>);

impl Images {
    /// The built-in PTX, or a file's.
    pub fn new(file: Option<&PtxFile>) -> Result<Self> {
        let mut images = match file {
            Some(file) => vec![Image::from_file(file)?],
            None => kernels::PTX
                .iter()
                .map(|image| Image::new(format!("built-in kernels for {}", image.arch), Cow::Borrowed(image.text)))
                .collect::<Result<_>>()?,
        };
        images.sort_by_key(|image| image.capability);
        Ok(Self(images))
    }

    /// The newest PTX that a device of this compute capability runs. `Err` holds the oldest PTX, which is too new.
    pub fn newest_for(&self, device: ComputeCapability) -> std::result::Result<&Image, &Image> {
        self.0.iter().rev().find(|image| image.capability <= device).ok_or(&self.0[0])
    }

    /// The PTX for the newest target, which the simulator runs.
    pub fn newest(&self) -> &Image {
        &self.0[self.0.len() - 1]
    }
}

/// The kernels of a module and the sizes of their parameters in bytes.
pub(super) struct Signatures(HashMap<String, Vec<u64>>);

impl Signatures {
    /// The kernels of a module.
    pub fn of(module: &ptx::Module) -> Self {
        let kernels = module.kernels().map(|(_, kernel)| {
            let sizes = kernel.parameters.iter().map(|&parameter| module.variables[parameter].size.unwrap_or(0));
            (kernel.name.clone(), sizes.collect())
        });
        Self(kernels.collect())
    }

    /// Fails unless the module has this kernel and it takes these arguments. Called before each launch: a GPU's driver reads as many
    /// bytes of each argument as the kernel's parameter has, however long the argument is.
    pub fn check(&self, kernel: &str, arguments: &Arguments) -> Result<()> {
        let refuse = |problem: String| Err(Error::Launch { kernel: kernel.to_owned(), problem });
        let Some(sizes) = self.0.get(kernel) else {
            return refuse("is not in the loaded PTX".to_owned());
        };
        if arguments.len() != sizes.len() {
            return refuse(format!("takes {} parameters, but {} arguments were given", sizes.len(), arguments.len()));
        }
        for (index, (given, &size)) in arguments.iter().zip(sizes).enumerate() {
            if given.len() as u64 != size {
                return refuse(format!(
                    "has {size} bytes in parameter {index}, but the argument has {}; the PTX was compiled from different kernels",
                    given.len()
                ));
            }
        }
        Ok(())
    }
}

impl Image {
    /// The text as a typed module.
    ///
    /// # Errors
    ///
    /// [`Error::Ptx`] with the first error.
    pub fn parse(&self) -> Result<ptx::Module> {
        ptx::parse(&self.name, &self.text).map_err(|errors| {
            // One line: the first error, with `line:column`, and how many more there are.
            let mut all = errors.iter().map(ToString::to_string);
            let first = all.next().unwrap_or_default();
            let (place, problem) = first.split_once(": ").unwrap_or(("", &first));
            let more = match all.count() {
                0 => String::new(),
                1 => "; and one more error".to_owned(),
                count => format!("; and {count} more errors"),
            };
            Error::Ptx { name: format!("{}:{place}", self.name), problem: one_line(problem) + &more }
        })
    }

    /// The PTX of a file that the user names.
    pub fn from_file(file: &PtxFile) -> Result<Self> {
        Self::new(file.name(), Cow::Owned(file.text()?.to_owned()))
    }

    fn new(name: String, text: Cow<'static, str>) -> Result<Self> {
        let wrong = |problem: &str| Error::Ptx { name: name.clone(), problem: problem.to_owned() };
        if text.contains('\0') {
            return Err(wrong("is not PTX: it contains a zero byte"));
        }
        let version =
            directive(&text, ".version").ok_or_else(|| wrong("is not PTX: it has no .version directive"))?.to_owned();
        let target =
            directive(&text, ".target").ok_or_else(|| wrong("is not PTX: it has no .target directive"))?.to_owned();
        let capability =
            ComputeCapability::of_target(&target).ok_or_else(|| wrong("its .target does not name an NVIDIA GPU"))?;
        Ok(Self { name, target, capability, version, text })
    }
}

/// The first operand of a module directive such as `.target sm_75, debug`.
fn directive<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let line = text.lines().map(str::trim_start).find_map(|line| line.strip_prefix(name)?.strip_prefix([' ', '\t']))?;
    line.split([' ', '\t', ',', '/', ';']).find(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stale_ptx_is_noticed() {
        assert_eq!(stale(kernels::PTX, KERNEL_SOURCES), None);
        let note = stale(kernels::PTX, "other sources").unwrap();
        assert!(note.contains("sm_75") && note.contains("cargo xtask build-ptx"), "{note}");
    }

    #[test]
    fn the_digest_is_that_of_the_sources_which_cargo_names() {
        let kernels = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../kernels");
        assert_eq!(cuda_builder::digest_of_crate(kernels).unwrap().to_string(), KERNEL_SOURCES);
    }

    fn image(text: &'static str) -> Result<Image> {
        Image::new("test.ptx".into(), Cow::Borrowed(text))
    }

    #[test]
    fn version_and_target_are_found() {
        let image = image("// hello\n.version 8.7\n  .target\tsm_90a, debug // x\n").unwrap();
        assert_eq!((image.version.as_str(), image.target.as_str()), ("8.7", "sm_90a"));
    }

    #[test]
    fn what_is_no_ptx_is_refused() {
        let error = |text| image(text).unwrap_err().to_string();
        assert_eq!(error("int main()"), "test.ptx: is not PTX: it has no .version directive");
        assert_eq!(error(".version 8.0\n"), "test.ptx: is not PTX: it has no .target directive");
        assert_eq!(error(".version 8.0\n.target texmode_unified"), "test.ptx: its .target does not name an NVIDIA GPU");
    }

    #[test]
    fn arguments_must_have_the_parameters_sizes() {
        let text = ".version 6.3\n.target sm_75\n.address_size 64\n\
                    .visible .entry k(.param .u64 a, .param .u32 b) { ret; }";
        let signatures = Signatures::of(&image(text).unwrap().parse().unwrap());
        let check = |kernel, sizes: &[usize]| {
            let mut arguments = Arguments::new();
            for &size in sizes {
                arguments.push_bytes(&vec![0; size], 4);
            }
            signatures.check(kernel, &arguments).map_err(|error| error.to_string())
        };
        assert_eq!(check("k", &[8, 4]), Ok(()));
        assert_eq!(check("l", &[8, 4]), Err("kernel l: is not in the loaded PTX".into()));
        assert_eq!(check("k", &[8]), Err("kernel k: takes 2 parameters, but 1 arguments were given".into()));
        assert_eq!(
            check("k", &[8, 8]),
            Err("kernel k: has 4 bytes in parameter 1, but the argument has 8; the PTX was compiled from different kernels"
                .into())
        );
    }

    #[test]
    fn what_the_parser_refuses_is_one_line() {
        let refused = |text| image(text).unwrap().parse().unwrap_err().to_string();
        let error = refused(".version 6.3\n.target sm_75\n.address_size 64\nfoo\n");
        assert!(error.starts_with("test.ptx:4:1: "), "{error}");
        let error =
            refused(".version 6.3\n.target sm_75\n.address_size 64\n.visible .entry k() {\n frob;\n grob;\n}\n");
        assert!(error.starts_with("test.ptx:5:") && error.ends_with("; and one more error"), "{error}");
    }

    #[test]
    fn a_device_gets_the_newest_that_it_runs() {
        let images =
            Images(vec![image(".version 6.3\n.target sm_75").unwrap(), image(".version 8.0\n.target sm_90").unwrap()]);
        let chosen = |major, minor| {
            images
                .newest_for(ComputeCapability { major, minor })
                .map(|image| image.target.clone())
                .map_err(|image| image.target.clone())
        };
        assert_eq!(chosen(7, 0), Err("sm_75".into()));
        assert_eq!(chosen(8, 9), Ok("sm_75".into()));
        assert_eq!(chosen(9, 0), Ok("sm_90".into()));
        assert_eq!(chosen(12, 1), Ok("sm_90".into()));
    }
}

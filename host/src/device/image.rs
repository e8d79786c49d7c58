//! The PTX that devices load: the built-in kernels, or a file's. Also checks launches against its kernels' signatures. Both
//! backends load from it. It only reads PTX.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use cuda_std::launch::{Arguments, PtxImage};

use super::{ComputeCapability, PtxFile};
use crate::error::{Error, Result, one_line};
use crate::names;
use crate::units::counted;

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
    /// The text; of the built-in kernels, one for each of their crates.
    pub texts: Vec<Cow<'static, str>>,
}

/// A crate of built-in kernels.
pub(super) struct BuiltIn {
    /// Its PTX, for the same architectures as that of the others.
    pub ptx: &'static [PtxImage],
    /// The digest of its sources when this program was built.
    pub sources: &'static str,
}

/// The crates of built-in kernels. No two kernels have the same name.
pub(super) const BUILT_IN: [BuiltIn; 2] = [
    BuiltIn { ptx: kernels::PTX, sources: env!("COALESCE_KERNEL_SOURCES") },
    BuiltIn { ptx: best_kernels::PTX, sources: env!("COALESCE_BEST_KERNEL_SOURCES") },
];

/// The names of all built-in kernels.
pub fn built_in_kernels() -> impl Iterator<Item = &'static str> {
    BUILT_IN.iter().filter_map(|built_in| built_in.ptx.first()).flat_map(PtxImage::entry_points)
}

/// The note that built-in PTX was compiled from sources other than those that the program was built with.
pub(super) fn stale(crates: &[BuiltIn]) -> Option<String> {
    let is_stale = |built_in: &BuiltIn| built_in.ptx.iter().find(|image| image.sources() != built_in.sources);
    let stale = crates.iter().find_map(is_stale)?;
    Some(format!("the kernels' sources are newer than their PTX for {}; run `cargo xtask build-ptx`", stale.arch))
}

/// The PTX texts to choose from, from the oldest target to the newest; at least one.
pub(super) struct Images(Vec<Image>);

impl Images {
    /// The built-in PTX, or a file's.
    pub fn new(file: Option<&PtxFile>) -> Result<Self> {
        let mut images = match file {
            Some(file) => vec![Image::from_file(file)?],
            None => (0..BUILT_IN[0].ptx.len())
                .map(|index| {
                    let texts = BUILT_IN.map(|built_in| Cow::Borrowed(built_in.ptx[index].text));
                    Image::new(format!("built-in kernels for {}", BUILT_IN[0].ptx[index].arch), texts.into())
                })
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

/// What a device has loaded: the kernels of an image, typed. A user's file is parsed as a whole, so that its errors are found; of
/// the built-in image, each kernel is parsed when it is launched first.
pub(super) struct Loaded {
    image: Image,
    /// The image's texts.
    parts: Vec<Part>,
    /// The kernels that have been launched, if they are not in the part's module.
    launched: RefCell<HashMap<String, Option<Own>>>,
    /// Which kernels that have been launched may begin early. Found once for each: it takes a look at all instructions.
    early: RefCell<HashMap<String, bool>>,
}

/// A text of an image.
struct Part {
    /// Of a built-in text.
    pieces: Option<ptx::Pieces>,
    /// The whole module, or all of it but the kernels.
    module: ptx::Module,
}

/// A kernel that was parsed by itself.
#[derive(Clone)]
pub(super) struct Own {
    /// Which part it is of: the place in [`Loaded::modules`].
    pub part: usize,
    /// The module with this kernel alone.
    pub module: Rc<ptx::Module>,
}

impl Loaded {
    /// Parses what launches need from the start.
    ///
    /// # Errors
    ///
    /// As [`Image::parse`].
    pub fn new(image: &Image) -> Result<Self> {
        let part = |text: &Cow<'static, str>| {
            let pieces = image.is_built_in().then(|| ptx::Pieces::of(&image.name, text));
            let module = match &pieces {
                None => ptx::parse(&image.name, text),
                Some(pieces) => pieces.parse(&[]),
            };
            Ok(Part { pieces, module: module.map_err(|errors| image.refused(&errors))? })
        };
        let parts = image.texts.iter().map(part).collect::<Result<_>>()?;
        Ok(Self { image: image.clone(), parts, launched: RefCell::default(), early: RefCell::default() })
    }

    /// The image.
    pub fn image(&self) -> &Image {
        &self.image
    }

    /// What is parsed from the start, for each text of the image: the whole module, or all of it but the kernels.
    pub fn modules(&self) -> impl Iterator<Item = &ptx::Module> {
        self.parts.iter().map(|part| &part.module)
    }

    /// The module with this kernel, unless there is none or it is in the first of [`Loaded::modules`].
    ///
    /// # Errors
    ///
    /// As [`Image::parse`].
    pub fn kernel(&self, name: &str) -> Result<Option<Own>> {
        if let Some(known) = self.launched.borrow().get(name) {
            return Ok(known.clone());
        }
        let all = self.parts.iter().map(|part| part.pieces.as_ref());
        let of = all.enumerate().find_map(|(part, pieces)| Some((part, pieces.filter(|pieces| pieces.has(name))?)));
        let own = match of {
            None => None,
            Some((part, pieces)) => {
                let module = Rc::new(pieces.parse(&[name]).map_err(|errors| self.image.refused(&errors))?);
                Some(Own { part, module })
            }
        };
        self.launched.borrow_mut().insert(name.to_owned(), own.clone());
        Ok(own)
    }

    /// Fails unless the module has this kernel and it takes these arguments. Called before each launch: a GPU's driver reads as many
    /// bytes of each argument as the kernel's parameter has, however long the argument is.
    pub fn check<'k>(&self, kernel: &'k str, arguments: &Arguments) -> Result<Checked<'k>> {
        let refuse = |problem: String| Err(Error::Launch { kernel: kernel.to_owned(), problem });
        let image = self.image.shown();
        let own = self.kernel(kernel)?;
        let module = own.as_ref().map_or(&self.parts[0].module, |own| &own.module);
        let Some((_, function)) = module.kernels().find(|(_, function)| function.name == kernel) else {
            if self.image.is_built_in() {
                return refuse(format!("is not in {image}"));
            }
            let there: Vec<&str> = module.kernels().map(|(_, function)| function.name.as_str()).collect();
            return refuse(names::not_among(image, &there));
        };
        let parameters = &function.parameters;
        if arguments.len() != parameters.len() {
            let (takes, given) = (parameters.len(), arguments.len());
            let were = if given == 1 { "was" } else { "were" };
            let (takes, given) = (counted(takes as u64, "parameter"), counted(given as u64, "argument"));
            return refuse(format!("takes {takes} in {image}, but {given} {were} given"));
        }
        for (index, (given, &parameter)) in arguments.iter().zip(parameters).enumerate() {
            let size = module.variables[parameter].size.unwrap_or(0);
            if given.len() as u64 != size {
                return refuse(format!(
                    "has {size} bytes in parameter {index}, but the argument has {}; {image} was compiled from different kernels",
                    given.len()
                ));
            }
        }
        Ok(Checked { name: kernel, may_begin_early: self.may_begin_early(function) })
    }

    /// [`ptx::Function::may_begin_early`] of this kernel.
    fn may_begin_early(&self, kernel: &ptx::Function) -> bool {
        if let Some(&known) = self.early.borrow().get(&kernel.name) {
            return known;
        }
        let may_begin_early = kernel.may_begin_early();
        self.early.borrow_mut().insert(kernel.name.clone(), may_begin_early);
        may_begin_early
    }
}

/// A kernel that is loaded and takes the arguments of a launch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Checked<'k> {
    /// Its name.
    pub name: &'k str,
    /// Whether a GPU may begin it before the kernels before it have ended, because it waits for them by itself.
    pub may_begin_early: bool,
}

impl Image {
    /// The text of a file as a typed module.
    ///
    /// # Errors
    ///
    /// [`Error::Ptx`] with the first error.
    pub fn parse(&self) -> Result<ptx::Module> {
        ptx::parse(&self.name, &self.texts[0]).map_err(|errors| self.refused(&errors))
    }

    /// The parser's errors as one line: the first, with `line:column`, and how many more there are.
    fn refused(&self, errors: &ptx::Errors) -> Error {
        let mut all = errors.iter().map(ToString::to_string);
        let first = all.next().unwrap_or_default();
        let (place, problem) = first.split_once(": ").unwrap_or(("", &first));
        let more = match all.count() {
            0 => String::new(),
            1 => "; and one more error".to_owned(),
            count => format!("; and {count} more errors"),
        };
        Error::Ptx { name: format!("{}:{place}", self.name), problem: one_line(problem) + &more }
    }

    /// Its name in messages about what it contains.
    pub fn shown(&self) -> &str {
        if self.is_built_in() { "the loaded PTX" } else { &self.name }
    }

    /// Whether it belongs to the program.
    fn is_built_in(&self) -> bool {
        matches!(self.texts[0], Cow::Borrowed(_))
    }

    /// The PTX of a file that the user names.
    pub fn from_file(file: &PtxFile) -> Result<Self> {
        Self::new(file.name(), vec![Cow::Owned(file.text()?.to_owned())])
    }

    /// An image of these texts, which are for the same target; at least one.
    fn new(name: String, texts: Vec<Cow<'static, str>>) -> Result<Self> {
        let text = &texts[0];
        let wrong = |problem: &str| Error::Ptx { name: name.clone(), problem: problem.to_owned() };
        if text.contains('\0') {
            return Err(wrong("is not PTX: it contains a zero byte"));
        }
        let version =
            directive(text, ".version").ok_or_else(|| wrong("is not PTX: it has no .version directive"))?.to_owned();
        let target =
            directive(text, ".target").ok_or_else(|| wrong("is not PTX: it has no .target directive"))?.to_owned();
        let capability =
            ComputeCapability::of_target(&target).ok_or_else(|| wrong("its .target does not name an NVIDIA GPU"))?;
        Ok(Self { name, target, capability, version, texts })
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
        assert_eq!(stale(&BUILT_IN), None);
        let note = stale(&[BuiltIn { sources: "other sources", ..BUILT_IN[1] }]).unwrap();
        assert!(note.contains("sm_75") && note.contains("cargo xtask build-ptx"), "{note}");
    }

    #[test]
    fn the_digest_is_that_of_the_sources_which_cargo_names() {
        for (built_in, folder) in BUILT_IN.iter().zip(["../kernels", "../kernels/best"]) {
            let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
            assert_eq!(cuda_builder::digest_of_crate(folder).unwrap().to_string(), built_in.sources);
        }
    }

    fn image(text: &'static str) -> Result<Image> {
        Image::new("test.ptx".into(), vec![Cow::Borrowed(text)])
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
        let loaded = Loaded::new(&image(text).unwrap()).unwrap();
        let check = |kernel, sizes: &[usize]| {
            let mut arguments = Arguments::new();
            for &size in sizes {
                arguments.push_bytes(&vec![0; size], 4);
            }
            loaded.check(kernel, &arguments).map_err(|error| error.to_string())
        };
        assert_eq!(check("k", &[8, 4]), Ok(Checked { name: "k", may_begin_early: false }));
        assert_eq!(check("l", &[8, 4]), Err("kernel l: is not in the loaded PTX".into()));
        assert_eq!(
            check("k", &[8]),
            Err("kernel k: takes 2 parameters in the loaded PTX, but 1 argument was given".into())
        );
        assert_eq!(
            check("k", &[8, 8]),
            Err("kernel k: has 4 bytes in parameter 1, but the argument has 8; the loaded PTX was compiled from different kernels"
                .into())
        );
    }

    #[test]
    fn a_file_without_the_kernel_is_named_with_those_that_it_has() {
        let text = ".version 6.3\n.target sm_75\n.address_size 64\n\
                    .visible .entry k(.param .u64 a) { ret; }\n.visible .entry _Z1mi(.param .u32 a) { ret; }";
        let loaded = Loaded::new(&Image::new("it.ptx".into(), vec![Cow::Owned(text.into())]).unwrap()).unwrap();
        let mut arguments = Arguments::new();
        arguments.push_pointer(0);
        let refused = |kernel, arguments: &Arguments| loaded.check(kernel, arguments).unwrap_err().to_string();
        assert_eq!(refused("l", &arguments), "kernel l: is not in it.ptx, which has k, m(int)");
        assert!(refused("_Z1mi", &arguments).ends_with("; it.ptx was compiled from different kernels"));
        arguments.push_pointer(0);
        assert_eq!(refused("k", &arguments), "kernel k: takes 1 parameter in it.ptx, but 2 arguments were given");
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

    #[test]
    fn each_built_in_kernel_alone_is_as_in_the_whole_module() {
        let mut kernels = 0;
        for image in Images::new(None).unwrap().0 {
            let loaded = Loaded::new(&image).unwrap();
            assert!(loaded.modules().all(|module| module.kernels().count() == 0));
            let whole = image.texts.iter().map(|text| ptx::parse(&image.name, text).unwrap());
            let whole: Vec<ptx::Module> = whole.collect();
            let of_part = |part: usize| whole[part].kernels().map(move |(_, kernel)| (part, kernel));
            for (part, kernel) in (0..whole.len()).flat_map(of_part) {
                let Own { part: found, module } = loaded.kernel(&kernel.name).unwrap().unwrap();
                assert_eq!(found, part, "{} is in two crates", kernel.name);
                let whole = &whole[part];
                let (_, alone) = module.kernels().next().unwrap();
                let body = |module: &ptx::Module, function: &ptx::Function| -> Vec<_> {
                    let places = function.body.iter().flatten().map(|instruction| {
                        let chain = instruction.location.into_iter().flat_map(|at| module.inline_chain(at));
                        let chain = chain.map(|at| (module.files[at.file].path.clone(), at.line, at.column));
                        (instruction.span, chain.collect::<Vec<_>>())
                    });
                    places.collect()
                };
                assert_eq!(body(&module, alone), body(whole, kernel), "{}", kernel.name);
                assert_eq!(alone.registers, kernel.registers);
                kernels += 1;
            }
        }
        assert!(kernels > 300, "{kernels}");
    }
}

//! The PTX that devices load: the built-in kernels, or a file's. Also checks launches against its
//! kernels' signatures. Both backends load from it. It only reads PTX.

use std::borrow::Cow;
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use cuda_std::launch::{Arguments, PtxImage};
use cuda_std::signature::{Parameter, Signature};
use ptx::Space;

use super::{ComputeCapability, PtxFile};
use crate::error::{Error, Result};
use crate::{names, signature};
use wording::one_line;
use wording::units::counted;

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
    /// Whether its kernels need no signatures: [`PtxFile::trusted`].
    pub trusted: bool,
}

/// The PTX texts to choose from.
pub(super) struct Images {
    /// From the oldest target to the newest, at least one: the texts that a device loads together,
    /// at least one.
    sets: Vec<Vec<Image>>,
}

impl Images {
    /// The PTX of crates, or that of files if there are some.
    ///
    /// # Errors
    ///
    /// Those of [`super::open`] that are about the PTX.
    pub fn new(crates: &[&'static [PtxImage]], files: &[PtxFile]) -> Result<Self> {
        match files {
            [] => Self::of_crates(crates),
            files => Ok(Self { sets: vec![files.iter().map(Image::from_file).collect::<Result<_>>()?] }),
        }
    }

    /// The PTX of crates that are loaded together. For each target that some crate has PTX for: of
    /// each crate, the PTX for that target, or for the newest one before it. A crate need not
    /// repeat for a newer target what it has for an older one.
    fn of_crates(crates: &[&'static [PtxImage]]) -> Result<Self> {
        let image =
            |image: &PtxImage| Image::new(format!("built-in kernels for {}", image.arch), Cow::Borrowed(image.text));
        let crates: Vec<Vec<Image>> =
            crates.iter().map(|images| images.iter().map(image).collect()).collect::<Result<_>>()?;
        let mut targets: Vec<ComputeCapability> = crates.iter().flatten().map(|image| image.capability).collect();
        targets.sort_unstable();
        targets.dedup();
        let set = |target: ComputeCapability| {
            let runs = |image: &&Image| image.capability <= target;
            crates
                .iter()
                .map(|images| images.iter().filter(runs).max_by_key(|image| image.capability).cloned())
                .collect()
        };
        let sets: Vec<_> = targets.into_iter().filter_map(set).collect();
        if sets.is_empty() {
            let problem = "no target is there for which each crate has PTX; name some in `Options`".to_owned();
            return Err(Error::Ptx { name: "built-in kernels".to_owned(), problem });
        }
        Ok(Self { sets })
    }

    /// The newest PTX that a device of this compute capability runs. `Err` holds the oldest PTX,
    /// which is too new.
    pub fn newest_for(&self, device: ComputeCapability) -> std::result::Result<&[Image], &Image> {
        let runs = |set: &&Vec<Image>| newest_of(set).capability <= device;
        self.sets.iter().rev().find(runs).map(Vec::as_slice).ok_or(newest_of(&self.sets[0]))
    }

    /// The PTX for the newest target, which the simulator runs.
    pub fn newest(&self) -> &[Image] {
        &self.sets[self.sets.len() - 1]
    }
}

/// The one for the newest target of images that are loaded together.
pub(super) fn newest_of(images: &[Image]) -> &Image {
    images.iter().max_by_key(|image| image.capability).unwrap_or(&images[0])
}

/// What a device has loaded: the kernels of some images, typed. A user's file is parsed as a whole,
/// so that its errors are found; of a built-in image, each kernel is parsed when it is launched
/// first.
pub(super) struct Loaded {
    parts: Vec<Part>,
    /// The kernels that have been launched, and names that no kernel has.
    launched: RefCell<HashMap<String, Option<Rc<Own>>>>,
}

/// An image.
pub(super) struct Part {
    pub image: Image,
    /// The whole module, or, of a built-in image, all of it but the kernels.
    pub module: Rc<ptx::Module>,
    pieces: Option<ptx::Pieces>,
    /// Of a built-in image: the kernels that name, or may name, a variable of the module. Only a GPU
    /// needs them: its driver compiles these kernels together.
    with_variables: OnceCell<Vec<String>>,
}

/// A kernel that has been launched: where it is, and what is found out once.
pub(super) struct Own {
    /// The place of its image in [`Loaded::parts`].
    pub part: usize,
    /// The image's module, or the one with this kernel alone.
    pub module: Rc<ptx::Module>,
    /// What the simulator has loaded of it.
    pub program: OnceCell<Rc<simt::Program>>,
    /// What the PTX takes its parameters for, if it says so.
    signature: Option<String>,
    /// The signature of the handle with which that has been compared.
    agrees_with: Cell<Option<&'static Signature>>,
    /// [`ptx::Function::may_begin_early`], which takes a look at all instructions.
    may_begin_early: OnceCell<bool>,
}

/// What a GPU's driver compiles at once: an image, or some kernels of a built-in one with all that
/// they share.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Unit {
    /// The place of its image in [`Loaded::parts`].
    pub part: usize,
    /// The kernels; of a file, which is compiled as a whole, none.
    kernels: Vec<String>,
}

impl Loaded {
    /// Parses what launches need from the start.
    ///
    /// # Errors
    ///
    /// As [`Image::parse`].
    pub fn new(images: &[Image]) -> Result<Self> {
        let parts = images.iter().cloned().map(Part::new).collect::<Result<_>>()?;
        Ok(Self { parts, launched: RefCell::default() })
    }

    /// The images.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The one for the newest target.
    pub fn newest(&self) -> &Image {
        let images = self.parts.iter().map(|part| &part.image);
        images.max_by_key(|image| image.capability).unwrap_or(&self.parts[0].image)
    }

    /// The kernel of this name, if there is one.
    ///
    /// # Errors
    ///
    /// As [`Image::parse`].
    pub fn kernel(&self, name: &str) -> Result<Option<Rc<Own>>> {
        if let Some(known) = self.launched.borrow().get(name) {
            return Ok(known.clone());
        }
        let own = match self.parts.iter().position(|part| part.has(name)) {
            None => None,
            Some(part) => {
                let module = self.parts[part].module_of(name)?;
                let text = kernel_of(&module, name).map(|kernel| &module.text[kernel.span.end as usize..]);
                let signature = text.and_then(signature::of_kernel).map(str::to_owned);
                let (program, may_begin_early) = (OnceCell::new(), OnceCell::new());
                let agrees_with = Cell::new(None);
                Some(Rc::new(Own { part, module, program, signature, agrees_with, may_begin_early }))
            }
        };
        self.launched.borrow_mut().insert(name.to_owned(), own.clone());
        Ok(own)
    }

    /// What the driver has to compile to see that it accepts all images: the files, and of built-in
    /// images what kernels share.
    pub fn units(&self) -> impl Iterator<Item = Unit> {
        (0..self.parts.len()).map(|part| Unit { part, kernels: Vec::new() })
    }

    /// What the driver compiles for this kernel, if there is one. Kernels that name a variable are
    /// compiled together, because each module has its own copy of every variable.
    pub fn unit_of(&self, kernel: &str) -> Option<Unit> {
        let part = self.parts.iter().position(|part| part.has(kernel))?;
        let with_variables = self.parts[part].with_variables();
        let kernels = match &self.parts[part].pieces {
            None => Vec::new(),
            Some(_) if with_variables.iter().any(|other| other == kernel) => with_variables.to_vec(),
            Some(_) => vec![kernel.to_owned()],
        };
        Some(Unit { part, kernels })
    }

    /// What the driver compiles for the variable of this name, if there is one.
    pub fn unit_with(&self, variable: &str) -> Option<Unit> {
        let part = self.parts.iter().position(|part| part.has_variable(variable))?;
        Some(Unit { part, kernels: self.parts[part].with_variables().to_vec() })
    }

    /// The text of a unit.
    pub fn text(&self, unit: &Unit) -> Cow<'_, str> {
        let Part { image, pieces, .. } = &self.parts[unit.part];
        let names: Vec<&str> = unit.kernels.iter().map(String::as_str).collect();
        pieces.as_ref().map_or(Cow::Borrowed(&*image.text), |pieces| Cow::Owned(pieces.text(&names)))
    }

    /// The name of the images in messages about what they contain.
    pub fn shown(&self) -> String {
        if self.is_built_in() {
            return "the loaded PTX".to_owned();
        }
        self.parts.iter().map(|part| part.image.name.as_str()).collect::<Vec<_>>().join(" and ")
    }

    fn is_built_in(&self) -> bool {
        self.parts.iter().all(|part| part.pieces.is_some())
    }

    /// Fails if the PTX does not say what it takes the kernel's parameters for, and nobody has
    /// promised that it is what a handle says. A kernel that is missing is left to
    /// [`Loaded::check`].
    pub fn check_has_signature(&self, kernel: &str) -> Result<()> {
        match self.kernel(kernel)? {
            Some(own) if own.signature.is_none() && !self.parts[own.part].image.trusted => Err(Error::Launch {
                kernel: kernel.to_owned(),
                problem: format!(
                    "has no signature in {}, so a safe launch cannot know what it takes: compile it by `cuda_builder`, launch \
                     it by an `unsafe` function, or promise by `PtxFile::trusted` that it takes what the host passes",
                    self.parts[own.part].image.name
                ),
            }),
            _ => Ok(()),
        }
    }

    /// Fails if the PTX takes the kernel's parameters for something else than a handle. Each handle
    /// is compared once.
    pub fn check_signature(&self, kernel: &str, handle: &'static Signature) -> Result<()> {
        let Some(own) = self.kernel(kernel)? else { return Ok(()) };
        let (Some(signature), Image { name, trusted: false, .. }) = (&own.signature, &self.parts[own.part].image)
        else {
            return Ok(());
        };
        if !own.agrees_with.get().is_some_and(|known| std::ptr::eq(known, handle)) {
            signature::compare(&handle.to_string(), signature, name)
                .map_err(|problem| Error::Launch { kernel: kernel.to_owned(), problem })?;
            own.agrees_with.set(Some(handle));
        }
        Ok(())
    }

    /// Fails if the PTX takes the variable's value for something else than a handle of the type
    /// `T`, or does not say for what. A variable that is missing is left to the caller.
    pub fn check_variable<T>(&self, name: &str) -> Result<()> {
        let wrong = |problem| Err(Error::Symbol { symbol: name.to_owned(), problem });
        let Some(Part { image, .. }) = self.parts.iter().find(|part| part.has_variable(name)) else { return Ok(()) };
        if image.trusted {
            return Ok(());
        }
        let Some(signature) = signature::of_variable(&image.text, name) else {
            let shown = &image.name;
            return wrong(format!(
                "has no signature in {shown}: it is not exported, or `cuda_builder` did not make {shown}"
            ));
        };
        let handle = format!("{} | {}", Signature::STATIC, Parameter::of_static::<T>());
        signature::compare(&handle, signature, &image.name).or_else(wrong)
    }

    /// Fails unless there is this kernel and it takes these arguments. Called before each launch: a
    /// GPU's driver reads as many bytes of each argument as the kernel's parameter has, however
    /// long the argument is.
    pub fn check<'k>(&self, kernel: &'k str, arguments: &Arguments) -> Result<Checked<'k>> {
        let refuse = |problem: String| Err(Error::Launch { kernel: kernel.to_owned(), problem });
        let shown = self.shown();
        let own = self.kernel(kernel)?;
        let Some((own, function)) = own.as_ref().and_then(|own| Some((own, kernel_of(&own.module, kernel)?))) else {
            if self.is_built_in() {
                return refuse(format!("is not in {shown}"));
            }
            let there = self.parts.iter().flat_map(|part| part.module.kernels());
            let there: Vec<&str> = there.map(|(_, function)| function.name.as_str()).collect();
            return refuse(names::not_among(&shown, &there));
        };
        let parameters = &function.parameters;
        if arguments.len() != parameters.len() {
            let (takes, given) = (parameters.len(), arguments.len());
            let were = if given == 1 { "was" } else { "were" };
            let (takes, given) = (counted(takes as u64, "parameter"), counted(given as u64, "argument"));
            return refuse(format!("takes {takes} in {shown}, but {given} {were} given"));
        }
        for (index, (given, &parameter)) in arguments.iter().zip(parameters).enumerate() {
            let size = own.module.variables[parameter].size.unwrap_or(0);
            if given.len() as u64 != size {
                return refuse(format!(
                    "has {size} bytes in parameter {index}, but the argument has {}; {shown} was compiled from different kernels",
                    given.len()
                ));
            }
        }
        let may_begin_early = *own.may_begin_early.get_or_init(|| function.may_begin_early());
        Ok(Checked { name: kernel, may_begin_early })
    }
}

/// The kernel of this name in a module.
fn kernel_of<'m>(module: &'m ptx::Module, name: &str) -> Option<&'m ptx::Function> {
    module.kernels().map(|(_, function)| function).find(|function| function.name == name)
}

impl Part {
    fn new(image: Image) -> Result<Self> {
        let pieces = image.is_built_in().then(|| ptx::Pieces::of(&image.name, &image.text));
        let module = match &pieces {
            Some(pieces) => pieces.parse(&[]).map_err(|errors| image.refused(&errors))?,
            None => image.parse()?,
        };
        Ok(Self { module: Rc::new(module), image, pieces, with_variables: OnceCell::new() })
    }

    fn with_variables(&self) -> &[String] {
        let Some(pieces) = &self.pieces else { return &[] };
        self.with_variables.get_or_init(|| {
            let variables = self.module.variables.iter().map(|(_, variable)| variable);
            let variables = variables.filter(|variable| matches!(variable.space, Space::Constant | Space::Global));
            let variables: Vec<&str> = variables.map(|variable| variable.name.as_str()).collect();
            // A function may name one, too.
            match self.module.functions.is_empty() {
                true => pieces.kernels_with(&variables),
                false => pieces.kernels_with(&[""]),
            }
        })
    }

    fn has(&self, kernel: &str) -> bool {
        match &self.pieces {
            Some(pieces) => pieces.has(kernel),
            None => kernel_of(&self.module, kernel).is_some(),
        }
    }

    fn has_variable(&self, name: &str) -> bool {
        self.module.variables.iter().any(|(_, variable)| variable.name == name)
    }

    /// The module with this kernel.
    fn module_of(&self, kernel: &str) -> Result<Rc<ptx::Module>> {
        let Some(pieces) = &self.pieces else { return Ok(Rc::clone(&self.module)) };
        pieces.parse(&[kernel]).map(Rc::new).map_err(|errors| self.image.refused(&errors))
    }
}

/// A kernel that is loaded and takes the arguments of a launch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Checked<'k> {
    /// Its name.
    pub name: &'k str,
    /// Whether a GPU may begin it before the kernels before it have ended, because it waits for
    /// them by itself.
    pub may_begin_early: bool,
}

impl Image {
    /// The text as a typed module.
    ///
    /// # Errors
    ///
    /// [`Error::Ptx`] with the first error.
    pub fn parse(&self) -> Result<ptx::Module> {
        ptx::parse(&self.name, &self.text).map_err(|errors| self.refused(&errors))
    }

    /// The parser's errors as one line: the first, with `line:column`, and how many more there are.
    fn refused(&self, errors: &ptx::Errors) -> Error {
        let first = errors.first();
        let more = match errors.iter().count() - 1 {
            0 => String::new(),
            1 => "; and one more error".to_owned(),
            count => format!("; and {count} more errors"),
        };
        let name = format!("{}:{}:{}", self.name, first.line, first.column);
        Error::Ptx { name, problem: one_line(&first.described()) + &more }
    }

    /// Whether it belongs to the program.
    fn is_built_in(&self) -> bool {
        matches!(self.text, Cow::Borrowed(_))
    }

    /// The PTX of a file that the user names.
    pub fn from_file(file: &PtxFile) -> Result<Self> {
        if file.text()?.contains('\0') {
            return Err(Error::Ptx { name: file.name(), problem: "is not PTX: it contains a zero byte".to_owned() });
        }
        let image = Self::new(file.name(), Cow::Owned(file.text()?.to_owned()))?;
        Ok(Self { trusted: file.is_trusted(), ..image })
    }

    fn new(name: String, text: Cow<'static, str>) -> Result<Self> {
        let wrong = |problem: &str| Error::Ptx { name: name.clone(), problem: problem.to_owned() };
        let version =
            directive(&text, ".version").ok_or_else(|| wrong("is not PTX: it has no .version directive"))?.to_owned();
        let target =
            directive(&text, ".target").ok_or_else(|| wrong("is not PTX: it has no .target directive"))?.to_owned();
        let capability =
            ComputeCapability::of_target(&target).ok_or_else(|| wrong("its .target does not name an NVIDIA GPU"))?;
        Ok(Self { name, target, capability, version, text, trusted: false })
    }
}

/// The first operand of a module directive such as `.target sm_75, debug`.
fn directive<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let line = text.lines().map(str::trim_start).find_map(|line| line.strip_prefix(name)?.strip_prefix([' ', '\t']))?;
    line.split([' ', '\t', ',', '/', ';']).find(|word| !word.is_empty())
}

#[cfg(test)]
mod tests;

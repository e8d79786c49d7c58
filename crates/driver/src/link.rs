//! The linker, `cuLink...`: puts PTX texts together. What it makes is a container of PTX that
//! modules can be loaded from.

use std::ffi::c_uint;

use crate::boundary::images::{bytes_at, objects_at};
use crate::boundary::pointers::Lasting;
use crate::boundary::{Done, In, Out, Status, Text, driver, say};
use crate::image::{self, ptx_of, wrap};
use crate::jit_options::JitOptions;
use crate::join::{Joined, join};
use crate::objects::Handle;
use crate::objects::Link;
use crate::state::{ready, working};

/// Functions of CUDA's own library of device code.
const RUNTIME: &str = include_str!("runtime.ptx");

/// The PTX of an input of the linker, if it has any.
///
/// An archive is CUDA's own library of device code, as SASS. What it has, the simulator has itself;
/// if it has not, the module that calls it cannot be loaded, with a message that says so.
pub fn input(bytes: &[u8]) -> Done<Option<String>> {
    if bytes.starts_with(b"!<arch>") { Ok(None) } else { ptx_of(bytes).map(Some) }
}

/// The text of these inputs with what they call of CUDA's own library, or what is wrong with it.
pub fn linked(inputs: &[String]) -> Result<String, String> {
    let Joined { text: mut joined, warnings } = join(inputs);
    warnings.iter().for_each(|warning| say(warning));
    if joined.contains("cudaCGSynchronize") || joined.contains("cudaCGGetIntrinsicHandle") {
        joined += RUNTIME;
    }
    match ptx::parse("linked.ptx", &joined) {
        Ok(_) => Ok(joined),
        Err(errors) => Err(errors.to_string().lines().take(12).collect::<Vec<_>>().join("\n")),
    }
}

/// Whether a text is CUDA's own library of device code, as PTX: what it has, the simulator has
/// itself.
fn is_library(text: &str) -> bool {
    text.lines().any(|line| line.starts_with(".visible .func") && line.contains("cudaCGSynchronize"))
}

/// The PTX of an image, which may be of several objects that nvcc has linked.
pub fn text_at(image: In<u8>) -> Done<String> {
    let Some(objects) = objects_at(image)? else { return ptx_of(&bytes_at(image)?) };
    let mut texts = objects.iter().map(Vec::as_slice).map(ptx_of).collect::<Done<Vec<_>>>()?;
    texts.retain(|text| !is_library(text));
    linked(&texts).map_err(|problem| {
        say(&format!("the objects of the program cannot be linked: {problem}"));
        Status::INVALID_PTX
    })
}

fn add(link: Handle, bytes: &[u8], kind: c_uint) -> Done {
    // 0: machine code, 1: PTX, 2: fat binary, 3: object, 4: library, 5: NVVM.
    if kind == 5 {
        return Err(Status::NOT_SUPPORTED);
    }
    let input = input(bytes)?;
    ready()?.links.get_mut(&link).ok_or(Status::INVALID_HANDLE)?.inputs.extend(input);
    Ok(())
}

driver! {
    fn cuLinkCreate_v2(count: c_uint, options: In<c_uint>, values: In<Out<u8>>, to: Out<Handle>) {
        let options = JitOptions::of(count, options, values);
        let mut state = working()?;
        let handle = state.handle();
        state.links.insert(handle, Link { inputs: Vec::new(), options, result: Vec::new() });
        to.put(handle)
    }

    fn cuLinkAddData_v2(
        link: Handle, kind: c_uint, data: In<u8>, bytes: usize, name: Text, count: c_uint,
        options: In<c_uint>, values: In<Out<u8>>,
    ) {
        add(link, &data.bytes(bytes)?, kind)
    }

    fn cuLinkAddFile_v2(
        link: Handle, kind: c_uint, path: Text, count: c_uint, options: In<c_uint>, values: In<Out<u8>>,
    ) {
        let bytes = image::of_file(&path.get()?).map_err(|_| Status::FILE_NOT_FOUND)?;
        add(link, &bytes, kind)
    }

    fn cuLinkComplete(link: Handle, image: Out<Lasting>, bytes: Out<usize>) {
        let mut state = ready()?;
        let link = state.links.get_mut(&link).ok_or(Status::INVALID_HANDLE)?;
        let text = linked(&link.inputs).map_err(|problem| {
            link.options.say(&problem);
            Status::INVALID_PTX
        })?;
        link.result = wrap(&link.options.applied(&text));
        bytes.give(link.result.len());
        image.put(Lasting::list(&link.result))
    }

    fn cuLinkDestroy(link: Handle) {
        ready()?.links.remove(&link).map(|_| ()).ok_or(Status::INVALID_HANDLE)
    }
}

//! Modules and libraries, and the kernels and variables in them. A library is a module here, a
//! `CUkernel` a `CUfunction`: handles of the one are accepted for the other, as clients expect.

use std::collections::HashMap;
use std::ffi::{CString, c_int, c_uint};
use std::sync::Arc;

use device::names;
use ptx::{Pieces, Space};
use simt::programs::KernelInfo;
use simt::{Model, Program};

use crate::allocations::{release, share_variable};
use crate::boundary::pointers::Lasting;
use crate::boundary::{Done, In, Out, Status, Text, driver, say};
use crate::image::{self, ptx_of};
use crate::jit_options::JitOptions;
use crate::link::text_at;
use crate::objects::{Function, Handle, Module};
use crate::orders::Sums;
use crate::settings::SETTINGS;
use crate::state::{State, ready, working};
use crate::texture_references;

/// Parses PTX. If some kernels cannot be parsed, the module has the others.
pub fn parse(name: &str, ptx: &str, options: JitOptions) -> Done<ptx::Module> {
    let errors = match ptx::parse(name, ptx) {
        Ok(module) => return Ok(module),
        Err(errors) => errors,
    };
    let shown: String = errors.to_string().lines().take(12).collect::<Vec<_>>().join("\n");
    options.say(&shown);
    let pieces = Pieces::of(name, ptx);
    let mut good = pieces.kernels_with(&[""]);
    let all = good.len();
    good.retain(|kernel| pieces.parse(&[kernel]).is_ok());
    if good.is_empty() {
        return Err(Status::INVALID_PTX);
    }
    say(&format!("{name}: {} of {all} kernels are left", good.len()));
    let good: Vec<&str> = good.iter().map(String::as_str).collect();
    pieces.parse(&good).map_err(|_| Status::INVALID_PTX)
}

fn load(ptx: &str, options: JitOptions) -> Done<Handle> {
    let mut state = working()?;
    let handle = state.handle();
    let ptx = options.applied(ptx);
    let name = format!("module{handle:x}.ptx");
    if let Some(folder) = &SETTINGS.dump {
        let path = format!("{folder}/{}-{name}", std::process::id());
        if let Err(error) = std::fs::write(&path, &*ptx) {
            say(&format!("{path}: {error}"));
        }
    }
    let module = parse(&name, &ptx, options)?;
    let program = Program::load(&module, &mut state.memory).map_err(|error| {
        options.say(&error.to_string());
        Status::INVALID_PTX
    })?;
    for (kernel, error) in program.unsupported() {
        say(&format!("kernel `{}` cannot run: {error}", names::shown(&kernel.name)));
    }
    let constants = module.variables.iter().filter(|(_, variable)| variable.space == Space::Constant);
    let constants = constants.filter_map(|(_, variable)| variable.size).sum();
    let (sums_open, device) = (Sums::of(&module), state.device());
    let (program, ptx) = (Arc::new(program), (&*ptx).into());
    let module = Module { program, ptx, constants, device, sums_open, functions: HashMap::new() };
    state.modules.insert(handle, module);
    Ok(handle)
}

/// Loads a module without options.
pub fn load_ptx(ptx: &str) -> Done<Handle> {
    load(ptx, JitOptions::NONE)
}

fn load_file(path: Text, options: JitOptions) -> Done<Handle> {
    let bytes = image::of_file(&path.get()?).map_err(|_| Status::FILE_NOT_FOUND)?;
    load(&ptx_of(&bytes)?, options)
}

/// The handle of a kernel.
fn function_of(state: &mut State, module: Handle, name: &str) -> Done<Handle> {
    let found = state.modules.get(&module).ok_or(Status::INVALID_HANDLE)?;
    if let Some(&known) = found.functions.get(name) {
        return Ok(known);
    }
    let (program, ptx, sums_open) = (found.program.clone(), found.ptx.clone(), found.sums_open);
    program.kernel(name).ok_or(Status::NOT_FOUND)?;
    let c_name = CString::new(name).map_err(|_| Status::INVALID_VALUE)?.into();
    let handle = state.handle();
    let function = Function {
        module,
        program,
        ptx,
        name: name.into(),
        c_name,
        dynamic_limit: -1,
        carveout: -1,
        cache: 0,
        sums_open,
    };
    state.functions.insert(handle, function);
    if let Some(module) = state.modules.get_mut(&module) {
        module.functions.insert(name.to_owned(), handle);
    }
    Ok(handle)
}

fn global(module: Handle, name: Text, address: Out<u64>, bytes: Out<usize>) -> Done {
    let state = ready()?;
    let name = name.get()?;
    let found = state.modules.get(&module).ok_or(Status::INVALID_HANDLE)?;
    let symbol = found.program.symbol(&name).ok_or(Status::NOT_FOUND)?;
    address.give(symbol.address);
    bytes.give(symbol.bytes as usize);
    Ok(())
}

/// A variable that host and device share: mapped on the host once it is asked for.
fn managed(module: Handle, name: Text, address: Out<u64>, bytes: Out<usize>) -> Done {
    let mut state = ready()?;
    let name = name.get()?;
    let found = state.modules.get(&module).ok_or(Status::INVALID_HANDLE)?;
    let symbol = found.program.symbol(&name).ok_or(Status::NOT_FOUND)?;
    let (at, length) = (symbol.address, symbol.bytes);
    share_variable(&mut state, at, length)?;
    address.give(at);
    bytes.give(length as usize);
    Ok(())
}

fn unload(handle: Handle) -> Done {
    let mut state = ready()?;
    let module = state.modules.remove(&handle).ok_or(Status::INVALID_HANDLE)?;
    free_variables(&mut state, &module);
    for handle in module.functions.values() {
        state.functions.remove(handle);
    }
    texture_references::forget(&mut state, handle);
    Ok(())
}

/// Frees the variables of a module that is gone.
pub fn free_variables(state: &mut State, module: &Module) {
    for address in module.program.allocations() {
        // One that the host shares is also an allocation of the host's.
        if release(state, address).is_err() {
            let _ = state.memory.free(address);
        }
    }
}

fn names_of(module: Handle) -> Done<Vec<String>> {
    let state = ready()?;
    let module = state.modules.get(&module).ok_or(Status::INVALID_HANDLE)?;
    Ok(module.program.kernels().map(|kernel| kernel.name.clone()).collect())
}

/// Gives handles of at most `count` kernels.
fn enumerate(to: Out<Handle>, count: c_uint, module: Handle) -> Done {
    let names = names_of(module)?;
    let handles = names.iter().take(count as usize).map(|name| function_of(&mut *ready()?, module, name));
    to.put_all(handles.collect::<Done<Vec<_>>>()?)
}

/// The kernel's needs.
pub fn info(function: &Function) -> Done<&KernelInfo> {
    function.program.kernel(&function.name).ok_or(Status::INVALID_HANDLE)
}

/// The registers of a thread, as estimated; 32 for a kernel that cannot run.
pub fn registers(function: &Function, gpu: &Model) -> u32 {
    function.program.registers(&function.name, gpu).ok().flatten().unwrap_or(32)
}

fn attribute(function: Handle, number: c_uint) -> Done<c_int> {
    let state = ready()?;
    let function = state.functions.get(&function).ok_or(Status::INVALID_HANDLE)?;
    let info = info(function)?;
    let gpu = state.gpu();
    let (major, minor) = gpu.compute_capability;
    let architecture = (major * 10 + minor) as c_int;
    let per_block = gpu.shared.per_block;
    let product = |sizes: [u32; 3]| sizes.into_iter().product::<u32>();
    Ok(match number {
        0 => info.required_threads.or(info.max_threads).map_or(gpu.limits.threads_per_block, product) as c_int,
        1 => info.static_shared as c_int,
        2 => state.modules.get(&function.module).map_or(0, |module| module.constants) as c_int,
        3 => info.local as c_int,
        4 => registers(function, gpu) as c_int,
        5 | 6 => architecture,
        7 => 0,
        8 if function.dynamic_limit >= 0 => function.dynamic_limit,
        8 => per_block.saturating_sub(info.static_shared as u32) as c_int,
        9 => function.carveout,
        10 => info.explicit_cluster.into(),
        11..=13 => info.required_cluster.map_or(0, |cluster| cluster[number as usize - 11]) as c_int,
        14 | 15 => 0,
        _ => return Err(Status::INVALID_VALUE),
    })
}

fn set_attribute(function: Handle, number: c_uint, value: c_int) -> Done {
    let mut state = ready()?;
    let opt_in = state.gpu().shared.per_block_opt_in;
    let function = state.functions.get_mut(&function).ok_or(Status::INVALID_HANDLE)?;
    match number {
        8 => {
            let fixed = info(function)?.static_shared;
            if value < 0 || value as u64 + fixed > opt_in.into() {
                return Err(Status::INVALID_VALUE);
            }
            function.dynamic_limit = value;
        }
        9 if (-1..=100).contains(&value) => function.carveout = value,
        11..=15 => {}
        _ => return Err(Status::INVALID_VALUE),
    }
    Ok(())
}

/// Notes a preference between shared memory and L1. Caches do not depend on it.
fn set_cache(function: Handle, config: c_uint) -> Done {
    if config > 3 {
        return Err(Status::INVALID_VALUE);
    }
    ready()?.functions.get_mut(&function).ok_or(Status::INVALID_HANDLE)?.cache = config;
    Ok(())
}

fn parameter(function: Handle, index: usize, offset: Out<usize>, bytes: Out<usize>) -> Done {
    let state = ready()?;
    let info = info(state.functions.get(&function).ok_or(Status::INVALID_HANDLE)?)?;
    let (at, size) = *offsets(info).get(index).ok_or(Status::INVALID_VALUE)?;
    offset.give(at);
    bytes.give(size);
    Ok(())
}

/// Offset and size of each parameter in a buffer of all of them.
pub fn offsets(info: &KernelInfo) -> Vec<(usize, usize)> {
    let mut end = 0usize;
    let place = |&(bytes, align): &(u64, u32)| {
        let start = end.next_multiple_of(align.max(1) as usize);
        end = start + bytes as usize;
        (start, bytes as usize)
    };
    info.parameters.iter().map(place).collect()
}

/// The kernel's name, which lives as long as its module.
fn name_of(to: Out<Lasting>, function: Handle) -> Done {
    let state = ready()?;
    let function = state.functions.get(&function).ok_or(Status::INVALID_HANDLE)?;
    to.put(Lasting::text(&function.c_name))
}

driver! {
    fn cuModuleLoad(to: Out<Handle>, path: Text) {
        to.put(load_file(path, JitOptions::NONE)?)
    }

    fn cuModuleLoadData(to: Out<Handle>, image: In<u8>) {
        to.put(load(&text_at(image)?, JitOptions::NONE)?)
    }

    fn cuModuleLoadDataEx(
        to: Out<Handle>, image: In<u8>, count: c_uint, options: In<c_uint>, values: In<Out<u8>>,
    ) {
        to.put(load(&text_at(image)?, JitOptions::of(count, options, values))?)
    }

    fn cuModuleLoadFatBinary(to: Out<Handle>, image: In<u8>) {
        to.put(load(&text_at(image)?, JitOptions::NONE)?)
    }

    fn cuModuleUnload(module: Handle) {
        unload(module)
    }

    fn cuModuleGetLoadingMode(mode: Out<c_uint>) {
        mode.put(1)
    }

    fn cuModuleGetFunction(to: Out<Handle>, module: Handle, name: Text) {
        to.put(function_of(&mut *ready()?, module, &name.get()?)?)
    }

    fn cuModuleGetFunctionCount(count: Out<c_uint>, module: Handle) {
        count.put(names_of(module)?.len() as c_uint)
    }

    fn cuModuleEnumerateFunctions(to: Out<Handle>, count: c_uint, module: Handle) {
        enumerate(to, count, module)
    }

    fn cuModuleGetGlobal_v2(address: Out<u64>, bytes: Out<usize>, module: Handle, name: Text) {
        global(module, name, address, bytes)
    }

    fn cuLibraryLoadData(
        to: Out<Handle>, image: In<u8>, options: In<c_uint>, values: In<Out<u8>>, count: c_uint,
        library_options: In<c_uint>, library_values: In<Out<u8>>, library_count: c_uint,
    ) {
        to.put(load(&text_at(image)?, JitOptions::of(count, options, values))?)
    }

    fn cuLibraryLoadFromFile(
        to: Out<Handle>, path: Text, options: In<c_uint>, values: In<Out<u8>>, count: c_uint,
        library_options: In<c_uint>, library_values: In<Out<u8>>, library_count: c_uint,
    ) {
        to.put(load_file(path, JitOptions::of(count, options, values))?)
    }

    fn cuLibraryUnload(library: Handle) {
        unload(library)
    }

    fn cuLibraryGetKernel(to: Out<Handle>, library: Handle, name: Text) {
        to.put(function_of(&mut *ready()?, library, &name.get()?)?)
    }

    fn cuLibraryGetKernelCount(count: Out<c_uint>, library: Handle) {
        count.put(names_of(library)?.len() as c_uint)
    }

    fn cuLibraryEnumerateKernels(to: Out<Handle>, count: c_uint, library: Handle) {
        enumerate(to, count, library)
    }

    fn cuLibraryGetModule(to: Out<Handle>, library: Handle) {
        to.put(library)
    }

    fn cuLibraryGetGlobal(address: Out<u64>, bytes: Out<usize>, library: Handle, name: Text) {
        global(library, name, address, bytes)
    }

    fn cuLibraryGetManaged(address: Out<u64>, bytes: Out<usize>, library: Handle, name: Text) {
        managed(library, name, address, bytes)
    }

    fn cuKernelGetFunction(to: Out<Handle>, kernel: Handle) {
        to.put(kernel)
    }

    fn cuKernelGetLibrary(to: Out<Handle>, kernel: Handle) {
        to.put(ready()?.functions.get(&kernel).ok_or(Status::INVALID_HANDLE)?.module)
    }

    fn cuKernelGetName(to: Out<Lasting>, kernel: Handle) {
        name_of(to, kernel)
    }

    fn cuKernelGetAttribute(to: Out<c_int>, number: c_uint, kernel: Handle, device: c_int) {
        to.put(attribute(kernel, number)?)
    }

    fn cuKernelSetAttribute(number: c_uint, value: c_int, kernel: Handle, device: c_int) {
        set_attribute(kernel, number, value)
    }

    fn cuKernelSetCacheConfig(kernel: Handle, config: c_uint, device: c_int) {
        set_cache(kernel, config)
    }

    fn cuKernelGetParamInfo(kernel: Handle, index: usize, offset: Out<usize>, bytes: Out<usize>) {
        parameter(kernel, index, offset, bytes)
    }

    fn cuFuncGetModule(to: Out<Handle>, function: Handle) {
        to.put(ready()?.functions.get(&function).ok_or(Status::INVALID_HANDLE)?.module)
    }

    fn cuFuncGetName(to: Out<Lasting>, function: Handle) {
        name_of(to, function)
    }

    fn cuFuncGetParamInfo(function: Handle, index: usize, offset: Out<usize>, bytes: Out<usize>) {
        parameter(function, index, offset, bytes)
    }

    fn cuFuncGetAttribute(to: Out<c_int>, number: c_uint, function: Handle) {
        to.put(attribute(function, number)?)
    }

    fn cuFuncSetAttribute(function: Handle, number: c_uint, value: c_int) {
        set_attribute(function, number, value)
    }

    fn cuFuncSetCacheConfig(function: Handle, config: c_uint) {
        set_cache(function, config)
    }

    fn cuFuncSetSharedMemConfig(function: Handle, config: c_uint) {
        Ok(())
    }

    fn cuFuncIsLoaded(to: Out<c_uint>, function: Handle) {
        to.put(1)
    }

    fn cuFuncLoad(function: Handle) {
        Ok(())
    }
}

//! The start of the driver, functions by name, names of statuses, and the tables that NVIDIA's own
//! libraries ask for.

use std::collections::HashMap;
use std::ffi::{c_int, c_uint};
use std::sync::LazyLock;

use crate::boundary::callbacks::watch_forks;
use crate::boundary::pointers::Lasting;
use crate::boundary::{Done, Entry, In, Out, STATUSES, Status, Text, driver, fail, say, traces};
use crate::state::lock;

/// All functions of this library by name, as numbers: pointers are not `Sync`.
static FUNCTIONS: LazyLock<HashMap<&'static str, usize>> = LazyLock::new(|| {
    let tables: [&[Entry]; 25] = [
        crate::unsupported::TABLE,
        TABLE,
        crate::arrays::TABLE,
        crate::capture::TABLE,
        crate::context::TABLE,
        crate::transfers::TABLE,
        crate::user_objects::TABLE,
        crate::device::TABLE,
        crate::executable::TABLE,
        crate::graph::TABLE,
        crate::graph_memory::TABLE,
        crate::ipc::TABLE,
        crate::launch::TABLE,
        crate::link::TABLE,
        crate::mapped::TABLE,
        crate::memory::TABLE,
        crate::module::TABLE,
        crate::nodes::TABLE,
        crate::pools::TABLE,
        crate::recording::TABLE,
        crate::stream::TABLE,
        crate::stream_values::TABLE,
        crate::tensor_map::TABLE,
        crate::texture::TABLE,
        crate::texture_references::TABLE,
    ];
    tables.into_iter().flatten().map(|entry| (entry.name, entry.pointer as usize)).collect()
});

/// `CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM`.
const PER_THREAD: u64 = 2;

/// The function that a name without suffix means for a program of some version of CUDA.
fn find(name: &str, version: c_int, flags: u64) -> Option<usize> {
    let newest: &[&str] = match name {
        "cuGetProcAddress" if version >= 12_000 => &["_v2"],
        "cuCtxCreate" if version < 13_000 => &["_v2"],
        "cuStreamGetCaptureInfo" if version >= 12_030 => &["_v3"],
        "cuStreamGetCaptureInfo" if version >= 11_030 => &["_v2"],
        "cuGetProcAddress" | "cuStreamGetCaptureInfo" => &[""],
        "cuGraphInstantiate" if version >= 12_000 => &["WithFlags"],
        // Edges with data.
        "cuGraphAddNode"
        | "cuGraphGetEdges"
        | "cuGraphNodeGetDependencies"
        | "cuGraphNodeGetDependentNodes"
        | "cuGraphAddDependencies"
        | "cuGraphRemoveDependencies"
        | "cuStreamUpdateCaptureDependencies"
            if version < 12_030 =>
        {
            &[""]
        }
        "cuGraphAddKernelNode"
        | "cuGraphKernelNodeGetParams"
        | "cuGraphKernelNodeSetParams"
        | "cuGraphExecKernelNodeSetParams"
        | "cuGraphExecUpdate"
            if version < 12_000 =>
        {
            &[""]
        }
        "cuMemAdvise" | "cuMemPrefetchAsync" | "cuEventElapsedTime" | "cuCtxGetDevice" | "cuCtxSynchronize"
            if version < 13_000 =>
        {
            &[""]
        }
        _ => &["_v4", "_v3", "_v2", ""],
    };
    let mut named = newest.iter().map(|suffix| format!("{name}{suffix}"));
    let named = named.find(|name| FUNCTIONS.contains_key(name.as_str()))?;
    let endings: &[&str] = if flags & PER_THREAD != 0 { &["_ptsz", "_ptds", ""] } else { &[""] };
    endings.iter().find_map(|ending| FUNCTIONS.get(format!("{named}{ending}").as_str()).copied())
}

fn proc_address(name: Text, to: Out<Lasting>, version: c_int, flags: u64) -> Done<bool> {
    let name = name.get()?;
    let found = find(&name, version, flags);
    if found.is_none() && traces() {
        say(&format!("cuGetProcAddress: there is no {name}"));
    }
    to.put(Lasting::function(found.unwrap_or(0)))?;
    Ok(found.is_some())
}

fn status(number: c_uint) -> Option<&'static (u32, &'static str, &'static str)> {
    STATUSES.iter().find(|(known, ..)| *known == number)
}

driver! {
    fn cuInit(flags: c_uint) {
        if flags != 0 {
            return Err(Status::INVALID_VALUE);
        }
        if let Some(problem) = fail::problem(FUNCTIONS.keys().copied()) {
            say(&format!("COALESCE_FAIL: {problem}"));
            return Err(Status::INVALID_VALUE);
        }
        lock().initialized = true;
        watch_forks();
        Ok(())
    }

    fn cuGetErrorName(number: c_uint, to: Out<Lasting>) {
        let found = status(number);
        to.put(found.map_or(Lasting::NULL, |(_, name, _)| Lasting::list(name.as_bytes())))?;
        found.map(|_| ()).ok_or(Status::INVALID_VALUE)
    }

    fn cuGetErrorString(number: c_uint, to: Out<Lasting>) {
        let found = status(number);
        to.put(found.map_or(Lasting::NULL, |(_, _, text)| Lasting::list(text.as_bytes())))?;
        found.map(|_| ()).ok_or(Status::INVALID_VALUE)
    }

    fn cuGetProcAddress(name: Text, to: Out<Lasting>, version: c_int, flags: u64) {
        if proc_address(name, to, version, flags)? { Ok(()) } else { Err(Status::NOT_FOUND) }
    }

    fn cuGetProcAddress_v2(
        name: Text, to: Out<Lasting>, version: c_int, flags: u64, found: Out<c_uint>,
    ) {
        let known = proc_address(name, to, version, flags)?;
        found.give(if known { 0 } else { 1 });
        if known { Ok(()) } else { Err(Status::NOT_FOUND) }
    }

    fn cuGetExportTable(to: Out<Lasting>, id: In<[u8; 16]>) {
        let id = id.get()?;
        if traces() {
            let hexadecimal: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
            say(&format!("cuGetExportTable {hexadecimal}"));
        }
        let found = crate::export::find(&id);
        to.put(found.map_or(Lasting::NULL, Lasting::list))?;
        found.map(|_| ()).ok_or(Status::NOT_FOUND)
    }
}

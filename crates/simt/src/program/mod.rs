//! A module prepared to run: [`Program::load`] decodes kernels and allocates variables.
//! (`run` launches them.)
//!
//! - `decode` turns PTX into `code`, whose parts are `access`, `texture`, `matrix` with `fragment`,
//!   `asynchronous`, `system` and `inspection`.
//! - `facts` has what passes need to know of each PTX instruction, and `effects` of each decoded
//!   step.
//! - `blocks`, `control_flow`, `layout`, `order`, `listing` and `variables` are what loading
//!   computes.
//! - `text` shows decoded code.

mod access;
mod asynchronous;
mod blocks;
mod code;
mod control_flow;
mod decode;
mod effects;
mod facts;
mod fragment;
mod inspection;
mod layout;
mod listing;
mod loops;
mod matrix;
mod order;
mod registers;
mod requests;
mod system;
mod text;
mod texture;
mod variables;

pub(crate) use access::*;
pub(crate) use asynchronous::*;
pub(crate) use blocks::BasicBlocks;
pub(crate) use code::*;
pub(crate) use control_flow::successors;
pub(crate) use effects::{NextStep, OnMemory, Proxy};
pub(crate) use facts::{Facts, Lasts, Motion, Next, facts};
pub(crate) use fragment::Fragment;
pub use inspection::RegisterUse;
pub(crate) use inspection::{CallFlow, Held, HeldRegisters, Inspection, Merge, RegisterFlow, Rule};
pub(crate) use listing::source;
pub(crate) use loops::{Loop, Loops};
pub(crate) use matrix::*;
pub(crate) use system::SystemFunction;
pub use system::is_of_device_runtime;
pub(crate) use text::Listing;
pub(crate) use texture::*;
pub(crate) use variables::{function_at, window};

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use ptx::{Function, Handle, Kind, Module, Space};

use crate::error::LoadErrorReason;
use crate::{LoadError, Memory};

/// A module prepared to run: its variables are in memory, its kernels are decoded.
pub struct Program {
    pub(crate) module: Arc<Module>,
    /// The address of each `.global` and `.const` variable, by the index of its handle.
    addresses: Vec<Option<u64>>,
    pub(crate) kernels: Vec<Kernel>,
    /// The address of the grid's workspace, which cooperative launches synchronise in, if any
    /// kernel uses it.
    pub(crate) workspace: Option<u64>,
    pub(crate) by_name: HashMap<String, usize>,
}

/// A kernel, decoded if all of its instructions are supported.
pub(crate) struct Kernel {
    pub info: KernelInfo,
    pub code: Result<Code, Box<LoadError>>,
    /// The offset of each parameter, and their total size.
    pub parameters: (Vec<u64>, u64),
    /// The estimate of a thread's registers, and that for 1.x: once someone has asked.
    pub registers: [OnceLock<u32>; 2],
}

/// What a kernel needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelInfo {
    /// Its name.
    pub name: String,
    /// Size and alignment of each parameter, in bytes.
    pub parameters: Vec<(u64, u32)>,
    /// Static shared memory of a block, in bytes.
    pub static_shared: u64,
    /// Local memory of a thread, in bytes, without calls.
    pub local: u64,
    /// `.maxntid`: the most threads a block may have, per dimension.
    pub max_threads: Option<[u32; 3]>,
    /// `.reqntid`: the threads that a block must have, per dimension.
    pub required_threads: Option<[u32; 3]>,
    /// `.maxnreg`: the most registers that a thread may have.
    pub max_registers: Option<u32>,
    /// `.minnctapersm`: how many blocks a multiprocessor is to have room for.
    pub min_blocks: Option<u32>,
    /// `.reqnctapercluster`: the blocks that a cluster must have, per dimension.
    pub required_cluster: Option<[u32; 3]>,
    /// `.explicitcluster`: whether it must be launched in clusters.
    pub explicit_cluster: bool,
    /// `.maxclusterrank`: the most blocks that a cluster may have.
    pub max_cluster_blocks: Option<u32>,
    /// `.blocksareclusters`: whether the grid of a launch counts clusters, not blocks.
    pub grid_in_clusters: bool,
    /// Registers of the kernel, and of functions that it may call, that no instruction writes but
    /// whose values matter somewhere.
    pub never_written: Vec<String>,
}

/// A variable of the module in device memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Its address.
    pub address: u64,
    /// Its size in bytes.
    pub bytes: u64,
    /// [`Space::Global`] or [`Space::Constant`].
    pub space: Space,
}

impl Program {
    /// Decodes the module's kernels and allocates its `.global` and `.const` variables in `memory`.
    /// Launch with the same memory. An unsupported instruction is not an error here, but of each
    /// launch of a kernel that can reach it.
    pub fn load(module: &Module, memory: &mut Memory) -> Result<Self, LoadError> {
        Self::load_with(module, memory, &HashMap::new())
    }

    /// As [`Program::load`], for other kernels of the same text ([`ptx::Pieces`]): variables that
    /// both modules have are not allocated again, so that the kernels of both share them.
    pub fn load_beside(&self, module: &Module, memory: &mut Memory) -> Result<Self, LoadError> {
        let known = self.module.variables.iter().zip(&self.addresses);
        let known = known.filter_map(|((_, variable), address)| Some((variable.span.start, (*address)?))).collect();
        Self::load_with(module, memory, &known)
    }

    /// `known` has the addresses of variables that are in memory already, by where they are
    /// declared.
    fn load_with(module: &Module, memory: &mut Memory, known: &HashMap<u32, u64>) -> Result<Self, LoadError> {
        let module = Arc::new(module.clone());
        if let Some(function) = system::heap_user(&module) {
            let failed = |error| LoadError::new(&module, function.span, LoadErrorReason::Heap(error));
            memory.reserve_heap().map_err(failed)?;
        }
        let addresses = variables::allocate(&module, memory, known)?;
        let mut program =
            Self { module: module.clone(), addresses, kernels: Vec::new(), workspace: None, by_name: HashMap::new() };
        for (handle, function) in module.kernels() {
            program.by_name.insert(function.name.clone(), program.kernels.len());
            program.kernels.push(Kernel::new(&module, &program.addresses, handle));
        }
        let mut all = module.kernels().zip(&program.kernels);
        if let Some(((_, function), _)) = all.find(|(_, kernel)| kernel.reads_workspace()) {
            let failed = |error| LoadError::new(&module, function.span, LoadErrorReason::Memory(error));
            let address = memory.allocate(WORKSPACE_BYTES.into()).map_err(failed)?;
            let contents = [WORKSPACE_BYTES.to_le_bytes(), [0; 4]].concat();
            memory.write(address, &contents).map_err(failed)?;
            program.workspace = Some(address);
        }
        Ok(program)
    }

    /// The addresses of what it has allocated, for whoever frees that after the last launch.
    pub fn allocations(&self) -> impl Iterator<Item = u64> {
        self.addresses.iter().chain([&self.workspace]).filter_map(|address| *address)
    }

    /// All kernels, in the order of the text.
    pub fn kernels(&self) -> impl Iterator<Item = &KernelInfo> {
        self.kernels.iter().map(|kernel| &kernel.info)
    }

    /// The kernel of that name.
    pub fn kernel(&self, name: &str) -> Option<&KernelInfo> {
        self.by_name.get(name).map(|&index| &self.kernels[index].info)
    }

    /// The kernels that cannot run, each with the error that its launch would return.
    pub fn unsupported(&self) -> impl Iterator<Item = (&KernelInfo, &LoadError)> {
        self.kernels.iter().filter_map(|kernel| Some((&kernel.info, kernel.code.as_ref().err()?.as_ref())))
    }

    /// The `.global` or `.const` variable of that name.
    pub fn symbol(&self, name: &str) -> Option<Symbol> {
        self.module.variables.iter().find_map(|(handle, variable)| {
            let address = self.addresses[handle.index()]?;
            (variable.name == name).then_some(Symbol {
                address,
                bytes: variable.size.unwrap_or(0),
                space: variable.space,
            })
        })
    }

    /// Binds a texture, sampler or surface to the `.texref`, `.samplerref` or `.surfref` variable
    /// of that name: each is 8 bytes of `memory` that hold a handle. Returns whether there is such
    /// a variable.
    pub fn bind(&self, memory: &mut Memory, name: &str, handle: u64) -> bool {
        let found = self.module.variables.iter().find(|(index, variable)| {
            variable.name == name && variable.ty.kind() == Kind::Opaque && self.addresses[index.index()].is_some()
        });
        let address = found.and_then(|(index, _)| self.addresses[index.index()]);
        address.is_some_and(|address| memory.write(address, &handle.to_le_bytes()).is_ok())
    }
}

impl Kernel {
    fn reads_workspace(&self) -> bool {
        self.code.as_ref().is_ok_and(Code::reads_workspace)
    }

    fn new(module: &Module, addresses: &[Option<u64>], handle: Handle<Function>) -> Self {
        let function = &module.functions[handle];
        let parameters = function.parameters.iter().map(|&parameter| {
            let variable = &module.variables[parameter];
            (variable.size.unwrap_or(0), variable.align)
        });
        let code = decode::kernel(module, addresses, handle);
        let info = KernelInfo {
            name: function.name.clone(),
            parameters: parameters.collect(),
            static_shared: code.as_ref().map_or(0, |code| code.static_shared),
            local: code.as_ref().map_or(0, |code| code.functions[0].local),
            max_threads: function.max_threads,
            required_threads: function.required_threads,
            max_registers: function.max_registers,
            min_blocks: function.min_blocks_per_multiprocessor,
            required_cluster: function.required_cluster,
            explicit_cluster: function.explicit_cluster,
            max_cluster_blocks: function.max_cluster_blocks.filter(|&blocks| blocks > 0),
            grid_in_clusters: function.grid_in_clusters,
            never_written: code.iter().flat_map(|code| &code.functions).flat_map(|f| f.never_written.clone()).collect(),
        };
        Self { info, code, parameters: layout::parameters(module, function), registers: Default::default() }
    }
}

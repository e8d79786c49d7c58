//! Memory that graphs allocate: it has one address in all launches of a graph, and stays there
//! after it was freed, for the next launch. It is given back once it is free and no graph is left
//! that allocates it. A graph is not launched again while memory of its last launch is allocated,
//! unless it was instantiated to free that first.

use std::collections::{HashMap, HashSet};
use std::ffi::{c_int, c_uint};

use crate::allocations::{allocate, release};
use crate::boundary::{Done, In, Out, Status, driver, say};
use crate::device::check;
use crate::nodes::{add, of_node};
use crate::objects::{Handle, Kind};
use crate::state::{State, ready, working};
use crate::work::{Plan, Work};

/// The memory that graphs allocate.
#[derive(Default)]
pub struct GraphMemory {
    /// Whether it is allocated now, by address.
    all: HashMap<u64, bool>,
    /// The most bytes that were allocated, and that were kept, on each device.
    most: HashMap<c_int, [u64; 2]>,
}

impl GraphMemory {
    /// Whether graphs keep the memory at this address.
    pub fn keeps(&self, address: u64) -> bool {
        self.all.contains_key(&address)
    }

    /// Whether a launch has allocated the memory at this address, and nothing has freed it.
    fn is_allocated(&self, address: u64) -> bool {
        self.all.get(&address) == Some(&true)
    }

    /// Whether graphs keep the memory at this address for their next launch.
    pub fn is_free(&self, address: u64) -> bool {
        self.all.get(&address) == Some(&false)
    }

    /// It is not a graph's any more: it was given back.
    pub fn forget(&mut self, address: u64) {
        self.all.remove(&address);
    }
}

impl State {
    /// A graph allocates the memory at this address, whenever it is launched.
    pub fn keep_for_graphs(&mut self, address: u64) {
        self.graph_memory.all.insert(address, false);
    }

    /// A launch has allocated or freed the memory at this address.
    pub fn in_graph(&mut self, address: u64, allocated: bool) {
        let Some(found) = self.graph_memory.all.get_mut(&address) else { return };
        *found = allocated;
        let Some(device) = self.allocations.get(&address).map(|allocation| allocation.device) else { return };
        let now = self.graph_bytes(device);
        let most = self.graph_memory.most.entry(device).or_default();
        *most = [most[0].max(now[0]), most[1].max(now[1])];
    }

    /// Frees what a launch has allocated, for the next launch, if there can be one.
    pub fn free_in_graph(&mut self, address: u64) -> Done {
        if !self.graph_memory.is_allocated(address) {
            return Err(Status::INVALID_VALUE);
        }
        self.in_graph(address, false);
        if self.all_of_graphs().contains(&address) { Ok(()) } else { release(self, address) }
    }

    /// Readies the memory of an executable graph for a launch: what the last one left allocated is
    /// freed, or the launch is refused.
    pub fn ready_memory(&mut self, plan: &Plan, frees: bool) -> Done {
        let mut left = HashSet::new();
        plan.steps.iter().for_each(|step| add_memory(&step.work, &mut left));
        left.retain(|address| self.graph_memory.is_allocated(*address));
        if !left.is_empty() && !frees {
            say("a graph is launched again while memory that it allocates is not freed; instantiate it with \
                 CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH to have that freed");
            return Err(Status::INVALID_VALUE);
        }
        left.into_iter().for_each(|address| self.in_graph(address, false));
        Ok(())
    }

    /// Gives back what is free, unless a graph allocates it.
    pub fn trim_graphs(&mut self) -> Done {
        let mut free: Vec<u64> = self.graph_memory.all.iter().filter(|(_, used)| !**used).map(|(&at, _)| at).collect();
        if !free.is_empty() {
            let all = self.all_of_graphs();
            free.retain(|address| !all.contains(address));
        }
        free.into_iter().try_for_each(|address| release(self, address))
    }

    /// The addresses of what graphs, or what was instantiated of them, allocate.
    fn all_of_graphs(&self) -> HashSet<u64> {
        let mut all = HashSet::new();
        // Graphs in nodes are among the graphs.
        self.graphs.values().flat_map(|graph| graph.nodes.values()).for_each(|node| add_memory(&node.work, &mut all));
        self.executables.values().flat_map(|found| &found.plan.steps).for_each(|step| add_memory(&step.work, &mut all));
        all
    }

    /// Bytes on a device that are allocated, and that are kept.
    fn graph_bytes(&self, device: c_int) -> [u64; 2] {
        let mut bytes = [0; 2];
        for (address, &allocated) in &self.graph_memory.all {
            if let Some(allocation) = self.allocations.get(address).filter(|found| found.device == device) {
                bytes[0] += if allocated { allocation.bytes } else { 0 };
                bytes[1] += allocation.bytes;
            }
        }
        bytes
    }
}

/// Adds the addresses of what a node allocates, or a graph in it.
fn add_memory(work: &Work, all: &mut HashSet<u64>) {
    match work {
        Work::Allocate { address, .. } => {
            all.insert(*address);
        }
        Work::Graph(plan) => plan.steps.iter().for_each(|step| add_memory(&step.work, all)),
        _ => {}
    }
}

/// `CUDA_MEM_ALLOC_NODE_PARAMS`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Allocation {
    pool: [u64; 11],
    access: usize,
    access_count: usize,
    bytes: usize,
    address: u64,
}

driver! {
    fn cuGraphAddMemAllocNode(
        to: Out<Handle>, graph: Handle, after: In<Handle>, count: usize, parameters: Out<Allocation>,
    ) {
        to.check()?;
        let given = parameters.held()?;
        if given.bytes == 0 {
            return Err(Status::INVALID_VALUE);
        }
        let address = {
            let mut state = working()?;
            state.graph_mut(graph)?;
            allocate(&mut state, given.bytes, Kind::Device)?
        };
        let added = add(to, graph, after, count, Work::Allocate { address, bytes: given.bytes });
        let mut state = ready()?;
        if added.is_err() {
            release(&mut state, address)?;
            return added;
        }
        state.keep_for_graphs(address);
        parameters.put(Allocation { address, ..given })
    }

    fn cuGraphMemAllocNodeGetParams(node: Handle, to: Out<Allocation>) {
        let (address, bytes) = of_node(node, |work| match *work {
            Work::Allocate { address, bytes } => Some((address, bytes)),
            _ => None,
        })?;
        let device = ready()?.allocations.get(&address).map_or(0, |allocation| allocation.device);
        let mut pool = [0; 11];
        // Pinned memory, of this device.
        (pool[0], pool[1]) = (1, 1 | (device as u64) << 32);
        to.put(Allocation { pool, access: 0, access_count: 0, bytes, address })
    }

    fn cuGraphAddMemFreeNode(to: Out<Handle>, graph: Handle, after: In<Handle>, count: usize, address: u64) {
        if !ready()?.graph_memory.keeps(address) {
            return Err(Status::INVALID_VALUE);
        }
        add(to, graph, after, count, Work::Free(address))
    }

    fn cuGraphMemFreeNodeGetParams(node: Handle, to: Out<u64>) {
        to.put(of_node(node, |work| if let Work::Free(address) = work { Some(*address) } else { None })?)
    }

    fn cuDeviceGetGraphMemAttribute(device: c_int, number: c_uint, to: Out<u64>) {
        check(device)?;
        let state = ready()?;
        let now = state.graph_bytes(device);
        let most = state.graph_memory.most.get(&device).copied().unwrap_or_default();
        match number {
            0 | 2 => to.put(now[number as usize / 2]),
            1 | 3 => to.put(most[number as usize / 2].max(now[number as usize / 2])),
            _ => Err(Status::INVALID_VALUE),
        }
    }

    fn cuDeviceSetGraphMemAttribute(device: c_int, number: c_uint, value: In<u64>) {
        check(device)?;
        // The most so far begin anew, by 0 alone.
        if !matches!(number, 1 | 3) || value.get()? != 0 {
            return Err(Status::INVALID_VALUE);
        }
        ready()?.graph_memory.most.entry(device).or_default()[number as usize / 2] = 0;
        Ok(())
    }

    fn cuDeviceGraphMemTrim(device: c_int) {
        check(device)?;
        ready()?.trim_graphs()
    }
}

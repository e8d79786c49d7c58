//! The nodes of graphs, with their parameters as the API has them.

use std::ffi::c_uint;

use crate::boundary::callbacks::{HostFunction, Passed};
use crate::boundary::{Done, In, Out, Status, driver};
use crate::kernel::arguments;
use crate::objects::Handle;
use crate::record::Shape;
use crate::requests::{Copy3D, Range};
use crate::state::{ready, working};
use crate::work::{Kernel, Work};

/// `CUDA_KERNEL_NODE_PARAMS`, with pointers of the caller's or addresses to give to it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct KernelParameters<P> {
    function: Handle,
    grid: [c_uint; 3],
    block: [c_uint; 3],
    dynamic_shared: c_uint,
    arguments: P,
    extra: P,
}

/// What a caller gives: pointers to arguments.
pub type Pointers = In<In<u8>>;

/// `CUDA_KERNEL_NODE_PARAMS_v2`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct NewKernelParameters<P = Pointers> {
    pub first: KernelParameters<P>,
    /// The kernel, if `first` has none.
    pub kernel: Handle,
    context: Handle,
}

/// `CUDA_MEMSET_NODE_PARAMS`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Fill {
    to: u64,
    pitch: usize,
    value: c_uint,
    each: c_uint,
    width: usize,
    rows: usize,
}

/// `CUDA_HOST_NODE_PARAMS`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct HostCall {
    pub function: HostFunction,
    pub data: Passed,
}

/// `CUDA_MEMCPY_NODE_PARAMS`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Memcpy {
    flags: c_uint,
    reserved: c_uint,
    context: Handle,
    copy: Copy3D,
}

impl Fill {
    pub fn work(self) -> Done<Work> {
        if ![1, 2, 4].contains(&self.each) || self.width == 0 || self.rows == 0 {
            return Err(Status::INVALID_VALUE);
        }
        let Self { to, pitch, value, each, width, rows } = self;
        Ok(Work::Fill { to, range: Range { each: each as usize, width, rows, pitch }, value })
    }
}

/// A launch, of the function in the parameters, or of another.
pub fn kernel(parameters: &KernelParameters<Pointers>, otherwise: Handle) -> Done<Work> {
    let state = ready()?;
    let handle = if parameters.function == 0 { otherwise } else { parameters.function };
    let function = state.functions.get(&handle).ok_or(Status::INVALID_VALUE)?.clone();
    let arguments = arguments(&function, parameters.arguments, parameters.extra)?;
    let &KernelParameters { grid, block, dynamic_shared, .. } = parameters;
    let shape = Shape { grid, block, dynamic_shared, cooperative: false, cluster: None };
    Ok(Work::Launch(Kernel { handle, function, shape, arguments }))
}

/// What a `CUgraphNodeParams` says: the kind, and from byte 16 on what it needs.
pub fn any(parameters: In<u8>) -> Done<Work> {
    let rest = parameters.at(16);
    Ok(match parameters.cast::<c_uint>().get()? {
        0 => {
            let parameters = rest.cast::<NewKernelParameters>().get()?;
            kernel(&parameters.first, parameters.kernel)?
        }
        1 => Work::Copy3D(rest.cast::<Memcpy>().get()?.copy),
        2 => rest.cast::<Fill>().get()?.work()?,
        3 => {
            let call = rest.cast::<HostCall>().get()?;
            Work::Call(call.function, call.data)
        }
        4 => Work::Child(ready()?.clone_graph(rest.cast::<Handle>().get()?)?),
        5 => Work::Nothing,
        6 => Work::WaitFor(rest.cast::<Handle>().get()?),
        7 => Work::Record(rest.cast::<Handle>().get()?),
        kind => {
            crate::boundary::say(&format!("nodes of kind {kind} are not supported"));
            return Err(Status::NOT_SUPPORTED);
        }
    })
}

/// Adds a node.
pub fn add(to: Out<Handle>, graph: Handle, after: In<Handle>, count: usize, work: Work) -> Done {
    to.check()?;
    let after = after.list(count);
    if after.len() != count {
        return Err(Status::INVALID_VALUE);
    }
    to.put(working()?.add_node(graph, work, after)?)
}

/// Changes what a node does, not of what kind it is.
fn change(node: Handle, work: Work) -> Done {
    let mut state = ready()?;
    let node = state.node_mut(node)?;
    if node.work.kind() != work.kind() {
        return Err(Status::INVALID_VALUE);
    }
    node.work = work;
    Ok(())
}

/// The parameters of a kernel's node, whose arguments live until they are changed.
fn shown(node: Handle) -> Done<KernelParameters<usize>> {
    let mut state = ready()?;
    let node = state.node_mut(node)?;
    let Work::Launch(kernel) = &node.work else { return Err(Status::INVALID_VALUE) };
    node.shown = kernel.arguments.iter().map(|argument| argument.as_ptr() as usize).collect();
    let Shape { grid, block, dynamic_shared, .. } = kernel.shape;
    let arguments = if node.shown.is_empty() { 0 } else { node.shown.as_ptr() as usize };
    Ok(KernelParameters { function: kernel.handle, grid, block, dynamic_shared, arguments, extra: 0 })
}

/// What a node has that these nodes have.
pub fn of_node<T>(node: Handle, part: impl FnOnce(&Work) -> Option<T>) -> Done<T> {
    part(&ready()?.node_mut(node)?.work).ok_or(Status::INVALID_VALUE)
}

driver! {
    fn cuGraphAddEmptyNode(to: Out<Handle>, graph: Handle, after: In<Handle>, count: usize) {
        add(to, graph, after, count, Work::Nothing)
    }

    fn cuGraphAddKernelNode(
        to: Out<Handle>, graph: Handle, after: In<Handle>, count: usize, parameters: In<KernelParameters<Pointers>>,
    ) {
        add(to, graph, after, count, kernel(&parameters.get()?, 0)?)
    }

    fn cuGraphAddKernelNode_v2(
        to: Out<Handle>, graph: Handle, after: In<Handle>, count: usize, parameters: In<NewKernelParameters>,
    ) {
        let parameters = parameters.get()?;
        add(to, graph, after, count, kernel(&parameters.first, parameters.kernel)?)
    }

    fn cuGraphAddMemcpyNode(
        to: Out<Handle>, graph: Handle, after: In<Handle>, count: usize, copy: In<Copy3D>, context: Handle,
    ) {
        add(to, graph, after, count, Work::Copy3D(copy.get()?))
    }

    fn cuGraphAddMemsetNode(
        to: Out<Handle>, graph: Handle, after: In<Handle>, count: usize, fill: In<Fill>, context: Handle,
    ) {
        add(to, graph, after, count, fill.get()?.work()?)
    }

    fn cuGraphAddHostNode(to: Out<Handle>, graph: Handle, after: In<Handle>, count: usize, call: In<HostCall>) {
        let call = call.get()?;
        if call.function.is_none() {
            return Err(Status::INVALID_VALUE);
        }
        add(to, graph, after, count, Work::Call(call.function, call.data))
    }

    fn cuGraphAddChildGraphNode(to: Out<Handle>, graph: Handle, after: In<Handle>, count: usize, child: Handle) {
        let child = ready()?.clone_graph(child)?;
        add(to, graph, after, count, Work::Child(child))
    }

    fn cuGraphAddEventRecordNode(to: Out<Handle>, graph: Handle, after: In<Handle>, count: usize, event: Handle) {
        ready()?.event_mut(event)?;
        add(to, graph, after, count, Work::Record(event))
    }

    fn cuGraphAddEventWaitNode(to: Out<Handle>, graph: Handle, after: In<Handle>, count: usize, event: Handle) {
        ready()?.event_mut(event)?;
        add(to, graph, after, count, Work::WaitFor(event))
    }

    fn cuGraphAddNode(to: Out<Handle>, graph: Handle, after: In<Handle>, count: usize, parameters: In<u8>) {
        add(to, graph, after, count, any(parameters)?)
    }

    fn cuGraphAddNode_v2(
        to: Out<Handle>, graph: Handle, after: In<Handle>, data: In<u64>, count: usize, parameters: In<u8>,
    ) {
        add(to, graph, after, count, any(parameters)?)
    }

    fn cuGraphNodeSetParams(node: Handle, parameters: In<u8>) {
        change(node, any(parameters)?)
    }

    fn cuGraphKernelNodeGetParams(node: Handle, to: Out<KernelParameters<usize>>) {
        to.put(shown(node)?)
    }

    fn cuGraphKernelNodeGetParams_v2(node: Handle, to: Out<NewKernelParameters<usize>>) {
        to.put(NewKernelParameters { first: shown(node)?, kernel: 0, context: 0 })
    }

    fn cuGraphKernelNodeSetParams(node: Handle, parameters: In<KernelParameters<Pointers>>) {
        change(node, kernel(&parameters.get()?, 0)?)
    }

    fn cuGraphKernelNodeSetParams_v2(node: Handle, parameters: In<NewKernelParameters>) {
        let parameters = parameters.get()?;
        change(node, kernel(&parameters.first, parameters.kernel)?)
    }

    fn cuGraphKernelNodeCopyAttributes(to: Handle, from: Handle) {
        Ok(())
    }

    fn cuGraphKernelNodeSetAttribute(node: Handle, number: c_uint, value: In<u8>) {
        // Priorities and cache policies: nothing to do here.
        of_node(node, |work| matches!(work, Work::Launch(_)).then_some(()))
    }

    fn cuGraphMemcpyNodeGetParams(node: Handle, to: Out<Copy3D>) {
        to.put(of_node(node, |work| match work {
            Work::Copy3D(copy) => Some(*copy),
            Work::Copy(bytes) => Some(bytes.in_3d()),
            _ => None,
        })?)
    }

    fn cuGraphMemcpyNodeSetParams(node: Handle, copy: In<Copy3D>) {
        change(node, Work::Copy3D(copy.get()?))
    }

    fn cuGraphMemsetNodeGetParams(node: Handle, to: Out<Fill>) {
        to.put(of_node(node, |work| match *work {
            Work::Fill { to, range: Range { each, width, rows, pitch }, value } => {
                Some(Fill { to, pitch, value, each: each as c_uint, width, rows })
            }
            _ => None,
        })?)
    }

    fn cuGraphMemsetNodeSetParams(node: Handle, fill: In<Fill>) {
        change(node, fill.get()?.work()?)
    }

    fn cuGraphHostNodeGetParams(node: Handle, to: Out<HostCall>) {
        to.put(of_node(node, |work| match *work {
            Work::Call(function, data) => Some(HostCall { function, data }),
            _ => None,
        })?)
    }

    fn cuGraphHostNodeSetParams(node: Handle, call: In<HostCall>) {
        let call = call.get()?;
        change(node, Work::Call(call.function, call.data))
    }

    fn cuGraphChildGraphNodeGetGraph(node: Handle, to: Out<Handle>) {
        to.put(of_node(node, |work| if let Work::Child(child) = work { Some(*child) } else { None })?)
    }

    fn cuGraphEventRecordNodeGetEvent(node: Handle, to: Out<Handle>) {
        to.put(of_node(node, |work| if let Work::Record(event) = work { Some(*event) } else { None })?)
    }

    fn cuGraphEventRecordNodeSetEvent(node: Handle, event: Handle) {
        change(node, Work::Record(event))
    }

    fn cuGraphEventWaitNodeGetEvent(node: Handle, to: Out<Handle>) {
        to.put(of_node(node, |work| if let Work::WaitFor(event) = work { Some(*event) } else { None })?)
    }

    fn cuGraphEventWaitNodeSetEvent(node: Handle, event: Handle) {
        change(node, Work::WaitFor(event))
    }
}

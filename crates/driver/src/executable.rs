//! Graphs that were instantiated: launched, updated, and changed node by node.

use std::ffi::c_uint;

use crate::boundary::{Done, In, Out, Status, driver};
use crate::nodes::{self, Fill, HostCall, KernelParameters, Pointers};
use crate::objects::Handle;
use crate::queue::submit;
use crate::requests::Copy3D;
use crate::state::{ready, working};
use crate::work::{Executable, Plan, Step, Work};

/// Free what was allocated at the next launch; upload now; launch from the device; priorities of
/// nodes.
const FLAGS: u64 = 15;
const AUTO_FREE: u64 = 1;
const FROM_DEVICE: u64 = 4;

fn instantiate(to: Out<Handle>, graph: Handle, flags: u64) -> Done {
    to.check()?;
    if flags & !FLAGS != 0 || flags & (AUTO_FREE | FROM_DEVICE) == AUTO_FREE | FROM_DEVICE {
        return Err(Status::INVALID_VALUE);
    }
    if flags & FROM_DEVICE != 0 {
        crate::boundary::say("graphs that kernels launch are not supported");
        return Err(Status::NOT_SUPPORTED);
    }
    let mut state = working()?;
    let graph = state.graphs.get(&graph).ok_or(Status::INVALID_VALUE)?;
    let (plan, objects) = (graph.plan(&state)?, graph.objects.clone());
    let objects = state.retain_all(&objects)?;
    let handle = state.handle();
    state.executables.insert(handle, Executable { plan, objects, flags });
    to.put(handle)
}

fn plan_of(graph: Handle) -> Done<Plan> {
    let state = ready()?;
    state.graphs.get(&graph).ok_or(Status::INVALID_VALUE)?.plan(&state)
}

/// Changes a node of an executable graph.
fn change(executable: Handle, node: Handle, work: Work) -> Done {
    let mut state = ready()?;
    let steps = &mut state.executables.get_mut(&executable).ok_or(Status::INVALID_VALUE)?.plan.steps;
    let step = steps.iter_mut().find(|step| step.node == node).ok_or(Status::INVALID_VALUE)?;
    if step.work.kind() != work.kind() {
        return Err(Status::INVALID_VALUE);
    }
    step.work = work;
    Ok(())
}

/// Why a graph cannot take another's place: the API's number, and the node.
type Difference = (c_uint, Handle);

/// Pairs the steps of two plans, in order. They must be alike in kinds and in what comes after
/// what.
fn update(old: &mut Plan, new: &Plan) -> Result<(), Difference> {
    let place = |plan: &Plan, node: Handle| plan.steps.iter().position(|step| step.node == node);
    let places = |plan: &Plan, step: &Step| -> Vec<Option<usize>> {
        let mut places: Vec<_> = step.after.iter().map(|&node| place(plan, node)).collect();
        places.sort_unstable();
        places
    };
    if old.steps.len() != new.steps.len() {
        return Err((2, new.steps.first().map_or(0, |step| step.node)));
    }
    let mut changed = old.clone();
    for index in 0..old.steps.len() {
        let (from, to) = (&old.steps[index], &new.steps[index]);
        if from.work.kind() != to.work.kind() {
            return Err((3, to.node));
        }
        if places(old, from) != places(new, to) {
            return Err((2, to.node));
        }
        match (&mut changed.steps[index].work, &to.work) {
            (Work::Graph(from), Work::Graph(to)) => update(from, to)?,
            (from, to) => *from = to.clone(),
        }
    }
    *old = changed;
    Ok(())
}

fn update_executable(executable: Handle, graph: Handle) -> Done<Result<(), Difference>> {
    let new = plan_of(graph)?;
    let mut state = ready()?;
    let executable = state.executables.get_mut(&executable).ok_or(Status::INVALID_VALUE)?;
    let done = update(&mut executable.plan, &new);
    state.trim_graphs()?;
    Ok(done)
}

/// `CUgraphExecUpdateResultInfo`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct UpdateResult {
    result: c_uint,
    node: Handle,
    from: Handle,
}

/// `CUDA_GRAPH_INSTANTIATE_PARAMS`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Request {
    flags: u64,
    stream: Handle,
    node: Handle,
    result: c_uint,
}

driver! {
    fn cuGraphInstantiateWithFlags(to: Out<Handle>, graph: Handle, flags: u64) {
        instantiate(to, graph, flags)
    }

    fn cuGraphInstantiate_v2(to: Out<Handle>, graph: Handle, node: Out<Handle>, log: Out<u8>, bytes: usize) {
        node.give(0);
        if bytes > 0 {
            log.give(0);
        }
        instantiate(to, graph, 0)
    }

    fn cuGraphInstantiateWithParams [cuGraphInstantiateWithParams_ptsz] (to: Out<Handle>, graph: Handle, request: Out<Request>) {
        let held = request.held()?;
        let done = instantiate(to, graph, held.flags);
        request.give(Request { node: 0, result: if done.is_ok() { 0 } else { 1 }, ..held });
        done
    }

    fn cuGraphExecGetFlags(executable: Handle, flags: Out<u64>) {
        flags.put(ready()?.executables.get(&executable).ok_or(Status::INVALID_VALUE)?.flags)
    }

    fn cuGraphLaunch [cuGraphLaunch_ptsz] (executable: Handle, stream: Handle) {
        let plan = {
            let mut state = working()?;
            let Executable { plan, flags, .. } = state.executables.get(&executable).ok_or(Status::INVALID_VALUE)?;
            let (plan, frees) = (plan.clone(), flags & AUTO_FREE != 0);
            state.ready_memory(&plan, frees)?;
            plan
        };
        submit(stream, Work::Graph(plan))
    }

    fn cuGraphUpload [cuGraphUpload_ptsz] (executable: Handle, stream: Handle) {
        ready()?.executables.get(&executable).map(|_| ()).ok_or(Status::INVALID_VALUE)
    }

    fn cuGraphExecDestroy(executable: Handle) {
        let mut state = ready()?;
        let executable = state.executables.remove(&executable).ok_or(Status::INVALID_VALUE)?;
        state.drop_all(executable.objects)?;
        state.trim_graphs()
    }

    fn cuGraphExecUpdate_v2(executable: Handle, graph: Handle, to: Out<UpdateResult>) {
        let done = update_executable(executable, graph)?;
        let (result, node) = done.err().unwrap_or((0, 0));
        to.give(UpdateResult { result, node, from: 0 });
        done.map_err(|_| Status::GRAPH_EXEC_UPDATE_FAILURE)
    }

    fn cuGraphExecUpdate(executable: Handle, graph: Handle, node: Out<Handle>, result: Out<c_uint>) {
        let done = update_executable(executable, graph)?;
        let (why, at) = done.err().unwrap_or((0, 0));
        node.give(at);
        result.give(why);
        done.map_err(|_| Status::GRAPH_EXEC_UPDATE_FAILURE)
    }

    fn cuGraphExecKernelNodeSetParams(executable: Handle, node: Handle, parameters: In<KernelParameters<Pointers>>) {
        change(executable, node, nodes::kernel(&parameters.get()?, 0)?)
    }

    fn cuGraphExecKernelNodeSetParams_v2(executable: Handle, node: Handle, parameters: In<nodes::NewKernelParameters>) {
        let parameters = parameters.get()?;
        change(executable, node, nodes::kernel(&parameters.first, parameters.kernel)?)
    }

    fn cuGraphExecMemcpyNodeSetParams(executable: Handle, node: Handle, copy: In<Copy3D>, context: Handle) {
        change(executable, node, Work::Copy3D(copy.get()?))
    }

    fn cuGraphExecMemsetNodeSetParams(executable: Handle, node: Handle, fill: In<Fill>, context: Handle) {
        change(executable, node, fill.get()?.work()?)
    }

    fn cuGraphExecHostNodeSetParams(executable: Handle, node: Handle, call: In<HostCall>) {
        let call = call.get()?;
        change(executable, node, Work::Call(call.function, call.data))
    }

    fn cuGraphExecChildGraphNodeSetParams(executable: Handle, node: Handle, graph: Handle) {
        change(executable, node, Work::Graph(plan_of(graph)?))
    }

    fn cuGraphExecEventRecordNodeSetEvent(executable: Handle, node: Handle, event: Handle) {
        change(executable, node, Work::Record(event))
    }

    fn cuGraphExecEventWaitNodeSetEvent(executable: Handle, node: Handle, event: Handle) {
        change(executable, node, Work::WaitFor(event))
    }

    fn cuGraphExecNodeSetParams(executable: Handle, node: Handle, parameters: In<u8>) {
        let work = nodes::any(parameters)?;
        if let Work::Child(graph) = work {
            return change(executable, node, Work::Graph(plan_of(graph)?));
        }
        change(executable, node, work)
    }

    fn cuGraphNodeSetEnabled(executable: Handle, node: Handle, enabled: c_uint) {
        let mut state = ready()?;
        let steps = &mut state.executables.get_mut(&executable).ok_or(Status::INVALID_VALUE)?.plan.steps;
        let step = steps.iter_mut().find(|step| step.node == node).ok_or(Status::INVALID_VALUE)?;
        // Kernels, copies and fills alone.
        if step.work.kind() > 2 {
            return Err(Status::INVALID_VALUE);
        }
        step.enabled = enabled != 0;
        Ok(())
    }

    fn cuGraphNodeGetEnabled(executable: Handle, node: Handle, enabled: Out<c_uint>) {
        let state = ready()?;
        let steps = &state.executables.get(&executable).ok_or(Status::INVALID_VALUE)?.plan.steps;
        let step = steps.iter().find(|step| step.node == node).ok_or(Status::INVALID_VALUE)?;
        enabled.put(step.enabled.into())
    }
}

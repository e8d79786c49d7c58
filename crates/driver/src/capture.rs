//! Capture: what streams are given becomes nodes of a graph, and nothing runs.

use std::collections::HashSet;
use std::ffi::c_uint;

use crate::boundary::{Done, In, Out, Status, driver};
use crate::objects::{Handle, LEGACY, Part, Stream};
use crate::state::{State, ready, working};
use crate::work::{Capture, Plan, Work};

/// Makes a node of what a captured stream is given.
pub fn add(state: &mut State, stream: Handle, work: Work) -> Done {
    let part = state.stream(stream)?.capture.clone().ok_or(Status::INVALID_VALUE)?;
    let capture = state.captures.get(&part.capture).ok_or(Status::CAPTURE_INVALIDATED)?;
    if capture.invalid {
        return Err(Status::CAPTURE_INVALIDATED);
    }
    let graph = capture.graph;
    let after = match work {
        // Events of a capture mark a place in it.
        Work::Record(event) => {
            state.event_mut(event)?.captured = Some(part);
            return Ok(());
        }
        Work::WaitFor(event) => {
            let other = state.event_mut(event)?.captured.clone().filter(|other| other.capture == part.capture);
            let Some(other) = other else { return refuse(state, part.capture, Status::CAPTURE_ISOLATION) };
            let mut after = part.after.clone();
            after.extend(other.after.into_iter().filter(|node| !part.after.contains(node)));
            after
        }
        Work::Callback(..) => return refuse(state, part.capture, Status::CAPTURE_UNSUPPORTED),
        // A graph that is launched is a node with a copy of it.
        Work::Graph(plan) => vec![add_plan(state, graph, &plan, part.after)?],
        work => vec![state.add_node(graph, work, part.after)?],
    };
    state.stream_mut(stream)?.capture = Some(Part { capture: part.capture, after });
    Ok(())
}

/// Adds a node with a graph that has a plan's nodes.
fn add_plan(state: &mut State, graph: Handle, plan: &Plan, after: Vec<Handle>) -> Done<Handle> {
    let child = state.add_graph();
    let mut copies = std::collections::HashMap::new();
    for step in &plan.steps {
        let before = step.after.iter().filter_map(|node| copies.get(node)).copied().collect();
        let copy = match &step.work {
            Work::Graph(plan) => add_plan(state, child, plan, before)?,
            work if step.enabled => state.add_node(child, work.clone(), before)?,
            _ => state.add_node(child, Work::Nothing, before)?,
        };
        copies.insert(step.node, copy);
    }
    state.add_node(graph, Work::Child(child), after)
}

/// Ends the use of a capture: something happened that it forbids.
fn refuse(state: &mut State, capture: u64, status: Status) -> Done {
    if let Some(capture) = state.captures.get_mut(&capture) {
        capture.invalid = true;
    }
    Err(status)
}

/// Fails if the legacy default stream is used while a stream is captured that would wait for it.
pub fn check_legacy(state: &mut State, stream: Handle) -> Done {
    if stream != LEGACY || state.captures.is_empty() {
        return Ok(());
    }
    let waiting = state.streams.values().find(|other| other.blocks() && other.capture.is_some());
    match waiting.and_then(|stream| stream.capture.as_ref()).map(|part| part.capture) {
        Some(capture) => refuse(state, capture, Status::CAPTURE_IMPLICIT),
        None => Ok(()),
    }
}

/// Fails if a stream is captured: it cannot be waited for.
pub fn check_stream(state: &mut State, stream: Handle) -> Done {
    match state.stream(stream)?.capture.as_ref().map(|part| part.capture) {
        Some(capture) => refuse(state, capture, Status::CAPTURE_UNSUPPORTED),
        None => Ok(()),
    }
}

/// Fails if an event is a place in a capture: it cannot be waited for or asked about.
pub fn check_event(state: &mut State, event: Handle) -> Done {
    match state.event_mut(event)?.captured.as_ref().map(|part| part.capture) {
        Some(capture) if state.captures.contains_key(&capture) => refuse(state, capture, Status::CAPTURED_EVENT),
        _ => Ok(()),
    }
}

/// Fails if a capture forbids calls that wait for everything.
pub fn check_all(state: &mut State) -> Done {
    let here = std::thread::current().id();
    let forbids = |capture: &Capture| match capture.mode {
        0 => true,
        1 => capture.thread == here,
        _ => false,
    };
    match state.captures.iter().find(|(_, capture)| forbids(capture)).map(|(&id, _)| id) {
        Some(capture) => refuse(state, capture, Status::CAPTURE_UNSUPPORTED),
        None => Ok(()),
    }
}

fn begin(stream: Handle, mode: c_uint, graph: Option<(Handle, Vec<Handle>)>) -> Done {
    let mut state = working()?;
    let origin = Stream::number(stream);
    if mode > 2 {
        return Err(Status::INVALID_VALUE);
    }
    // The legacy default stream cannot be captured.
    if origin == LEGACY {
        return Err(Status::CAPTURE_UNSUPPORTED);
    }
    if state.stream(origin)?.capture.is_some() {
        return Err(Status::ILLEGAL_STATE);
    }
    let given = graph.is_some();
    let (graph, after) = match graph {
        Some((graph, after)) => {
            let nodes = &state.graph_mut(graph)?.nodes;
            if !after.iter().all(|node| nodes.contains_key(node)) {
                return Err(Status::INVALID_VALUE);
            }
            (graph, after)
        }
        None => (state.add_graph(), Vec::new()),
    };
    let id = state.handle() as u64;
    let thread = std::thread::current().id();
    state.captures.insert(id, Capture { graph, origin, mode, thread, given, invalid: false });
    state.stream_mut(origin)?.capture = Some(Part { capture: id, after });
    Ok(())
}

/// Makes a stream part of the capture that an event is in. Whether it was in one.
pub fn join(state: &mut State, stream: Handle, event: Handle) -> Done<bool> {
    let Some(part) = state.event_mut(event)?.captured.clone() else { return Ok(false) };
    if !state.captures.contains_key(&part.capture) {
        return Ok(false);
    }
    if state.stream(stream)?.capture.is_some() {
        return Ok(false);
    }
    if stream == LEGACY {
        return refuse(state, part.capture, Status::CAPTURE_IMPLICIT).map(|()| true);
    }
    state.stream_mut(stream)?.capture = Some(part);
    Ok(true)
}

fn end(stream: Handle, to: Out<Handle>) -> Done {
    to.check()?;
    let mut state = ready()?;
    let stream = Stream::number(stream);
    let part = state.stream(stream)?.capture.clone().ok_or(Status::ILLEGAL_STATE)?;
    let capture = state.captures.get(&part.capture).ok_or(Status::ILLEGAL_STATE)?;
    if capture.origin != stream {
        return Err(Status::CAPTURE_UNMATCHED);
    }
    if capture.mode != 2 && capture.thread != std::thread::current().id() {
        return Err(Status::CAPTURE_WRONG_THREAD);
    }
    let capture = state.captures.remove(&part.capture).ok_or(Status::ILLEGAL_STATE)?;
    let mut others = HashSet::new();
    for (&handle, other) in &mut state.streams {
        if other.capture.as_ref().is_some_and(|other| other.capture == part.capture)
            && let Some(other) = other.capture.take()
            && handle != stream
        {
            others.extend(other.after);
        }
    }
    // Everything that other streams did must come before the end of this one.
    let joined = reached(&state, capture.graph, part.after);
    let status = match () {
        () if capture.invalid => Some(Status::CAPTURE_INVALIDATED),
        () if !others.is_subset(&joined) => Some(Status::CAPTURE_UNJOINED),
        () => None,
    };
    match status {
        Some(status) => {
            if !capture.given {
                state.remove_graph(capture.graph)?;
                state.trim_graphs()?;
            }
            to.put(0)?;
            Err(status)
        }
        None => to.put(capture.graph),
    }
}

/// These nodes, and all before them.
fn reached(state: &State, graph: Handle, from: Vec<Handle>) -> HashSet<Handle> {
    let (mut found, mut next) = (HashSet::new(), from);
    while let Some(node) = next.pop() {
        if found.insert(node)
            && let Some(node) = state.graphs.get(&graph).and_then(|graph| graph.nodes.get(&node))
        {
            next.extend(&node.after);
        }
    }
    found
}

/// 0: not captured, 1: captured, 2: captured, but in vain.
fn status(state: &State, stream: Handle) -> Done<c_uint> {
    let part = state.stream(Stream::number(stream))?.capture.as_ref();
    let capture = part.and_then(|part| state.captures.get(&part.capture));
    Ok(capture.map_or(0, |capture| if capture.invalid { 2 } else { 1 }))
}

fn tell(
    stream: Handle,
    status_to: Out<c_uint>,
    id: Out<u64>,
    graph: Out<Handle>,
    nodes: Out<*const Handle>,
    count: Out<usize>,
) -> Done {
    let mut state = ready()?;
    let now = status(&state, stream)?;
    status_to.put(now)?;
    let number = Stream::number(stream);
    let part = state.stream(number)?.capture.clone().filter(|_| now == 1);
    id.give(part.as_ref().map_or(0, |part| part.capture));
    let found = part.as_ref().and_then(|part| state.captures.get(&part.capture)).map_or(0, |capture| capture.graph);
    graph.give(found);
    count.give(part.as_ref().map_or(0, |part| part.after.len()));
    // The list lives until this stream is asked about again.
    let stream = state.stream_mut(number)?;
    stream.shown = part.map(|part| part.after).unwrap_or_default();
    nodes.give(stream.shown.as_ptr());
    Ok(())
}

/// Replaces (`flags` 1), or extends, what a stream's next node comes after.
fn update(stream: Handle, nodes: In<Handle>, count: usize, flags: c_uint) -> Done {
    let mut state = ready()?;
    let stream = Stream::number(stream);
    let part = state.stream(stream)?.capture.clone().ok_or(Status::ILLEGAL_STATE)?;
    let graph = state.captures.get(&part.capture).ok_or(Status::ILLEGAL_STATE)?.graph;
    let nodes = nodes.list(count);
    let known = &state.graph_mut(graph)?.nodes;
    if nodes.len() != count || !nodes.iter().all(|node| known.contains_key(node)) {
        return Err(Status::INVALID_VALUE);
    }
    let mut after = if flags == 1 { Vec::new() } else { part.after };
    after.extend(nodes);
    state.stream_mut(stream)?.capture = Some(Part { capture: part.capture, after });
    Ok(())
}

driver! {
    fn cuStreamBeginCapture_v2 [cuStreamBeginCapture_v2_ptsz] (stream: Handle, mode: c_uint) {
        begin(stream, mode, None)
    }

    fn cuStreamBeginCaptureToGraph [cuStreamBeginCaptureToGraph_ptsz] (
        stream: Handle, graph: Handle, nodes: In<Handle>, data: In<u64>, count: usize, mode: c_uint,
    ) {
        let after = nodes.list(count);
        if after.len() == count { begin(stream, mode, Some((graph, after))) } else { Err(Status::INVALID_VALUE) }
    }

    fn cuStreamEndCapture [cuStreamEndCapture_ptsz] (stream: Handle, to: Out<Handle>) {
        end(stream, to)
    }

    fn cuStreamIsCapturing [cuStreamIsCapturing_ptsz] (stream: Handle, to: Out<c_uint>) {
        to.put(status(&*ready()?, stream)?)
    }

    fn cuStreamGetCaptureInfo [cuStreamGetCaptureInfo_ptsz] (stream: Handle, status: Out<c_uint>, id: Out<u64>) {
        tell(stream, status, id, Out::NULL, Out::NULL, Out::NULL)
    }

    fn cuStreamGetCaptureInfo_v2 [cuStreamGetCaptureInfo_v2_ptsz] (
        stream: Handle, status: Out<c_uint>, id: Out<u64>, graph: Out<Handle>, nodes: Out<*const Handle>,
        count: Out<usize>,
    ) {
        tell(stream, status, id, graph, nodes, count)
    }

    fn cuStreamGetCaptureInfo_v3 [cuStreamGetCaptureInfo_v3_ptsz] (
        stream: Handle, status: Out<c_uint>, id: Out<u64>, graph: Out<Handle>, nodes: Out<*const Handle>,
        edges: Out<usize>, count: Out<usize>,
    ) {
        edges.give(0);
        tell(stream, status, id, graph, nodes, count)
    }

    fn cuStreamUpdateCaptureDependencies [cuStreamUpdateCaptureDependencies_ptsz] (stream: Handle, nodes: In<Handle>, count: usize, flags: c_uint) {
        update(stream, nodes, count, flags)
    }

    fn cuStreamUpdateCaptureDependencies_v2 [cuStreamUpdateCaptureDependencies_v2_ptsz] (
        stream: Handle, nodes: In<Handle>, data: In<u64>, count: usize, flags: c_uint,
    ) {
        update(stream, nodes, count, flags)
    }

    fn cuThreadExchangeStreamCaptureMode(mode: Out<c_uint>) {
        // What is forbidden during a capture is decided by its own mode.
        mode.check()
    }
}

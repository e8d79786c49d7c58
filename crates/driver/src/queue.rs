//! What streams are given: it is done at once, before the call returns, or, while its stream is
//! captured, becomes a node of a graph.
//!
//! Each stream has a clock, in microseconds: the predicted time at which its work so far has ended.
//! Work begins when its stream's earlier work has ended, and not before the host gave it.

use std::collections::BTreeMap;
use std::sync::MutexGuard;
use std::time::Instant;

use crate::boundary::callbacks::{Behind, call, call_host, call_stream, end_of, merge};
use crate::boundary::{Done, Status};
use crate::objects::{Handle, LEGACY, Stream};
use crate::state::{State, working};
use crate::work::{Plan, Work};
use crate::{allocations, capture, copies, kernel};

/// Gives a stream something to do.
pub fn submit(stream: Handle, work: Work) -> Done {
    let stream = Stream::number(stream);
    {
        let mut state = working()?;
        if state.stream(stream)?.capture.is_some() {
            return capture::add(&mut state, stream, work);
        }
        capture::check_legacy(&mut state, stream)?;
    }
    if let Work::Graph(plan) = &work {
        let begins = working()?.begins(stream)?;
        let ends = run_plan(plan, stream, begins)?;
        working()?.stream_mut(stream)?.clock = ends;
        return Ok(());
    }
    let mut state = once_reached(stream, &work)?;
    let begins = state.begins(stream)?;
    let ends = perform(&mut state, stream, &work, begins)?;
    state.stream_mut(stream)?.clock = ends;
    Ok(())
}

/// The state, once the functions of the host have ended that this work waits for. They may need what
/// the state's lock keeps from them.
fn once_reached(stream: Handle, work: &Work) -> Done<MutexGuard<'static, State>> {
    let state = working()?;
    // Functions of the host wait on their own threads, and so do events.
    if matches!(work, Work::Call(..) | Work::Callback(..) | Work::Record(_) | Work::WaitFor(_)) {
        return Ok(state);
    }
    let behind = state.behind(stream)?;
    if behind.is_empty() {
        return Ok(state);
    }
    drop(state);
    behind.into_iter().for_each(Behind::wait);
    working()
}

/// Does it. Returns the predicted time at which it has ended, if it begins at this time.
fn perform(state: &mut State, stream: Handle, work: &Work, begins: f64) -> Done<f64> {
    let noted = state.noted(work);
    state.count(stream, work, noted.as_ref());
    let Some(what) = noted else { return carry_out(state, stream, work, begins) };
    let began = Instant::now();
    let ends = carry_out(state, stream, work, begins)?;
    let ends = ends + state.time_within(&what, began.elapsed());
    Ok(state.note(what, stream, begins, ends))
}

fn carry_out(state: &mut State, stream: Handle, work: &Work, begins: f64) -> Done<f64> {
    match work {
        Work::Nothing => {}
        Work::Allocate { address, .. } => state.in_graph(*address, true),
        Work::Launch(kernel) => return Ok(begins + kernel::run(state, kernel)?),
        Work::Copy(bytes) => copies::copy(state, *bytes)?,
        Work::Copy3D(copy) => copies::copy_3d(state, copy)?,
        Work::Fill { to, range, value } => copies::fill(state, *to, *range, *value)?,
        Work::Write { to, value, bytes } => copies::write(state, *to, &value.to_le_bytes()[..*bytes])?,
        Work::Await(awaited) => awaited.check(state)?,
        Work::Free(address) => allocations::free(state, *address)?,
        Work::Call(function, data) => call_host(stream, state.behind(stream)?, *function, *data)?,
        Work::Callback(function, data) => call_stream(stream, state.behind(stream)?, *function, *data)?,
        Work::Record(event) => {
            if let Some(shared) = state.event_mut(*event)?.shared.clone() {
                let ends = state.behind(stream)?.into_iter().all(Behind::is_reached);
                let number = shared.record(ends);
                if !ends {
                    // As a function of the host: who has waited for the stream finds the recording ended.
                    let end = shared.clone();
                    let called = call(stream, state.behind(stream)?, move || end.end(number));
                    called.inspect_err(|_| shared.end(number))?;
                }
            }
            let behind = state.behind(stream)?;
            let event = state.event_mut(*event)?;
            (event.at, event.behind, event.captured) = (Some(begins), behind, None);
        }
        Work::WaitFor(event) => {
            let event = state.event_mut(*event)?;
            let (at, behind) = (event.at.unwrap_or(0.0), event.behind.clone());
            let shared = event.shared.clone().filter(|shared| !shared.is_reached());
            merge(&mut state.stream_mut(stream)?.behind, behind);
            if let Some(shared) = shared {
                // Another process's work, perhaps: as a function of the host. Recordings from now on may be
                // behind this wait.
                let number = shared.recorded();
                call(stream, state.behind(stream)?, move || shared.wait(number))?;
            }
            return Ok(begins.max(at));
        }
        Work::Child(_) | Work::Graph(_) => return Err(Status::INVALID_VALUE),
    }
    Ok(begins)
}

/// Runs the steps; each begins when those before it have ended. Returns when the last ends.
fn run_plan(plan: &Plan, stream: Handle, begins: f64) -> Done<f64> {
    let mut ends = BTreeMap::new();
    let mut last = begins;
    for step in &plan.steps {
        let from = step.after.iter().filter_map(|node| ends.get(node)).copied().fold(begins, f64::max);
        let end = match &step.work {
            _ if !step.enabled => from,
            Work::Graph(child) => run_plan(child, stream, from)?,
            work => perform(&mut *once_reached(stream, work)?, stream, work, from)?,
        };
        ends.insert(step.node, end);
        last = last.max(end);
    }
    Ok(last)
}

impl State {
    /// What a stream waits for: functions of the host, its own and those before events, and those of
    /// streams for which it waits as the legacy default stream, or for that one.
    pub fn behind(&self, stream: Handle) -> Done<Vec<Behind>> {
        let own = self.stream(stream)?;
        let mut all = Vec::new();
        let mut add =
            |stream: Handle, behind: &[Behind]| merge(&mut all, behind.iter().copied().chain([end_of(stream)]));
        add(stream, &own.behind);
        if stream == LEGACY {
            self.streams.iter().filter(|(_, it)| it.blocks()).for_each(|(&other, it)| add(other, &it.behind));
        } else if own.blocks() {
            add(LEGACY, &self.stream(LEGACY)?.behind);
        }
        Ok(all)
    }

    /// When a stream's next work begins.
    fn begins(&self, stream: Handle) -> Done<f64> {
        let own = self.stream(stream)?;
        let clock = self.host.max(own.clock);
        // The legacy default stream waits for all that block, and they for it.
        Ok(match stream {
            LEGACY => {
                self.streams.values().filter(|other| other.blocks()).map(|other| other.clock).fold(clock, f64::max)
            }
            _ if own.blocks() => clock.max(self.stream(LEGACY)?.clock),
            _ => clock,
        })
    }
}

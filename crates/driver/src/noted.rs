//! What pieces of work are, for the record of the host code ([`crate::host`]), and how long copies
//! take.

use std::time::Duration;

use crate::host::{Direction, What};
use crate::objects::{Function, Handle, Kind, LEGACY, PER_THREAD};
use crate::places::Place;
use crate::requests::Side3D;
use crate::settings::SETTINGS;
use crate::state::State;
use crate::work::Work;

/// One side of a copy.
#[derive(Clone, Copy)]
enum Side {
    Device { pitched: bool },
    Host { pageable: bool },
}

fn side_of(state: &State, address: u64) -> Side {
    let kind = state.allocation(address).map(|(_, allocation)| allocation.kind);
    match (kind, Place::of(state, address)) {
        (Some(Kind::Host | Kind::Registered(_)), _) => Side::Host { pageable: false },
        (Some(_), _) | (None, Place::Device(_)) => Side::Device { pitched: false },
        (None, Place::Host(_)) => Side::Host { pageable: state.registered(address as usize).is_none() },
    }
}

fn side_of_box(state: &State, side: &Side3D, width: usize) -> Side {
    let pitched = Side::Device { pitched: side.pitch > width };
    let of = |address: u64| match side_of(state, address) {
        Side::Device { .. } => pitched,
        host => host,
    };
    match side.kind {
        1 => of(side.host),
        2 => pitched,
        4 => of(side.device),
        _ => Side::Device { pitched: false },
    }
}

/// What a piece of work is, for the record; `None` for what takes no time.
fn what(state: &State, work: &Work) -> Option<What> {
    let (sides, bytes) = match work {
        Work::Launch(kernel) => {
            let Function { cache, carveout, .. } = kernel.function;
            let cache = if cache == 0 { state.cache } else { cache };
            return Some(What::Launch { kernel: kernel.function.name.to_string(), cache, carveout });
        }
        Work::Copy(copy) => ([side_of(state, copy.from), side_of(state, copy.to)], copy.bytes as u64),
        Work::Copy3D(copy) => {
            let sides = [&copy.from, &copy.to].map(|side| side_of_box(state, side, copy.width));
            let rows = copy.height.max(1).saturating_mul(copy.depth.max(1));
            (sides, copy.width.saturating_mul(rows) as u64)
        }
        _ => return None,
    };
    let direction = match sides {
        [Side::Host { .. }, Side::Device { .. }] => Direction::ToDevice,
        [Side::Device { .. }, Side::Host { .. }] => Direction::ToHost,
        _ => Direction::Within,
    };
    let pitched = sides.iter().any(|side| matches!(side, Side::Device { pitched: true }));
    let pageable = sides.iter().any(|side| matches!(side, Side::Host { pageable: true }));
    Some(What::Copy { bytes, direction, pitched, pageable })
}

impl State {
    /// What this work is: a copy, or, if host code is recorded, a launch.
    pub fn noted(&self, work: &Work) -> Option<What> {
        let is_copy = matches!(work, Work::Copy(_) | Work::Copy3D(_));
        if is_copy || SETTINGS.host_record.is_some() { what(self, work) } else { None }
    }

    /// Counts what a stream is given, for the recording under way.
    pub fn count(&mut self, stream: Handle, work: &Work, noted: Option<&What>) {
        let given = &mut self.recorder.given;
        match (work, noted) {
            (Work::Launch(_), _) => given.launches += 1,
            (Work::Fill { .. } | Work::Write { .. }, _) => given.fills += 1,
            (_, Some(&What::Copy { bytes, direction: Direction::ToDevice, .. })) => given.bytes_to_device += bytes,
            (_, Some(&What::Copy { bytes, direction: Direction::ToHost, .. })) => given.bytes_to_host += bytes,
            (_, Some(What::Copy { .. })) => {}
            _ => return,
        }
        given.on_other_streams += u64::from(stream != LEGACY && stream != PER_THREAD);
    }

    /// How long a copy within the device takes, in microseconds: as its memory's bandwidth allows,
    /// or, if times are not predicted, as long as it took here.
    pub fn time_within(&self, what: &What, took: Duration) -> f64 {
        let What::Copy { bytes, direction: Direction::Within, .. } = what else { return 0.0 };
        match self.gpu().timing().filter(|_| self.settings.predict.unwrap_or(self.timed)) {
            Some(timing) => timing.copy_us(*bytes),
            None => took.as_secs_f64() * 1e6,
        }
    }

    /// Notes work that could begin and end at these times. Returns when it has ended, for which the
    /// host may wait. Copies between host and device take the time of the link where times are
    /// predicted.
    pub fn note(&mut self, what: What, stream: Handle, begins: f64, ends: f64) -> f64 {
        let is_recorded = SETTINGS.host_record.is_some();
        let predicts = is_recorded || self.settings.predict.unwrap_or(self.timed);
        let links = self.gpu().links().filter(|_| predicts);
        let (time, waits) = match links {
            Some(links) => self.host_recorder.place(&what, links, stream, begins, ends),
            None => ([begins, ends], false),
        };
        if is_recorded {
            self.host_recorder.note(what, stream, time);
        }
        if waits {
            self.host = self.host.max(time[1]);
        }
        time[1]
    }
}

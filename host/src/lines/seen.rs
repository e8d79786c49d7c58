//! What the accesses of a line look like: scenes, each shape once, and the pictures of them. Pure.

use picture::{Paint, Scene, access_text};
use simt::Report;
use simt::counts::AccessKind;
use simt::requests::{Ask, Request, RequestedMemory, Service};

use super::picture_of::PictureOf;

/// The most pictures of a line.
const MOST: usize = 4;

/// The accesses of a line, each shape once.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Seen {
    accesses: Vec<Drawn>,
    /// The instructions and memories that have been looked at.
    known: Vec<(u32, RequestedMemory)>,
    /// What there is to step through.
    stepped: Vec<Stepped>,
}

/// The requests of a line to one memory, of one kind, warp by warp.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Stepped {
    /// The memory.
    pub memory: RequestedMemory,
    /// What the requests do.
    pub kind: AccessKind,
    /// Each request, and what the device makes of it.
    pub requests: Vec<(Request, Service)>,
}

/// An access, and who made it.
#[derive(Clone, Debug, PartialEq)]
struct Drawn {
    block: [u32; 3],
    warp: u32,
    scene: Scene,
    /// What the lanes ask for, from the lowest address on, with the passes that serve it.
    shape: Vec<Ask>,
}

impl Seen {
    /// Adds a request, unless an earlier launch's same instruction made one, or there is another of
    /// the same shape.
    pub fn add(&mut self, report: &Report, request: &Request) {
        let of = (request.instruction, request.memory);
        if self.known.contains(&of) {
            return;
        }
        self.known.push(of);
        let service = report.service_of(request);
        let scene = Scene::new(request, &service);
        let lowest = service.asks.iter().map(|ask| ask.address).min().unwrap_or(0);
        let shape = service.asks.iter().map(|ask| Ask { address: ask.address - lowest, ..*ask }).collect();
        let drawn = Drawn { block: request.position, warp: request.warp, scene, shape };
        if !self.accesses.iter().any(|other| other.is_like(&drawn)) {
            self.accesses.push(drawn);
        }
    }

    /// Adds a request to step through, unless there are `most` already.
    pub fn step(&mut self, report: &Report, request: &Request, most: usize) {
        let is_like = |other: &&mut Stepped| (other.memory, other.kind) == (request.memory, request.kind);
        match self.stepped.iter_mut().find(is_like) {
            Some(full) if full.requests.len() >= most => {}
            Some(known) => known.requests.push((request.clone(), report.service_of(request))),
            None => {
                let requests = vec![(request.clone(), report.service_of(request))];
                self.stepped.push(Stepped { memory: request.memory, kind: request.kind, requests });
            }
        }
    }

    /// What there is to step through.
    pub fn stepped(&self) -> &[Stepped] {
        &self.stepped
    }

    /// Whether there is no access.
    pub fn is_empty(&self) -> bool {
        self.accesses.is_empty()
    }

    /// The accesses.
    pub fn scenes(&self) -> impl Iterator<Item = &Scene> {
        self.accesses.iter().map(|drawn| &drawn.scene)
    }

    /// The pictures, in this many columns; nothing if there is no access.
    pub fn text(&self, width: usize, paint: Paint) -> String {
        if self.accesses.is_empty() {
            return String::new();
        }
        let mut text = String::from("\n");
        for Drawn { block: [x, y, z], warp, scene, .. } in self.accesses.iter().take(MOST) {
            let heading = format!("{} (block {x}, {y}, {z}, warp {warp}):", scene.title);
            text += &(wording::wrapped(&heading, width, "", "") + "\n");
            text += &(access_text(scene, width, paint) + "\n");
        }
        match self.accesses.len().saturating_sub(MOST) {
            0 => {}
            1 => text += "1 more access of this line looks different.\n\n",
            more => text += &format!("{more} more accesses of this line look different.\n\n"),
        }
        text
    }
}

impl Drawn {
    fn is_like(&self, other: &Self) -> bool {
        let of = |drawn: &Self| (drawn.scene.title.clone(), drawn.scene.sentence.clone());
        self.shape == other.shape && of(self) == of(other)
    }
}

/// Which lines' accesses are drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Pictured {
    None,
    Line(u32),
    All,
}

impl From<Option<Option<PictureOf>>> for Pictured {
    fn from(flag: Option<Option<PictureOf>>) -> Self {
        match flag {
            None | Some(Some(PictureOf::Memory | PictureOf::Elements | PictureOf::Tiles)) => Self::None,
            Some(Some(PictureOf::Line(line))) => Self::Line(line),
            Some(None) => Self::All,
        }
    }
}

impl Pictured {
    pub fn has(self, line: Option<u32>) -> bool {
        match self {
            Self::None => false,
            Self::Line(wanted) => line == Some(wanted),
            Self::All => true,
        }
    }
}

//! What a GPU makes of a request ([`Request::service`]): each part that a lane asks for, with the
//! pass that serves it, the pieces that move, and the cost. Every rule is one that also counts
//! launches; this file only lists what they list.

use super::recorded::{Mechanism, Request, RequestedMemory};
use crate::address::Access;
use crate::coalesce::{self, CopyAccesses, SECTOR_BYTES, Served, Wavefronts};
use crate::instruction::AccessKind;
use crate::lanes::lanes;
use crate::model::{self, BankRule, Banks, CacheHint, LoadCaching, Model, Route, TransactionRule};
use crate::texture;

/// What a request costs, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    /// What `count` counts.
    pub unit: Unit,
    /// The cost, as the counters of a launch have it.
    pub count: u32,
    /// Of shared memory: passes that are needed only because of bank conflicts.
    pub conflicts: u32,
    /// The distinct bytes that the lanes ask for.
    pub bytes_asked: u32,
    /// The bytes that move; 0 if nothing is counted by bytes.
    pub bytes_moved: u32,
    /// What each lane asks for, by lane and address.
    pub asks: Vec<Ask>,
    /// What moves, by address.
    pub pieces: Vec<Piece>,
    /// The banks, if it is an access to shared memory.
    pub banks: Option<Banks>,
}

/// The unit of a request's cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unit {
    /// Sectors of 32 bytes.
    Sector,
    /// Lines of 128 bytes.
    Line,
    /// Transactions of 32, 64 or 128 bytes.
    Transaction,
    /// Passes over the banks of shared memory.
    Wavefront,
    /// Different addresses, of which the constant cache serves one at a time.
    Address,
    /// Requests to another block's shared memory, whatever the addresses.
    Request,
}

/// Bytes that a lane asks for and that are served together: of shared memory a word, elsewhere all
/// of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ask {
    /// The lane.
    pub lane: u8,
    /// The first byte. Of local memory, in the layout of the hardware, where the same word of 32
    /// lanes is contiguous.
    pub address: u64,
    /// How many.
    pub bytes: u32,
    /// The pass that serves them, from 0.
    pub pass: u32,
    /// How many passes they wait for others that are served with them at best: 0 without conflicts.
    pub turn: u32,
}

/// Contiguous bytes that move together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Piece {
    /// The first byte.
    pub address: u64,
    /// How many.
    pub bytes: u32,
    /// How often they move.
    pub times: u32,
}

impl Request {
    /// What a GPU makes of the request: this model, or what Volta and all later GPUs have in
    /// common. `caching` is that of the launch.
    pub fn service(&self, model: Option<&'static Model>, caching: LoadCaching) -> Service {
        let access = Access::new(self.mask, &self.addresses, self.width);
        let mut service = match (&self.mechanism, self.memory) {
            (Mechanism::Bulk(_), _) => self.bulk(),
            (Mechanism::Elements(_), _) => self.elements(),
            (_, RequestedMemory::Shared) => self.shared(&access, model),
            (_, RequestedMemory::Constant) => constant(&access),
            (_, RequestedMemory::Distributed) => distributed(&access),
            (_, RequestedMemory::Local) => local(&access),
            _ => self.global(&access, model, caching),
        };
        service.asks.sort_unstable();
        merge(&mut service.pieces);
        service
    }

    fn global(&self, access: &Access, model: Option<&'static Model>, caching: LoadCaching) -> Service {
        if matches!(self.kind, AccessKind::Atomic | AccessKind::Reduction) {
            return atomic(access);
        }
        let asked = coalesce::sectors(access).bytes;
        let rule = model.map_or(TransactionRule::Sectors, |model| model.global);
        let (hint, past_l1) = match self.mechanism {
            Mechanism::Plain(hint) => (hint, false),
            Mechanism::Copy { at_l2_only: true, .. } => (CacheHint::Bypass, true),
            _ => (CacheHint::None, false),
        };
        let read_only = hint == CacheHint::ReadOnly && model.is_some_and(|model| model.read_only.is_some());
        let mut service = Service::new(Unit::Sector, asked, whole(access));
        if rule == TransactionRule::Sectors && past_l1 {
            self.copy(access).list_sectors(|address| service.moves(address, SECTOR_BYTES));
            return service;
        }
        let through = self.kind != AccessKind::Store
            && model.is_some_and(|model| hint.goes_through_l1(model, model.caches_global_loads(caching)));
        let rule = if read_only { TransactionRule::Sectors } else { rule };
        let route = match (self.kind, through) {
            (AccessKind::Store, _) => Route::Store,
            (_, true) => Route::ThroughL1,
            (_, false) => Route::PastL1,
        };
        service.unit = match (rule, route) {
            (TransactionRule::Strict | TransactionRule::Segments, _) => Unit::Transaction,
            (TransactionRule::LinesAndSectors, Route::Store) => Unit::Transaction,
            (TransactionRule::LinesAndSectors, Route::ThroughL1) => Unit::Line,
            (TransactionRule::LinesAndSectors, Route::PastL1) | (TransactionRule::Sectors, _) => Unit::Sector,
        };
        model::list_transactions(rule, access, route, |address, bytes| service.moves(address, bytes));
        service
    }

    fn shared(&self, access: &Access, model: Option<&'static Model>) -> Service {
        // GPUs that have copies and matrices have these banks.
        let rule = match self.mechanism {
            Mechanism::Rows(_) | Mechanism::Copy { .. } => BankRule::Words,
            _ => model.map_or(BankRule::Words, |model| model.shared.banks),
        };
        let mut asks = Vec::new();
        let bytes = self.width.min(4);
        let mut each = |Served { lane, word, pass, turn }: Served| {
            // Of words narrower than 4 bytes, those that are asked for.
            let address = (word * 4).max(access.addresses[lane]);
            asks.push(Ask { lane: lane as u8, address, bytes, pass, turn });
        };
        let found = match self.mechanism {
            Mechanism::Rows(matrices) => (0..matrices).fold(Wavefronts::default(), |sum, matrix| {
                let rows = Access::new(self.mask & 0xff << (8 * matrix), access.addresses, self.width);
                let first = sum.wavefronts;
                sum + coalesce::list_wavefronts(&rows, false, |served| each(served.after(first)))
            }),
            Mechanism::Copy { .. } => self.copy(access).list_wavefronts(each),
            _ => model::list_wavefronts(rule, access, self.kind == AccessKind::Load, each),
        };
        let Wavefronts { wavefronts: count, conflicts } = found;
        let service = Service::new(Unit::Wavefront, coalesce::sectors(access).bytes, asks);
        Service { count, conflicts, banks: Some(rule.banks()), ..service }
    }

    /// The two sides of a `cp.async`, of which `access` is one.
    fn copy<'a>(&'a self, access: &Access<'a>) -> CopyAccesses<'a> {
        let this = Access::new(access.mask, access.addresses, access.width);
        let Mechanism::Copy { mask, addresses, fills, at_l2_only } = &self.mechanism else {
            return CopyAccesses {
                from: Access::new(0, access.addresses, self.width),
                to: this,
                fills: false,
                at_l2_only: false,
            };
        };
        let other = Access::new(*mask, addresses, self.width);
        let (from, to) = if self.memory == RequestedMemory::Shared { (other, this) } else { (this, other) };
        CopyAccesses { from, to, fills: *fills, at_l2_only: *at_l2_only }
    }

    fn bulk(&self) -> Service {
        let Mechanism::Bulk(runs) = &self.mechanism else { return Service::new(Unit::Sector, 0, Vec::new()) };
        let ask = |run: &super::recorded::Run| Ask {
            lane: run.lane,
            address: run.address,
            bytes: run.bytes,
            pass: 0,
            turn: 0,
        };
        let asked = runs.iter().map(|run| run.bytes).sum();
        let mut service = Service::new(Unit::Sector, asked, runs.iter().map(ask).collect());
        for run in runs {
            for (line, sectors) in model::bulk_lines(run.address, run.bytes) {
                for sector in (0..4).filter(|sector| sectors >> sector & 1 == 1) {
                    service.moves(line * model::LINE_BYTES + sector * u64::from(SECTOR_BYTES), SECTOR_BYTES);
                }
            }
        }
        service
    }

    fn elements(&self) -> Service {
        let Mechanism::Elements(touched) = &self.mechanism else { return Service::new(Unit::Sector, 0, Vec::new()) };
        let read = touched.iter().filter(|element| element.address.is_some());
        let asks = read.map(|element| Ask {
            lane: element.lane as u8,
            address: element.layout_address(),
            bytes: self.width,
            pass: 0,
            turn: 0,
        });
        let mut asks: Vec<Ask> = asks.collect();
        asks.sort_unstable();
        asks.dedup();
        let mut addresses: Vec<u64> = asks.iter().map(|ask| ask.address).collect();
        addresses.sort_unstable();
        addresses.dedup();
        let mut service = Service::new(Unit::Sector, addresses.len() as u32 * self.width, asks);
        for element in texture::lookups(touched) {
            service.moves(element.layout_address() / 32 * 32, SECTOR_BYTES);
        }
        service
    }
}

impl Service {
    fn new(unit: Unit, bytes_asked: u32, asks: Vec<Ask>) -> Self {
        Self { unit, count: 0, conflicts: 0, bytes_asked, bytes_moved: 0, asks, pieces: Vec::new(), banks: None }
    }

    /// These bytes move once more.
    fn moves(&mut self, address: u64, bytes: u32) {
        self.pieces.push(Piece { address, bytes, times: 1 });
        self.count += 1;
        self.bytes_moved += bytes;
    }
}

/// All that each lane asks for, at once.
fn whole(access: &Access) -> Vec<Ask> {
    let ask = |lane| Ask { lane: lane as u8, address: access.addresses[lane], bytes: access.width, pass: 0, turn: 0 };
    lanes(access.mask).map(ask).collect()
}

/// Atomic operations on global memory: lanes that share a word take turns.
fn atomic(access: &Access) -> Service {
    let mut asks = whole(access);
    for index in 0..asks.len() {
        let turn = asks[..index].iter().filter(|ask| ask.address == asks[index].address).count() as u32;
        (asks[index].pass, asks[index].turn) = (turn, turn);
    }
    let mut service = Service::new(Unit::Sector, coalesce::sectors(access).bytes, asks);
    for (sector, turns) in coalesce::turns_of_sectors(access) {
        (0..turns).for_each(|_| service.moves(sector * u64::from(SECTOR_BYTES), SECTOR_BYTES));
    }
    service
}

/// Loads from constant memory: one address after another.
fn constant(access: &Access) -> Service {
    let mut asks = whole(access);
    let mut seen: Vec<u64> = Vec::new();
    for ask in &mut asks {
        let turn = seen.iter().position(|&address| address == ask.address).unwrap_or_else(|| {
            seen.push(ask.address);
            seen.len() - 1
        });
        (ask.pass, ask.turn) = (turn as u32, turn as u32);
    }
    let service = Service::new(Unit::Address, coalesce::sectors(access).bytes, asks);
    Service { count: coalesce::addresses(access), ..service }
}

/// Accesses to another block's shared memory.
fn distributed(access: &Access) -> Service {
    Service { count: 1, ..Service::new(Unit::Request, coalesce::sectors(access).bytes, whole(access)) }
}

/// Accesses to local memory: word by word, in the hardware's layout.
fn local(access: &Access) -> Service {
    let mut service = Service::new(Unit::Sector, 0, Vec::new());
    for word in 0..u64::from(access.width.div_ceil(4)) {
        let addresses = access.backing_addresses(word);
        let part = Access::new(access.mask, &addresses, access.width.min(4));
        service.bytes_asked += coalesce::sectors(&part).bytes;
        service.asks.extend(whole(&part));
        model::list_transactions(TransactionRule::Sectors, &part, Route::PastL1, |address, bytes| {
            service.moves(address, bytes)
        });
    }
    service
}

/// Sorts pieces, and makes equal ones one that moves several times.
fn merge(pieces: &mut Vec<Piece>) {
    pieces.sort_unstable();
    pieces.dedup_by(|next, kept| {
        let same = (next.address, next.bytes) == (kept.address, kept.bytes);
        kept.times += if same { next.times } else { 0 };
        same
    });
}

//! A request as a [`Scene`]: where everything is in the grid, before anything is drawn.

use std::collections::{BTreeMap, BTreeSet};

use simt::requests::{Ask, Request, RequestedMemory, Service};

use crate::words;

/// The rows that a scene keeps. Bulk copies and textures may have more.
const MOST_ROWS: usize = 64;

/// Bytes of a row where there are no banks: a line, or four sectors.
const LINE_BYTES: u64 = 128;

/// A warp's access, ready to be drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scene {
    /// What kind of access it is: the heading.
    pub title: String,
    /// What it costs, in one sentence.
    pub sentence: String,
    /// How many lanes ask for how much.
    pub asks: String,
    /// Which lanes ask for what, for those who cannot see the picture.
    pub description: String,
    /// The lanes that take part.
    pub mask: u32,
    /// What a column is.
    pub columns: Columns,
    /// The rows that are touched, in rising order.
    pub rows: Vec<Row>,
    /// Rows that are left out before the last one.
    pub left_out: usize,
    /// The words that lanes ask for, by row and column.
    pub cells: Vec<Cell>,
    /// The pieces that move, by row and column. None where nothing is counted by bytes.
    pub pieces: Vec<Piece>,
    /// For each bank, the passes that it is busy in. Empty if there are no banks, and without cost.
    pub heights: Vec<u32>,
}

/// The columns of a scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Columns {
    /// How many.
    pub count: usize,
    /// Neighbours that belong together: the words of a sector.
    pub group: usize,
    /// Bytes of a column in a row.
    pub bytes: u32,
    /// Whether columns are banks.
    pub banks: bool,
}

/// A row that is touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Which row it is, counted from the first that is touched.
    pub number: u64,
    /// Its first byte, counted from that of the first row.
    pub offset: u64,
}

/// A word that lanes ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The index of its row.
    pub row: usize,
    /// Its column.
    pub column: usize,
    /// The lanes that ask for it.
    pub lanes: u32,
    /// Its bytes that they ask for, a bit for each.
    pub bytes: u8,
    /// Whether it waits for another pass.
    pub waits: bool,
    /// The pass that serves it first, from 0.
    pub pass: u32,
}

/// Contiguous bytes that move together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The index of its row.
    pub row: usize,
    /// Its first column.
    pub column: usize,
    /// Its columns.
    pub columns: usize,
    /// How often it moves.
    pub times: u32,
}

impl Scene {
    /// The scene of a request that a GPU serves so.
    pub fn new(request: &Request, service: &Service) -> Self {
        let columns = Columns::of(request, service);
        let row_bytes = columns.row_bytes();
        let touched = service.asks.iter().flat_map(|ask| rows_of(ask, row_bytes));
        let touched: BTreeSet<u64> =
            touched.chain(service.pieces.iter().map(|piece| piece.address / row_bytes)).collect();
        let left_out = touched.len().saturating_sub(MOST_ROWS);
        let (first, last) = (touched.first().copied().unwrap_or(0), touched.last().copied());
        let kept = touched.iter().copied().take(MOST_ROWS - 1).chain(last.filter(|_| touched.len() >= MOST_ROWS));
        let kept: BTreeMap<u64, usize> = kept.enumerate().map(|(index, row)| (row, index)).collect();
        let row = |&number: &u64| Row { number: number - first, offset: (number - first) * row_bytes };
        let pieces = service.pieces.iter().filter_map(|piece| {
            Some(Piece {
                row: *kept.get(&(piece.address / row_bytes))?,
                column: (piece.address % row_bytes / u64::from(columns.bytes)) as usize,
                columns: (piece.bytes / columns.bytes) as usize,
                times: piece.times,
            })
        });
        Self {
            title: words::title(request),
            sentence: words::sentence(request, service),
            asks: words::asks(request, service),
            description: words::description(request, service, first * row_bytes),
            mask: request.mask,
            columns,
            rows: kept.keys().map(row).collect(),
            left_out,
            cells: cells(service, columns, &kept),
            pieces: pieces.collect(),
            heights: heights(service),
        }
    }

    /// The same without its cost: which lanes ask for which words, and nothing about how these
    /// come.
    pub fn without_cost(&self) -> Self {
        let cells = self.cells.iter().map(|cell| Cell { waits: false, pass: 0, ..*cell }).collect();
        let sentence = self.asks.clone();
        Self { cells, sentence, pieces: Vec::new(), heights: Vec::new(), ..self.clone() }
    }

    /// The word at a row and a column, if a lane asks for it.
    pub fn cell(&self, row: usize, column: usize) -> Option<&Cell> {
        let found = self.cells.binary_search_by_key(&(row, column), |cell| (cell.row, cell.column));
        found.ok().map(|index| &self.cells[index])
    }

    /// Whether the word at a row and a column moves.
    pub fn moves(&self, row: usize, column: usize) -> bool {
        let holds = |piece: &Piece| piece.row == row && (piece.column..piece.column + piece.columns).contains(&column);
        self.pieces.iter().any(holds)
    }

    /// Whether a row comes right after the one before it.
    pub fn follows(&self, row: usize) -> bool {
        row == 0 || self.rows[row].number == self.rows[row - 1].number + 1
    }
}

impl Columns {
    fn of(request: &Request, service: &Service) -> Self {
        match service.banks {
            Some(banks) => {
                let count = banks.count as usize;
                Self { count, group: count, bytes: banks.bytes, banks: true }
            }
            None => {
                let together = matches!(request.memory, RequestedMemory::Constant | RequestedMemory::Distributed);
                Self { count: 32, group: if together { 32 } else { 8 }, bytes: 4, banks: false }
            }
        }
    }

    fn row_bytes(self) -> u64 {
        match self.banks {
            true => self.count as u64 * u64::from(self.bytes),
            false => LINE_BYTES,
        }
    }
}

fn rows_of(ask: &Ask, row_bytes: u64) -> std::ops::Range<u64> {
    let end = ask.address.saturating_add(u64::from(ask.bytes));
    ask.address / row_bytes..end.div_ceil(row_bytes)
}

fn cells(service: &Service, columns: Columns, kept: &BTreeMap<u64, usize>) -> Vec<Cell> {
    let (row_bytes, column_bytes) = (columns.row_bytes(), u64::from(columns.bytes));
    let mut cells: BTreeMap<(usize, usize), Cell> = BTreeMap::new();
    for ask in &service.asks {
        for number in rows_of(ask, row_bytes) {
            let Some(&row) = kept.get(&number) else { continue };
            let start = ask.address.max(number * row_bytes);
            let end = (ask.address + u64::from(ask.bytes)).min((number + 1) * row_bytes);
            for word in start / column_bytes..end.div_ceil(column_bytes) {
                let column = (word % columns.count as u64) as usize;
                let empty = Cell { row, column, lanes: 0, bytes: 0, waits: false, pass: ask.pass };
                let cell = cells.entry((row, column)).or_insert(empty);
                cell.lanes |= 1 << ask.lane;
                cell.waits |= ask.turn > 0;
                cell.pass = cell.pass.min(ask.pass);
                let within = |byte: &u64| (start..end).contains(&(word * column_bytes + byte));
                cell.bytes |= (0..column_bytes).filter(within).fold(0, |bytes, byte| bytes | 1 << byte);
            }
        }
    }
    cells.into_values().collect()
}

fn heights(service: &Service) -> Vec<u32> {
    let Some(banks) = service.banks else { return Vec::new() };
    let mut passes = vec![BTreeSet::new(); banks.count as usize];
    for ask in &service.asks {
        let bank = ask.address / u64::from(banks.bytes) % u64::from(banks.count);
        passes[bank as usize].insert(ask.pass);
    }
    passes.iter().map(|passes| passes.len() as u32).collect()
}

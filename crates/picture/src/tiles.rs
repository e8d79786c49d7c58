//! Which tiles of a matrix run together: the order in which blocks take them. Data, and its sentence.

/// The tiles that are drawn, at most: rows and columns.
pub(crate) const DRAWN: [usize; 2] = [32, 64];

/// The order in which blocks take the tiles of a matrix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TileOrder {
    /// How many blocks run at once.
    together: u32,
    columns: usize,
    /// For each tile, row by row, how many were taken before it.
    before: Vec<Option<u32>>,
    taken: u32,
}

/// Such orders, by the names of rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TileOrders {
    /// The orders.
    pub orders: Vec<(String, TileOrder)>,
}

impl TileOrder {
    /// Of so many rows and columns of tiles, none of which is taken yet, by so many blocks at once.
    pub fn new([rows, columns]: [u32; 2], together: u32) -> Self {
        let tiles = rows as usize * columns as usize;
        Self { together: together.max(1), columns: columns.max(1) as usize, before: vec![None; tiles], taken: 0 }
    }

    /// The next block takes the tile of this row and column. It takes none outside of the matrix.
    pub fn take(&mut self, (row, column): (u32, u32)) {
        let inside = (column as usize) < self.columns;
        let index = row as usize * self.columns + column as usize;
        if let Some(tile) = self.before.get_mut(index).filter(|_| inside) {
            *tile = Some(self.taken);
            self.taken += 1;
        }
    }

    /// The rows of tiles, with the round in which each is taken: 0 for those that run first.
    pub(crate) fn rounds(&self) -> impl Iterator<Item = Vec<Option<u32>>> + '_ {
        let round = |before: &Option<u32>| before.map(|before| before / self.together);
        self.before.chunks(self.columns).map(move |row| row.iter().map(round).collect())
    }

    /// The last round.
    pub(crate) fn last_round(&self) -> u32 {
        self.taken.saturating_sub(1) / self.together
    }

    /// Blocks of the first round, and the rows and columns of tiles that these are in.
    fn first_round(&self) -> [usize; 3] {
        let first = self.before.iter().enumerate().filter(|(_, before)| before.is_some_and(|it| it < self.together));
        let (mut rows, mut columns): (Vec<usize>, Vec<usize>) =
            first.map(|(tile, _)| (tile / self.columns, tile % self.columns)).unzip();
        let blocks = rows.len();
        for list in [&mut rows, &mut columns] {
            list.sort_unstable();
            list.dedup();
        }
        [blocks, rows.len(), columns.len()]
    }

    /// Rows and columns of tiles that are drawn, and of all.
    pub(crate) fn drawn(&self) -> ([usize; 2], [usize; 2]) {
        let all = [self.before.len() / self.columns, self.columns];
        ([all[0].min(DRAWN[0]), all[1].min(DRAWN[1])], all)
    }
}

impl TileOrders {
    /// What those that run first have in common, in a sentence.
    pub fn sentence(&self) -> String {
        let of = |(name, order): &(String, TileOrder)| {
            let [_, rows, columns] = order.first_round();
            let plural = |count: usize| if count == 1 { "" } else { "s" };
            format!("{name} {rows} row{}, {columns} column{}", plural(rows), plural(columns))
        };
        let blocks = self.orders.iter().map(|(_, order)| order.first_round()[0]).max().unwrap_or(0);
        let each: Vec<String> = self.orders.iter().map(of).collect();
        format!("The tiles of the first {blocks} blocks: {}.", each.join("; "))
    }

    /// What is left out of the drawings.
    pub(crate) fn left_out(&self) -> Option<String> {
        let ([rows, columns], all) = self.orders.first()?.1.drawn();
        (all != [rows, columns])
            .then(|| format!("Drawn: {rows} of {} rows of tiles, {columns} of {} columns.", all[0], all[1]))
    }
}

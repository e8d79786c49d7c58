//! Conditions, counts and values: expressions of a place.

use super::*;

impl Writer {
    /// A number that decides where threads go, and where the statements stand that it decides
    /// about. Now and then it is the builder that has to say that not all threads come there.
    pub(super) fn decision(&mut self, place: Place) -> (String, Place) {
        match place {
            Place::Plain | Place::Between => match self.below(20) {
                0 => (self.number(place, 2), place),
                1..=5 => (self.number(place, 2), Place::Apart),
                _ => (self.uniform(), place),
            },
            Place::Apart | Place::Phase => (self.number(place, 2), place),
        }
    }

    /// As [`Writer::decision`], a condition.
    pub(super) fn branch(&mut self, place: Place) -> (String, Place) {
        let (number, place) = self.decision(place);
        let compare = self.one(&["<", "==", ">=", "!="]);
        (format!("({number}) % 4 {compare} {}", self.below(4)), place)
    }

    /// A number that is the same in all threads of a block.
    pub(super) fn uniform(&mut self) -> String {
        const LEAVES: [&str; 9] = [
            "n",
            "thread::block_idx_x()",
            "thread::block_idx_y()",
            "thread::grid_dim_x()",
            "thread::block_dim_y()",
            "input.len() as u32",
            "grid.rows()",
            "input.first().copied().unwrap_or(2)",
            "grid.get(1, 2).copied().unwrap_or(3)",
        ];
        let (p, q) = (self.one(&LEAVES), self.one(&LEAVES));
        match self.below(4) {
            0 => p.to_owned(),
            1 => format!("({p}) ^ ({q})"),
            2 => format!("({p}) + {}", self.below(9)),
            _ => format!("(({p}) >> ({q}) % 32)"),
        }
    }

    /// What all threads count in.
    pub(super) fn counted(&mut self, place: Place) -> String {
        let value = self.number(place, 1);
        let atomics = self.tiles.iter().find(|tile| matches!(tile.form, Form::Atomics(_)) && !tile.borrowed).cloned();
        match (place, atomics) {
            (Place::Phase, Some(Tile { name, form: Form::Atomics(n), .. })) => {
                let index = self.number(place, 1);
                let method = self.one(&["fetch_add", "fetch_max", "fetch_xor", "swap"]);
                format!("b ^= {name}.read(thread)[({index}) as usize % {n}].{method}({value}, Relaxed);")
            }
            _ => format!("b ^= TALLY.fetch_add({value}, Relaxed);"),
        }
    }

    /// In a phase, `thread` is the phase's.
    pub(super) fn index(&self, place: Place, index: &str) -> String {
        match place {
            Place::Phase => index.replace("thread::", "thread."),
            _ => index.to_owned(),
        }
    }

    /// A number, modulo 2^32.
    pub(super) fn number(&mut self, place: Place, depth: u32) -> String {
        if depth == 0 || self.below(4) == 0 {
            return self.leaf(place);
        }
        let (p, q) = (self.number(place, depth - 1), self.number(place, depth - 1));
        match self.below(if place == Place::Phase { 16 } else { 13 }) {
            0 | 1 => format!("({p}).wrapping_add({q})"),
            2 => format!("({p}).wrapping_mul({q})"),
            3 => format!("(({p}) ^ ({q}))"),
            4 => format!("(({p}) >> (({q}) % 32))"),
            5 => format!("({p}).min({q})"),
            6 => format!("(({p}) / (({q}) | 1))"),
            7 | 8 => format!("input.get(({p}) as usize % (input.len() + 3)).copied().unwrap_or({q})"),
            9 => format!("bytes.get(({p}) as usize % 300).map_or({q}, |byte| u32::from(*byte))"),
            10 => format!("grid.get(({p}) % 9, ({q}) % 40).copied().unwrap_or(5)"),
            11 => format!(
                "grid.row(({p}) % 9).map_or(1, |row| row.iter().take(3).fold({q}, |sum, x| sum.wrapping_add(*x)))"
            ),
            12 => format!("grid.column(({p}) % 40).take(3).fold(0, |sum: u32, x| sum ^ *x)"),
            _ => self.read(&p, &q),
        }
    }

    /// An element of a tile.
    pub(super) fn read(&mut self, p: &str, q: &str) -> String {
        let free: Vec<usize> = (0..self.tiles.len()).filter(|&tile| !self.tiles[tile].borrowed).collect();
        if free.is_empty() {
            return format!("({p}) & ({q})");
        }
        let tile = self.one(&free);
        let Tile { name, form, .. } = self.tiles[tile].clone();
        match form {
            Form::Array(_) | Form::Warps(_) => format!("at({name}.read(thread), {p})"),
            Form::Atomics(n) => format!("{name}.read(thread)[({p}) as usize % {n}].load(Relaxed)"),
            // Columns beyond the block are padding, which nobody writes.
            Form::Rows(rows, _) => {
                format!("{name}.read(thread)[({p}) as usize % {rows}][({q}) as usize % {}]", self.block[0])
            }
        }
    }

    pub(super) fn leaf(&mut self, place: Place) -> String {
        const ANYWHERE: [&str; 14] = [
            "a",
            "b",
            "n",
            "thread::block_idx_x()",
            "thread::block_idx_y()",
            "thread::grid_dim_x()",
            "thread::block_dim_x()",
            "thread::thread_idx_x()",
            "thread::thread_idx_y()",
            "thread::lane_id()",
            "thread::index_1d()",
            "TALLY.load(Relaxed)",
            "thread::block_row()",
            "input.len() as u32",
        ];
        match self.below(6) {
            0 => self.below(100).to_string() + "_u32",
            1 if place == Place::Phase => "thread.x()".to_owned(),
            2 if place == Place::Phase => "thread.number()".to_owned(),
            _ => self.one(&ANYWHERE).to_owned(),
        }
    }
}

//! Kernels in phases: their tiles, and what a phase does.

use super::*;

impl Writer {
    /// A kernel in phases.
    pub(super) fn phased(&mut self, name: &str) -> Kernel {
        let [x, y] = self.one(&PHASED);
        self.block = [x, y];
        let threads = x * y;
        let more = self.one(&[0, 0, 13, 70]);
        let mut forms = vec![Form::Array(threads), Form::Array(threads + more), Form::Atomics(16)];
        forms.push(Form::Rows(1 + self.below(3 * y), x + self.below(3)));
        if threads.is_multiple_of(32) {
            forms.push(Form::Warps(threads / 32));
        }
        let tile = |(i, form)| Tile { name: format!("t{i}"), form, borrowed: false };
        self.tiles = forms.into_iter().enumerate().map(tile).collect();
        let linear = y == 1 && self.below(2) == 0;
        let (words, shape) = if linear { (", linear", Shape::LinearBlock(x)) } else { ("", Shape::Block([x, y, 1])) };
        self.has_plane = !linear;
        let plane = if self.has_plane { PLANE } else { "" };
        let tiles: String =
            self.tiles.iter().map(|tile| format!("    mut {}: Shared<{}>,\n", tile.name, tile.form.ty())).collect();
        let first: String = self.tiles.clone().iter().map(|tile| self.filled(tile)).collect();
        let body = self.statements(Place::Between, 7, 2);
        let last = self.last(threads);
        let source = format!(
            "\n#[kernel(block({x}, {y}){words})]\npub fn {name}(\n    mut block: Block<{x}, {y}>,\n{tiles}{PARAMETERS}{plane}    \
             mut sums: BlockSlice<u32>,\n    mut turned: TransposedMatrix<u32, {x}>,\n) {{\n    let (mut a, mut b) = (n, \
             1_u32);\n{first}{body}{last}}}\n"
        );
        Kernel { source, shape, has_plane: self.has_plane, phased: true }
    }

    /// The phase that first writes a tile: shared memory has no value before.
    pub(super) fn filled(&mut self, tile: &Tile) -> String {
        let name = &tile.name;
        match tile.form {
            Form::Array(_) => format!("    block.fill(&mut {name}, |thread, i| i + thread.x());\n"),
            Form::Rows(..) => format!("    block.update(&mut {name}, |_, mut own| own.each(|row, to| *to = row));\n"),
            Form::Atomics(_) => {
                format!("    block.update(&mut {name}, |_, mut own| own.each(|i, to| *to = AtomicU32::new(i)));\n")
            }
            Form::Warps(_) => format!("    block.fill_by_warp(&mut {name}, |thread| thread.number());\n"),
        }
    }

    /// The last phase, if there is one.
    pub(super) fn last(&mut self, threads: u32) -> String {
        match self.below(4) {
            0 => String::new(),
            1 if threads.is_multiple_of(32) => {
                let value = self.number(Place::Phase, 2);
                format!(
                    "    block.finish_in_warp(|thread| {value}, u32::wrapping_add, |thread, value| if let Some(to) = \
                     sums.get_mut(thread) {{ *to = value; }});\n"
                )
            }
            _ => {
                let body = self.statements(Place::Phase, 4, 1);
                format!("    block.finish(|thread| {{\n{body}    }});\n")
            }
        }
    }

    /// A phase.
    pub(super) fn phase(&mut self, depth: u32) -> String {
        let [x, y] = self.block;
        let arrays: Vec<usize> = self.places(|form| matches!(form, Form::Array(_)));
        match self.below(11) {
            0 => {
                let array = self.one(&arrays);
                let value = self.borrowing(&[array], |writer| writer.number(Place::Phase, 3));
                format!("block.fill(&mut t{array}, |thread, i| i ^ ({value}));")
            }
            1 | 2 => {
                let array = self.one(&arrays);
                let body = self.borrowing(&[array], |writer| writer.statements(Place::Phase, 3, depth.min(1)));
                format!("block.update(&mut t{array}, |thread, mut own| {{\n{body}own.each(|i, to| *to ^= a ^ i);\n}});")
            }
            3 => {
                let [first, second] = [arrays[0], arrays[1]];
                let value = self.borrowing(&[first, second], |writer| writer.number(Place::Phase, 2));
                format!(
                    "block.update((&mut t{first}, &mut t{second}), |thread, (mut p, mut q)| {{ let value = {value}; p.each(|i, \
                     to| *to = value ^ i); q.each(|_, to| *to = to.wrapping_mul(value)); }});"
                )
            }
            4 => {
                let rows = self.places(|form| matches!(form, Form::Rows(..)))[0];
                let value = self.borrowing(&[rows], |writer| writer.number(Place::Phase, 2));
                format!(
                    "block.update(&mut t{rows}, |thread, mut own| {{ let value = {value}; own.each(|row, to| *to = row ^ value); \
                     if let Some(to) = own.get_mut(a) {{ *to = b; }} }});"
                )
            }
            5 => {
                let (array, distance) = (self.one(&arrays), self.decision(Place::Between).0);
                format!("block.pairs(&mut t{array}, ({distance}) % 40, |p, q| *p = p.wrapping_add(*q));")
            }
            6 => format!("block.each(|thread| {{\n{}}});", self.statements(Place::Phase, 3, depth.min(1))),
            7 if self.tiles[arrays[0]].form == self.tiles[arrays[1]].form => "t0.swap(&mut t1);".to_owned(),
            8 if (x * y).is_multiple_of(32) => {
                let value = self.number(Place::Between, 2);
                format!("a = block.warp_reduce({value}, |p: u32, q| p.wrapping_add(q));")
            }
            9 if (x * y).is_multiple_of(32) => {
                let warps = self.places(|form| matches!(form, Form::Warps(_)))[0];
                let value = self.borrowing(&[warps], |writer| writer.number(Place::Phase, 2));
                format!("block.fill_by_warp(&mut t{warps}, |thread| {value});")
            }
            _ => "block.each(|_| ());".to_owned(),
        }
    }

    pub(super) fn places(&self, wanted: impl Fn(Form) -> bool) -> Vec<usize> {
        (0..self.tiles.len()).filter(|&tile| wanted(self.tiles[tile].form)).collect()
    }

    /// What `write` writes while the phase has these tiles.
    pub(super) fn borrowing(&mut self, tiles: &[usize], write: impl FnOnce(&mut Self) -> String) -> String {
        tiles.iter().for_each(|&tile| self.tiles[tile].borrowed = true);
        let text = write(self);
        tiles.iter().for_each(|&tile| self.tiles[tile].borrowed = false);
        text
    }
}

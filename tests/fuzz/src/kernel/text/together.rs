//! What threads do together, as PTX.

use super::*;

impl Writer<'_> {
    pub(super) fn together(&mut self, together: &Together) {
        let threads = self.kernel.block_threads();
        match together {
            Together::Exchange { value, from, result } => {
                self.line(format!("st.shared.b32 [%tile], {};", word(*value)));
                self.line("bar.sync 0;");
                self.line(format!("rem.u32 %tr0, {}, {threads};", word(*from)));
                self.line(format!("mov.u32 %tr1, {}_tiles;", self.name));
                self.line(format!("mad.lo.u32 %tr0, %tr0, {TILE_BYTES}, %tr1;"));
                self.line(format!("ld.shared.b32 {}, [%tr0];", word(*result)));
                self.line("bar.sync 0;");
            }
            Together::Shuffle { mode, value, lane, segment, result, predicate } => {
                let (name, clamp) = match mode {
                    ShuffleMode::Up => ("up", 0),
                    ShuffleMode::Down => ("down", 31),
                    ShuffleMode::Butterfly => ("bfly", 31),
                    ShuffleMode::Index => ("idx", 31),
                };
                let segment = (32 - u32::from(*segment)) << 8 | clamp;
                let [result, value, lane] = [*result, *value, *lane].map(word);
                self.line(format!(
                    "shfl.sync.{name}.b32 {result}|%p{predicate}, {value}, {lane}, {segment}, %members;"
                ));
            }
            Together::Vote { vote, guard, result } => {
                let source = format!("{}%p{}", if guard.wanted { "" } else { "!" }, guard.predicate);
                self.line(match vote {
                    Vote::All => format!("vote.sync.all.pred %p{result}, {source}, %members;"),
                    Vote::Any => format!("vote.sync.any.pred %p{result}, {source}, %members;"),
                    Vote::Uniform => format!("vote.sync.uni.pred %p{result}, {source}, %members;"),
                    Vote::Ballot => format!("vote.sync.ballot.b32 %r{result}, {source}, %members;"),
                    Vote::BlockAnd => format!("barrier.red.and.pred %p{result}, 0, {source};"),
                    Vote::BlockOr => format!("bar.red.or.pred %p{result}, 0, {source};"),
                    Vote::BlockCount => format!("bar.red.popc.u32 %r{result}, 0, {source};"),
                });
            }
            Together::Match { value, result } => {
                self.line(format!("and.b32 %tr0, {}, 3;", word(*value)));
                self.line(format!("match.any.sync.b32 {}, %tr0, %members;", word(*result)));
            }
            Together::MatchAll { value, result, predicate } => {
                self.line(format!("and.b32 %tr0, {}, 1;", word(*value)));
                self.line(format!("match.all.sync.b32 {}|%p{predicate}, %tr0, %members;", word(*result)));
            }
            Together::Product { signed, saturates, factors, added, result } => {
                let [a, b] = signed.map(|signed| if signed { "s8" } else { "u8" });
                let limit = if *saturates { ".satfinite" } else { "" };
                let [first, second, added, result] =
                    [(factors[0], 1), (factors[1], 1), (*added, 2), (*result, 2)].map(words);
                self.line(format!(
                    "mma.sync.aligned.m8n8k16.row.col{limit}.s32.{a}.{b}.s32 {result}, {first}, {second}, {added};"
                ));
            }
            Together::FloatProduct { product, factors, added, result } => {
                let (name, [a, b, c]) = FLOAT_PRODUCTS[usize::from(*product)];
                let [first, second, added, result] =
                    [(factors[0], a), (factors[1], b), (*added, c), (*result, c)].map(words);
                self.line(format!("mma.sync.aligned.{name} {result}, {first}, {second}, {added};"));
            }
            Together::Rows { matrices, transposed, result } => {
                let transposed = if *transposed { ".trans" } else { "" };
                let result = words((*result, *matrices));
                self.line("bar.sync 0;");
                self.line(format!("ldmatrix.sync.aligned.m8n8.x{matrices}{transposed}.shared.b16 {result}, [%tile];"));
                self.line("bar.sync 0;");
            }
            Together::Redux { operation, value, result } => {
                let name = REDUX[usize::from(*operation)];
                self.line(format!("redux.sync.{name} {}, {}, %members;", word(*result), word(*value)));
            }
        }
    }
}

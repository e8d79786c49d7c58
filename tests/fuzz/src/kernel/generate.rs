//! From a fuzzer's bytes to a kernel: every choice is drawn from the bytes, and only valid
//! statements are made. `machine` and the tests call it. Pure.

use arbitrary::{Result, Unstructured};

use super::*;

/// The approximate number of statements of a kernel with its functions.
const STATEMENTS: u32 = 70;

/// What is allowed where a statement is generated.
#[derive(Clone, Copy)]
struct Scope {
    /// Functions from this one on may be called.
    callable: u8,
    /// The number of functions.
    functions: u8,
    /// Enclosing loops.
    loops: u8,
    /// The most enclosing loops.
    most_loops: u8,
    /// Enclosing statements.
    depth: u8,
    /// Whether all threads of the block execute it together.
    uniform: bool,
    /// Whether a thread may end, or return, here.
    may_leave: bool,
    /// Whether the block consists of whole warps.
    whole_warps: bool,
    kind: Kind,
}

impl Scope {
    fn is_wild(self) -> bool {
        self.kind == Kind::Wild
    }
}

struct Generator<'u, 'b> {
    bytes: &'u mut Unstructured<'b>,
    statements: u32,
    next_loop: u8,
}

impl Kernel {
    /// A kernel of this kind.
    ///
    /// # Errors
    ///
    /// Those of `arbitrary`.
    pub fn generate(bytes: &mut Unstructured<'_>, kind: Kind) -> Result<Self> {
        let grid = *bytes.choose(&[[1, 1, 1], [3, 1, 1], [2, 2, 1], [1, 2, 3]])?;
        let block = *bytes.choose(&[
            [32, 1, 1],
            [64, 1, 1],
            [33, 1, 1],
            [1, 1, 1],
            [8, 4, 2],
            [5, 3, 3],
            [96, 1, 1],
            [7, 1, 1],
        ])?;
        let seed = bytes.arbitrary()?;
        let functions = bytes.int_in_range(0..=2)?;
        let whole_warps = block.iter().product::<u32>() % 32 == 0;
        let scope = Scope {
            callable: 0,
            functions,
            loops: 0,
            most_loops: 2,
            depth: 0,
            uniform: true,
            may_leave: kind == Kind::Wild,
            whole_warps,
            kind,
        };
        let mut generator = Generator { bytes, statements: 0, next_loop: 0 };
        let mut body = generator.list(scope, 12)?;
        // From here on threads may end: nothing that follows needs all of them.
        body.extend(generator.list(Scope { uniform: false, may_leave: true, ..scope }, 8)?);
        let functions = (0..functions)
            .map(|index| {
                generator.next_loop = 0;
                let inner = Scope { callable: index + 1, most_loops: 1, uniform: false, may_leave: true, ..scope };
                generator.list(inner, 8)
            })
            .collect::<Result<_>>()?;
        Ok(Self { grid, block, kind, seed, functions, body })
    }
}

impl Generator<'_, '_> {
    fn below(&mut self, end: u8) -> Result<u8> {
        self.bytes.int_in_range(0..=end - 1)
    }

    fn register(&mut self, bank: Bank) -> Result<u8> {
        self.below(bank.registers())
    }

    fn guard(&mut self) -> Result<Guard> {
        Ok(Guard { predicate: self.register(Bank::Predicate)?, wanted: self.bytes.arbitrary()? })
    }

    fn maybe_guard(&mut self) -> Result<Option<Guard>> {
        Ok(if self.bytes.ratio(1, 4)? { Some(self.guard()?) } else { None })
    }

    fn list(&mut self, scope: Scope, most: u8) -> Result<Vec<Statement>> {
        let count = self.below(most + 1)?;
        let mut list = Vec::new();
        for _ in 0..count {
            if self.statements >= STATEMENTS || self.bytes.is_empty() {
                break;
            }
            self.statements += 1;
            list.push(self.statement(scope)?);
        }
        Ok(list)
    }

    fn inner(&mut self, scope: Scope) -> Result<Vec<Statement>> {
        self.list(Scope { depth: scope.depth + 1, uniform: false, ..scope }, 5)
    }

    fn statement(&mut self, scope: Scope) -> Result<Statement> {
        let nested = scope.depth < 4;
        Ok(match self.below(32)? {
            0..=9 => self.operate(scope)?,
            10 => {
                let bank = *self.bytes.choose(&[Bank::Word, Bank::Double, Bank::Half])?;
                Statement::Constant { bank, result: self.register(bank)?, value: self.number()? }
            }
            11 | 12 => Statement::Load(self.access(true)?),
            13 | 14 => Statement::Store(self.access(false)?),
            15 => self.atomic()?,
            16 => {
                let reduction = self.below(REDUCTIONS.len() as u8)?;
                let bank = REDUCTIONS[usize::from(reduction)].bank();
                Statement::Reduce {
                    reduction,
                    index: self.register(Bank::Word)?,
                    value: self.register(bank)?,
                    guard: self.maybe_guard()?,
                }
            }
            17..=19 if nested => {
                Statement::If { condition: self.condition()?, then: self.inner(scope)?, otherwise: self.inner(scope)? }
            }
            20 | 21 if nested && scope.loops < scope.most_loops => {
                let id = self.next_loop;
                self.next_loop += 1;
                Statement::Loop {
                    id,
                    count: self.register(Bank::Word)?,
                    most: *self.bytes.choose(&[3, 1, 7])?,
                    test_at_end: self.bytes.arbitrary()?,
                    body: self.inner(Scope { loops: scope.loops + 1, ..scope })?,
                }
            }
            22 if scope.loops > 0 => Statement::Break(self.guard()?),
            23 if scope.loops > 0 => Statement::Continue(self.guard()?),
            24 if nested => {
                let arms = self.below(4)? + 1;
                Statement::Switch {
                    index: self.register(Bank::Word)?,
                    arms: (0..arms).map(|_| self.inner(scope)).collect::<Result<_>>()?,
                }
            }
            25 if scope.callable < scope.functions => {
                let count = scope.functions - scope.callable;
                let functions = [scope.callable + self.below(count)?, scope.callable + self.below(count)?];
                Statement::Call {
                    functions,
                    choice: if self.bytes.arbitrary()? { Some(self.guard()?) } else { None },
                    word: self.register(Bank::Word)?,
                    double: self.register(Bank::Double)?,
                }
            }
            26 if scope.may_leave => Statement::Leave(self.guard()?),
            27..=29 if scope.uniform || scope.is_wild() && scope.callable == 0 => {
                Statement::Together(self.together(scope)?)
            }
            30 | 31 if scope.is_wild() => {
                let store = self.bytes.arbitrary()?;
                Statement::Wild {
                    region: self.region_for(store)?,
                    store,
                    far: self.bytes.arbitrary()?,
                    offset: self.register(Bank::Word)?,
                    register: self.register(Bank::Word)?,
                    guard: self.maybe_guard()?,
                }
            }
            _ => self.operate(scope)?,
        })
    }

    fn operate(&mut self, scope: Scope) -> Result<Statement> {
        let operation: &'static Operation = match scope.kind == Kind::Loose && self.bytes.ratio(1, 3)? {
            true => self.bytes.choose(operations::loose())?,
            false => self.bytes.choose(operations::all())?,
        };
        Ok(Statement::Operate {
            operation,
            result: self.register(operation.result)?,
            operands: operation.operands.iter().map(|&bank| self.register(bank)).collect::<Result<_>>()?,
            guard: self.maybe_guard()?.filter(|_| !loses_its_guard(operation.text)),
        })
    }

    /// A number that is often a special one.
    fn number(&mut self) -> Result<u64> {
        const SPECIAL: [u64; 12] = [
            0,
            1,
            u64::MAX,
            0x8000_0000_8000_0000,
            0x7fff_ffff_7fff_ffff,
            0x7f80_0000_ff80_0000,
            0x7fc0_0000_7fc0_0000,
            0x7ff0_0000_0000_0000,
            0x3f80_0000_3f80_0000,
            0x0000_0001_0000_0020,
            0x8000_0000_0000_0000,
            0x0000_ffff_0000_ffff,
        ];
        if self.bytes.arbitrary()? { Ok(*self.bytes.choose(&SPECIAL)?) } else { self.bytes.arbitrary() }
    }

    /// A region to load from, or to store to.
    fn region_for(&mut self, store: bool) -> Result<Region> {
        let places = [Region::Own, Region::Tile, Region::Local, Region::Input];
        Ok(*self.bytes.choose(&places[..places.len() - usize::from(store)])?)
    }

    fn access(&mut self, load: bool) -> Result<Access> {
        let region = self.region_for(!load)?;
        let element = *self.bytes.choose(&ELEMENTS)?;
        // Half of a region must hold the vector.
        let vectors = [1, 2, 4].into_iter().filter(|count| count * element.bytes <= 16.min(region.bytes() / 2));
        let vector = *self.bytes.choose(&vectors.collect::<Vec<_>>())?;
        Ok(Access {
            region,
            element,
            vector: if element.bank.bits() == 8 * element.bytes { vector } else { 1 },
            register: self.register(element.bank)?,
            index: self.register(Bank::Word)?,
            upper: self.bytes.arbitrary()?,
            generic: self.bytes.ratio(1, 4)?,
            guard: self.maybe_guard()?,
        })
    }

    fn atomic(&mut self) -> Result<Statement> {
        let atomic = *self.bytes.choose(&ATOMICS)?;
        let bank = atomic.bank();
        Ok(Statement::Atomic {
            atomic,
            region: *self.bytes.choose(&[Region::Own, Region::Tile])?,
            index: self.register(Bank::Word)?,
            values: [self.register(bank)?, self.register(bank)?],
            result: self.register(bank)?,
            guard: self.maybe_guard()?,
        })
    }

    fn condition(&mut self) -> Result<Condition> {
        let first = self.guard()?;
        Ok(match self.below(4)? {
            0 => Condition::Both(first, self.guard()?),
            1 => Condition::Either(first, self.guard()?),
            _ => Condition::One(first),
        })
    }

    fn together(&mut self, scope: Scope) -> Result<Together> {
        const VOTES: [Vote; 7] =
            [Vote::All, Vote::Any, Vote::Uniform, Vote::Ballot, Vote::BlockAnd, Vote::BlockOr, Vote::BlockCount];
        const MODES: [ShuffleMode; 4] =
            [ShuffleMode::Up, ShuffleMode::Down, ShuffleMode::Butterfly, ShuffleMode::Index];
        let (value, result) = (self.register(Bank::Word)?, self.register(Bank::Word)?);
        let whole = scope.whole_warps || scope.is_wild();
        Ok(match self.below(10)? {
            // In a partial warp it might read a lane that does not exist.
            0 if whole => Together::Shuffle {
                mode: *self.bytes.choose(&MODES)?,
                value,
                lane: self.register(Bank::Word)?,
                segment: *self.bytes.choose(&[32, 16, 8, 2])?,
                result,
                predicate: self.register(Bank::Predicate)?,
            },
            1 => {
                let vote = *self.bytes.choose(&VOTES)?;
                let bank = if matches!(vote, Vote::Ballot | Vote::BlockCount) { Bank::Word } else { Bank::Predicate };
                Together::Vote { vote, guard: self.guard()?, result: self.register(bank)? }
            }
            2 => Together::Match { value, result },
            3 => Together::MatchAll { value, result, predicate: self.register(Bank::Predicate)? },
            4 => Together::Redux { operation: self.below(REDUX.len() as u8)?, value, result },
            6 | 7 if whole && scope.kind == Kind::Loose => Together::FloatProduct {
                product: self.below(FLOAT_PRODUCTS.len() as u8)?,
                factors: [value, self.register(Bank::Word)?],
                added: self.register(Bank::Word)?,
                result,
            },
            6 | 7 if whole => Together::Product {
                signed: self.bytes.arbitrary()?,
                saturates: self.bytes.arbitrary()?,
                factors: [value, self.register(Bank::Word)?],
                added: self.register(Bank::Word)?,
                result,
            },
            8 if whole => Together::Rows {
                matrices: *self.bytes.choose(&[1, 2, 4])?,
                transposed: self.bytes.arbitrary()?,
                result,
            },
            _ => Together::Exchange { value, from: self.register(Bank::Word)?, result },
        })
    }
}

/// Whether NVIDIA's compiler mishandles a guard on this operation (ptxas 13.5, driver 580): see the
/// README.
fn loses_its_guard(text: &str) -> bool {
    text.starts_with("testp") || text.starts_with("set.") && (text.contains(".u16 ") || text.contains(".s16 "))
}

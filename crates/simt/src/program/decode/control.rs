//! Decodes branches, calls, barriers, and exchanges between lanes. Targets are resolved once the
//! body is decoded.

use ptx::{
    AtomicOp, BarrierAction, BarrierReduction, CallOperand, Callee, Destination, Handle, Operand, ShuffleMode, Type,
    VoteMode,
};

use super::function::{COUNTED, Decoded, FunctionDecoder, HELPER, Storage};
use crate::error::LoadErrorReason;
use crate::lanes::{ALWAYS, has_atomic};
use crate::program::code::{self, Action, Barrier, BranchIndexed, Call, Match, Reduction, Rows, Shuffle, SystemCall};
use crate::program::inspection::Rule;
use crate::program::system;

impl FunctionDecoder<'_, '_> {
    pub(super) fn branch(&mut self, target: u32, uniform: bool) -> Decoded<()> {
        self.control(Action::Branch { target, join_at: self.join_at })?;
        if uniform && self.guard != ALWAYS {
            self.inspect(Rule::UniformBranch);
        }
        Ok(())
    }

    pub(super) fn branch_indexed(&mut self, index: Operand, targets: &[u32], uniform: bool) -> Decoded<()> {
        let index = self.word(index, Type::U32)?;
        let branch = BranchIndexed { index, targets: targets.to_vec(), join_at: self.join_at };
        self.control(Action::BranchIndexed(Box::new(branch)))?;
        if uniform {
            self.inspect(Rule::UniformIndex { row: index });
        }
        Ok(())
    }

    pub(super) fn barrier(
        &mut self,
        action: BarrierAction,
        aligned: bool,
        barrier: Operand,
        threads: Option<Operand>,
    ) -> Decoded<()> {
        let reduction = match action {
            BarrierAction::Reduce { op, destination, predicate } => {
                let ty = if op == BarrierReduction::PopulationCount { Type::U32 } else { Type::Pred };
                let d = self.destination(destination, ty)?;
                Some(Reduction { op, d, predicate: self.predicate(predicate)? })
            }
            BarrierAction::Synchronize | BarrierAction::Arrive => None,
        };
        let number = self.word(barrier, Type::U32)?;
        let threads = match threads {
            Some(threads) => Some(self.word(threads, Type::U32)?),
            None => None,
        };
        let waits = action != BarrierAction::Arrive;
        self.control(Action::Barrier(Box::new(Barrier { number, threads, aligned, waits, reduction })))?;
        self.inspect(Rule::Barrier { row: number, reduces: reduction.is_some() });
        Ok(())
    }

    pub(super) fn shuffle(
        &mut self,
        mode: ShuffleMode,
        [dst, in_range]: [Destination; 2],
        [src, lane, clamp]: [Operand; 3],
        members: Option<Operand>,
    ) -> Decoded<()> {
        let shuffle = Shuffle {
            mode,
            d: self.destination(dst, Type::B32)?,
            in_range: self.destination(in_range, Type::Pred)?,
            source: self.word(src, Type::B32)?,
            lane: self.word(lane, Type::U32)?,
            clamp: self.word(clamp, Type::U32)?,
            members: self.members(members)?,
        };
        self.control(Action::Shuffle(Box::new(shuffle)))
    }

    pub(super) fn elect(&mut self, dst: Destination, leader: Destination, members: Operand) -> Decoded<()> {
        let (d, leader) = (self.destination(dst, Type::B32)?, self.destination(leader, Type::Pred)?);
        let members = self.word(members, Type::U32)?;
        self.control(Action::Elect { d, leader, members })
    }

    pub(super) fn vote(
        &mut self,
        mode: VoteMode,
        dst: Destination,
        predicate: Operand,
        members: Option<Operand>,
    ) -> Decoded<()> {
        let d = self.destination(dst, if mode == VoteMode::Ballot { Type::B32 } else { Type::Pred })?;
        let (predicate, members) = (self.predicate(predicate)?, self.members(members)?);
        self.control(Action::Vote { mode, d, predicate, members })
    }

    pub(super) fn match_lanes(
        &mut self,
        (all, ty): (bool, Type),
        [dst, all_equal]: [Destination; 2],
        src: Operand,
        members: Operand,
    ) -> Decoded<()> {
        let matching = Match {
            all,
            wide: ty.bits() == 64,
            d: self.destination(dst, Type::B32)?,
            all_equal: self.destination(all_equal, Type::Pred)?,
            source: self.value(src, ty)?,
            members: self.word(members, Type::U32)?,
        };
        self.control(Action::Match(Box::new(matching)))
    }

    pub(super) fn warp_reduce(
        &mut self,
        op: AtomicOp,
        ty: Type,
        dst: Destination,
        src: Operand,
        members: Operand,
    ) -> Decoded<()> {
        if !has_atomic(op, ty) || ty.bits() != 32 {
            let what = format!("redux.sync.{}.{}", op.name(), ty.name());
            return Err(LoadErrorReason::Unsupported { what });
        }
        let (d, source) = (self.destination(dst, ty)?, self.word(src, ty)?);
        let members = self.word(members, Type::U32)?;
        self.control(Action::WarpReduce { op, ty, d, source, members })
    }

    pub(super) fn stack_allocate(&mut self, ty: Type, dst: Destination, size: Operand, align: u32) -> Decoded<()> {
        let (d, size) = (self.destination(dst, ty)?, self.value(size, ty)?);
        self.control(Action::Allocate { d, wide: ty.bits() == 64, size, align })
    }

    /// The row of the member mask; without such an operand, the lanes that execute the instruction.
    fn members(&mut self, members: Option<Operand>) -> Decoded<u32> {
        if let Some(members) = members {
            return self.word(members, Type::U32);
        }
        let d = self.temporary_words(1);
        self.emit(HELPER, Action::ActiveMask { d });
        Ok(d)
    }

    pub(super) fn call(&mut self, callee: &Callee, results: &[CallOperand], arguments: &[CallOperand]) -> Decoded<()> {
        let module = self.builder.module;
        let direct = match callee {
            Callee::Direct(handle) => Some(&module.functions[*handle]),
            Callee::Indirect { .. } => None,
        };
        if let Some(function) = direct {
            let mismatch = |what: String| Err(LoadErrorReason::CallMismatch { name: function.name.clone(), what });
            let last = function.parameters.last().map(|&last| &module.variables[last]);
            let optional = usize::from(last.is_some_and(|last| last.size.is_none()));
            if !(function.parameters.len() - optional..=function.parameters.len()).contains(&arguments.len()) {
                return mismatch(format!("{} parameters, {} arguments", function.parameters.len(), arguments.len()));
            }
            if function.results.len() != results.len() {
                return mismatch(format!("{} results, {} expected", function.results.len(), results.len()));
            }
        }
        let system = direct.and_then(|function| system::of(module, function));
        let index = |handle: Handle<ptx::Function>| self.builder.by_handle.get(&handle.index()).copied().unwrap_or(0);
        let callee = match callee {
            Callee::Direct(handle) => code::Callee::Direct(index(*handle)),
            Callee::Indirect { register, candidates } => {
                let candidates = candidates.iter().map(|&handle| index(handle)).collect();
                let address = self.wide(Operand::Register(*register), Type::U64)?;
                code::Callee::Indirect { address, candidates }
            }
        };
        let declared = |list: Option<&Vec<Handle<ptx::Variable>>>, index: usize| {
            list.and_then(|list| list.get(index)).map(|&variable| &module.variables[variable])
        };
        let mut argument_rows = Vec::new();
        for (index, argument) in arguments.iter().enumerate() {
            let parameter = declared(direct.map(|function| &function.parameters), index);
            let rows = match *argument {
                CallOperand::Variable(variable) => self.rows_of(variable)?,
                CallOperand::Value(operand) => {
                    let ty = match (parameter, operand.register()) {
                        (Some(parameter), _) => parameter.ty,
                        (None, Some(register)) => self.type_of(register),
                        (None, None) => Type::B32,
                    };
                    self.spread(operand, ty)?
                }
            };
            self.check_size(direct, parameter, rows)?;
            argument_rows.push(rows);
        }
        let mut result_rows = Vec::new();
        let mut registers = Vec::new();
        for (index, result) in results.iter().enumerate() {
            let parameter = declared(direct.map(|function| &function.results), index);
            let rows = match *result {
                CallOperand::Variable(variable) => self.rows_of(variable)?,
                CallOperand::Value(Operand::Register(register)) => {
                    let count = self.type_of(register).bits().div_ceil(32);
                    let rows = Rows { first: self.temporary_words(count), count };
                    registers.push((rows, register));
                    rows
                }
                CallOperand::Value(_) => {
                    return Err(LoadErrorReason::Misplaced { what: "an operand that cannot take a result".into() });
                }
            };
            self.check_size(direct, parameter, rows)?;
            result_rows.push(rows);
        }
        let (arguments, results) = (argument_rows, result_rows);
        let action = match system {
            Some(function) => Action::CallSystem(Box::new(SystemCall { function, arguments, results })),
            None => Action::Call(Box::new(Call { callee, arguments, results })),
        };
        self.emit(COUNTED, action);
        for (rows, register) in registers {
            self.gather(rows, register)?;
        }
        Ok(())
    }

    fn rows_of(&self, variable: Handle<ptx::Variable>) -> Decoded<Rows> {
        match self.storage.get(&variable) {
            Some(&Storage::Rows(rows)) => Ok(rows),
            _ => {
                let name = &self.builder.module.variables[variable].name;
                Err(LoadErrorReason::Misplaced { what: format!("variable `{name}`") })
            }
        }
    }

    fn check_size(&self, callee: Option<&ptx::Function>, parameter: Option<&ptx::Variable>, rows: Rows) -> Decoded<()> {
        let (Some(callee), Some(parameter)) = (callee, parameter) else { return Ok(()) };
        // A parameter `[]` has any size.
        let Some(bytes) = parameter.size else { return Ok(()) };
        if bytes.div_ceil(4) == u64::from(rows.count) {
            return Ok(());
        }
        let what = format!("`{}` has {bytes} bytes, but {} are passed", parameter.name, rows.count * 4);
        Err(LoadErrorReason::CallMismatch { name: callee.name.clone(), what })
    }
}

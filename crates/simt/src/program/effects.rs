//! What passes over decoded code need to know of each step, in one table: what may be executed
//! next, what it does to memory that others see, and how. The table has no catch-all, so a new
//! [`Action`] does not compile until it has its row.

use ptx::Space;

use super::access::{AddressOperand, MemoryOperation};
use super::asynchronous::Asynchronous;
use super::code::Action;
use super::matrix::Matrix;
use super::texture::SurfaceAction;

/// The row of a step.
pub(crate) struct Effects<'a> {
    pub next: NextStep<'a>,
    pub memory: OnMemory,
    /// The proxy through which it writes memory.
    pub proxy: Option<Proxy>,
    /// The width in bytes of its accesses to memory that threads share, at least in part; 4 if it
    /// has none.
    pub width: u32,
}

/// What may be executed after a step whose guard holds.
pub(crate) enum NextStep<'a> {
    Following,
    Jump(u32),
    JumpIndexed(&'a [u32]),
    /// A function.
    Callee,
    /// Nothing of this function.
    End,
}

/// What a step does to device memory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnMemory {
    /// Nothing that another block sees.
    Nothing,
    /// It reads what another block may write.
    Polls,
    /// It writes whenever it accesses it.
    Stores,
    /// It may write, or print.
    MayStore,
}

/// How a step reaches memory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Proxy {
    Generic,
    Async,
}

impl Action {
    /// What a load, store or atomic operation does, and where.
    pub fn access(&self) -> Option<(&MemoryOperation, &AddressOperand)> {
        match self {
            Self::Load(load) => Some((&load.operation, &load.reach)),
            Self::Store(store) => Some((&store.operation, &store.reach)),
            Self::Atomic(atomic) => Some((&atomic.operation, &atomic.reach)),
            _ => None,
        }
    }

    /// Looks up a step.
    #[expect(clippy::too_many_lines, reason = "one arm for each case")]
    pub fn effects(&self) -> Effects<'_> {
        let plain = Effects { next: NextStep::Following, memory: OnMemory::Nothing, proxy: None, width: 4 };
        let generic = Some(Proxy::Generic);
        match self {
            Action::Load(load) => Effects {
                memory: if load.operation.order.strong { OnMemory::Polls } else { OnMemory::Nothing },
                width: if load.reach.space == Space::Local { 4 } else { load.operation.width },
                ..plain
            },
            Action::Store(store) => Effects {
                memory: OnMemory::Stores,
                proxy: generic,
                width: if store.reach.space == Space::Local { 4 } else { store.operation.width },
                ..plain
            },
            Action::Atomic(atomic) => {
                Effects { memory: OnMemory::Polls, proxy: generic, width: atomic.update.ty.bytes(), ..plain }
            }
            Action::Surface(access) => match access.action {
                SurfaceAction::Load => Effects { width: access.ty.bytes() * access.rows.len() as u32, ..plain },
                SurfaceAction::Store | SurfaceAction::Reduce(_) => {
                    let width = access.ty.bytes() * access.rows.len() as u32;
                    Effects { memory: OnMemory::MayStore, width, ..plain }
                }
                // As wide as the surface's texels, which are unknown here.
                SurfaceAction::StoreFormatted => Effects { memory: OnMemory::MayStore, width: 1, ..plain },
            },
            Action::Matrix(matrix) => match &**matrix {
                Matrix::StoreFragment(tile) => Effects {
                    memory: OnMemory::MayStore,
                    proxy: generic,
                    width: tile.fragment.ty.bits().div_ceil(8),
                    ..plain
                },
                Matrix::MultiplyByWarpgroup(_) => Effects { proxy: Some(Proxy::Async), ..plain },
                Matrix::Load { .. }
                | Matrix::Store { .. }
                | Matrix::Transpose { .. }
                | Matrix::LoadFragment(_)
                | Matrix::Multiply(_)
                | Matrix::Await
                | Matrix::CommitProducts
                | Matrix::WaitForProducts { .. } => Effects { proxy: generic, ..plain },
            },
            Action::Asynchronous(action) => match **action {
                Asynchronous::Bulk(_) | Asynchronous::Tensor(_) => {
                    Effects { memory: OnMemory::MayStore, proxy: Some(Proxy::Async), ..plain }
                }
                Asynchronous::Copy(_)
                | Asynchronous::ReplaceTensorField { .. }
                | Asynchronous::CopyTensorMap { .. }
                | Asynchronous::AcquireTensorMap { .. }
                | Asynchronous::CommitBulk
                | Asynchronous::WaitBulk { .. }
                | Asynchronous::RemoteStore(_)
                | Asynchronous::Commit
                | Asynchronous::Wait { .. }
                | Asynchronous::ArriveAfterCopies { .. }
                | Asynchronous::Mbarrier { .. } => Effects { memory: OnMemory::MayStore, ..plain },
            },
            Action::CallSystem(_) => Effects { memory: OnMemory::MayStore, ..plain },
            Action::Branch { target, .. } => Effects { next: NextStep::Jump(*target), ..plain },
            Action::BranchIndexed(branch) => Effects { next: NextStep::JumpIndexed(&branch.targets), ..plain },
            Action::Call(_) => Effects { next: NextStep::Callee, ..plain },
            Action::Return { .. } | Action::Exit | Action::Trap => Effects { next: NextStep::End, ..plain },
            Action::Lanes(..)
            | Action::Special { .. }
            | Action::LocalAddress { .. }
            | Action::Spill { .. }
            | Action::Fetch(_)
            | Action::Query(_)
            | Action::Nothing
            | Action::Fence(_)
            | Action::Allocate { .. }
            | Action::SaveStack { .. }
            | Action::RestoreStack { .. }
            | Action::Breakpoint
            | Action::Barrier(_)
            | Action::ClusterBarrier(_)
            | Action::WarpBarrier { .. }
            | Action::Shuffle(_)
            | Action::Vote { .. }
            | Action::Match(_)
            | Action::WarpReduce { .. }
            | Action::ActiveMask { .. }
            | Action::Elect { .. } => plain,
        }
    }

    /// The steps that it jumps to, and the one where its paths reconverge.
    pub fn targets_mut(&mut self) -> (&mut [u32], Option<&mut u32>) {
        match self {
            Action::Branch { target, join_at } => (std::slice::from_mut(target), Some(join_at)),
            Action::BranchIndexed(branch) => (&mut branch.targets, Some(&mut branch.join_at)),
            Action::Return { join_at } => (&mut [], Some(join_at)),
            Action::Load(_)
            | Action::Store(_)
            | Action::Atomic(_)
            | Action::Surface(_)
            | Action::Matrix(_)
            | Action::Asynchronous(_)
            | Action::CallSystem(_)
            | Action::Call(_)
            | Action::Exit
            | Action::Trap
            | Action::Lanes(..)
            | Action::Special { .. }
            | Action::LocalAddress { .. }
            | Action::Spill { .. }
            | Action::Fetch(_)
            | Action::Query(_)
            | Action::Nothing
            | Action::Fence(_)
            | Action::Allocate { .. }
            | Action::SaveStack { .. }
            | Action::RestoreStack { .. }
            | Action::Breakpoint
            | Action::Barrier(_)
            | Action::ClusterBarrier(_)
            | Action::WarpBarrier { .. }
            | Action::Shuffle(_)
            | Action::Vote { .. }
            | Action::Match(_)
            | Action::WarpReduce { .. }
            | Action::ActiveMask { .. }
            | Action::Elect { .. } => (&mut [], None),
        }
    }
}

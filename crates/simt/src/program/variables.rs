//! Gives the module's variables addresses, and writes their initial values to memory: when a
//! program is loaded, for `.global` and `.const`. Also the address map of functions.

use std::collections::HashMap;
use std::ops::Range;

use ptx::{Handle, Linkage, Module, SamplerAddressMode, SamplerState, Space, Symbol, Variable};

use crate::address::{LOCAL_WINDOW, SHARED_WINDOW};
use crate::error::LoadErrorReason;
use crate::texture::{AddressMode, Filter, Sampling};
use crate::{LoadError, Memory};

/// The addresses of functions start here, so that pointers to them can be stored and called.
const FUNCTION_BASE: u64 = 0x6000_0000_0000;
/// The distance between the addresses of two functions.
const FUNCTION_STRIDE: u64 = 16;

/// The address of a function.
pub(crate) fn function_address(handle: Handle<ptx::Function>) -> u64 {
    FUNCTION_BASE + handle.index() as u64 * FUNCTION_STRIDE
}

/// The function at an address, by the index of its handle.
pub(crate) fn function_at(address: u64) -> Option<usize> {
    let offset = address.checked_sub(FUNCTION_BASE)?;
    offset.is_multiple_of(FUNCTION_STRIDE).then_some((offset / FUNCTION_STRIDE) as usize)
}

/// The first byte of a state space in generic addresses.
pub(crate) fn window(space: Space) -> u64 {
    match space {
        Space::Shared | Space::ClusterShared => SHARED_WINDOW,
        Space::Local => LOCAL_WINDOW,
        Space::Parameter => crate::address::PARAMETER_WINDOW,
        Space::Generic | Space::Global | Space::Constant => 0,
    }
}

/// The range of the module's constants, which contains nothing else; empty if it has none.
pub(super) fn constants(module: &Module, addresses: &[Option<u64>]) -> Range<u64> {
    let of = |(handle, variable): (Handle<Variable>, &Variable)| {
        let address = addresses[handle.index()].filter(|_| variable.space == Space::Constant)?;
        Some(address..address + variable.size?.max(1))
    };
    module
        .variables
        .iter()
        .filter_map(of)
        .reduce(|all, one| all.start.min(one.start)..all.end.max(one.end))
        .unwrap_or(0..0)
}

/// Allocates the `.global` and `.const` variables and writes their initial values, but for those
/// that are `known`, by where they are declared. Returns the addresses of all, by the index of the
/// variable's handle.
pub(super) fn allocate(
    module: &Module,
    memory: &mut Memory,
    known: &HashMap<u32, u64>,
) -> Result<Vec<Option<u64>>, LoadError> {
    let failed = |variable: &Variable, error| LoadError::new(module, variable.span, LoadErrorReason::Memory(error));
    let mut addresses = vec![None; module.variables.len()];
    // Constants are allocated together: `constants` returns their range.
    let (constant, other): (Vec<_>, Vec<_>) =
        module.variables.iter().partition(|(_, variable)| variable.space == Space::Constant);
    for (handle, variable) in constant.into_iter().chain(other) {
        let size = match variable.size {
            Some(size) if variable.linkage != Linkage::Extern => size,
            _ => continue,
        };
        if let Some(&address) = known.get(&variable.span.start) {
            addresses[handle.index()] = Some(address);
            continue;
        }
        let allocated = match variable.space {
            Space::Global => memory.allocate(size),
            Space::Constant => memory.allocate_constant(size),
            _ => continue,
        };
        let address = allocated.map_err(|error| failed(variable, error))?;
        // What the initialiser omits is zero (PTX manual, "Initializers"), like all new memory.
        memory.mark_written(address);
        addresses[handle.index()] = Some(address);
        if let Some(state) = &variable.initializer.sampler {
            let sampler = memory.create_sampler(&sampling(state));
            memory.write(address, &sampler.to_le_bytes()).map_err(|error| failed(variable, error))?;
        }
    }
    for (handle, variable) in module.variables.iter() {
        let Some(address) = addresses[handle.index()] else { continue };
        if variable.initializer.sampler.is_some() || known.contains_key(&variable.span.start) {
            continue;
        }
        let mut bytes = variable.initializer.bytes.clone();
        for initial in &variable.initializer.addresses {
            let value = match initial.symbol {
                Symbol::Function(function) => function_address(function),
                Symbol::Variable(named) => match (addresses[named.index()], module.variables[named].space) {
                    (Some(address), _) => address,
                    (None, Space::Shared | Space::ClusterShared | Space::Local | Space::Parameter) => {
                        let what = format!("the address of `{}`", module.variables[named].name);
                        return Err(LoadError::new(module, variable.span, LoadErrorReason::Misplaced { what }));
                    }
                    (None, _) => {
                        let name = module.variables[named].name.clone();
                        return Err(LoadError::new(module, variable.span, LoadErrorReason::ExternVariable { name }));
                    }
                },
            };
            let value = value.wrapping_add_signed(initial.addend).unbounded_shr(initial.shift).to_le_bytes();
            let (from, width) = (initial.offset as usize, initial.width.min(8) as usize);
            let end = from.checked_add(width).filter(|&end| end as u64 <= variable.size.unwrap_or(0));
            let Some(end) = end else {
                let what = format!("an address beyond the end of `{}`", variable.name);
                return Err(LoadError::new(module, variable.span, LoadErrorReason::Misplaced { what }));
            };
            if bytes.len() < end {
                bytes.resize(end, 0);
            }
            bytes[from..end].copy_from_slice(&value[..width]);
        }
        bytes.truncate(variable.size.unwrap_or(0) as usize);
        memory.write(address, &bytes).map_err(|error| failed(variable, error))?;
    }
    Ok(addresses)
}

/// Converts a sampler's declaration in PTX.
fn sampling(state: &SamplerState) -> Sampling {
    let mode = |mode| match mode {
        SamplerAddressMode::Wrap => AddressMode::Wrap,
        SamplerAddressMode::Mirror => AddressMode::Mirror,
        SamplerAddressMode::ClampToEdge => AddressMode::Clamp,
        SamplerAddressMode::ClampToBorder => AddressMode::Border,
    };
    Sampling {
        address_modes: state.address_modes.map(mode),
        filter: if state.linear { Filter::Linear } else { Filter::Point },
        normalized_coordinates: !state.unnormalized,
        ..Sampling::default()
    }
}

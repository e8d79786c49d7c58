//! Lays out a kernel's shared variables and parameters: their offsets, and which functions it can
//! reach.

use std::collections::{BTreeSet, HashMap};

use ptx::{
    AddressBase, CallOperand, Callee, ControlOp, Function, Handle, Linkage, Module, Op, Operand, Space, Symbol,
    Variable,
};

/// A kernel and the functions that it may call, each once, the kernel first.
pub(super) fn reachable(module: &Module, kernel: Handle<Function>) -> Vec<Handle<Function>> {
    let mut found = vec![kernel];
    let mut next = 0;
    while let Some(&handle) = found.get(next) {
        next += 1;
        for instruction in module.functions[handle].body.iter().flatten() {
            if let Op::Control(ControlOp::Call { callee, .. }) = &instruction.op {
                let callees = match callee {
                    Callee::Direct(callee) => std::slice::from_ref(callee),
                    Callee::Indirect { candidates, .. } => candidates.as_slice(),
                };
                for callee in callees {
                    let provided = super::system::of(module, &module.functions[*callee]).is_some();
                    if !provided && !found.contains(callee) {
                        found.push(*callee);
                    }
                }
            }
        }
    }
    found
}

/// The offsets of the shared variables that `functions` use, and the total size of the static ones.
pub(super) fn shared(module: &Module, functions: &[Handle<Function>]) -> (HashMap<Handle<Variable>, u64>, u64) {
    let mut used = BTreeSet::new();
    for &handle in functions {
        for instruction in module.functions[handle].body.iter().flatten() {
            used.extend(variables_of(&instruction.op).filter(|&v| module.variables[v].space == Space::Shared));
        }
    }
    let is_dynamic = |handle: &Handle<Variable>| {
        let variable = &module.variables[*handle];
        variable.size.is_none() || variable.size == Some(0) && variable.linkage == Linkage::Extern
    };
    let mut offsets = HashMap::new();
    let mut end = 0u64;
    for &handle in used.iter().filter(|handle| !is_dynamic(handle)) {
        let variable = &module.variables[handle];
        let offset = align_up(end, variable.align);
        offsets.insert(handle, offset);
        end = offset.saturating_add(variable.size.unwrap_or(0));
    }
    // All dynamic arrays share the memory after the static variables.
    let align = used.iter().filter(|handle| is_dynamic(handle)).map(|&handle| module.variables[handle].align).max();
    if let Some(align) = align {
        end = align_up(end, align.max(16));
    }
    for &handle in used.iter().filter(|handle| is_dynamic(handle)) {
        offsets.insert(handle, end);
    }
    (offsets, end)
}

/// The size of parameters without one (`.param .b8 rest[]`): the most that any call passes.
pub(super) fn variable_parameters(module: &Module, functions: &[Handle<Function>]) -> HashMap<Handle<Variable>, u64> {
    let mut most = HashMap::new();
    let calls = functions.iter().flat_map(|&function| module.functions[function].body.iter().flatten());
    for call in calls {
        let Op::Control(ControlOp::Call { callee, arguments, .. }) = &call.op else { continue };
        let callees = match callee {
            Callee::Direct(callee) => std::slice::from_ref(callee),
            Callee::Indirect { candidates, .. } => candidates.as_slice(),
        };
        for &callee in callees {
            for (&parameter, argument) in module.functions[callee].parameters.iter().zip(arguments) {
                if let CallOperand::Variable(passed) = *argument
                    && module.variables[parameter].size.is_none()
                {
                    let bytes = module.variables[passed].size.unwrap_or(0);
                    let most = most.entry(parameter).or_insert(0);
                    *most = bytes.max(*most);
                }
            }
        }
    }
    most
}

/// The next multiple of an alignment, saturating.
pub(super) fn align_up(offset: u64, align: u32) -> u64 {
    offset.checked_next_multiple_of(align.max(1).into()).unwrap_or(u64::MAX)
}

/// The offset of each of a kernel's parameters, and their total size.
pub(crate) fn parameters(module: &Module, kernel: &Function) -> (Vec<u64>, u64) {
    let mut end = 0u64;
    let offsets = kernel.parameters.iter().map(|&handle| {
        let variable = &module.variables[handle];
        let offset = align_up(end, variable.align);
        end = offset.saturating_add(variable.size.unwrap_or(0));
        offset
    });
    (offsets.collect(), end)
}

/// The variables that an instruction names in its operands and addresses.
fn variables_of(op: &Op) -> impl Iterator<Item = Handle<Variable>> {
    let ptx::Sources { operands, addresses, .. } = op.sources();
    let named = operands.into_iter().filter_map(|operand| match operand {
        Operand::Address(Symbol::Variable(variable), _) => Some(*variable),
        _ => None,
    });
    named.chain(addresses.into_iter().filter_map(|address| match address.base {
        AddressBase::Variable(variable) => Some(variable),
        AddressBase::Register(_) | AddressBase::Absolute => None,
    }))
}

/// The parameters of a function whose address it takes.
pub(super) fn addressed_parameters(module: &Module, function: &Function) -> Vec<Handle<Variable>> {
    let mut found: Vec<Handle<Variable>> = Vec::new();
    for instruction in function.body.iter().flatten() {
        let direct = matches!(instruction.op, Op::Load { .. } | Op::Store { .. });
        if direct {
            continue;
        }
        for variable in variables_of(&instruction.op) {
            if module.variables[variable].space == Space::Parameter && !found.contains(&variable) {
                found.push(variable);
            }
        }
    }
    found
}

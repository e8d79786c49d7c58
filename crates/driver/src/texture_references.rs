//! Texture and surface references, which CUDA 12 has deprecated: variables of a module (`.texref`,
//! `.surfref`) that kernels fetch through, and that the host says the contents of. What it says is
//! kept, and before the next launch becomes an object whose handle the variable holds.

use std::ffi::{CString, c_float, c_int, c_uint};

use crate::boundary::{Done, In, Out, Status, Text, driver, say};
use crate::objects::{Handle, Reference};
use crate::sampling::{ARRAY, LINEAR, MIPMAPPED, PITCHED, Resource};
use crate::state::{State, ready, working};
use crate::texture::{make_surface, make_texture};

/// `CUDA_ARRAY_DESCRIPTOR`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Plane {
    width: usize,
    height: usize,
    format: c_uint,
    channels: c_uint,
}

/// The reference of a module's variable.
fn of_module(to: Out<Handle>, module: Handle, name: Text, is_surface: bool) -> Done {
    to.check()?;
    let mut state = ready()?;
    let name = name.get()?;
    let variable = Some((module, name.clone()));
    let known = state.references.iter().find(|(_, known)| known.variable == variable);
    if let Some((&known, reference)) = known {
        return if reference.is_surface == is_surface { to.put(known) } else { Err(Status::NOT_FOUND) };
    }
    let program = state.modules.get(&module).ok_or(Status::INVALID_HANDLE)?.program.clone();
    // Until it refers to something, a fetch through it is a fault.
    if CString::new(name.as_str()).is_err() || !program.bind(&mut state.memory, &name, 0) {
        return Err(Status::NOT_FOUND);
    }
    let handle = state.handle();
    state.references.insert(handle, Reference::new(variable, is_surface));
    to.put(handle)
}

fn get<T>(reference: Handle, what: impl FnOnce(&Reference) -> Done<T>) -> Done<T> {
    what(ready()?.references.get(&reference).ok_or(Status::INVALID_HANDLE)?)
}

fn set(reference: Handle, what: impl FnOnce(&mut Reference)) -> Done {
    let mut state = working()?;
    let reference = state.references.get_mut(&reference).ok_or(Status::INVALID_HANDLE)?;
    what(reference);
    reference.changed = true;
    state.references_changed = true;
    Ok(())
}

/// Has a reference refer to something.
fn refer(reference: Handle, resource: Resource) -> Done {
    set(reference, |reference| reference.resource = Some(resource))
}

/// What a reference refers to, of this kind.
fn referred(reference: &Reference, kind: c_uint) -> Done<u64> {
    let resource = reference.resource.as_ref().filter(|resource| resource.kind == kind);
    resource.map(|resource| resource.first).ok_or(Status::INVALID_VALUE)
}

/// Binds the references that the host has changed.
pub fn bind(state: &mut State) -> Done {
    if !std::mem::take(&mut state.references_changed) {
        return Ok(());
    }
    let mut references = std::mem::take(&mut state.references);
    let bound = references.values_mut().filter(|reference| reference.changed).try_for_each(|it| bind_one(state, it));
    state.references = references;
    state.references_changed = bound.is_err();
    bound
}

fn bind_one(state: &mut State, reference: &mut Reference) -> Done {
    let Reference { variable: Some((module, name)), resource: Some(resource), .. } = &*reference else { return Ok(()) };
    let (format, channels) = reference.format;
    let mut resource = *resource;
    if resource.kind == LINEAR {
        (resource.format, resource.channels) = (format, channels);
    }
    let made = match reference.is_surface {
        true => make_surface(state, &resource),
        false => make_texture(state, &resource, &reference.texture),
    };
    let made = made.inspect_err(|_| say(&format!("the reference `{name}` cannot be bound as it was set")))?;
    let program = state.modules.get(module).ok_or(Status::INVALID_HANDLE)?.program.clone();
    program.bind(&mut state.memory, name, made);
    if let Some(before) = reference.made.replace(made) {
        let _ = match reference.is_surface {
            true => state.memory.destroy_surface(before),
            false => state.memory.destroy_texture(before),
        };
    }
    reference.changed = false;
    Ok(())
}

/// Forgets the references of a module.
pub fn forget(state: &mut State, module: Handle) {
    state.references.retain(|_, reference| reference.variable.as_ref().is_none_or(|(of, _)| *of != module));
}

driver! {
    fn cuModuleGetTexRef(to: Out<Handle>, module: Handle, name: Text) {
        of_module(to, module, name, false)
    }

    fn cuModuleGetSurfRef(to: Out<Handle>, module: Handle, name: Text) {
        of_module(to, module, name, true)
    }

    fn cuSurfRefSetArray(reference: Handle, array: Handle, flags: c_uint) {
        refer(reference, Resource::new(ARRAY, array as u64))
    }

    fn cuSurfRefGetArray(to: Out<Handle>, reference: Handle) {
        to.put(get(reference, |reference| referred(reference, ARRAY))? as usize)
    }

    fn cuTexRefCreate(to: Out<Handle>) {
        to.check()?;
        let mut state = working()?;
        let handle = state.handle();
        state.references.insert(handle, Reference::new(None, false));
        to.put(handle)
    }

    fn cuTexRefDestroy(reference: Handle) {
        get(reference, |reference| if reference.variable.is_none() { Ok(()) } else { Err(Status::INVALID_VALUE) })?;
        ready()?.references.remove(&reference);
        Ok(())
    }

    fn cuTexRefSetArray(reference: Handle, array: Handle, flags: c_uint) {
        refer(reference, Resource::new(ARRAY, array as u64))
    }

    fn cuTexRefGetArray(to: Out<Handle>, reference: Handle) {
        to.put(get(reference, |reference| referred(reference, ARRAY))? as usize)
    }

    fn cuTexRefSetMipmappedArray(reference: Handle, array: Handle, flags: c_uint) {
        refer(reference, Resource::new(MIPMAPPED, array as u64))
    }

    fn cuTexRefGetMipmappedArray(to: Out<Handle>, reference: Handle) {
        to.put(get(reference, |reference| referred(reference, MIPMAPPED))? as usize)
    }

    fn cuTexRefSetAddress_v2(offset: Out<usize>, reference: Handle, address: u64, bytes: usize) {
        // Any address will do here.
        offset.give(0);
        refer(reference, Resource { width: bytes, ..Resource::new(LINEAR, address) })
    }

    fn cuTexRefSetAddress2D_v3(reference: Handle, plane: In<Plane>, address: u64, pitch: usize) {
        let Plane { width, height, format, channels } = plane.get()?;
        set(reference, |reference| reference.format = (format, channels))?;
        refer(reference, Resource { format, channels, width, height, pitch, ..Resource::new(PITCHED, address) })
    }

    fn cuTexRefGetAddress_v2(to: Out<u64>, reference: Handle) {
        to.put(get(reference, |reference| referred(reference, LINEAR).or_else(|_| referred(reference, PITCHED)))?)
    }

    fn cuTexRefSetFormat(reference: Handle, format: c_uint, channels: c_int) {
        set(reference, |reference| reference.format = (format, channels as c_uint))
    }

    fn cuTexRefGetFormat(format: Out<c_uint>, channels: Out<c_uint>, reference: Handle) {
        let known = get(reference, |reference| Ok(reference.format))?;
        format.put(known.0)?;
        channels.put(known.1)
    }

    fn cuTexRefSetAddressMode(reference: Handle, dimension: c_int, mode: c_uint) {
        let dimension = usize::try_from(dimension).ok().filter(|&it| it < 3 && mode < 4).ok_or(Status::INVALID_VALUE)?;
        set(reference, |reference| reference.texture.address_modes[dimension] = mode)
    }

    fn cuTexRefGetAddressMode(to: Out<c_uint>, reference: Handle, dimension: c_int) {
        let dimension = usize::try_from(dimension).map_err(|_| Status::INVALID_VALUE)?;
        to.put(get(reference, |it| it.texture.address_modes.get(dimension).copied().ok_or(Status::INVALID_VALUE))?)
    }

    fn cuTexRefSetFilterMode(reference: Handle, mode: c_uint) {
        set(reference, |reference| reference.texture.filter = mode)
    }

    fn cuTexRefGetFilterMode(to: Out<c_uint>, reference: Handle) {
        to.put(get(reference, |reference| Ok(reference.texture.filter))?)
    }

    fn cuTexRefSetFlags(reference: Handle, flags: c_uint) {
        set(reference, |reference| reference.texture.flags = flags)
    }

    fn cuTexRefGetFlags(to: Out<c_uint>, reference: Handle) {
        to.put(get(reference, |reference| Ok(reference.texture.flags))?)
    }

    fn cuTexRefSetMaxAnisotropy(reference: Handle, most: c_uint) {
        set(reference, |reference| reference.texture.anisotropy = most)
    }

    fn cuTexRefGetMaxAnisotropy(to: Out<c_uint>, reference: Handle) {
        to.put(get(reference, |reference| Ok(reference.texture.anisotropy))?)
    }

    fn cuTexRefSetMipmapFilterMode(reference: Handle, mode: c_uint) {
        set(reference, |reference| reference.texture.level_filter = mode)
    }

    fn cuTexRefGetMipmapFilterMode(to: Out<c_uint>, reference: Handle) {
        to.put(get(reference, |reference| Ok(reference.texture.level_filter))?)
    }

    fn cuTexRefSetMipmapLevelBias(reference: Handle, bias: c_float) {
        set(reference, |reference| reference.texture.level_bias = bias)
    }

    fn cuTexRefGetMipmapLevelBias(to: Out<c_float>, reference: Handle) {
        to.put(get(reference, |reference| Ok(reference.texture.level_bias))?)
    }

    fn cuTexRefSetMipmapLevelClamp(reference: Handle, least: c_float, greatest: c_float) {
        set(reference, |reference| {
            (reference.texture.least_level, reference.texture.greatest_level) = (least, greatest);
        })
    }

    fn cuTexRefGetMipmapLevelClamp(least: Out<c_float>, greatest: Out<c_float>, reference: Handle) {
        let texture = get(reference, |reference| Ok(reference.texture))?;
        least.put(texture.least_level)?;
        greatest.put(texture.greatest_level)
    }

    fn cuTexRefSetBorderColor(reference: Handle, color: In<c_float>) {
        let color: [c_float; 4] = color.list(4).try_into().map_err(|_| Status::INVALID_VALUE)?;
        set(reference, |reference| reference.texture.border = color)
    }

    fn cuTexRefGetBorderColor(to: Out<c_float>, reference: Handle) {
        to.put_all(get(reference, |reference| Ok(reference.texture.border))?)
    }
}

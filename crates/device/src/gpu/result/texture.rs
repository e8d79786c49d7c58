//! Texture and surface objects. `safe/texture.rs` calls it and owns what it makes.

use std::ptr;

use cust::sys::{self, CUDA_RESOURCE_DESC, CUDA_TEXTURE_DESC};

use super::{Result, to_result};

/// Makes a texture object; returns the number that kernels take for it.
///
/// # Safety
///
/// The resource names an array that is alive, or memory of the current context.
pub unsafe fn create_texture(resource: &CUDA_RESOURCE_DESC, sampling: &CUDA_TEXTURE_DESC) -> Result<u64> {
    let mut texture = 0;
    // SAFETY: the caller's promise; the structs and the output outlive the call.
    to_result(unsafe { sys::cuTexObjectCreate(&mut texture, resource, sampling, ptr::null()) })?;
    Ok(texture)
}

/// Destroys a texture object.
///
/// # Safety
///
/// The texture comes from [`create_texture`], in the current context, and nothing uses it any more.
pub unsafe fn destroy_texture(texture: u64) -> Result<()> {
    // SAFETY: the caller's promise.
    to_result(unsafe { sys::cuTexObjectDestroy(texture) })
}

/// Makes a surface object; returns the number that kernels take for it.
///
/// # Safety
///
/// The resource names an array that is alive.
pub unsafe fn create_surface(resource: &CUDA_RESOURCE_DESC) -> Result<u64> {
    let mut surface = 0;
    // SAFETY: the caller's promise; the struct and the output outlive the call.
    to_result(unsafe { sys::cuSurfObjectCreate(&mut surface, resource) })?;
    Ok(surface)
}

/// Destroys a surface object.
///
/// # Safety
///
/// The surface comes from [`create_surface`], in the current context, and nothing uses it any more.
pub unsafe fn destroy_surface(surface: u64) -> Result<()> {
    // SAFETY: the caller's promise.
    to_result(unsafe { sys::cuSurfObjectDestroy(surface) })
}

//! The text of accesses to memory, textures and surfaces, and of fences.

use super::text::{Text, padded};
use crate::{EvictionHint, EvictionPriority, FenceProxies, Fetch, Level, Ordering, Scope, Space, TextureFetch, Type};

/// A state space by the name that copies and fences of proxies require.
pub(super) fn block_or(space: Space) -> &'static str {
    if space == Space::Shared { "shared::cta" } else { space.name() }
}

/// Opcode, ordering, scope and state space of an atomic operation. Without an ordering, it is
/// relaxed, for the device.
pub(super) fn atomic<'m>(
    text: Text<'m>,
    is_reduction: bool,
    (ordering, scope): (Ordering, Scope),
    space: Space,
) -> Text<'m> {
    let text = text.op(if is_reduction { "red" } else { "atom" });
    let text = match (ordering, scope) {
        (Ordering::Relaxed, Scope::Device) => text,
        _ => text.dot(ordering.name()).dot(scope.name()),
    };
    text.dot(space.name())
}

/// The modifier for what an access asks of L2; empty if it asks for nothing.
pub(super) fn eviction(hint: &EvictionHint) -> &'static str {
    match hint {
        EvictionHint::Policy(_) => "L2::cache_hint",
        EvictionHint::Priority(EvictionPriority::Unchanged) => "",
        EvictionHint::Priority(priority) => priority.name(),
    }
}

/// Whether atomic operations of the type say `.noftz`.
pub(super) fn keeps_subnormals(ty: Type) -> bool {
    matches!(ty, Type::F16 | Type::F16x2 | Type::Bf16 | Type::Bf16x2)
}

/// Opcode and modifiers of a prefetch; only tensor maps are prefetched from these state spaces.
pub(super) fn prefetch(text: Text<'_>, space: Space) -> Text<'_> {
    let what = if matches!(space, Space::Constant | Space::Parameter) { "tensormap" } else { "L2" };
    text.op("prefetch").dot(space.name()).dot(what)
}

/// `fence.acq_rel.gpu`, and fences between proxies.
pub(super) fn fence<'m>(text: Text<'m>, ordering: Ordering, scope: Scope, proxies: &Option<FenceProxies>) -> Text<'m> {
    let text = text.op("fence");
    let one_way = |text: Text<'m>, restricted: &str| text.dot(ordering.name()).dot(restricted).dot(scope.name());
    match proxies {
        None => one_way(text, ""),
        Some(FenceProxies::Async(space)) => match ordering {
            Ordering::Acquire => one_way(text.dot("proxy.async::generic"), "sync_restrict::shared::cluster"),
            Ordering::Release => one_way(text.dot("proxy.async::generic"), "sync_restrict::shared::cta"),
            _ => text.dot("proxy.async").dot(block_or(*space)),
        },
        Some(FenceProxies::ReleaseTensorMaps) => one_way(text.dot("proxy.tensormap::generic"), ""),
        Some(FenceProxies::AcquireTensorMap(map)) => {
            one_way(text.dot("proxy.tensormap::generic"), "").arg(map).number(128u32)
        }
    }
}

/// `tex.level.2d.v4.f32.f32 {r, g, b, a}|p, [texture, sampler, {x, y}], level, {offsets}`, `tld4`
pub(super) fn texture_fetch<'m>(text: Text<'m>, fetch: &TextureFetch) -> Text<'m> {
    let text = match (fetch.fetch, &fetch.level) {
        (Fetch::Gather(component), _) => text.op("tld4").dot(["r", "g", "b", "a"][usize::from(component) % 4]),
        (Fetch::Sample, Level::Base) => text.op("tex"),
        (Fetch::Sample, Level::At(_)) => text.op("tex.level"),
        (Fetch::Sample, Level::Gradient(..)) => text.op("tex.grad"),
    };
    let text = text.dot(fetch.position.geometry.name()).lanes(fetch.dsts.len()).ty(fetch.ty).ty(fetch.position.ty);
    let text = text.vector(&fetch.dsts).beside(fetch.resident);
    let text = text.texel(fetch.texture, fetch.sampler, &fetch.position);
    let text = match &fetch.level {
        Level::Base => text,
        Level::At(level) => text.arg(level),
        Level::Gradient(in_x, in_y) => text.vector(padded(in_x)).vector(padded(in_y)),
    };
    if fetch.offset.is_empty() { text } else { text.vector(padded(&fetch.offset)) }
}

//! Types loads, stores, prefetches and fences. Copies share its state spaces, scopes and cache
//! hints.

use super::context::Context;
use super::names::Width;
use crate::Type::*;
use crate::errors::{InstructionError, OperandError, Parsed, fault};
use crate::{
    CacheOperator, EvictionHint, EvictionPriority, FenceProxies, FromName as _, Op, Ordering, Scope, Space, Type,
};

/// The types that are loaded and stored.
const STORED: [Type; 15] = [B8, B16, B32, B64, B128, U8, U16, U32, U64, S8, S16, S32, S64, F32, F64];

/// The ordering and scope of a load or store.
fn ordering(c: &mut Context<'_, '_>) -> Parsed<(Ordering, Scope)> {
    let loads = c.opcode() == "ld";
    let synchronizes = if loads { Ordering::Acquire } else { Ordering::Release };
    let allowed = [Ordering::Weak, Ordering::Volatile, Ordering::MemoryMapped, Ordering::Relaxed, synchronizes];
    let ordering = c.choose_of(&allowed);
    let Some(ordering) = ordering else { return Ok((Ordering::Weak, Scope::default())) };
    let scope = match ordering {
        Ordering::Weak | Ordering::Volatile => Scope::default(),
        Ordering::MemoryMapped => {
            c.require(&[("relaxed", ())], "`.relaxed.sys`")?;
            c.require_of(Scope::ALL, "a scope such as `.sys`")?
        }
        _ => c.require_of(Scope::ALL, "a scope such as `.gpu`")?,
    };
    Ok((ordering, scope))
}

/// Takes cache hints, which have no visible effect: `.L1::no_allocate`, `.L2::128B`, ... Returns the
/// priority in L2, and whether one of them is `.L2::cache_hint`, which adds a cache policy after the
/// other operands.
pub(super) fn hints(c: &mut Context<'_, '_>) -> (EvictionPriority, bool) {
    const HINTS: [&str; 12] = [
        "L1::evict_normal",
        "L1::evict_unchanged",
        "L1::evict_first",
        "L1::evict_last",
        "L1::no_allocate",
        "L2::evict_normal",
        "L2::evict_first",
        "L2::evict_last",
        "L2::cache_hint",
        "L2::64B",
        "L2::128B",
        "L2::256B",
    ];
    let (mut priority, mut has_policy) = (EvictionPriority::Unchanged, false);
    while let Some(name) = c.take_first(|name| HINTS.contains(&name).then_some(name)) {
        has_policy |= name == "L2::cache_hint";
        priority = EvictionPriority::from_name(name).unwrap_or(priority);
    }
    (priority, has_policy)
}

/// Requires `count` operands, followed by a cache policy if there is one.
pub(super) fn operands_and_policy(c: &mut Context<'_, '_>, count: usize, has_policy: bool) -> Parsed<()> {
    c.operands(count + usize::from(has_policy))?;
    if has_policy {
        c.src(count, B64)?;
    }
    Ok(())
}

/// What a load or store asks of L2; its policy, if there is one, is the operand after two others.
fn eviction(c: &mut Context<'_, '_>, (priority, has_policy): (EvictionPriority, bool)) -> Parsed<EvictionHint> {
    operands_and_policy(c, 2, has_policy)?;
    match has_policy {
        true => Ok(EvictionHint::Policy(c.src(2, B64)?)),
        false => Ok(EvictionHint::Priority(priority)),
    }
}

/// The vector length and type. An access has up to 16 bytes, or 32 in global memory from sm_100 on.
fn vector(c: &mut Context<'_, '_>, space: Space) -> Parsed<(usize, Type)> {
    let lanes = c.choose(&[("v2", 2), ("v4", 4), ("v8", 8)]).unwrap_or(1);
    let ty = c.ty()?;
    if !STORED.contains(&ty) {
        return c.wrong_type(ty);
    }
    let wide = matches!(space, Space::Global | Space::Generic) && c.environment.module.target >= 100;
    let bytes = lanes * ty.bytes() as usize;
    if bytes > 16 && !(wide && bytes == 32 && ty != B128) || lanes == 8 && ty.bytes() != 4 {
        let error = InstructionError::VectorTooWide { lanes: lanes as u32, ty: ty.name().into() };
        return fault(c.name_span(), error);
    }
    Ok((lanes, ty))
}

/// `ld`, `ldu`
pub(super) fn load(c: &mut Context<'_, '_>) -> Parsed<Op> {
    let uniform = c.opcode() == "ldu";
    let (ordering, scope) = if uniform { Default::default() } else { ordering(c)? };
    let space = c.choose_of(if uniform { &[Space::Global] } else { Space::ALL }).unwrap_or(Space::Generic);
    let asked = hints(c);
    use CacheOperator::{AllLevels, GlobalLevel, LastUse, Streaming, Volatile};
    let operators = [AllLevels, GlobalLevel, Streaming, LastUse, Volatile];
    let takes_operator = !uniform && ordering == Ordering::Weak;
    let cache = if takes_operator { c.choose_of(&operators) } else { None };
    let non_coherent = space == Space::Global && c.accept("nc");
    let (lanes, ty) = vector(c, space)?;
    let eviction = eviction(c, asked)?;
    let space = c.space_of_name(1, space)?;
    let parts = c.parts(0, lanes)?;
    let dsts = parts.iter().map(|part| c.destination(part, ty, Width::AtLeast)).collect::<Parsed<_>>()?;
    let address = c.address(1, space)?;
    let cache = cache.unwrap_or_default();
    Ok(Op::Load { space, ordering, scope, cache, eviction, non_coherent, uniform, ty, dsts, address })
}

/// `st`
pub(super) fn store(c: &mut Context<'_, '_>) -> Parsed<Op> {
    let (ordering, scope) = ordering(c)?;
    if c.accept("const") {
        return c.misplaced_modifier();
    }
    let space = c.choose_of(Space::ALL).unwrap_or(Space::Generic);
    let asked = hints(c);
    use CacheOperator::{GlobalLevel, Streaming, WriteBack, WriteThrough};
    let operators = [WriteBack, GlobalLevel, Streaming, WriteThrough];
    let cache = if ordering == Ordering::Weak { c.choose_of(&operators) } else { None };
    let (lanes, ty) = vector(c, space)?;
    let eviction = eviction(c, asked)?;
    let space = c.space_of_name(0, space)?;
    let address = c.address(0, space)?;
    let parts = c.parts(1, lanes)?;
    let srcs = parts.iter().map(|part| c.source(part, ty, Width::AtLeast)).collect::<Parsed<_>>()?;
    Ok(Op::Store { space, ordering, scope, cache: cache.unwrap_or_default(), eviction, ty, srcs, address })
}

/// `prefetch.global.L2 [a];`, `prefetch.param.tensormap [a];`, `prefetchu.L1 [a];`,
/// `applypriority.global.L2::evict_normal [a], 128;`, `discard.global.L2 [a], 128;`
pub(super) fn prefetch(c: &mut Context<'_, '_>) -> Parsed<Op> {
    if c.opcode() == "prefetch" && c.has_modifier("tensormap") {
        let space = c.choose_of(&[Space::Constant, Space::Parameter]).unwrap_or(Space::Generic);
        c.accept("tensormap");
        c.operands(1)?;
        return Ok(Op::Prefetch { space, address: c.address(0, space)? });
    }
    let space = c.choose_of(&[Space::Global, Space::Local]).unwrap_or(Space::Generic);
    let levels: &[(&str, ())] = match c.opcode() {
        "prefetch" => &[("L1", ()), ("L2", ()), ("L2::evict_last", ()), ("L2::evict_normal", ())],
        "prefetchu" => &[("L1", ())],
        "applypriority" => &[("L2::evict_normal", ())],
        _ => &[("L2", ())],
    };
    c.require(levels, "a cache level such as `.L2`")?;
    let sized = matches!(c.opcode(), "applypriority" | "discard");
    c.operands(if sized { 2 } else { 1 })?;
    if sized && c.immediate(1, 128)? != 128 {
        return fault(c.raw(1).span, OperandError::OutOfRange { low: 128, high: 128 });
    }
    Ok(Op::Prefetch { space, address: c.address(0, space)? })
}

/// `createpolicy.fractional.L2::evict_last{.L2::evict_unchanged}.b64 d{, fraction};`,
/// `createpolicy.range{.global}.L2::evict_last{.L2::evict_first}.b64 d, [a], primary, total;`,
/// `createpolicy.cvt.L2.b64 d, property;`
pub(super) fn create_policy(c: &mut Context<'_, '_>) -> Parsed<Op> {
    #[derive(Clone, Copy, PartialEq)]
    enum Form {
        Fractional,
        Range,
        Convert,
    }
    let forms = [("fractional", Form::Fractional), ("range", Form::Range), ("cvt", Form::Convert)];
    let form = c.require(&forms, "`.fractional`, `.range` or `.cvt`")?;
    let space = if form == Form::Range && c.accept("global") { Space::Global } else { Space::Generic };
    let mut priority = EvictionPriority::Unchanged;
    if form == Form::Convert {
        c.require(&[("L2", ())], "`.L2`")?;
    } else {
        let primary = c.require_of(EvictionPriority::ALL, "a priority such as `.L2::evict_last`")?;
        c.choose(&[("L2::evict_first", ()), ("L2::evict_unchanged", ())]);
        if form == Form::Fractional {
            priority = primary;
        }
    }
    let ty = c.ty_of(&[B64])?;
    match form {
        Form::Fractional => {
            c.operands_between(1..=2)?;
            if c.count() == 2 {
                c.src(1, F32)?;
            }
        }
        Form::Range => {
            c.operands(4)?;
            c.address(1, space)?;
            c.src(2, U32)?;
            c.src(3, U32)?;
        }
        Form::Convert => {
            c.operands(2)?;
            c.src(1, ty)?;
        }
    }
    Ok(Op::CreatePolicy { dst: c.dst(0, ty)?, priority })
}

/// `fence{.sc}.gpu;`, `membar.gl;`, and fences between proxies, which become stronger ones here:
/// `fence.proxy.async;`, `fence.mbarrier_init.release.cluster;`,
/// `fence.acquire.sync_restrict::shared::cluster.cluster;`
pub(super) fn fence(c: &mut Context<'_, '_>) -> Parsed<Op> {
    const RESTRICTED: [(&str, ()); 2] = [("sync_restrict::shared::cta", ()), ("sync_restrict::shared::cluster", ())];
    if c.accept("proxy") {
        return proxy_fence(c);
    }
    let (ordering, scope) = if c.opcode() == "membar" {
        let levels = [("cta", Scope::Block), ("gl", Scope::Device), ("sys", Scope::System)];
        (Ordering::SequentiallyConsistent, c.require(&levels, "a level such as `.gl`")?)
    } else {
        c.accept("mbarrier_init");
        let ordering = c.choose_of(&[
            Ordering::SequentiallyConsistent,
            Ordering::AcquireRelease,
            Ordering::Acquire,
            Ordering::Release,
        ]);
        c.choose(&RESTRICTED);
        (ordering.unwrap_or(Ordering::AcquireRelease), c.require_of(Scope::ALL, "a scope such as `.gpu`")?)
    };
    c.operands(0)?;
    Ok(Op::Fence { ordering, scope, proxies: None })
}

/// `fence.proxy.alias;`, `fence.proxy.async.global;`,
/// `fence.proxy.async::generic.acquire...cluster;`, `fence.proxy.tensormap::generic.release.gpu;`,
/// `fence.proxy.tensormap::generic.acquire.gpu [map], 128;`
fn proxy_fence(c: &mut Context<'_, '_>) -> Parsed<Op> {
    #[derive(Clone, Copy, PartialEq)]
    enum Form {
        OfAliases,
        Async,
        AsyncOneWay,
        OfTensorMap,
    }
    let forms = [
        ("alias", Form::OfAliases),
        ("async", Form::Async),
        ("async::generic", Form::AsyncOneWay),
        ("tensormap::generic", Form::OfTensorMap),
    ];
    let form = c.require(&forms, "`.alias`, `.async`, `.async::generic` or `.tensormap::generic`")?;
    let mut space = None;
    let (mut ordering, mut scope) = (Ordering::AcquireRelease, Scope::Device);
    if matches!(form, Form::AsyncOneWay | Form::OfTensorMap) {
        ordering = c.require_of(&[Ordering::Acquire, Ordering::Release], "`.acquire` or `.release`")?;
        if form == Form::AsyncOneWay {
            c.choose(&[("sync_restrict::shared::cta", ()), ("sync_restrict::shared::cluster", ())]);
        }
        scope = c.require_of(Scope::ALL, "a scope such as `.cluster`")?;
    } else {
        space = c.choose_of(Space::ALL);
    }
    let acquires_map = form == Form::OfTensorMap && ordering == Ordering::Acquire;
    c.operands(if acquires_map { 2 } else { 0 })?;
    let proxies = match form {
        Form::OfAliases => None,
        Form::Async | Form::AsyncOneWay => Some(FenceProxies::Async(space.unwrap_or(Space::Generic))),
        Form::OfTensorMap if acquires_map => {
            let map = c.address(0, Space::Generic)?;
            map_bytes(c, 1)?;
            Some(FenceProxies::AcquireTensorMap(map))
        }
        Form::OfTensorMap => Some(FenceProxies::ReleaseTensorMaps),
    };
    Ok(Op::Fence { ordering, scope, proxies })
}

/// Bytes of a tensor map.
pub(super) const MAP_BYTES: u64 = 128;

/// Operand `index`: the size of a tensor map, the only number allowed.
pub(super) fn map_bytes(c: &mut Context<'_, '_>, index: usize) -> Parsed<()> {
    match c.immediate(index, MAP_BYTES)? {
        MAP_BYTES => Ok(()),
        _ => fault(c.raw(index).span, OperandError::OutOfRange { low: MAP_BYTES, high: MAP_BYTES }),
    }
}

//! Decodes texture and surface instructions into [`program::texture`](crate::program::texture), one
//! step for each.

use ptx::{Destination, Geometry, Opaque, Operand, OutOfRange, TexelPosition, TextureFetch, TextureQuery, Type};

use super::function::{COUNTED, Decoded, FunctionDecoder};
use crate::error::LoadErrorReason;
use crate::lanes::FIXED;
use crate::program::code::{Action, Constant};
use crate::program::texture::{CoordinateRows, Fetch, Level, Query, SurfaceAccess, SurfaceAction};

impl FunctionDecoder<'_, '_> {
    pub(super) fn texture_fetch(&mut self, fetch: &TextureFetch) -> Decoded<()> {
        let fetch = self.fetch(fetch)?;
        self.emit(COUNTED, Action::Fetch(Box::new(fetch)));
        Ok(())
    }

    pub(super) fn texture_query(
        &mut self,
        (what, of_surface): (TextureQuery, bool),
        dst: Destination,
        object: Opaque,
        level: Option<Operand>,
    ) -> Decoded<()> {
        let d = self.destination(dst, Type::B32)?;
        let query = Query { what, of_surface, d, object: self.opaque(object)?, level: self.optional(level)? };
        self.emit(COUNTED, Action::Query(Box::new(query)));
        Ok(())
    }

    pub(super) fn surface_load(
        &mut self,
        ty: Type,
        dsts: &[Destination],
        surface: Opaque,
        position: &TexelPosition,
        outside: OutOfRange,
    ) -> Decoded<()> {
        let register = dsts.iter().flatten().next();
        let wide = register.map_or(ty.bits(), |&register| self.type_of(register).bits()) == 64;
        let result = if wide { Type::B64 } else { Type::B32 };
        let rows = dsts.iter().map(|&dst| self.destination(dst, result)).collect::<Decoded<_>>()?;
        let access = self.surface(SurfaceAction::Load, ty, rows, surface, position, outside)?;
        self.emit(COUNTED, Action::Surface(Box::new(SurfaceAccess { wide, ..access })));
        Ok(())
    }

    /// A store or a reduction.
    pub(super) fn texture_write(
        &mut self,
        (action, by_element): (SurfaceAction, bool),
        ty: Type,
        srcs: &[Operand],
        surface: Opaque,
        position: &TexelPosition,
        outside: OutOfRange,
    ) -> Decoded<()> {
        let rows = srcs.iter().map(|&src| self.value(src, ty)).collect::<Decoded<_>>()?;
        let access = self.surface(action, ty, rows, surface, position, outside)?;
        self.emit(COUNTED, Action::Surface(Box::new(SurfaceAccess { by_element, ..access })));
        Ok(())
    }

    /// An access by bytes, with words.
    fn surface(
        &mut self,
        action: SurfaceAction,
        ty: Type,
        rows: Vec<u32>,
        surface: Opaque,
        position: &TexelPosition,
        outside: OutOfRange,
    ) -> Decoded<SurfaceAccess> {
        let (surface, coordinates) = (self.opaque(surface)?, self.coordinates(position)?);
        let (by_element, wide) = (false, false);
        Ok(SurfaceAccess { action, by_element, wide, ty, rows, surface, coordinates, outside })
    }

    fn fetch(&mut self, fetch: &TextureFetch) -> Decoded<Fetch> {
        if let geometry @ (Geometry::Cube | Geometry::CubeArray) = fetch.position.geometry {
            return Err(LoadErrorReason::Unsupported { what: format!("tex.{}", geometry.name()) });
        }
        let words = |decoder: &mut Self, list: &[Operand], ty| {
            list.iter().map(|&operand| decoder.word(operand, ty)).collect::<Decoded<Vec<u32>>>()
        };
        let level = match &fetch.level {
            ptx::Level::Base => Level::Base,
            ptx::Level::At(level) => Level::At(self.word(*level, fetch.position.ty)?),
            ptx::Level::Gradient(in_x, in_y) => {
                Level::Gradient(words(self, in_x, Type::F32)?, words(self, in_y, Type::F32)?)
            }
        };
        let row = |decoder: &mut Self, dst: Destination| decoder.destination(dst, fetch.ty);
        Ok(Fetch {
            component: match fetch.fetch {
                ptx::Fetch::Sample => None,
                ptx::Fetch::Gather(component) => Some(component.into()),
            },
            ty: fetch.ty,
            rows: fetch.dsts.iter().map(|&dst| row(self, dst)).collect::<Decoded<_>>()?,
            resident: match fetch.resident {
                Some(_) => Some(self.destination(fetch.resident, Type::Pred)?),
                None => None,
            },
            texture: self.opaque(fetch.texture)?,
            sampler: match fetch.sampler {
                Some(sampler) => Some(self.opaque(sampler)?),
                None => None,
            },
            coordinates: self.coordinates(&fetch.position)?,
            level,
            offset: words(self, &fetch.offset, Type::S32)?,
        })
    }

    fn coordinates(&mut self, position: &TexelPosition) -> Decoded<CoordinateRows> {
        let rows =
            position.coordinates.iter().map(|&operand| self.word(operand, position.ty)).collect::<Decoded<_>>()?;
        let layer = self.optional(position.layer)?;
        Ok(CoordinateRows { geometry: position.geometry, layer, rows, whole: position.ty == Type::S32 })
    }

    fn optional(&mut self, operand: Option<Operand>) -> Decoded<Option<u32>> {
        match operand {
            Some(operand) => self.word(operand, Type::U32).map(Some),
            None => Ok(None),
        }
    }

    /// The row of a handle, or of the address of a variable that holds one.
    fn opaque(&mut self, object: Opaque) -> Decoded<u32> {
        match object {
            Opaque::Register(register) => self.wide(Operand::Register(register), Type::B64),
            Opaque::Variable(variable) => {
                let constant = match self.storage.get(&variable) {
                    Some(&super::function::Storage::Kernel(offset)) => {
                        Constant::Parameter { offset, bytes: 8, signed: false }
                    }
                    _ => Constant::Bits(self.variable_address(variable)?),
                };
                Ok(self.builder.doubles.row(constant) | FIXED)
            }
        }
    }
}

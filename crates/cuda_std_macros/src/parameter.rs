//! One parameter of a kernel: its form in the entry point, and its type in the host's handle.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Error, FnArg, Ident, Pat, PatType, Result, Type};

/// A parameter of a kernel, checked.
pub struct Parameter {
    name: Ident,
    mutable: bool,
    kind: Kind,
}

/// The forms that a parameter may have.
enum Kind {
    /// `&[T]`
    Slice(Type),
    /// `&mut [T]`
    SliceMut(Type),
    /// `*const T`
    Pointer(Type),
    /// `*mut T`
    PointerMut(Type),
    /// Any type that is named by a path: a number, a struct.
    Value(Type),
}

impl Parameter {
    /// Checks one parameter of the source.
    pub fn new(argument: &FnArg) -> Result<Self> {
        let FnArg::Typed(PatType { attrs, pat, ty, .. }) = argument else {
            return Err(Error::new(argument.span(), "a kernel is a free function: it has no `self`"));
        };
        if let Some(attribute) = attrs.first() {
            return Err(Error::new(attribute.span(), "a kernel's parameters take no attributes"));
        }
        match &**pat {
            Pat::Ident(name) if name.by_ref.is_none() && name.subpat.is_none() => {
                Ok(Self { name: name.ident.clone(), mutable: name.mutability.is_some(), kind: Kind::new(ty)? })
            }
            other => Err(Error::new(other.span(), "a kernel's parameter is a plain name, not a pattern")),
        }
    }

    /// The parameters of the entry point for this one.
    pub fn entry(&self) -> TokenStream {
        let name = &self.name;
        let pointer = self.pointer_name();
        let length = self.length_name();
        match &self.kind {
            // A reference to an empty array: for it rustc tells LLVM that it is not null, not aliased by a writer and read-only, so
            // that loads can take the read-only path. A slice would arrive as one aggregate and lose these attributes.
            Kind::Slice(element) => quote!(#pointer: &[#element; 0], #length: usize),
            Kind::SliceMut(element) => quote!(#pointer: &mut [#element; 0], #length: usize),
            Kind::Pointer(pointee) => quote!(#name: *const #pointee),
            Kind::PointerMut(pointee) => quote!(#name: *mut #pointee),
            Kind::Value(value) => quote!(#name: #value),
        }
    }

    /// The statement that rebuilds the parameter of the source for the body.
    pub fn binding(&self) -> TokenStream {
        let name = &self.name;
        let mutability = self.mutable.then(|| quote!(mut));
        let pointer = self.pointer_name();
        let length = self.length_name();
        match &self.kind {
            Kind::Slice(_) => quote! {
                let #mutability #name = ::core::slice::from_raw_parts(#pointer.as_ptr(), #length);
            },
            Kind::SliceMut(_) => quote! {
                let #mutability #name = ::core::slice::from_raw_parts_mut(#pointer.as_mut_ptr(), #length);
            },
            _ if self.mutable => quote!(let mut #name = #name;),
            _ => TokenStream::new(),
        }
    }

    /// The parameter's type in the host's handle.
    pub fn handle(&self) -> TokenStream {
        match &self.kind {
            Kind::Slice(element) => quote!(::cuda_std::launch::Slice<#element>),
            Kind::SliceMut(element) => quote!(::cuda_std::launch::SliceMut<#element>),
            Kind::Pointer(pointee) => quote!(::cuda_std::launch::Pointer<#pointee>),
            Kind::PointerMut(pointee) => quote!(::cuda_std::launch::PointerMut<#pointee>),
            Kind::Value(value) => quote!(#value),
        }
    }

    /// For a value of a named type: the compile-time check that it may be passed by value.
    pub fn value_check(&self) -> Option<TokenStream> {
        match &self.kind {
            Kind::Value(value) => Some(quote_spanned!(value.span()=> ::cuda_std::value::assert_value::<#value>();)),
            _ => None,
        }
    }

    fn pointer_name(&self) -> Ident {
        format_ident!("__{}_pointer", self.name)
    }

    fn length_name(&self) -> Ident {
        format_ident!("__{}_length", self.name)
    }
}

/// The vectors of `cuda_std::vector`.
const VECTORS: [&str; 9] = ["f32x2", "f32x4", "f64x2", "u32x2", "u32x4", "i32x2", "i32x4", "u64x2", "i64x2"];

impl Kind {
    fn new(ty: &Type) -> Result<Self> {
        match ty {
            Type::Paren(inner) => Self::new(&inner.elem),
            Type::Group(inner) => Self::new(&inner.elem),
            Type::Reference(reference) => {
                if let Some(lifetime) = &reference.lifetime {
                    return Err(Error::new(
                        lifetime.span(),
                        "a kernel's slices have no named lifetime: they live as long as the launch",
                    ));
                }
                let Type::Slice(slice) = &*reference.elem else {
                    return Err(Error::new(
                        ty.span(),
                        "a kernel takes references to slices only: `&[T]`, or `*const T` for a single value",
                    ));
                };
                let element = (*slice.elem).clone();
                Ok(match reference.mutability {
                    None => Self::Slice(element),
                    Some(_) => Self::SliceMut(element),
                })
            }
            Type::Ptr(pointer) => {
                let pointee = (*pointer.elem).clone();
                if matches!(pointee, Type::Slice(_) | Type::TraitObject(_) | Type::ImplTrait(_)) {
                    return Err(Error::new(
                        ty.span(),
                        "a kernel's pointer points to a sized type: `*const T`, and the length as a `usize` of its own",
                    ));
                }
                Ok(match pointer.mutability {
                    syn::PointerMutability::Const(_) => Self::Pointer(pointee),
                    syn::PointerMutability::Mut(_) => Self::PointerMut(pointee),
                })
            }
            Type::Path(path) => match path.path.segments.last() {
                Some(name) if VECTORS.iter().any(|vector| name.ident == vector) => Err(Error::new(
                    ty.span(),
                    "a kernel takes no vector by value, which rustc cannot pass: take its elements, or a pointer to it",
                )),
                _ => Ok(Self::Value(ty.clone())),
            },
            Type::Array(_) => Err(Error::new(
                ty.span(),
                "a kernel takes no bare array: wrap it in a `#[repr(C)]` struct, or pass `&[T]`",
            )),
            Type::Tuple(_) => Err(Error::new(
                ty.span(),
                "a kernel takes no tuple, whose layout Rust leaves open: use a `#[repr(C)]` struct",
            )),
            Type::ImplTrait(_) => {
                Err(Error::new(ty.span(), "a kernel is not generic: the host must know every type at the launch"))
            }
            _ => Err(Error::new(
                ty.span(),
                "a kernel takes slices (`&[T]`, `&mut [T]`), raw pointers, numbers, and `#[repr(C)]` values",
            )),
        }
    }
}

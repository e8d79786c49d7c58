//! One parameter of a kernel: its form in the entry point, and its type in the host's handle.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Error, FnArg, GenericArgument, Ident, Pat, PatType, PathArguments, Result, Type};

/// A parameter of a kernel, checked.
pub struct Parameter {
    name: Ident,
    mutable: bool,
    /// The type as written.
    ty: Type,
    kind: Kind,
}

/// The forms that a parameter may have.
enum Kind {
    /// `&[T]`
    Slice(Type),
    /// `DisjointSlice<T>`
    DisjointSlice(Type),
    /// `Matrix<T>`
    Matrix(Type),
    /// `DisjointMatrix<T>`
    DisjointMatrix(Type),
    /// `BlockSlice<T>`
    BlockSlice(Type),
    /// `TransposedMatrix<T, SIDE>`
    TransposedMatrix(Type),
    /// `Shared<T>`, which no launch passes.
    Shared(Type),
    /// `Block<X, Y>`, which no launch passes.
    Block,
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
            Pat::Ident(name) if name.by_ref.is_none() && name.subpat.is_none() => Ok(Self {
                name: name.ident.clone(),
                mutable: name.mutability.is_some(),
                ty: (**ty).clone(),
                kind: Kind::new(ty)?,
            }),
            other => Err(Error::new(other.span(), "a kernel's parameter is a plain name, not a pattern")),
        }
    }

    /// The parameters of the entry point for this one, if a launch passes it.
    pub fn entry(&self) -> Option<TokenStream> {
        let name = &self.name;
        let [pointer, length, rows, cols, pitch] = self.parts();
        Some(match &self.kind {
            // A reference to an empty array: for it rustc tells LLVM that it is not null, not
            // aliased by a writer and read-only, so that loads can take the read-only path. A slice
            // would arrive as one aggregate and lose these attributes.
            Kind::Slice(element) => quote!(#pointer: &[#element; 0], #length: usize),
            Kind::DisjointSlice(element) | Kind::BlockSlice(element) => {
                quote!(#pointer: &mut [#element; 0], #length: usize)
            }
            Kind::Matrix(element) => quote!(#pointer: &[#element; 0], #rows: u32, #cols: u32, #pitch: u32),
            Kind::DisjointMatrix(element) | Kind::TransposedMatrix(element) => {
                quote!(#pointer: &mut [#element; 0], #rows: u32, #cols: u32, #pitch: u32)
            }
            Kind::Shared(_) | Kind::Block => return None,
            Kind::Pointer(pointee) => quote!(#name: *const #pointee),
            Kind::PointerMut(pointee) => quote!(#name: *mut #pointee),
            Kind::Value(value) => quote!(#name: #value),
        })
    }

    /// The statement that rebuilds the parameter of the source for the body.
    pub fn binding(&self) -> TokenStream {
        let name = &self.name;
        let written = &self.ty;
        let mutability = self.mutable.then(|| quote!(mut));
        let [pointer, length, rows, cols, pitch] = self.parts();
        let value = match &self.kind {
            Kind::Slice(_) => quote!(::core::slice::from_raw_parts(#pointer.as_ptr(), #length)),
            Kind::DisjointSlice(element) => {
                quote!(::cuda_std::DisjointSlice::<#element>::from_raw_parts(#pointer.as_mut_ptr(), #length))
            }
            Kind::Matrix(element) => {
                quote!(::cuda_std::Matrix::<#element>::from_raw_parts(#pointer.as_ptr(), #rows, #cols, #pitch))
            }
            Kind::DisjointMatrix(element) => quote! {
                ::cuda_std::DisjointMatrix::<#element>::from_raw_parts(#pointer.as_mut_ptr(), #rows, #cols, #pitch)
            },
            Kind::BlockSlice(_) => quote!(<#written>::from_raw_parts(#pointer.as_mut_ptr(), #length)),
            Kind::TransposedMatrix(_) => {
                quote!(<#written>::from_raw_parts(#pointer.as_mut_ptr(), #rows, #cols, #pitch))
            }
            Kind::Shared(tile) => {
                // A static of this parameter alone, so it is no other tile's memory.
                let memory = format_ident!("{}", name.to_string().to_uppercase(), span = name.span());
                quote! {{
                    #[::cuda_std::address_space(shared)]
                    static #memory: ::cuda_std::shared::SharedCell<#tile> = ::cuda_std::shared::SharedCell::uninit();
                    ::cuda_std::phases::Shared::<#tile>::new(#memory.as_mut_ptr())
                }}
            }
            Kind::Block => quote!(<#written>::new()),
            _ if self.mutable => return quote!(let mut #name = #name;),
            _ => return TokenStream::new(),
        };
        // SAFETY: a launch passes a buffer or a matrix for these parameters, as the handle's types
        // say. A block and its tiles are made here and nowhere else, once in each thread.
        quote! {
            #[allow(unused_unsafe)]
            let #mutability #name = unsafe { #value };
        }
    }

    /// The parameter's type in the host's handle, if a launch passes it.
    pub fn handle(&self) -> Option<TokenStream> {
        Some(match &self.kind {
            Kind::Slice(element) => quote!(::cuda_std::launch::Slice<#element>),
            Kind::DisjointSlice(element) | Kind::BlockSlice(element) => {
                quote!(::cuda_std::launch::DisjointSlice<#element>)
            }
            Kind::Matrix(element) => quote!(::cuda_std::launch::Matrix<#element>),
            Kind::DisjointMatrix(element) | Kind::TransposedMatrix(element) => {
                quote!(::cuda_std::launch::DisjointMatrix<#element>)
            }
            Kind::Shared(_) | Kind::Block => return None,
            Kind::Pointer(pointee) => quote!(::cuda_std::launch::Pointer<#pointee>),
            Kind::PointerMut(pointee) => quote!(::cuda_std::launch::PointerMut<#pointee>),
            Kind::Value(value) => quote!(#value),
        })
    }

    /// The compile-time check of the parameter's type: that a value may be passed by its bytes,
    /// that a type with the name of one of `cuda_std`'s is that one, and that a `Block` has the
    /// shape that the kernel declares.
    pub fn type_check(&self, block: Option<[u32; 3]>) -> Option<TokenStream> {
        let written = &self.ty;
        let (span, real) = match &self.kind {
            Kind::Value(value) => {
                return Some(quote_spanned!(value.span()=> ::cuda_std::value::assert_value::<#value>();));
            }
            Kind::DisjointSlice(element) => (element.span(), quote!(::cuda_std::DisjointSlice<#element>)),
            Kind::Matrix(element) => (element.span(), quote!(::cuda_std::Matrix<#element>)),
            Kind::DisjointMatrix(element) => (element.span(), quote!(::cuda_std::DisjointMatrix<#element>)),
            Kind::BlockSlice(element) => (element.span(), quote!(::cuda_std::phases::BlockSlice<#element>)),
            Kind::TransposedMatrix(element) => {
                (element.span(), quote!(::cuda_std::phases::TransposedMatrix<#element, SIDE>))
            }
            Kind::Shared(tile) => (tile.span(), quote!(::cuda_std::phases::Shared<#tile>)),
            Kind::Block => {
                let [x, y, _] = block?;
                (written.span(), quote!(::cuda_std::phases::Block<#x, #y>))
            }
            _ => return None,
        };
        let side = matches!(self.kind, Kind::TransposedMatrix(_)).then(|| quote!(<const SIDE: u32>));
        Some(quote_spanned!(span=> {
            fn is_own #side (_: #real) {}
            let _: fn(#written) = is_own;
        }))
    }

    /// Whether this is the kernel's block.
    pub fn is_block(&self) -> bool {
        matches!(self.kind, Kind::Block)
    }

    /// Whether this is a tile in shared memory.
    pub fn is_shared(&self) -> bool {
        matches!(self.kind, Kind::Shared(_))
    }

    /// Where the parameter's type stands in the source.
    pub fn span(&self) -> proc_macro2::Span {
        self.ty.span()
    }

    /// Fails for a parameter that a safe function could not use safely.
    pub fn check_safe(&self) -> Result<()> {
        match &self.kind {
            Kind::Pointer(pointee) | Kind::PointerMut(pointee) => Err(Error::new(
                pointee.span(),
                "a safe kernel takes no raw pointer: take `&[T]` or `Matrix<T>` to read, `DisjointSlice<T>` or \
                 `DisjointMatrix<T>` to write, or make it an `unsafe fn`",
            )),
            _ => Ok(()),
        }
    }

    /// The names of the entry point's parameters for one of the source: pointer, length, rows,
    /// columns and pitch.
    fn parts(&self) -> [Ident; 5] {
        ["pointer", "length", "rows", "cols", "pitch"].map(|part| format_ident!("__{}_{part}", self.name))
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
                match reference.mutability {
                    None => Ok(Self::Slice(element)),
                    Some(_) => Err(Error::new(
                        ty.span(),
                        "a kernel takes no `&mut [T]`, since all threads would hold the same exclusive reference: take \
                         `DisjointSlice<T>`, of which each thread reaches its own elements",
                    )),
                }
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
                Some(name) => Ok(match (name.ident.to_string().as_str(), element(&name.arguments)) {
                    ("DisjointSlice", Some(element)) => Self::DisjointSlice(element),
                    ("Matrix", Some(element)) => Self::Matrix(element),
                    ("DisjointMatrix", Some(element)) => Self::DisjointMatrix(element),
                    ("BlockSlice", Some(element)) => Self::BlockSlice(element),
                    ("TransposedMatrix", Some(element)) => Self::TransposedMatrix(element),
                    ("Shared", Some(tile)) => Self::Shared(tile),
                    ("Block", None) => Self::Block,
                    _ => Self::Value(ty.clone()),
                }),
                None => Ok(Self::Value(ty.clone())),
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
                "a kernel takes `&[T]`, `Matrix<T>`, `DisjointSlice<T>`, `DisjointMatrix<T>`, raw pointers, numbers, and \
                 `#[repr(C)]` values",
            )),
        }
    }
}

/// The element of `DisjointSlice<T>` and its like: the only type argument.
fn element(arguments: &PathArguments) -> Option<Type> {
    let PathArguments::AngleBracketed(arguments) = arguments else { return None };
    let mut types = arguments.args.iter().filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty.clone()),
        _ => None,
    });
    types.next().filter(|_| types.next().is_none())
}

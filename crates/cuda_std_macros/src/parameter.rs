//! One parameter of a kernel: its form in the entry point, and its type in the host's handle.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Error, FnArg, GenericArgument, Ident, Pat, PatType, PathArguments, Result, Type};

use crate::library::Library;

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
    /// `AtomicSlice<T>`
    AtomicSlice(Type),
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
    ///
    /// `@ _` makes each a name whatever else has it: where a constant has, a plain name would be a
    /// pattern, and the binding would take the constant for the parameter.
    pub fn entry(&self, library: &Library) -> Option<TokenStream> {
        let name = &self.name;
        let (size, extent) = (quote!(#library::value::scalar::usize), quote!(#library::value::scalar::u32));
        let [pointer, length, rows, cols, pitch] = self.parts();
        let matrix = quote!(#rows @ _: #extent, #cols @ _: #extent, #pitch @ _: #extent);
        Some(match &self.kind {
            // A reference to an empty array: for it rustc tells LLVM that it is not null, not
            // aliased by a writer and read-only, so that loads can take the read-only path. A slice
            // would arrive as one aggregate and lose these attributes.
            Kind::Slice(element) => quote!(#pointer @ _: &[#element; 0], #length @ _: #size),
            Kind::DisjointSlice(element) | Kind::BlockSlice(element) | Kind::AtomicSlice(element) => {
                quote!(#pointer @ _: &mut [#element; 0], #length @ _: #size)
            }
            Kind::Matrix(element) => quote!(#pointer @ _: &[#element; 0], #matrix),
            Kind::DisjointMatrix(element) | Kind::TransposedMatrix(element) => {
                quote!(#pointer @ _: &mut [#element; 0], #matrix)
            }
            Kind::Shared(_) | Kind::Block => return None,
            Kind::Pointer(pointee) => quote!(#name: *const #pointee),
            Kind::PointerMut(pointee) => quote!(#name: *mut #pointee),
            Kind::Value(value) => quote!(#name: #value),
        })
    }

    /// The statement that rebuilds the parameter of the source for the body.
    ///
    /// It calls functions by their paths. A method found by its name could be another: of a trait
    /// that the kernel's crate implements for the types here.
    pub fn binding(&self, library: &Library) -> TokenStream {
        let name = &self.name;
        let written = &self.ty;
        let mutability = self.mutable.then(|| quote!(mut));
        let [pointer, length, rows, cols, pitch] = self.parts();
        let value = match &self.kind {
            Kind::Slice(element) => quote!(#library::entry::slice::<#element>(#pointer, #length)),
            Kind::DisjointSlice(element) => {
                quote!(#library::entry::disjoint_slice::<#element>(#pointer, #length))
            }
            Kind::Matrix(element) => {
                quote!(#library::entry::matrix::<#element>(#pointer, #rows, #cols, #pitch))
            }
            Kind::DisjointMatrix(element) => {
                quote!(#library::entry::disjoint_matrix::<#element>(#pointer, #rows, #cols, #pitch))
            }
            Kind::BlockSlice(element) => quote!(#library::entry::block_slice::<#element>(#pointer, #length)),
            Kind::AtomicSlice(element) => quote!(#library::entry::atomic_slice::<#element>(#pointer, #length)),
            Kind::TransposedMatrix(element) => {
                // The written type has the side of the tile.
                quote!(#library::entry::transposed_matrix::<#element, _>(#pointer, #rows, #cols, #pitch))
            }
            Kind::Shared(tile) => {
                // A static of this parameter alone, so it is no other tile's memory. Its name, which
                // the PTX shows, is out of reach of the tile's type.
                let memory = format_ident!("{}", name.unraw().to_string().to_uppercase(), span = name.span());
                quote! {{
                    type __Tile = #tile;
                    {
                        #[unsafe(link_section = ".shared")]
                        static #memory: #library::shared::SharedCell<__Tile> = #library::shared::SharedCell::uninit();
                        #library::phases::Shared::<__Tile>::new(#library::shared::SharedCell::as_mut_ptr(&#memory))
                    }
                }}
            }
            Kind::Block => quote!(#library::phases::Block::new()),
            _ if self.mutable => return quote!(let mut #name = #name;),
            _ => return TokenStream::new(),
        };
        let ty = matches!(self.kind, Kind::TransposedMatrix(_) | Kind::Block).then(|| quote!(: #written));
        // SAFETY: a launch passes a buffer or a matrix for these parameters, as the handle's types
        // say. A block and its tiles are made here and nowhere else, once in each thread.
        quote! {
            #[allow(unused_unsafe)]
            let #mutability #name #ty = unsafe { #value };
        }
    }

    /// The parameter's type in the host's handle, if a launch passes it.
    pub fn handle(&self, library: &Library) -> Option<TokenStream> {
        Some(match &self.kind {
            Kind::Slice(element) => quote!(#library::launch::Slice<#element>),
            Kind::DisjointSlice(element) | Kind::BlockSlice(element) | Kind::AtomicSlice(element) => {
                quote!(#library::launch::DisjointSlice<#element>)
            }
            Kind::Matrix(element) => quote!(#library::launch::Matrix<#element>),
            Kind::DisjointMatrix(element) | Kind::TransposedMatrix(element) => {
                quote!(#library::launch::DisjointMatrix<#element>)
            }
            Kind::Shared(_) | Kind::Block => return None,
            Kind::Pointer(pointee) => quote!(#library::launch::Pointer<#pointee>),
            Kind::PointerMut(pointee) => quote!(#library::launch::PointerMut<#pointee>),
            Kind::Value(value) => quote!(#value),
        })
    }

    /// What a launch passes for this parameter: its name, what stands in the signature before and
    /// behind the type, and the type: of a slice or a pointer, that of an element.
    pub fn passed(&self) -> Option<(String, [&'static str; 2], &Type)> {
        let (form, ty) = match &self.kind {
            Kind::Slice(element) => (["&[", "]"], element),
            Kind::DisjointSlice(element) => (["DisjointSlice<", ">"], element),
            Kind::Matrix(element) => (["Matrix<", ">"], element),
            Kind::DisjointMatrix(element) => (["DisjointMatrix<", ">"], element),
            Kind::BlockSlice(element) => (["BlockSlice<", ">"], element),
            Kind::AtomicSlice(element) => (["AtomicSlice<", ">"], element),
            Kind::TransposedMatrix(element) => (["TransposedMatrix<", ">"], element),
            Kind::Shared(_) | Kind::Block => return None,
            Kind::Pointer(pointee) => (["*const ", ""], pointee),
            Kind::PointerMut(pointee) => (["*mut ", ""], pointee),
            Kind::Value(value) => (["", ""], value),
        };
        Some((self.name.unraw().to_string(), form, ty))
    }

    /// The compile-time check that any bits are a value of the type: as the host's buffers have
    /// elements of any bits, and as host and device may have two types of one name and size. An
    /// `unsafe fn` promises it.
    pub fn bits_check(&self, library: &Library) -> Option<TokenStream> {
        let (_, _, ty) = self.passed()?;
        Some(match &self.kind {
            Kind::Value(value) => match scalar(value) {
                Some(scalar) => quote_spanned!(value.span()=> {
                    fn is_scalar(_: #library::value::scalar::#scalar) {}
                    let _: fn(#value) = is_scalar;
                }),
                None => quote_spanned!(value.span()=> #library::value::assert_any_bits::<#value>();),
            },
            _ => quote_spanned!(ty.span()=> #library::value::assert_element::<#ty>();),
        })
    }

    /// The compile-time check of the parameter's type: that a value may be passed by its bytes,
    /// that threads may share an input's elements and have an output's, that a type with the name
    /// of one of `cuda_std`'s is that one, and that a `Block` has the shape that the kernel
    /// declares.
    pub fn type_check(&self, library: &Library, block: Option<[u32; 3]>) -> Option<TokenStream> {
        let written = &self.ty;
        let (span, real) = match &self.kind {
            Kind::Value(value) => {
                return Some(quote_spanned!(value.span()=> #library::value::assert_value::<#value>();));
            }
            Kind::Slice(element) => {
                return Some(quote_spanned!(element.span()=> #library::entry::assert_shared::<#element>();));
            }
            Kind::DisjointSlice(element) => (element.span(), quote!(#library::DisjointSlice<#element>)),
            Kind::Matrix(element) => (element.span(), quote!(#library::Matrix<#element>)),
            Kind::DisjointMatrix(element) => (element.span(), quote!(#library::DisjointMatrix<#element>)),
            Kind::BlockSlice(element) => (element.span(), quote!(#library::phases::BlockSlice<#element>)),
            Kind::AtomicSlice(element) => (element.span(), quote!(#library::AtomicSlice<#element>)),
            Kind::TransposedMatrix(element) => {
                (element.span(), quote!(#library::phases::TransposedMatrix<#element, __SIDE>))
            }
            Kind::Shared(tile) => (tile.span(), quote!(#library::phases::Shared<#tile>)),
            Kind::Block => {
                let [x, y, _] = block?;
                (written.span(), quote!(#library::phases::Block<#x, #y>))
            }
            Kind::Pointer(_) | Kind::PointerMut(_) => return None,
        };
        let elements = match &self.kind {
            Kind::Matrix(element) => Some(quote_spanned!(span=> #library::entry::assert_shared::<#element>();)),
            Kind::DisjointSlice(element)
            | Kind::DisjointMatrix(element)
            | Kind::BlockSlice(element)
            | Kind::AtomicSlice(element)
            | Kind::TransposedMatrix(element) => {
                Some(quote_spanned!(span=> #library::entry::assert_owned::<#element>();))
            }
            _ => None,
        };
        let side = matches!(self.kind, Kind::TransposedMatrix(_))
            .then(|| quote!(<const __SIDE: #library::value::scalar::u32>));
        Some(quote_spanned! {span=>
            {
                fn is_own #side (_: #real) {}
                let _: fn(#written) = is_own;
            }
            #elements
        })
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

    /// Fails for a parameter that a safe function could not use safely in the launches that it
    /// allows. A linear launch may have more threads than the 32 bits of a position count.
    pub fn check_safe(&self, linear: bool) -> Result<()> {
        match &self.kind {
            Kind::Pointer(pointee) | Kind::PointerMut(pointee) => Err(Error::new(
                pointee.span(),
                "a safe kernel takes no raw pointer: take `&[T]` or `Matrix<T>` to read, `DisjointSlice<T>` or \
                 `DisjointMatrix<T>` to write, or make it an `unsafe fn`",
            )),
            Kind::DisjointMatrix(_) if linear => Err(Error::new(
                self.span(),
                "a `linear` kernel reaches only the first row of a matrix: take a `DisjointSlice<T>` as its output, or leave \
                 out `linear`",
            )),
            _ => Ok(()),
        }
    }

    /// The names of the entry point's parameters for one of the source: pointer, length, rows,
    /// columns and pitch. They are the macro's own: no name in the source is one of them.
    fn parts(&self) -> [Ident; 5] {
        ["pointer", "length", "rows", "cols", "pitch"]
            .map(|part| format_ident!("__{}_{part}", self.name.unraw(), span = Span::mixed_site()))
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
                    ("AtomicSlice", Some(element)) => Self::AtomicSlice(element),
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

/// The scalar that a type is written as, if not all bits are one.
fn scalar(ty: &Type) -> Option<&Ident> {
    let Type::Path(path) = ty else { return None };
    path.path.get_ident().filter(|name| *name == "bool" || *name == "char")
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

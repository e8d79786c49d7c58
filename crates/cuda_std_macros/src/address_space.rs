//! `#[address_space(..)]`: places a static in one of the GPU's memories, and makes the handle with
//! which the host sets it.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Error, GenericArgument, Ident, ItemStatic, Meta, PathArguments, Result, Type};

use crate::library::Library;
use crate::signature;

/// The attribute applied to `item`.
pub fn expand(arguments: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let space: Ident = syn::parse2(arguments).map_err(|error| {
        Error::new(error.span(), "name one memory: `#[address_space(shared)]`, `(constant)` or `(global)`")
    })?;
    let item: ItemStatic = syn::parse2(item)
        .map_err(|error| Error::new(error.span(), "`#[address_space]` belongs on a `static` with a value"))?;
    let ty = &item.ty;
    let (section, requirement) = match space.to_string().as_str() {
        "shared" => (Some(".shared"), Some(quote!(shared::SharedStatic))),
        "constant" => (Some(".constant"), Some(quote!(constant::ConstantStatic))),
        "global" => (None, None),
        _ => {
            return Err(Error::new(
                space.span(),
                "unknown memory: a static lives in `shared`, `constant` or `global` memory",
            ));
        }
    };
    let section = section.map(|name| quote!(#[unsafe(link_section = #name)]));
    let library = Library::of(&item.ident);
    let import = library.import();
    let conditions: Vec<_> = item.attrs.iter().filter(|attribute| attribute.path().is_ident("cfg")).collect();
    let check = requirement.map(|requirement| {
        let assertion = quote_spanned! {ty.span()=>
            const fn fits_the_memory<T: #library::#requirement>() {}
            fits_the_memory::<#ty>();
        };
        quote! {
            #(#conditions)*
            #[cfg(target_arch = "nvptx64")]
            const _: () = { #assertion };
        }
    });
    let handle = handle(&item, &library);
    Ok(quote! {
        #(#conditions)*
        #import
        #[cfg(target_arch = "nvptx64")]
        #section
        #item
        #check
        #handle
    })
}

/// The typed handle with which the host sets and reads an exported cell; for the device the check
/// that the static is the cell that the handle stands for, and the signature to compare it with.
fn handle(item: &ItemStatic, library: &Library) -> Option<TokenStream> {
    let exported = item.attrs.iter().any(|attribute| match &attribute.meta {
        Meta::List(list) if attribute.path().is_ident("unsafe") => list.tokens.to_string() == "no_mangle",
        _ => false,
    });
    let Type::Path(path) = &*item.ty else { return None };
    let PathArguments::AngleBracketed(arguments) = &path.path.segments.last()?.arguments else { return None };
    let Some(GenericArgument::Type(value)) = arguments.args.first() else { return None };
    if !exported || arguments.args.len() != 1 {
        return None;
    }
    let attributes = |names: [&'static str; 2]| {
        item.attrs.iter().filter(move |attribute| names.iter().any(|name| attribute.path().is_ident(name)))
    };
    let (documentation, conditions) = (attributes(["doc", "cfg"]), attributes(["cfg", "cfg"]));
    let (visibility, name, text, ty) = (&item.vis, &item.ident, item.ident.unraw().to_string(), &item.ty);
    let check = quote_spanned! {ty.span()=>
        fn is_own(_: #library::constant::ConstantCell<#value>) {}
        let _: fn(#ty) = is_own;
        // The host sets it to any bits.
        #library::value::assert_element::<#value>();
    };
    let signature = signature::in_ptx(name, &signature::of_static(value, library), library);
    Some(quote! {
        #(#documentation)*
        #[cfg(not(target_arch = "nvptx64"))]
        #visibility static #name: #library::launch::Symbol<#value> =
            // SAFETY: the PTX has the cell of this value by this name.
            unsafe { #library::launch::Symbol::new(#text) };
        #(#conditions)*
        #[cfg(target_arch = "nvptx64")]
        const _: () = {
            #check
            #signature
        };
    })
}

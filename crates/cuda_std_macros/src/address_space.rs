//! `#[address_space(..)]`: places a static in one of the GPU's memories, and makes the handle with
//! which the host sets it.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Error, GenericArgument, Ident, ItemStatic, Meta, PathArguments, Result, Type};

/// The attribute applied to `item`.
pub fn expand(arguments: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let space: Ident = syn::parse2(arguments).map_err(|error| {
        Error::new(error.span(), "name one memory: `#[address_space(shared)]`, `(constant)` or `(global)`")
    })?;
    let item: ItemStatic = syn::parse2(item)
        .map_err(|error| Error::new(error.span(), "`#[address_space]` belongs on a `static` with a value"))?;
    let ty = &item.ty;
    let (section, requirement) = match space.to_string().as_str() {
        "shared" => (Some(".shared"), Some(quote!(SharedStatic))),
        "constant" => (Some(".constant"), None),
        "global" => (None, None),
        _ => {
            return Err(Error::new(
                space.span(),
                "unknown memory: a static lives in `shared`, `constant` or `global` memory",
            ));
        }
    };
    let section = section.map(|name| quote!(#[unsafe(link_section = #name)]));
    let check = requirement.map(|requirement| {
        let assertion = quote_spanned! {ty.span()=>
            const fn has_no_value<T: ::cuda_std::shared::#requirement>() {}
            has_no_value::<#ty>();
        };
        quote! {
            #[cfg(target_arch = "nvptx64")]
            const _: () = { #assertion };
        }
    });
    let handle = handle(&item);
    Ok(quote! {
        #[cfg(target_arch = "nvptx64")]
        #section
        #item
        #check
        #handle
    })
}

/// The typed handle with which the host sets and reads an exported cell.
fn handle(item: &ItemStatic) -> Option<TokenStream> {
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
    let documentation = item.attrs.iter().filter(|attribute| attribute.path().is_ident("doc"));
    let (visibility, name, text) = (&item.vis, &item.ident, item.ident.to_string());
    Some(quote! {
        #(#documentation)*
        #[cfg(not(target_arch = "nvptx64"))]
        #visibility static #name: ::cuda_std::launch::Symbol<#value> = ::cuda_std::launch::Symbol::new(#text);
    })
}

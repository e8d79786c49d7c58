//! `#[address_space(..)]`: which of the GPU's memories a static lives in.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Error, Ident, ItemStatic, Result};

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
    Ok(quote! {
        #[cfg(target_arch = "nvptx64")]
        #section
        #item
        #check
    })
}

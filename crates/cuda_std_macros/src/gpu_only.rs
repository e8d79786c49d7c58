//! `#[gpu_only]`: an item that exists only on the device.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, Item, Result};

/// The attribute applied to `item`.
pub fn expand(arguments: TokenStream, item: TokenStream) -> Result<TokenStream> {
    if !arguments.is_empty() {
        return Err(Error::new_spanned(arguments, "`#[gpu_only]` takes no arguments"));
    }
    let item: Item = syn::parse2(item)?;
    Ok(quote! {
        #[cfg(target_arch = "nvptx64")]
        #item
    })
}

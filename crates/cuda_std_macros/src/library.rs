//! The path of `cuda_std` in what the attributes write.
//!
//! `::cuda_std` would do, but a crate may give that name to another: `extern crate self as
//! cuda_std`. The `unsafe` blocks that the attributes write would then call what that crate has
//! under the names that they use. An `extern crate` item finds the crate by the name that the
//! compiler was given it by, whatever the source calls it.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::Ident;
use syn::ext::IdentExt;

/// The name of `cuda_std` beside one item, which no other item shares.
pub struct Library(Ident);

impl Library {
    /// For the item of this name.
    pub fn of(item: &Ident) -> Self {
        Self(format_ident!("__cuda_std_of_{}", item.unraw()))
    }

    /// The item that makes the name.
    pub fn import(&self) -> TokenStream {
        let name = &self.0;
        quote! {
            #[doc(hidden)]
            #[allow(unused_extern_crates, non_snake_case)]
            extern crate cuda_std as #name;
        }
    }
}

impl ToTokens for Library {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.0.to_tokens(tokens);
    }
}

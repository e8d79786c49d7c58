//! The signature of a kernel, or of an exported static: in the PTX what the device takes it for, in the handle what the host
//! does. Both come from the same tokens, and each side's compiler says what they mean.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{Attribute, Ident};

use crate::bounds::KernelArguments;
use crate::library::Library;
use crate::parameter::Parameter;

/// The signature as a block, of the type `&'static cuda_std::signature::Signature`.
pub fn expression(
    is_unsafe: bool,
    parameters: &[Parameter],
    arguments: &KernelArguments,
    library: &Library,
) -> TokenStream {
    let launches = launches(is_unsafe, arguments);
    let parameters = parameters.iter().filter_map(|parameter| {
        let (name, [before, behind], ty) = parameter.passed()?;
        Some(quote! {
            #library::signature::Parameter::new(
                #name,
                [#before, #behind],
                #library::signature::Type::of::<#ty>(),
            )
        })
    });
    block(&quote!(#launches), &quote!(#(#parameters),*), library)
}

/// As [`expression`], of an exported static with a value of this type.
pub fn of_static(value: &syn::Type, library: &Library) -> TokenStream {
    let parameter = quote!(#library::signature::Parameter::of_static::<#value>());
    block(&quote!(#library::signature::Signature::STATIC), &parameter, library)
}

fn block(launches: &TokenStream, parameters: &TokenStream, library: &Library) -> TokenStream {
    quote! {{
        const __COALESCE_PARAMETERS: &[#library::signature::Parameter] = &[#parameters];
        const __COALESCE_SIGNATURE: &#library::signature::Signature =
            &#library::signature::Signature::new(#launches, __COALESCE_PARAMETERS);
        __COALESCE_SIGNATURE
    }}
}

/// The launches that a kernel allows, as words.
fn launches(is_unsafe: bool, arguments: &KernelArguments) -> String {
    let mut words = vec![if is_unsafe { "unsafe" } else { "safe" }.to_owned()];
    words.extend(arguments.block.map(|[x, y, z]| format!("block({x}, {y}, {z})")));
    words.extend(arguments.bounds.as_ref().map(|bounds| {
        let [x, y, z] = bounds.threads;
        format!("launch_bounds({x}, {y}, {z})")
    }));
    words.extend(arguments.linear.then(|| "linear".to_owned()));
    words.join(" ")
}

/// The static with the signature's text, for the device: `cuda_builder` makes a comment of it.
pub fn in_ptx(name: &Ident, signature: &TokenStream, library: &Library) -> TokenStream {
    let marker = format_ident!("__coalesce_signature__{}", name.unraw());
    quote! {
        const _: () = {
            const __COALESCE_TEXT: &#library::signature::Signature = #signature;
            #[used]
            #[unsafe(no_mangle)]
            #[unsafe(link_section = ".signature")]
            #[allow(non_upper_case_globals)]
            static #marker: [#library::value::scalar::u8; #library::signature::Signature::length(__COALESCE_TEXT)] =
                #library::signature::Signature::text(__COALESCE_TEXT);
        };
    }
}

/// A name that the crate can have once, so that a second kernel of this name is an error with the
/// lines of both. For the symbol alone, rustc shows one.
pub fn only_one(name: &Ident, conditions: &[&Attribute]) -> TokenStream {
    let marker = format_ident!("__coalesce_kernel__{}", name.unraw(), span = name.span());
    quote_spanned! {name.span()=>
        #(#conditions)*
        #[cfg(target_arch = "nvptx64")]
        #[doc(hidden)]
        #[allow(non_local_definitions)]
        #[macro_export]
        macro_rules! #marker { () => {}; }
    }
}

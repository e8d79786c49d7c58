//! `#[kernel]`: an entry point on the device, a typed handle on the host.

use crate::bounds::{KernelArguments, LaunchBounds};
use crate::parameter::Parameter;
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::spanned::Spanned;
use syn::{Error, ItemFn, Result, ReturnType, Safety, Signature, Visibility};

/// The attribute applied to `item`.
pub fn expand(arguments: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let arguments: KernelArguments = syn::parse2(arguments)?;
    let function: ItemFn = syn::parse2(item)?;
    check(&function)?;
    let parameters = function.sig.inputs.iter().map(Parameter::new).collect::<Result<Vec<_>>>()?;
    let device = device(&function, &parameters, arguments.bounds.as_ref());
    let host = host(&function, &parameters, arguments.bounds.as_ref());
    let checks = parameters.iter().filter_map(Parameter::value_check);
    let conditions = function.attrs.iter().filter(|attribute| attribute.path().is_ident("cfg"));
    Ok(quote! {
        #device
        #host
        #(#conditions)*
        const _: () = { #(#checks)* };
    })
}

/// Rejects functions that cannot be an entry point, each with its own reason.
fn check(function: &ItemFn) -> Result<()> {
    let Signature { constness, asyncness, safety, abi, fn_token, generics, variadic, output, .. } = &function.sig;
    if !matches!(function.vis, Visibility::Public(_)) {
        return Err(Error::new(fn_token.span(), "a kernel is `pub`: the host launches it"));
    }
    if let Some(constness) = constness {
        return Err(Error::new(constness.span(), "a kernel cannot be a `const fn`"));
    }
    if let Some(asyncness) = asyncness {
        return Err(Error::new(asyncness.span(), "a kernel cannot be an `async fn`"));
    }
    if let Some(abi) = abi {
        return Err(Error::new(abi.span(), "a kernel names no ABI: `#[kernel]` gives it that of PTX kernels"));
    }
    if !matches!(safety, Safety::Unsafe(_)) {
        return Err(Error::new(
            fn_token.span(),
            "a kernel is an `unsafe fn`: nothing checks what the launch passes to it",
        ));
    }
    if !generics.params.is_empty() {
        return Err(Error::new(
            generics.span(),
            "a kernel is not generic: write one kernel for each type, over a generic `#[inline(always)]` function",
        ));
    }
    if let Some(clause) = &generics.where_clause {
        return Err(Error::new(clause.span(), "a kernel is not generic, so it has no `where` clause"));
    }
    if let Some(variadic) = variadic {
        return Err(Error::new(variadic.span(), "a kernel has a fixed number of parameters"));
    }
    if let ReturnType::Type(_, result) = output {
        return Err(Error::new(
            result.span(),
            "a kernel returns nothing: write the result to memory, through a `*mut T` or `&mut [T]` parameter",
        ));
    }
    Ok(())
}

/// The entry point, and the marker of its launch bounds.
fn device(function: &ItemFn, parameters: &[Parameter], bounds: Option<&LaunchBounds>) -> TokenStream {
    let attributes = &function.attrs;
    let visibility = &function.vis;
    let name = &function.sig.ident;
    let statements = &function.block.stmts;
    let entry = parameters.iter().map(Parameter::entry);
    let bindings = parameters.iter().map(Parameter::binding);
    let marker = bounds.map(|bounds| {
        let [x, y, z] = bounds.threads;
        let blocks = bounds.minimum_blocks;
        let marker = format_ident!("__coalesce_launch_bounds__{x}_{y}_{z}_{blocks}__{name}");
        quote! {
            #[cfg(target_arch = "nvptx64")]
            #[used]
            #[unsafe(no_mangle)]
            #[unsafe(link_section = ".launch_bounds")]
            #[allow(non_upper_case_globals, missing_docs)]
            #[doc(hidden)]
            static #marker: u8 = 0;
        }
    });
    quote! {
        #(#attributes)*
        #[cfg(target_arch = "nvptx64")]
        #[unsafe(no_mangle)]
        // The trait `Value` checks what may be passed by value; this lint does not know vectors.
        #[allow(improper_ctypes_definitions)]
        #visibility unsafe extern "ptx-kernel" fn #name(#(#entry),*) {
            #[allow(unused_unsafe)]
            // SAFETY: the launch promises what the kernel requires under `# Safety`.
            unsafe {
                #(#bindings)*
                #(#statements)*
            }
        }
        #marker
    }
}

/// The handle, with the documentation of the kernel.
fn host(function: &ItemFn, parameters: &[Parameter], bounds: Option<&LaunchBounds>) -> TokenStream {
    let documentation =
        function.attrs.iter().filter(|attribute| attribute.path().is_ident("doc") || attribute.path().is_ident("cfg"));
    let visibility = &function.vis;
    let name = &function.sig.ident;
    let text = name.to_string();
    let handles: Vec<_> = parameters.iter().map(Parameter::handle).collect();
    let bounds = match bounds {
        None => quote!(::core::option::Option::None),
        Some(LaunchBounds { threads: [x, y, z], minimum_blocks }) => quote! {
            ::core::option::Option::Some(::cuda_std::launch::LaunchBounds {
                threads: [#x, #y, #z],
                minimum_blocks: #minimum_blocks,
            })
        },
    };
    quote! {
        #(#documentation)*
        #[cfg(not(target_arch = "nvptx64"))]
        #[allow(non_upper_case_globals)]
        #visibility static #name: ::cuda_std::launch::Kernel<(#(#handles,)*)> =
            ::cuda_std::launch::Kernel::new(#text, #bounds);
    }
}

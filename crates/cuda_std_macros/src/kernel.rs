//! `#[kernel]`: an entry point on the device, a typed handle on the host.

use crate::bounds::{KernelArguments, LaunchBounds};
use crate::library::Library;
use crate::parameter::Parameter;
use crate::signature;
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{AttrStyle, Attribute, Error, ItemFn, Result, ReturnType, Safety, Signature, Visibility};

/// The attribute applied to `item`.
pub fn expand(arguments: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let arguments: KernelArguments = syn::parse2(arguments)?;
    let mut function: ItemFn = syn::parse2(item)?;
    // Those within the body say the same before the function, where all of them are written.
    function.attrs.iter_mut().for_each(|attribute| attribute.style = AttrStyle::Outer);
    check(&function)?;
    let parameters = function.sig.inputs.iter().map(Parameter::new).collect::<Result<Vec<_>>>()?;
    if !is_unsafe(&function) {
        parameters.iter().try_for_each(|parameter| parameter.check_safe(arguments.linear))?;
        if let Some(name) = &arguments.divergent_barrier {
            let problem = "in a safe kernel all threads reach each barrier, and `cuda_builder` proves it: make it an `unsafe fn`, \
                 or move the barrier out of what depends on the thread";
            return Err(Error::new(name.span(), problem));
        }
    }
    check_block(&parameters, &arguments)?;
    let library = Library::of(&function.sig.ident);
    let import = library.import();
    let device = device(&function, &parameters, &arguments, &library);
    let host = host(&function, &parameters, &arguments, &library);
    let checks = parameters.iter().filter_map(|parameter| parameter.type_check(&library, arguments.block));
    let bits =
        parameters.iter().filter(|_| !is_unsafe(&function)).filter_map(|parameter| parameter.bits_check(&library));
    let checks = checks.chain(bits);
    let conditions = conditions(&function);
    let only_one = signature::only_one(&function.sig.ident, &conditions);
    Ok(quote! {
        #(#conditions)*
        #import
        #device
        #host
        #only_one
        #(#conditions)*
        const _: () = { #(#checks)* };
    })
}

/// Rejects functions that cannot be an entry point, each with its own reason.
fn check(function: &ItemFn) -> Result<()> {
    let Signature { constness, asyncness, abi, fn_token, generics, variadic, output, .. } = &function.sig;
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
            "a kernel returns nothing: write the result to memory, through a `DisjointSlice<T>` or `*mut T` parameter",
        ));
    }
    Ok(())
}

/// Rejects a second block, one of another shape than the declared one can be, and tiles without a
/// block.
fn check_block(parameters: &[Parameter], arguments: &KernelArguments) -> Result<()> {
    let mut blocks = parameters.iter().filter(|parameter| parameter.is_block());
    let Some(block) = blocks.next() else {
        return match parameters.iter().find(|parameter| parameter.is_shared()) {
            Some(tile) => Err(Error::new(
                tile.span(),
                "only a `Block` reaches `Shared` tiles: the kernel needs a parameter `mut block: Block<X, Y>`",
            )),
            None => Ok(()),
        };
    };
    if let Some(second) = blocks.next() {
        return Err(Error::new(second.span(), "a kernel has one `Block`: with two, phases could overlap"));
    }
    match arguments.block {
        None => {
            Err(Error::new(block.span(), "a kernel with a `Block<X, Y>` declares its shape: `#[kernel(block(X, Y))]`"))
        }
        Some([.., z]) if z > 1 => {
            Err(Error::new(block.span(), "a `Block<X, Y>` has no z: the kernel's block extends in x and y only"))
        }
        Some(_) => Ok(()),
    }
}

/// The attributes that say whether the kernel is there.
fn conditions(function: &ItemFn) -> Vec<&Attribute> {
    function.attrs.iter().filter(|attribute| attribute.path().is_ident("cfg")).collect()
}

/// Whether launching it takes promises that the types do not check.
fn is_unsafe(function: &ItemFn) -> bool {
    matches!(function.sig.safety, Safety::Unsafe(_))
}

/// The entry point, and in it its signature and its markers: of its block or launch bounds, and of an
/// `unsafe fn`. So they exist if the function does, whatever its attributes say.
fn device(function: &ItemFn, parameters: &[Parameter], arguments: &KernelArguments, library: &Library) -> TokenStream {
    let attributes = &function.attrs;
    let visibility = &function.vis;
    let name = &function.sig.ident;
    let symbol = name.unraw();
    let statements = &function.block.stmts;
    let entry = parameters.iter().filter_map(|parameter| parameter.entry(library));
    let bindings: Vec<_> = parameters.iter().map(|parameter| parameter.binding(library)).collect();
    let mut assumptions = Vec::new();
    if let Some([x, y, z]) = arguments.block {
        assumptions.push(quote!(unsafe { #library::shape::assume_block::<#x, #y, #z>() };));
    }
    if arguments.linear {
        assumptions.push(quote!(unsafe { #library::shape::assume_linear() };));
    }
    // The body is a block of its own: its items are out of reach of what stands before it. In an
    // `unsafe fn` it is an unsafe context: `# Safety` says once what the launch must promise.
    let context = is_unsafe(function).then(|| quote!(#[allow(unused_unsafe)] unsafe));
    let marker = match arguments {
        KernelArguments { block: Some([x, y, z]), min_blocks, .. } => {
            Some(format_ident!("__coalesce_block__{x}_{y}_{z}_{min_blocks}__{symbol}"))
        }
        KernelArguments { bounds: Some(LaunchBounds { threads: [x, y, z], minimum_blocks }), .. } => {
            Some(format_ident!("__coalesce_launch_bounds__{x}_{y}_{z}_{minimum_blocks}__{symbol}"))
        }
        _ => None,
    };
    // What its author promises, the builder only warns of.
    let divergent = is_unsafe(function).then(|| match arguments.divergent_barrier {
        Some(_) => format_ident!("__coalesce_divergent__allow__{symbol}"),
        None => format_ident!("__coalesce_divergent__warn__{symbol}"),
    });
    let markers = marker.into_iter().chain(divergent).map(|marker| {
        quote! {
            #[used]
            #[unsafe(no_mangle)]
            #[unsafe(link_section = ".launch_bounds")]
            #[allow(non_upper_case_globals)]
            static #marker: #library::value::scalar::u8 = 0;
        }
    });
    let safety = is_unsafe(function).then(|| quote!(unsafe));
    let signature = signature::expression(is_unsafe(function), parameters, arguments, library);
    let signature = signature::in_ptx(name, &signature, library);
    quote! {
        #(#attributes)*
        #[cfg(target_arch = "nvptx64")]
        #[unsafe(no_mangle)]
        // The trait `Value` checks what may be passed by value; this lint does not know vectors.
        #[allow(improper_ctypes_definitions)]
        #visibility #safety extern "ptx-kernel" fn #name(#(#entry),*) {
            #(#markers)*
            #signature
            // SAFETY: a launch passes what the parameters' types say, in the shape that the kernel
            // declares.
            #(#assumptions)*
            #(#bindings)*
            #context { #(#statements)* }
        }
    }
}

/// The handle, with the documentation of the kernel.
fn host(function: &ItemFn, parameters: &[Parameter], arguments: &KernelArguments, library: &Library) -> TokenStream {
    let documentation =
        function.attrs.iter().filter(|attribute| attribute.path().is_ident("doc") || attribute.path().is_ident("cfg"));
    let visibility = &function.vis;
    let name = &function.sig.ident;
    let text = name.unraw().to_string();
    let handles: Vec<_> = parameters.iter().filter_map(|parameter| parameter.handle(library)).collect();
    let block = option(arguments.block.map(|[x, y, z]| quote!([#x, #y, #z])));
    let bounds = option(arguments.bounds.as_ref().map(|LaunchBounds { threads: [x, y, z], minimum_blocks }| {
        quote! {
            #library::launch::LaunchBounds { threads: [#x, #y, #z], minimum_blocks: #minimum_blocks }
        }
    }));
    let linear = arguments.linear;
    let signature = signature::expression(is_unsafe(function), parameters, arguments, library);
    let handle = quote! {
        #library::launch::Kernel::new(
            #text,
            #library::launch::LaunchShape { block: #block, linear: #linear, bounds: #bounds },
            #signature,
        )
    };
    let (ty, handle) = if is_unsafe(function) {
        (quote!(Kernel), handle)
    } else {
        // SAFETY: the PTX is compiled from this function, which is safe.
        (quote!(SafeKernel), quote!(unsafe { #library::launch::SafeKernel::new(#handle) }))
    };
    quote! {
        #(#documentation)*
        #[cfg(not(target_arch = "nvptx64"))]
        #[allow(non_upper_case_globals)]
        #visibility static #name: #library::launch::#ty<(#(#handles,)*)> = #handle;
    }
}

/// An `Option` as an expression.
fn option(value: Option<TokenStream>) -> TokenStream {
    match value {
        None => quote!(::core::option::Option::None),
        Some(value) => quote!(::core::option::Option::Some(#value)),
    }
}

//! `#[coalesce::test]`: a test whose launches run on the simulated GPU of the program `coalesce`,
//! in a process of its own. It fails if the body fails, if a check finds a fault, or if a goal is
//! missed, and then shows the kernels' report. The body is any code that calls CUDA's driver, as
//! through cudarc or cust.
//!
//! ```toml
//! [dev-dependencies]
//! coalesce = { package = "coalesce-test", git = "https://HOST/OWNER/coalesce" }
//! ```
//!
//! ```ignore
//! #[coalesce::test(require = "shared.bank_conflicts == 0", device = "sim:hopper")]
//! fn the_transpose_is_right() -> Result<(), cudarc::driver::DriverError> {
//!     let context = cudarc::driver::CudaContext::new(0)?;
//!     // ...
//!     Ok(())
//! }
//! ```
//!
//! `coalesce` is looked for in `PATH`, and in `COALESCE_PROGRAM`. Under `coalesce run -- cargo test`
//! the test runs in place: its process has the simulated GPU already.

use proc_macro::TokenStream;
use proc_macro2::TokenStream as TokenStream2;
use quote::quote;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Error, Expr, ExprLit, ItemFn, Lit, MetaNameValue, ReturnType, Token, parse_quote};

/// A test that runs on the simulated GPU.
///
/// Arguments, each a text: `require`, a goal as of `coalesce run --require`, which may be repeated;
/// `device`, as of `--device`; `check`, as of `--check`, without it `all`.
#[proc_macro_attribute]
pub fn test(arguments: TokenStream, function: TokenStream) -> TokenStream {
    expand(arguments.into(), function.into()).unwrap_or_else(Error::into_compile_error).into()
}

fn expand(arguments: TokenStream2, function: TokenStream2) -> syn::Result<TokenStream2> {
    let flags = flags(arguments)?;
    let ItemFn { attrs, vis, mut sig, block, .. } = syn::parse2(function)?;
    if let Some(input) = sig.inputs.first() {
        return Err(Error::new_spanned(input, "a test takes no arguments"));
    }
    if sig.asyncness.is_some() || !sig.generics.params.is_empty() {
        return Err(Error::new_spanned(&sig, "a test is a plain function: neither async nor generic"));
    }
    let name = sig.ident.clone();
    let outcome = match &sig.output {
        ReturnType::Default => quote!(body();),
        ReturnType::Type(..) => quote!(body().expect("the test returns no error");),
    };
    sig.ident = parse_quote!(body);
    Ok(quote! {
        #(#attrs)*
        #[::core::prelude::v1::test]
        #vis fn #name() {
            #sig #block
            // `coalesce run` sets it: the process has the simulated GPU.
            if ::std::env::var_os("COALESCE_RECORD").is_some() {
                #outcome
                return;
            }
            let place = ::core::concat!(::core::module_path!(), "::", ::core::stringify!(#name));
            // The name of a test begins below the crate's.
            let name = place.split_once("::").map_or(place, |(_, name)| name);
            // In the package of `coalesce` itself, its program.
            let usual = ::core::option_env!("CARGO_BIN_EXE_coalesce").unwrap_or("coalesce");
            let program = ::std::env::var_os("COALESCE_PROGRAM").unwrap_or_else(|| usual.into());
            let this = ::std::env::current_exe().expect("the test has a path");
            let output = ::std::process::Command::new(&program)
                .arg("run")
                .args([#(#flags),*])
                .arg("--")
                .arg(this)
                .args([name, "--exact", "--nocapture", "--include-ignored"])
                .output()
                .unwrap_or_else(|error| {
                    ::core::panic!("{} cannot be run: {error}; install `coalesce`, or name it in COALESCE_PROGRAM", program.display())
                });
            ::std::print!("{}", ::std::string::String::from_utf8_lossy(&output.stdout));
            ::std::eprint!("{}", ::std::string::String::from_utf8_lossy(&output.stderr));
            ::core::assert!(output.status.success(), "{name} fails on the simulated GPU, see above");
        }
    })
}

/// The flags of `coalesce run`.
fn flags(arguments: TokenStream2) -> syn::Result<Vec<String>> {
    let arguments = Punctuated::<MetaNameValue, Token![,]>::parse_terminated.parse2(arguments)?;
    let mut flags = Vec::new();
    for MetaNameValue { path, value, .. } in &arguments {
        let name = path.get_ident().map(ToString::to_string).unwrap_or_default();
        if !["require", "device", "check"].contains(&name.as_str()) {
            return Err(Error::new_spanned(path, "unknown argument; give require, device or check"));
        }
        let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = value else {
            return Err(Error::new_spanned(value, "give a text in quotes"));
        };
        flags.extend([format!("--{name}"), text.value()]);
    }
    if !flags.iter().any(|flag| flag == "--check") {
        flags.extend(["--check".to_owned(), "all".to_owned()]);
    }
    Ok(flags)
}

#[cfg(test)]
mod tests {
    use super::{expand, flags};

    fn said(arguments: &str, function: &str) -> String {
        let expanded = expand(arguments.parse().unwrap(), function.parse().unwrap());
        expanded.map_or_else(|error| error.to_string(), |tokens| tokens.to_string())
    }

    #[test]
    fn arguments_are_flags() {
        let flags = |text: &str| flags(text.parse().unwrap()).unwrap();
        assert_eq!(flags(""), ["--check", "all"]);
        let given = flags("require = \"a == 0\", require = \"b < 1\", check = \"race\", device = \"sim:hopper\"");
        assert_eq!(given, ["--require", "a == 0", "--require", "b < 1", "--check", "race", "--device", "sim:hopper"]);
    }

    #[test]
    fn what_is_no_test_is_refused_in_words() {
        for (arguments, function, says) in [
            ("requires = \"a\"", "fn f() {}", "unknown argument; give require, device or check"),
            ("require = 3", "fn f() {}", "give a text in quotes"),
            ("", "fn f(a: u32) {}", "a test takes no arguments"),
            ("", "async fn f() {}", "a test is a plain function: neither async nor generic"),
        ] {
            assert_eq!(said(arguments, function), says);
        }
        assert!(said("", "#[ignore] fn f() {}").starts_with("# [ignore] # [:: core :: prelude :: v1 :: test] fn f ()"));
    }
}

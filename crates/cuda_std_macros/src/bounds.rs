//! Parses `launch_bounds(..)`: the largest block that a kernel will be launched with.

use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Error, Expr, ExprLit, Ident, Lit, Result, Token, parenthesized};

/// The arguments of `#[kernel(..)]`.
pub struct KernelArguments {
    /// The launch bounds, if there are any.
    pub bounds: Option<LaunchBounds>,
}

/// The bounds as given: the largest block, and the number of blocks a multiprocessor should hold.
pub struct LaunchBounds {
    /// The largest block, in threads: x, y, z.
    pub threads: [u32; 3],
    /// The minimum number of resident blocks, or 0 if not specified.
    pub minimum_blocks: u32,
}

impl Parse for KernelArguments {
    fn parse(input: ParseStream) -> Result<Self> {
        if input.is_empty() {
            return Ok(Self { bounds: None });
        }
        let name: Ident = input.parse()?;
        if name != "launch_bounds" {
            return Err(Error::new(
                name.span(),
                "unknown argument: `#[kernel]` knows `launch_bounds(THREADS)` and `launch_bounds(THREADS, MIN_BLOCKS)`",
            ));
        }
        let content;
        parenthesized!(content in input);
        let bounds = content.parse()?;
        let _: Option<Token![,]> = input.parse()?;
        if !input.is_empty() {
            return Err(input.error("`launch_bounds(..)` is the only argument of `#[kernel]`"));
        }
        Ok(Self { bounds: Some(bounds) })
    }
}

impl Parse for LaunchBounds {
    fn parse(input: ParseStream) -> Result<Self> {
        let whole = input.span();
        let arguments = Punctuated::<Expr, Token![,]>::parse_terminated(input)?;
        let mut arguments = arguments.iter();
        let Some(threads) = arguments.next() else {
            return Err(Error::new(whole, "`launch_bounds` needs the number of threads of the largest block"));
        };
        let shape = match threads {
            Expr::Tuple(shape) if (2..=3).contains(&shape.elems.len()) => {
                shape.elems.iter().map(number).collect::<Result<Vec<_>>>()?
            }
            Expr::Tuple(shape) => {
                return Err(Error::new_spanned(shape, "a block has one, two or three dimensions"));
            }
            single => vec![number(single)?],
        };
        let mut extents = [1; 3];
        extents[..shape.len()].copy_from_slice(&shape);
        // Each extent is at most 1024, so the product cannot overflow 32 bits.
        if extents.iter().any(|&extent| extent > 1024) || extents.iter().product::<u32>() > 1024 {
            return Err(Error::new_spanned(threads, "a block has at most 1024 threads"));
        }
        let minimum_blocks = arguments.next().map(number).transpose()?.unwrap_or(0);
        if let Some(extra) = arguments.next() {
            return Err(Error::new_spanned(
                extra,
                "`launch_bounds` takes the threads of a block and, at most, a number of blocks",
            ));
        }
        Ok(Self { threads: extents, minimum_blocks })
    }
}

/// A positive integer literal.
fn number(expression: &Expr) -> Result<u32> {
    if let Expr::Lit(ExprLit { lit: Lit::Int(literal), .. }) = expression {
        let value = literal.base10_parse()?;
        if value > 0 {
            return Ok(value);
        }
    }
    Err(Error::new_spanned(
        expression,
        "launch bounds are integer literals greater than zero: they become part of the PTX",
    ))
}

//! Parses the arguments of `#[kernel(..)]`: the launches that a kernel allows.

use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Error, Expr, ExprLit, Ident, Lit, Result, Token, parenthesized};

/// The arguments that `#[kernel]` knows, for messages.
const KNOWN: &str = "`block(X, Y, Z)`, `min_blocks(COUNT)`, `linear`, `launch_bounds(THREADS)`, \
     `launch_bounds(THREADS, MIN_BLOCKS)` and `allow(divergent_barrier)`";

/// The arguments of `#[kernel(..)]`.
#[derive(Default)]
pub struct KernelArguments {
    /// The exact shape of the block, if the kernel declares one.
    pub block: Option<[u32; 3]>,
    /// How many of these blocks a multiprocessor should hold at least, or 0 if not specified.
    pub min_blocks: u32,
    /// Whether launches have one dimension.
    pub linear: bool,
    /// The launch bounds, if there are any.
    pub bounds: Option<LaunchBounds>,
    /// The name `divergent_barrier`, if the kernel allows barriers that depend on the thread.
    pub divergent_barrier: Option<Ident>,
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
        let mut all = Self::default();
        while !input.is_empty() {
            let name: Ident = input.parse()?;
            let content;
            let repeated = match name.to_string().as_str() {
                "linear" => std::mem::replace(&mut all.linear, true),
                "block" => {
                    parenthesized!(content in input);
                    all.block.replace(block(&content)?).is_some()
                }
                "min_blocks" => {
                    parenthesized!(content in input);
                    let count = number(&content.parse()?)?;
                    std::mem::replace(&mut all.min_blocks, count) > 0
                }
                "launch_bounds" => {
                    parenthesized!(content in input);
                    all.bounds.replace(content.parse()?).is_some()
                }
                "allow" => {
                    parenthesized!(content in input);
                    all.divergent_barrier.replace(allowed(&content)?).is_some()
                }
                _ => return Err(Error::new(name.span(), format!("unknown argument: `#[kernel]` knows {KNOWN}"))),
            };
            if repeated {
                return Err(Error::new(name.span(), format!("`{name}` stands here twice")));
            }
            if all.block.is_some() && all.bounds.is_some() {
                return Err(Error::new(name.span(), "a kernel with a `block(..)` needs no `launch_bounds(..)`"));
            }
            if all.linear && all.block.is_some_and(|[_, y, z]| y * z > 1) {
                return Err(Error::new(name.span(), "the block of a `linear` kernel extends in x only"));
            }
            if !input.is_empty() {
                let _: Token![,] = input.parse()?;
            }
        }
        if all.min_blocks > 0 && all.block.is_none() {
            let problem = "`min_blocks(..)` says how many blocks of a `block(..)` a multiprocessor holds";
            return Err(Error::new(input.span(), problem));
        }
        Ok(all)
    }
}

/// The name in `allow(divergent_barrier)`.
fn allowed(input: ParseStream) -> Result<Ident> {
    let name: Ident = input.parse()?;
    match name == "divergent_barrier" && input.is_empty() {
        true => Ok(name),
        false => Err(Error::new(name.span(), "a kernel can `allow(divergent_barrier)` and nothing else")),
    }
}

/// The extents of `block(X)`, `block(X, Y)` or `block(X, Y, Z)`.
fn block(input: ParseStream) -> Result<[u32; 3]> {
    let span = input.span();
    let extents = Punctuated::<Expr, Token![,]>::parse_terminated(input)?;
    let extents = extents.iter().map(number).collect::<Result<Vec<_>>>()?;
    shape(&extents).map_err(|message| Error::new(span, message))
}

/// One to three extents as x, y and z; `Err` says why no block has them.
fn shape(extents: &[u32]) -> std::result::Result<[u32; 3], &'static str> {
    if !(1..=3).contains(&extents.len()) {
        return Err("a block has one, two or three dimensions");
    }
    let mut all = [1; 3];
    all[..extents.len()].copy_from_slice(extents);
    // Each extent is at most 1024, so the product cannot overflow 32 bits.
    if all.iter().any(|&extent| extent > 1024) || all.iter().product::<u32>() > 1024 {
        return Err("a block has at most 1024 threads");
    }
    if all[2] > 64 {
        return Err("a block extends by at most 64 in z");
    }
    Ok(all)
}

impl Parse for LaunchBounds {
    fn parse(input: ParseStream) -> Result<Self> {
        let whole = input.span();
        let arguments = Punctuated::<Expr, Token![,]>::parse_terminated(input)?;
        let mut arguments = arguments.iter();
        let Some(threads) = arguments.next() else {
            return Err(Error::new(whole, "`launch_bounds` needs the number of threads of the largest block"));
        };
        let extents = match threads {
            Expr::Tuple(tuple) => tuple.elems.iter().map(number).collect::<Result<Vec<_>>>()?,
            single => vec![number(single)?],
        };
        let extents = shape(&extents).map_err(|message| Error::new_spanned(threads, message))?;
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
fn number(mut expression: &Expr) -> Result<u32> {
    // As a `$literal` of `macro_rules!` arrives.
    while let Expr::Group(group) = expression {
        expression = &group.expr;
    }
    if let Expr::Lit(ExprLit { lit: Lit::Int(literal), .. }) = expression {
        let value = literal.base10_parse()?;
        if value > 0 {
            return Ok(value);
        }
    }
    Err(Error::new_spanned(
        expression,
        "a block's extents and launch bounds are integer literals greater than zero: they become part of the PTX",
    ))
}

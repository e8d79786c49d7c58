macro_rules! m { ($p:ident $e:tt) => { #[$p = "@"] mod x $e pub use x::*; } }
m!(path ;);

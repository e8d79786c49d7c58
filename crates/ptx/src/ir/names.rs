//! The words that PTX has for the values of an enum. They are declared once, with the enum:
//! `typing` looks a word up, and `print` writes it. A value without a word does not compile.

/// An enum whose values PTX writes as modifiers or opcodes.
pub(crate) trait FromName: Copy + PartialEq {
    /// The value of that name, without a dot.
    fn from_name(name: &str) -> Option<Self>;
}

/// Declares an enum with the name of each value and, after a `|`, other spellings; or declares the
/// names of an enum whose variants have fields. A value with an empty name is a default, which is
/// not written.
macro_rules! names {
    ($(#[$about:meta])* $visible:vis enum $of:ident {
        $($(#[$what:meta])* $value:ident = $name:literal $(| $other:literal)*,)+
    }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        $visible enum $of {
            $($(#[$what])* $value,)+
        }

        names! { $of { $($value = $name $(| $other)*,)+ } }
    };
    ($of:ident {
        $($value:ident $({ $field:ident: $set:literal })? $(($inner:path))? = $name:literal $(| $other:literal)*,)+
    }) => {
        impl $of {
            /// All values, in the order of declaration.
            pub const ALL: &'static [Self] = &[$(Self::$value $({ $field: $set })? $(($inner))?),+];

            /// The name in PTX text, without a dot; empty for a default that is not written.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$value $({ $field: $set })? $(($inner))? => $name,)+
                }
            }
        }

        impl $crate::ir::names::FromName for $of {
            fn from_name(name: &str) -> Option<Self> {
                if name.is_empty() {
                    return None;
                }
                Some(match name {
                    $($name $(| $other)* => Self::$value $({ $field: $set })? $(($inner))?,)+
                    _ => return None,
                })
            }
        }
    };
}

pub(super) use names;

//! The signatures of kernels and exported statics, in which host and device say what they take each
//! other's types for.
//!
//! A crate of kernels is compiled twice, and the two may differ: by `cfg(target_arch)`, by a cargo
//! feature of one side, or because the PTX is older. So `#[kernel]` writes the signature for both:
//! on the device as a static, which `cuda_builder` takes out and puts beside the entry point as a
//! comment; on the host as a part of the handle. A launch compares them.
//!
//! ```text
//! .visible .entry axpy(    // coalesce: safe linear | a: f32 4/4 | x: &[f32] 4/4
//! ```
//!
//! After the launches that the kernel allows come the parameters that a launch passes: name, type,
//! and size and alignment in bytes, for slices and pointers those of an element. Both are what the
//! compiler of each side says.
//!
//! The types' names find what is wrong, but safety does not depend on them, because a crate can
//! have two types of one name. The compiler checks on each side that any bits are a value: an
//! element of a safe kernel is [`Pod`](bytemuck::Pod), and so is in effect what it takes by value
//! (`cuda_std::value`). So what has the same size and alignment can be read as either type.

/// A kernel's signature, or that of a static, which has no launches and one parameter.
#[derive(Debug)]
pub struct Signature {
    /// The launches that the kernel allows, as words.
    launches: &'static str,
    parameters: &'static [Parameter],
}

/// A parameter that a launch passes.
#[derive(Debug)]
pub struct Parameter {
    name: &'static str,
    /// What stands before and behind the type: `["&[", "]"]`.
    form: [&'static str; 2],
    ty: Type,
}

/// A type, as this compilation knows it.
#[derive(Clone, Copy, Debug)]
pub struct Type {
    /// On the host a function, because names of types are not constant in stable Rust.
    #[cfg(not(target_arch = "nvptx64"))]
    name: fn() -> &'static str,
    #[cfg(target_arch = "nvptx64")]
    name: &'static str,
    size: usize,
    alignment: usize,
}

impl Type {
    /// The type `T`.
    pub const fn of<T>() -> Self {
        #[cfg(not(target_arch = "nvptx64"))]
        let name = core::any::type_name::<T>;
        #[cfg(target_arch = "nvptx64")]
        let name = core::any::type_name::<T>();
        Self { name, size: size_of::<T>(), alignment: align_of::<T>() }
    }
}

impl Parameter {
    /// The value of an exported static. `#[address_space]` calls this.
    pub const fn of_static<T>() -> Self {
        Self { name: "value", form: [""; 2], ty: Type::of::<T>() }
    }

    /// A parameter of this type. `#[kernel]` calls this.
    pub const fn new(name: &'static str, form: [&'static str; 2], ty: Type) -> Self {
        Self { name, form, ty }
    }
}

impl Signature {
    /// The launches of an exported static: none.
    pub const STATIC: &'static str = "static";

    /// A kernel's signature. `#[kernel]` calls this.
    pub const fn new(launches: &'static str, parameters: &'static [Parameter]) -> Self {
        Self { launches, parameters }
    }
}

#[cfg(not(target_arch = "nvptx64"))]
impl core::fmt::Display for Signature {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.write_str(self.launches)?;
        self.parameters.iter().try_for_each(|parameter| write!(formatter, " | {parameter}"))
    }
}

#[cfg(not(target_arch = "nvptx64"))]
impl core::fmt::Display for Parameter {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { name, form: [before, behind], ty } = self;
        let type_name = (ty.name)();
        // `usize` has 64 bits on the device, whatever it has here.
        let (size, alignment) = match (type_name, before.is_empty()) {
            ("usize", true) => (8, 8),
            _ => (ty.size, ty.alignment),
        };
        write!(formatter, "{name}: {before}{type_name}{behind} {size}/{alignment}")
    }
}

/// As `Display` writes it on the host, at compile time.
#[cfg(target_arch = "nvptx64")]
impl Signature {
    /// The number of bytes of its text.
    pub const fn length(&self) -> usize {
        Text::<0>::of(self).length
    }

    /// Its text, whose length is `N`.
    pub const fn text<const N: usize>(&self) -> [u8; N] {
        Text::of(self).bytes
    }
}

/// A text of `length` bytes, of which the first `N` are kept.
#[cfg(target_arch = "nvptx64")]
struct Text<const N: usize> {
    bytes: [u8; N],
    length: usize,
}

#[cfg(target_arch = "nvptx64")]
impl<const N: usize> Text<N> {
    const fn of(signature: &Signature) -> Self {
        let mut text = Self { bytes: [0; N], length: 0 };
        text.push(signature.launches);
        let mut i = 0;
        while i < signature.parameters.len() {
            let Parameter { name, form: [before, behind], ty } = &signature.parameters[i];
            text.push(" | ");
            text.push(name);
            text.push(": ");
            text.push(before);
            text.push(ty.name);
            text.push(behind);
            text.push(" ");
            text.push_number(ty.size);
            text.push("/");
            text.push_number(ty.alignment);
            i += 1;
        }
        text
    }

    const fn push(&mut self, part: &str) {
        let mut i = 0;
        while i < part.len() {
            self.push_byte(part.as_bytes()[i]);
            i += 1;
        }
    }

    const fn push_number(&mut self, number: usize) {
        if number >= 10 {
            self.push_number(number / 10);
        }
        self.push_byte(b'0' + (number % 10) as u8);
    }

    const fn push_byte(&mut self, byte: u8) {
        if self.length < N {
            self.bytes[self.length] = byte;
        }
        self.length += 1;
    }
}

//! Values as sums of roots: how they are added and multiplied, and what they are multiples of.

use std::collections::HashMap;

use ptx::{BinaryOp, Handle, Kind, Space, Special, TernaryOp, Type, Variable};

/// A value: `constant` and each of these roots, times a factor.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Form {
    /// Roots and factors, in rising order of root.
    pub terms: Vec<(u32, i64)>,
    pub constant: i64,
    wide: bool,
}

/// The index of a form.
pub(super) type Value = u32;

/// More terms become a root.
const MOST_TERMS: usize = 8;
/// The number of low zero bits of zero.
pub(super) const ALL_ZEROS: u32 = 64;

/// What makes a root.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Key {
    Special(Special),
    Parameter(Handle<Variable>, i64),
    Variable(Handle<Variable>),
    /// Where the block's shared memory starts.
    SharedStart,
    /// The first generic address of a state space.
    Window(Space),
    Widened {
        is_signed: bool,
        from: Value,
    },
    Converted(Type, Type, Value),
    Product(Type, Value, Value),
    Binary(BinaryOp, Type, Value, Value),
    Ternary(TernaryOp, Type, [Value; 3]),
    Sum(Value),
    /// A register where blocks meet.
    Meeting(usize, usize),
    /// A register before it is written.
    Early(usize),
    /// Any result of the instruction at this position.
    Result(usize, usize),
}

/// How many low bits of a root are zero.
#[derive(Clone, Debug)]
pub(super) enum Zeros {
    Known(u32),
    /// As many as all of these have.
    Least(Vec<Value>),
    /// As many as any of these has.
    Most(Vec<Value>),
    /// As many as these have together.
    Together(Value, Value),
}

pub(super) struct Root {
    zeros: Zeros,
    is_uniform: bool,
    /// Low zero bits that it has whatever loops do.
    surely: u32,
}

/// All forms of a function's values, and their roots.
#[derive(Default)]
pub(super) struct Forms {
    forms: Vec<Form>,
    by_form: HashMap<Form, Value>,
    roots: Vec<Root>,
    by_key: HashMap<Key, u32>,
}

impl Forms {
    /// A value's form.
    pub fn form(&self, value: Value) -> &Form {
        &self.forms[value as usize]
    }

    /// Whether a value has 64 bits.
    pub fn is_wide(&self, value: Value) -> bool {
        self.forms[value as usize].wide
    }

    /// Whether each root is the same in all threads of a warp.
    pub fn uniform_roots(&self) -> Vec<bool> {
        self.roots.iter().map(|root| root.is_uniform).collect()
    }

    /// Sets what the low zero bits of a root depend on.
    pub fn set_zeros(&mut self, root: u32, zeros: Zeros) {
        self.roots[root as usize].zeros = zeros;
    }

    /// The low zero bits of each root, with loops: as many as hold all around.
    pub fn all_zeros(&self) -> Vec<u32> {
        let mut all = vec![ALL_ZEROS; self.roots.len()];
        let mut changed = true;
        while changed {
            changed = false;
            for (index, root) in self.roots.iter().enumerate() {
                let found = self.zeros_by(&root.zeros, &|root| all[root as usize]);
                if found < all[index] {
                    all[index] = found;
                    changed = true;
                }
            }
        }
        all
    }

    fn zeros_by(&self, zeros: &Zeros, of: &dyn Fn(u32) -> u32) -> u32 {
        let value = |value: &Value| {
            let form = &self.forms[*value as usize];
            let terms = form.terms.iter().map(|&(root, factor)| of(root) + factor.trailing_zeros());
            terms.chain([form.constant.trailing_zeros()]).min().unwrap_or(0).min(ALL_ZEROS)
        };
        match zeros {
            Zeros::Known(zeros) => *zeros,
            Zeros::Least(all) => all.iter().map(value).min().unwrap_or(0),
            Zeros::Most(all) => all.iter().map(value).max().unwrap_or(0),
            Zeros::Together(one, other) => (value(one) + value(other)).min(ALL_ZEROS),
        }
    }

    /// Low zero bits of a value that do not depend on loops.
    pub fn surely(&self, value: Value) -> u32 {
        self.zeros_by(&Zeros::Least(vec![value]), &|root| self.roots[root as usize].surely)
    }

    pub fn root(&mut self, key: Key, zeros: Zeros, is_uniform: bool) -> u32 {
        if let Some(&known) = self.by_key.get(&key) {
            return known;
        }
        let surely = self.zeros_by(&zeros, &|root| self.roots[root as usize].surely);
        let index = self.roots.len() as u32;
        self.roots.push(Root { zeros, is_uniform, surely });
        self.by_key.insert(key, index);
        index
    }

    fn intern(&mut self, form: Form) -> Value {
        if let Some(&known) = self.by_form.get(&form) {
            return known;
        }
        let index = self.forms.len() as Value;
        self.by_form.insert(form.clone(), index);
        self.forms.push(form);
        index
    }

    /// A root, as a value.
    pub fn alone(&mut self, root: u32, wide: bool) -> Value {
        self.intern(Form { terms: vec![(root, 1)], constant: 0, wide })
    }

    pub fn constant(&mut self, constant: i64, wide: bool) -> Value {
        let constant = narrowed(constant, wide);
        self.intern(Form { terms: Vec::new(), constant, wide })
    }

    /// The root of an operation on these values.
    pub fn computed(&mut self, key: Key, of: &[Value], zeros: Zeros, wide: bool) -> Value {
        let is_uniform = of.iter().all(|&value| self.is_uniform(value));
        let root = self.root(key, zeros, is_uniform);
        self.alone(root, wide)
    }

    pub fn is_uniform(&self, value: Value) -> bool {
        self.forms[value as usize].terms.iter().all(|&(root, _)| self.roots[root as usize].is_uniform)
    }

    /// `a * by + b`.
    pub fn add(&mut self, a: Value, by: i64, b: Value) -> Value {
        let (a, b) = (&self.forms[a as usize], &self.forms[b as usize]);
        let wide = b.wide;
        let constant = narrowed(a.constant.wrapping_mul(by).wrapping_add(b.constant), wide);
        let mut terms = b.terms.clone();
        for &(root, factor) in &a.terms {
            match terms.binary_search_by_key(&root, |&(root, _)| root) {
                Ok(at) => terms[at].1 = terms[at].1.wrapping_add(factor.wrapping_mul(by)),
                Err(at) => terms.insert(at, (root, factor.wrapping_mul(by))),
            }
        }
        terms.iter_mut().for_each(|(_, factor)| *factor = narrowed(*factor, wide));
        terms.retain(|&(_, factor)| factor != 0);
        let many = terms.len() > MOST_TERMS;
        let value = self.intern(Form { terms, constant, wide });
        if many { self.computed(Key::Sum(value), &[value], Zeros::Least(vec![value]), wide) } else { value }
    }

    pub fn scaled(&mut self, value: Value, by: i64) -> Value {
        let wide = self.forms[value as usize].wide;
        let zero = self.constant(0, wide);
        self.add(value, by, zero)
    }

    /// The value, if it is a constant.
    pub fn known(&self, value: Value) -> Option<i64> {
        let form = &self.forms[value as usize];
        form.terms.is_empty().then_some(form.constant)
    }

    pub fn widened(&mut self, from: Value, is_signed: bool) -> Value {
        if let Some(constant) = self.known(from) {
            return self.constant(if is_signed { constant } else { i64::from(constant as u32) }, true);
        }
        self.computed(Key::Widened { is_signed, from }, &[from], Zeros::Least(vec![from]), true)
    }

    pub fn product(&mut self, ty: Type, a: Value, b: Value) -> Value {
        match (self.known(a), self.known(b)) {
            (_, Some(by)) => self.scaled(a, by),
            (Some(by), _) => self.scaled(b, by),
            _ => {
                let (a, b) = (a.min(b), a.max(b));
                self.computed(Key::Product(ty, a, b), &[a, b], Zeros::Together(a, b), ty.bits() == 64)
            }
        }
    }

    /// The product of two values of 32 bits, as 64.
    pub fn wide_product(&mut self, ty: Type, a: Value, b: Value) -> Option<Value> {
        if ty.bits() != 32 {
            return None;
        }
        let is_signed = ty.kind() == Kind::Signed;
        let (a, b) = (self.widened(a, is_signed), self.widened(b, is_signed));
        Some(self.product(Type::S64, a, b))
    }
}

/// A constant of 32 bits, sign-extended, or of 64.
fn narrowed(constant: i64, wide: bool) -> i64 {
    if wide { constant } else { i64::from(constant as i32) }
}

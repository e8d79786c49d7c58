//! Arenas and typed handles: how the parts of a [`Module`](crate::Module) refer to each other.
//!
//! A module is a graph (a call names a function, an instruction names a register). Handles keep it
//! a plain value that can be cloned, compared and sent between threads. The parser and
//! [`Environment`](crate::environment::Environment) append to the arenas; everybody else, `simt`
//! included, reads them by handle. Depends on nothing.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// The index of a `T` in the [`Arena`] that made it.
pub struct Handle<T> {
    index: u32,
    marker: PhantomData<fn() -> T>,
}

impl<T> Handle<T> {
    /// The position in the arena, from 0.
    pub fn index(self) -> usize {
        self.index as usize
    }

    fn new(index: usize) -> Self {
        let index = u32::try_from(index).expect("an arena holds fewer than 2^32 items: the text is shorter than that");
        Self { index, marker: PhantomData }
    }
}

impl<T> Clone for Handle<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Handle<T> {}
impl<T> PartialEq for Handle<T> {
    fn eq(&self, other: &Self) -> bool {
        self.index == other.index
    }
}
impl<T> Eq for Handle<T> {}
impl<T> PartialOrd for Handle<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl<T> Ord for Handle<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.index.cmp(&other.index)
    }
}
impl<T> Hash for Handle<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.index.hash(state);
    }
}
impl<T> fmt::Debug for Handle<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "[{}]", self.index)
    }
}

/// A list of `T` that hands out a [`Handle`] for each item and never removes one.
#[derive(Clone, Debug, PartialEq)]
pub struct Arena<T> {
    items: Vec<T>,
}

impl<T> Default for Arena<T> {
    fn default() -> Self {
        Self { items: Vec::new() }
    }
}

impl<T> Arena<T> {
    /// Adds an item.
    pub fn append(&mut self, item: T) -> Handle<T> {
        let handle = Handle::new(self.items.len());
        self.items.push(item);
        handle
    }

    /// The item of a handle, if the handle is of this arena.
    pub fn get(&self, handle: Handle<T>) -> Option<&T> {
        self.items.get(handle.index())
    }

    /// The number of items.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are no items.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// All items with their handles, in the order in which they were added.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (Handle<T>, &T)> {
        self.items.iter().enumerate().map(|(index, item)| (Handle::new(index), item))
    }
}

impl<T> Index<Handle<T>> for Arena<T> {
    type Output = T;
    fn index(&self, handle: Handle<T>) -> &T {
        &self.items[handle.index()]
    }
}
impl<T> IndexMut<Handle<T>> for Arena<T> {
    fn index_mut(&mut self, handle: Handle<T>) -> &mut T {
        &mut self.items[handle.index()]
    }
}

//! Objects of the caller's that graphs keep alive: when nobody refers to one any more, the function
//! that it came with is called, before the call that dropped the last reference returns.

use std::ffi::c_uint;

use crate::boundary::callbacks::{HostFunction, Passed, call_later};
use crate::boundary::{Done, Out, Status, driver};
use crate::objects::{Handle, UserObject};
use crate::state::{State, ready};

impl State {
    /// Adds references to an object.
    pub fn retain(&mut self, object: Handle, count: u32) -> Done {
        let object = self.user_objects.get_mut(&object).ok_or(Status::INVALID_VALUE)?;
        object.references = object.references.checked_add(count).ok_or(Status::INVALID_VALUE)?;
        Ok(())
    }

    /// Drops references to an object.
    pub fn drop_references(&mut self, object: Handle, count: u32) -> Done {
        let found = self.user_objects.get_mut(&object).ok_or(Status::INVALID_VALUE)?;
        found.references = found.references.checked_sub(count).ok_or(Status::INVALID_VALUE)?;
        if found.references > 0 {
            return Ok(());
        }
        let UserObject { destroy, data, .. } = *found;
        self.user_objects.remove(&object);
        call_later(destroy, data);
        Ok(())
    }

    /// Drops what a graph refers to.
    pub fn drop_all(&mut self, objects: Vec<(Handle, u32)>) -> Done {
        objects.into_iter().try_for_each(|(object, count)| self.drop_references(object, count))
    }

    /// What a copy of a graph refers to: each object once.
    pub fn retain_all(&mut self, objects: &[(Handle, u32)]) -> Done<Vec<(Handle, u32)>> {
        objects.iter().map(|&(object, _)| self.retain(object, 1).map(|()| (object, 1))).collect()
    }
}

driver! {
    fn cuUserObjectCreate(
        to: Out<Handle>, data: Passed, destroy: HostFunction, references: c_uint, flags: c_uint,
    ) {
        to.check()?;
        if destroy.is_none() || references == 0 {
            return Err(Status::INVALID_VALUE);
        }
        let mut state = ready()?;
        let object = state.handle();
        state.user_objects.insert(object, UserObject { references, data, destroy });
        to.put(object)
    }

    fn cuUserObjectRetain(object: Handle, count: c_uint) {
        if count == 0 { Err(Status::INVALID_VALUE) } else { ready()?.retain(object, count) }
    }

    fn cuUserObjectRelease(object: Handle, count: c_uint) {
        if count == 0 { Err(Status::INVALID_VALUE) } else { ready()?.drop_references(object, count) }
    }

    fn cuGraphRetainUserObject(graph: Handle, object: Handle, count: c_uint, flags: c_uint) {
        let mut state = ready()?;
        if count == 0 {
            return Err(Status::INVALID_VALUE);
        }
        state.graph_mut(graph)?;
        // 1: the caller's references become the graph's.
        if flags & 1 == 0 {
            state.retain(object, count)?;
        } else if !state.user_objects.contains_key(&object) {
            return Err(Status::INVALID_VALUE);
        }
        state.graph_mut(graph)?.objects.push((object, count));
        Ok(())
    }

    fn cuGraphReleaseUserObject(graph: Handle, object: Handle, count: c_uint) {
        let mut state = ready()?;
        let objects = &mut state.graph_mut(graph)?.objects;
        let held = objects.iter_mut().find(|(held, references)| *held == object && *references >= count);
        held.ok_or(Status::INVALID_VALUE)?.1 -= count;
        objects.retain(|&(_, references)| references > 0);
        state.drop_references(object, count)
    }
}

//! Memory whose lines L2 is to keep: the stream's access policy window, and the part of L2 that is
//! set aside for it. Both stay from launch to launch until one asks for something else, so that a
//! timed launch makes no call for them.

use cust::context::CurrentContext;
use cust::sys::{self, CUdevice_attribute as Attribute, CUstreamAttrID, CUstreamAttrValue};
use simt::models::AccessWindow;

use super::Gpu;
use super::query::newer_attribute_of;
use super::status::{driver_error, to_result};
use crate::error::Result;

impl Gpu {
    /// Gives the launches that follow this window, or none.
    pub(super) fn keep_in_l2(&self, window: Option<AccessWindow>) -> Result<()> {
        // Windows begin with compute capability 8.0.
        let window = window.filter(|_| self.properties.compute_capability.major >= 8);
        if self.window.get() == window {
            return Ok(());
        }
        let doing = "setting an access policy window";
        let device = CurrentContext::get_device().map_err(|error| driver_error(doing, error))?;
        let most = |attribute| newer_attribute_of(device, attribute, doing).map(u64::from);
        let aside = most(Attribute::CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE)?;
        let widest = most(Attribute::CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE)?;
        let AccessWindow { address, bytes } = window.unwrap_or(AccessWindow { address: 0, bytes: 0 });
        let bytes = bytes.min(widest);
        // A part of a GPU (MIG) can have nothing to set aside; it then takes no limit either.
        if aside > 0 {
            let limit = sys::CUlimit::CU_LIMIT_PERSISTING_L2_CACHE_SIZE;
            // SAFETY: a number, which the driver rounds.
            self.explain(doing, to_result(unsafe { sys::cuCtxSetLimit(limit, bytes.min(aside) as usize) }))?;
        }
        // As much of the window as fits persists: more would push itself out.
        let ratio = if bytes > aside && aside > 0 { aside as f32 / bytes as f32 } else { 1.0 };
        let value = CUstreamAttrValue {
            accessPolicyWindow: sys::CUaccessPolicyWindow {
                base_ptr: address as *mut _,
                num_bytes: bytes as usize,
                hitRatio: ratio,
                hitProp: sys::CUaccessProperty::CU_ACCESS_PROPERTY_PERSISTING,
                missProp: sys::CUaccessProperty::CU_ACCESS_PROPERTY_NORMAL,
            },
        };
        let name = CUstreamAttrID::CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW;
        // SAFETY: the stream is this context's, and the value, of the kind that the name says,
        // outlives the call. The address is only compared with those of accesses.
        self.explain(doing, to_result(unsafe { sys::cuStreamSetAttribute(self.stream.as_inner(), name, &value) }))?;
        self.window.set(window);
        Ok(())
    }
}

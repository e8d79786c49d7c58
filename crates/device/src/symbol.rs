//! The kernels' statics, such as constants, which the host sets and reads by typed handles, through
//! the device's backend.
//!
//! ```
//! use cuda_std::launch::Symbol;
//! use device::{DeviceChoice, Options, open};
//!
//! # fn main() -> Result<(), device::Error> {
//! let device = open(DeviceChoice::Simulator, &Options::of(kernels::PTX))?;
//! // The handle of `#[address_space(constant)] #[unsafe(no_mangle)] pub static CONSTANT_POLYNOMIAL: ConstantCell<[f32; 8]>`.
//! let mut coefficients = device.variable(&kernels::constant::CONSTANT_POLYNOMIAL)?;
//! coefficients.write(&[0.5; 8])?;
//! assert_eq!(coefficients.read()?, [0.5; 8]);
//! # Ok(())
//! # }
//! ```

use std::marker::PhantomData;
use std::rc::Rc;

use bytemuck::Pod;
use cuda_std::launch::Symbol;

use super::Device;
use super::backend::Backend;
use crate::error::{Error, Result};

/// A static of the kernels, on a device. It lives as long as the device.
pub struct Variable<T> {
    backend: Rc<dyn Backend>,
    address: u64,
    value: PhantomData<T>,
}

/// A variable of any module, on a device, as bytes. It lives as long as the device.
pub struct VariableBytes {
    backend: Rc<dyn Backend>,
    address: u64,
    bytes: u64,
}

impl Device {
    /// The kernels' static of this name.
    ///
    /// # Errors
    ///
    /// [`Error::Symbol`] if the loaded PTX has none, or takes its value for another type.
    pub fn variable<T: Pod>(&self, symbol: &Symbol<T>) -> Result<Variable<T>> {
        self.loaded.check_variable::<T>(symbol.name())?;
        // SAFETY: the symbol promises that the host may set this static to any `T`.
        let VariableBytes { backend, address, .. } =
            unsafe { self.variable_bytes(symbol.name(), size_of::<T>() as u64)? };
        Ok(Variable { backend, address, value: PhantomData })
    }

    /// The module's variable of this name and size, whichever it is.
    ///
    /// # Safety
    ///
    /// Safe kernels rely on the values of their statics, such as addresses and what a lock guards.
    /// What is written to one of them has to be a value that they may find there.
    ///
    /// # Errors
    ///
    /// [`Error::Symbol`] if the device has none, or one of another size.
    pub unsafe fn variable_bytes(&self, name: &str, bytes: u64) -> Result<VariableBytes> {
        let wrong = |problem: String| Error::Symbol { symbol: name.to_owned(), problem };
        let found = self.backend.symbol(name)?;
        let image = self.loaded.shown();
        let (address, there) = found.ok_or_else(|| wrong(format!("is not in {image}")))?;
        if there != bytes {
            return Err(wrong(format!(
                "has {there} bytes in {image}, but {bytes} are expected; it was compiled from different kernels"
            )));
        }
        Ok(VariableBytes { backend: Rc::clone(&self.backend), address, bytes })
    }
}

impl VariableBytes {
    /// Sets it (`cudaMemcpyToSymbol`): later launches see the value.
    ///
    /// # Panics
    ///
    /// If `value` has another size: a bug of the caller.
    ///
    /// # Errors
    ///
    /// [`Error::Driver`].
    pub fn write(&mut self, value: &[u8]) -> Result<()> {
        assert_eq!(value.len() as u64, self.bytes, "variable and value differ in size");
        self.backend.write(self.address, value)
    }

    /// Its value (`cudaMemcpyFromSymbol`), after all launches.
    ///
    /// # Panics
    ///
    /// If `value` has another size: a bug of the caller.
    ///
    /// # Errors
    ///
    /// Also reports the fault of an earlier launch.
    pub fn read_into(&self, value: &mut [u8]) -> Result<()> {
        assert_eq!(value.len() as u64, self.bytes, "variable and value differ in size");
        self.backend.read(self.address, value)
    }
}

impl<T: Pod> Variable<T> {
    /// Sets it (`cudaMemcpyToSymbol`): later launches see the value.
    ///
    /// # Errors
    ///
    /// [`Error::Driver`].
    pub fn write(&mut self, value: &T) -> Result<()> {
        self.backend.write(self.address, bytemuck::bytes_of(value))
    }

    /// Sets it on a second stream (`cudaMemcpyToSymbolAsync`): the host continues at once. The copy
    /// waits for earlier launches, and later ones for the copy. The simulator has one stream.
    ///
    /// # Errors
    ///
    /// [`Error::Driver`].
    pub fn write_on_stream(&mut self, value: &T) -> Result<()> {
        self.backend.write_on_stream(self.address, bytemuck::bytes_of(value))
    }

    /// Its value (`cudaMemcpyFromSymbol`), after all launches.
    ///
    /// # Errors
    ///
    /// Also reports the fault of an earlier launch.
    pub fn read(&self) -> Result<T> {
        let mut value = T::zeroed();
        self.backend.read(self.address, bytemuck::bytes_of_mut(&mut value))?;
        Ok(value)
    }
}

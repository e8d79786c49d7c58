//! A call of the driver by the function's name.

/// Calls a function of the driver with values of these types. A status that is not 0 is the
/// caller's result. The caller says that the signature is the driver's.
macro_rules! call {
    ($library:ident, $name:literal($($value:expr => $type:ty),*)) => {{
        let function =
            $library.get::<unsafe extern "C" fn($($type),*) -> std::ffi::c_uint>($name.as_bytes());
        match function.expect("the driver has the function")($($value),*) {
            0 => {}
            status => return Err(status),
        }
    }};
}

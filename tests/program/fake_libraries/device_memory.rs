
// The device's memory, for the fake libraries: `libcuda.so.1`, which the program has loaded.

unsafe extern "C" {
    fn dlopen(name: *const std::ffi::c_char, flags: i32) -> *mut std::ffi::c_void;
    fn dlsym(library: *mut std::ffi::c_void, name: *const std::ffi::c_char) -> *mut std::ffi::c_void;
}

/// A copy of the driver's: its target, its source and its bytes.
type Copy3 = unsafe extern "C" fn(usize, usize, usize) -> u32;

/// Calls a copy of the driver's.
unsafe fn copy(name: &std::ffi::CStr, to: usize, from: usize, bytes: usize) {
    // SAFETY: the function has this type, and the caller gives memory that is there.
    let status = unsafe {
        let function = dlsym(dlopen(c"libcuda.so.1".as_ptr(), 1), name.as_ptr());
        assert!(!function.is_null(), "the driver has {name:?}");
        std::mem::transmute::<*mut std::ffi::c_void, Copy3>(function)(to, from, bytes)
    };
    assert_eq!(status, 0, "{name:?}");
}

/// Elements of the device's memory.
unsafe fn fetch<T: Copy + Default>(from: *const T, count: usize) -> Vec<T> {
    let mut values = vec![T::default(); count];
    unsafe { copy(c"cuMemcpyDtoH_v2", values.as_mut_ptr() as usize, from as usize, size_of_val(&values[..])) };
    values
}

/// Writes elements to the device's memory.
unsafe fn store<T>(to: *mut T, values: &[T]) {
    unsafe { copy(c"cuMemcpyHtoD_v2", to as usize, values.as_ptr() as usize, size_of_val(values)) };
}

use std::ffi::CString;
use std::ptr::null;

use super::support::{
    Driver, Handle, INVALID_HANDLE, INVALID_VALUE, KERNELS, NOT_FOUND, OUT_OF_MEMORY, null_pointer, pointed,
};

const INVALID_PTX: u32 = 218;
const NO_BINARY: u32 = 209;

#[test]
fn a_module_has_kernels_and_variables() {
    let driver = Driver::new();
    let module = driver.module(KERNELS);
    let (mut address, mut bytes, mut function) = (0, 0, 0);
    assert_eq!(driver.cuModuleGetGlobal_v2(&mut address, &mut bytes, module, c"counter".as_ptr()), 0);
    assert_eq!((bytes, driver.read(address, 1)), (4, vec![7]));
    assert_eq!(driver.launch(driver.kernel(module, "count"), 2, 64, &[]), 0);
    assert_eq!(driver.read(address, 1), [135]);
    assert_eq!(driver.cuModuleGetFunction(&mut function, module, c"none".as_ptr()), NOT_FOUND);
    assert_eq!(driver.cuModuleGetFunction(&mut function, module, null()), INVALID_VALUE);
    assert_eq!(driver.cuModuleGetFunction(&mut function, 77, c"add".as_ptr()), INVALID_HANDLE);
    assert_eq!(driver.cuModuleGetGlobal_v2(&mut address, &mut bytes, module, c"none".as_ptr()), NOT_FOUND);
    let kernel = driver.kernel(module, "add");
    assert_eq!((driver.cuModuleUnload(module), driver.cuModuleUnload(module)), (0, INVALID_HANDLE));
    // Its kernels and variables go with it.
    assert_eq!(driver.add(kernel, 1, 32, address, address, 1), INVALID_HANDLE);
    assert_eq!(driver.cuMemcpyDtoH_v2([0].as_mut_ptr(), address, 4), INVALID_VALUE);
}

#[test]
fn a_library_is_a_module_too() {
    let driver = Driver::new();
    let text = CString::new(KERNELS).unwrap();
    let (mut library, mut kernel, mut name) = (0, 0, null());
    let status = driver.cuLibraryLoadData(&mut library, text.as_ptr().cast(), null(), null(), 0, null(), null(), 0);
    assert_eq!(status, 0);
    assert_eq!(driver.cuLibraryGetKernel(&mut kernel, library, c"add".as_ptr()), 0);
    assert_eq!((driver.cuKernelGetName(&mut name, kernel), pointed(name)), (0, "add".to_owned()));
    let words = driver.words(&[1, 2]);
    assert_eq!(driver.add(kernel, 1, 2, words, words, 2), 0);
    assert_eq!(driver.read(words, 2), [2, 4]);
}

#[test]
fn what_is_wrong_with_a_module_is_a_status_and_in_its_log() {
    let driver = Driver::new();
    let mut module = 0;
    let mut log = [1u8; 200];
    let wrong = CString::new(KERNELS.replace("add.u32 %r8", "frobnicate.u32 %r8").replace("atom.", "atam.")).unwrap();
    let (options, values) = ([5, 6], [log.as_mut_ptr().cast(), 200 as *mut _]);
    // The kernel that is right is left; the module loads.
    let status = driver.cuModuleLoadDataEx(&mut module, wrong.as_ptr().cast(), 2, options.as_ptr(), values.as_ptr());
    assert_eq!(status, 0);
    let message = pointed(log.as_ptr().cast());
    assert!(message.contains("frobnicate") && message.len() <= 199, "{message}");
    let mut function = 0;
    assert_eq!(driver.cuModuleGetFunction(&mut function, module, c"trapping".as_ptr()), 0);
    assert_eq!(driver.cuModuleGetFunction(&mut function, module, c"add".as_ptr()), NOT_FOUND);

    let load = |bytes: &[u8]| driver.cuModuleLoadData(&mut 0, bytes.as_ptr().cast());
    assert_eq!(load(b"this is no PTX\0"), INVALID_PTX);
    assert_eq!(load(b"\0\0\0\0"), INVALID_PTX);
    assert_eq!(load(b"\x7fELF\x02\x01\x01\0"), NO_BINARY);
    assert_eq!(driver.cuModuleLoadData(&mut module, null()), INVALID_VALUE);
    assert_eq!(driver.cuModuleLoadData(null_pointer(), wrong.as_ptr().cast()), INVALID_VALUE);
}

#[test]
fn kernels_have_attributes() {
    let driver = Driver::new();
    let kernel = driver.kernel(driver.module(KERNELS), "add");
    let (mut value, mut blocks) = (0, 0);
    assert_eq!((driver.cuFuncGetAttribute(&mut value, 0, kernel), value), (0, 1024));
    assert_eq!((driver.cuFuncGetAttribute(&mut value, 6, kernel), value), (0, 90));
    assert_eq!(driver.cuFuncGetAttribute(&mut value, 99, kernel), INVALID_VALUE);
    assert_eq!(driver.cuFuncGetAttribute(&mut value, 0, 12345), INVALID_HANDLE);
    assert_eq!((driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, kernel, 256, 0), blocks), (0, 8));
    assert_eq!(driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, kernel, 0, 0), INVALID_VALUE);
    let (mut least, mut size) = (0, 0);
    for shared in [0, u32::MAX as usize, usize::MAX] {
        let status = driver.cuOccupancyMaxPotentialBlockSize(&mut least, &mut size, kernel, null(), shared, 0);
        assert_eq!((status, least > 0), (0, shared == 0), "{shared}");
    }
}

/// A kernel with so many values that are live at once.
fn wide(values: u32) -> String {
    let each = |line: &dyn Fn(u32) -> String| (0..values).map(line).collect::<String>();
    let loads = each(&|index| format!("    ld.global.u32 %r{index}, [%rd1+{}];\n", 4 * index));
    let sums = each(&|index| format!("    add.u32 %r{values}, %r{values}, %r{index};\n"));
    format!(
        ".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry wide(.param .u64 words) {{
    .reg .b32 %r<{}>;\n    .reg .b64 %rd<2>;\n    ld.param.u64 %rd1, [words];
    mov.u32 %r{values}, %tid.x;\n{loads}{sums}    st.global.u32 [%rd1], %r{values};\n    ret;\n}}\n",
        values + 1
    )
}

/// As predicted, and as limited by an option of the compiler; occupancy follows.
#[test]
fn kernels_have_registers() {
    let driver = Driver::new();
    let found = |module: Handle, name: &str| {
        let (mut registers, mut blocks, kernel) = (0, 0, driver.kernel(module, name));
        assert_eq!(driver.cuFuncGetAttribute(&mut registers, 4, kernel), 0);
        assert_eq!(driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, kernel, 1024, 0), 0);
        (registers, blocks)
    };
    assert_eq!(found(driver.module(KERNELS), "add"), (16, 2));
    let text = CString::new(wide(100)).unwrap();
    assert_eq!(found(driver.module(&wide(100)), "wide"), (106, 0));
    let (mut module, options, values) = (0, [0], [57 as *mut _]);
    let status = driver.cuModuleLoadDataEx(&mut module, text.as_ptr().cast(), 1, options.as_ptr(), values.as_ptr());
    assert_eq!((status, found(module, "wide")), (0, (57, 1)));
    // By launch bounds.
    let bounded = wide(100).replace("{\n", ".maxntid 1024\n{\n");
    assert_eq!(found(driver.module(&bounded), "wide"), (64, 1));
}

/// A kernel that stores twice 21, by a function of another module.
const CALLER: &str = "\
.version 7.8
.target sm_75
.address_size 64
.extern .func (.param .b32 r) twice(.param .b32 a);
.visible .entry k(.param .u64 out) {
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, 21;
    call.uni (%r2), twice, (%r1);
    st.global.u32 [%rd1], %r2;
    ret;
}
";

const CALLEE: &str = "\
.version 8.0
.target sm_75
.address_size 64
.visible .func (.param .b32 r) twice(.param .b32 a) {
    .reg .b32 %r<3>;
    ld.param.b32 %r1, [a];
    add.u32 %r2, %r1, %r1;
    st.param.b32 [r], %r2;
    ret;
}
";

#[test]
fn texts_are_linked_to_a_module() {
    let driver = Driver::new();
    let (mut link, mut image, mut bytes, mut module) = (0, null(), 0, 0);
    assert_eq!(driver.cuLinkCreate_v2(0, null(), null(), &mut link), 0);
    for text in [CALLER, CALLEE] {
        assert_eq!(driver.cuLinkAddData_v2(link, 1, text.as_ptr(), text.len(), null(), 0, null(), null()), 0);
    }
    assert_eq!(driver.cuLinkComplete(link, &mut image, &mut bytes), 0);
    assert!(bytes > CALLER.len());
    assert_eq!(driver.cuModuleLoadData(&mut module, image), 0);
    assert_eq!((driver.cuLinkDestroy(link), driver.cuLinkDestroy(link)), (0, INVALID_HANDLE));
    let out = driver.words(&[0]);
    assert_eq!(driver.launch(driver.kernel(module, "k"), 1, 1, &[(&raw const out).cast()]), 0);
    assert_eq!(driver.read(out, 1), [42]);
    // What is missing is an error of the link.
    assert_eq!(driver.cuLinkCreate_v2(0, null(), null(), &mut link), 0);
    assert_eq!(driver.cuLinkAddData_v2(link, 1, null(), 10, null(), 0, null(), null()), INVALID_VALUE);
    assert_eq!(
        driver.cuLinkAddData_v2(99, 1, CALLER.as_ptr(), CALLER.len(), null(), 0, null(), null()),
        INVALID_HANDLE
    );
    // More bytes than any process has.
    assert_eq!(
        driver.cuLinkAddData_v2(link, 1, KERNELS.as_ptr().cast(), 1 << 60, null(), 0, null(), null()),
        OUT_OF_MEMORY
    );
    assert_eq!(driver.cuLinkAddData_v2(link, 1, b"nonsense".as_ptr(), 8, null(), 0, null(), null()), 0);
    assert_eq!(driver.cuLinkComplete(link, &mut image, &mut bytes), INVALID_PTX);
}

/// What Python's bindings call where nvJitLink is installed. There the driver was asked to load
/// machine code, which it refuses.
#[test]
fn the_stand_in_for_nvjitlink_makes_what_the_driver_loads() {
    let driver = Driver::new();
    let option = |text: &'static std::ffi::CStr| text.as_ptr();
    let (mut link, mut bytes, mut module, mut version) = (0, 0, 0, [0, 0]);
    let [major, minor] = &mut version;
    assert_eq!(driver.nvJitLinkVersion(major, minor), 0);
    // From 12.3 on, numba-cuda compiles to LTO-IR.
    assert!(version < [12, 3], "{version:?}");
    let options = [option(c"-arch=sm_90"), option(c"-maxrregcount=32"), option(c"-lineinfo")];
    assert_eq!(driver.nvJitLinkCreate(&mut link, 3, options.as_ptr()), 0);
    for text in [CALLER, CALLEE] {
        assert_eq!(driver.nvJitLinkAddData(link, 2, text.as_ptr(), text.len(), null()), 0);
    }
    assert_eq!(driver.nvJitLinkGetLinkedCubinSize(link, &mut bytes), 3, "it is not complete");
    assert_eq!(driver.nvJitLinkComplete(link), 0);
    assert_eq!(driver.nvJitLinkGetLinkedCubinSize(link, &mut bytes), 0);
    let mut image = vec![0; bytes];
    assert_eq!(driver.nvJitLinkGetLinkedCubin(link, image.as_mut_ptr()), 0);
    assert_eq!(driver.cuModuleLoadData(&mut module, image.as_ptr().cast()), 0);
    let out = driver.words(&[0]);
    assert_eq!(driver.launch(driver.kernel(module, "k"), 1, 1, &[(&raw const out).cast()]), 0);
    assert_eq!(driver.read(out, 1), [42]);
    assert_eq!((driver.nvJitLinkDestroy(&mut link), driver.nvJitLinkDestroy(&mut link)), (0, 3));
}

#[test]
fn what_the_stand_in_for_nvjitlink_cannot_do_has_its_numbers_and_texts() {
    let driver = Driver::new();
    let create = |options: &[&std::ffi::CStr]| {
        let options: Vec<_> = options.iter().map(|option| option.as_ptr()).collect();
        let mut link = 0;
        (driver.nvJitLinkCreate(&mut link, options.len() as u32, options.as_ptr()), link)
    };
    assert_eq!(create(&[c"-lineinfo"]).0, 2, "no architecture");
    assert_eq!(create(&[c"-arch=sm_90", c"-no-such-option"]).0, 1);
    let (status, mut link) = create(&[c"-arch=sm_90", c"-lto"]);
    assert_eq!(status, 0);
    assert_eq!(driver.nvJitLinkAddData(link, 3, b"LTO".as_ptr(), 3, null()), 5);
    assert_eq!(driver.nvJitLinkAddData(link, 1, b"\x7fELF...".as_ptr(), 7, null()), 8);
    assert_eq!(driver.nvJitLinkAddData(link, 2, null(), 7, null()), 3);
    assert_eq!(driver.nvJitLinkAddFile(link, 2, c"/no/such/file".as_ptr()), 3);
    assert_eq!(driver.nvJitLinkAddFile(link, 2, c"/dev/zero".as_ptr()), 3);
    assert_eq!(driver.nvJitLinkAddData(link, 2, b"nonsense".as_ptr(), 8, null()), 0);
    assert_eq!(driver.nvJitLinkComplete(link), 4);
    let mut bytes = 0;
    assert_eq!(driver.nvJitLinkGetErrorLogSize(link, &mut bytes), 0);
    let mut log = vec![0; bytes];
    assert_eq!(driver.nvJitLinkGetErrorLog(link, log.as_mut_ptr()), 0);
    let log = String::from_utf8(log).expect("a text");
    for part in ["LTO-IR is not PTX", "an input has no PTX", "/no/such/file: ", "linked.ptx:1:1", "\0"] {
        assert!(log.contains(part), "there is no '{part}' in {log}");
    }
    assert_eq!(driver.nvJitLinkDestroy(&mut link), 0);
    for status in [driver.nvJitLinkComplete(77), driver.nvJitLinkGetErrorLogSize(77, &mut bytes)] {
        assert_eq!(status, 3, "there is no such link");
    }
}

//! Several devices, each with its own GPU and memory.

use coalesce_driver::record::{ENDING, KernelRecord};

use super::support::{Driver, INVALID_VALUE, KERNELS, in_child};

const INVALID_DEVICE: u32 = 101;
const OUT_OF_MEMORY: u32 = 2;

#[test]
fn each_device_has_its_gpu_and_its_memory() {
    let settings = [("COALESCE_DEVICES", "hopper,ampere"), ("COALESCE_MEMORY", "67108864")];
    in_child("devices::each_device_has_its_gpu_and_its_memory", &settings, |driver| {
        let (mut count, mut capability, mut can) = (0, [0; 2], [9; 2]);
        assert_eq!((driver.cuDeviceGetCount(&mut count), count), (0, 2));
        for device in [0, 1] {
            let to = &mut capability[device as usize];
            assert_eq!(driver.cuDeviceGetAttribute(to, 75, device), 0);
            assert_eq!(driver.cuDeviceCanAccessPeer(&mut can[device as usize], 0, device), 0);
        }
        assert_eq!((capability, can), ([9, 8], [0, 1]));
        assert_eq!(driver.cuDeviceCanAccessPeer(&mut count, 0, 2), INVALID_DEVICE);
        let mut id = [0u8; 20];
        assert_eq!(driver.cuDeviceGetPCIBusId(id.as_mut_ptr().cast(), 20, 1), 0);
        assert_eq!((driver.cuDeviceGetByPCIBusId(&mut count, id.as_ptr().cast()), count), (0, 1));
        assert_eq!(driver.cuDeviceGetByPCIBusId(&mut count, c"0000:03:00.0".as_ptr()), INVALID_DEVICE);
        assert_eq!(driver.cuDeviceGetByPCIBusId(&mut count, c"there".as_ptr()), INVALID_DEVICE);

        // 64 MiB each.
        let (mut first, mut second, mut of) = (0, 0, 9);
        assert_eq!(driver.cuCtxGetCurrent(&mut first), 0);
        assert_eq!(driver.cuDevicePrimaryCtxRetain(&mut second, 2), INVALID_DEVICE);
        assert_eq!(driver.cuDevicePrimaryCtxRetain(&mut second, 1), 0);
        let (mut here, mut there, mut more) = (0, 0, 0);
        assert_eq!(driver.cuMemAlloc_v2(&mut here, 40 << 20), 0);
        assert_eq!(driver.cuMemAlloc_v2(&mut more, 40 << 20), OUT_OF_MEMORY);
        assert_eq!(driver.cuCtxSetCurrent(second), 0);
        assert_eq!((driver.cuCtxGetDevice(&mut of), of), (0, 1));
        let (mut free, mut all) = (0, 0);
        assert_eq!((driver.cuMemGetInfo_v2(&mut free, &mut all), free, all), (0, 64 << 20, 64 << 20));
        assert_eq!(driver.cuMemAlloc_v2(&mut there, 40 << 20), 0);
        assert_eq!(driver.cuMemAlloc_v2(&mut more, 40 << 20), OUT_OF_MEMORY);
        for (address, device) in [(here, 0), (there, 1)] {
            assert_eq!((driver.cuPointerGetAttribute((&raw mut of).cast(), 9, address), of), (0, device));
        }

        // Copies between the two, and access.
        let (numbers, mut back) = ([1u32, 2, 3, 4], [0u32; 4]);
        assert_eq!(driver.cuMemcpyHtoD_v2(here, numbers.as_ptr(), 16), 0);
        assert_eq!(driver.cuMemcpyPeer(there, second, here, first, 16), 0);
        assert_eq!(driver.cuMemcpyDtoH_v2(back.as_mut_ptr(), there, 16), 0);
        assert_eq!(back, numbers);
        assert_eq!(driver.cuCtxEnablePeerAccess(second, 0), 217);
        assert_eq!(driver.cuCtxEnablePeerAccess(first, 1), INVALID_VALUE);
        assert_eq!((driver.cuCtxEnablePeerAccess(first, 0), driver.cuCtxEnablePeerAccess(first, 0)), (0, 704));
        assert_eq!((driver.cuCtxDisablePeerAccess(first), driver.cuCtxDisablePeerAccess(first)), (0, 705));

        // A reset of one device leaves the memory of the other as it is.
        assert_eq!(driver.cuDevicePrimaryCtxReset_v2(1), 0);
        assert_eq!((driver.cuMemFree_v2(there), driver.cuMemFree_v2(here)), (INVALID_VALUE, 0));
    });
}

#[test]
fn a_kernel_runs_on_the_model_of_the_current_device() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let settings = [("COALESCE_DEVICES", "hopper,ampere"), ("COALESCE_MODEL", "1"), ("COALESCE_RECORD", path)];
    let run = |driver: &Driver| {
        let kernel = driver.kernel(driver.module(KERNELS), "count");
        let mut second = 0;
        assert_eq!(driver.launch(kernel, 1, 32, &[]), 0);
        assert_eq!(driver.cuDevicePrimaryCtxRetain(&mut second, 1), 0);
        assert_eq!(driver.cuCtxSetCurrent(second), 0);
        assert_eq!(driver.launch(kernel, 1, 32, &[]), 0);
    };
    if in_child("devices::a_kernel_runs_on_the_model_of_the_current_device", &settings, run).is_some() {
        let mut gpus: Vec<String> = std::fs::read_dir(folder.path())
            .unwrap()
            .map(|file| file.unwrap().path())
            .filter(|path| path.to_str().unwrap().ends_with(ENDING))
            .map(|path| serde_json::from_slice::<KernelRecord>(&std::fs::read(path).unwrap()).unwrap().gpu.unwrap())
            .collect();
        gpus.sort();
        assert_eq!(gpus, ["ampere", "hopper"]);
    }
}

#[test]
fn a_list_of_devices_is_read_or_refused() {
    let hopper = simt::Model::named("hopper").unwrap();
    let names = |list: &str| {
        coalesce_driver::gpus_of(list, hopper).map(|gpus| gpus.iter().map(|gpu| gpu.name).collect::<Vec<_>>())
    };
    assert_eq!(names("2").unwrap(), ["hopper"; 2]);
    assert_eq!(names("ampere, volta").unwrap(), ["ampere", "volta"]);
    for bad in ["", "0", "17", "-1", "abacus", "hopper,"] {
        assert!(names(bad).is_err(), "{bad}");
    }
}

/// Programs built for a newer CUDA refuse an older driver.
#[test]
fn the_version_is_what_the_environment_says() {
    let mut version = 0;
    in_child("devices::the_version_is_what_the_environment_says", &[("COALESCE_CUDA", "13.0")], |driver| {
        assert_eq!((driver.cuDriverGetVersion(&mut version), version), (0, 13_000));
    });
    assert_eq!(coalesce_driver::cuda_of("12.8"), Ok(12_080));
    for wrong in ["", "13", "11.8", "14.0", "13.10", "thirteen.0"] {
        let problem = coalesce_driver::cuda_of(wrong).unwrap_err();
        assert!(problem.contains(&format!("'{wrong}'")) && problem.contains("give 12.0 to 13.9"), "{problem}");
    }
}

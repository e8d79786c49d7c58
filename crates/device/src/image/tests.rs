//! Tests of images: what a launch refuses, and what the simulator and a GPU are given.

use super::*;

fn image(text: &'static str) -> Result<Image> {
    Image::new("test.ptx".into(), Cow::Borrowed(text))
}

#[test]
fn version_and_target_are_found() {
    let image = image("// hello\n.version 8.7\n  .target\tsm_90a, debug // x\n").unwrap();
    assert_eq!((image.version.as_str(), image.target.as_str()), ("8.7", "sm_90a"));
}

#[test]
fn what_is_no_ptx_is_refused() {
    let error = |text| image(text).unwrap_err().to_string();
    assert_eq!(error("int main()"), "test.ptx: is not PTX: it has no .version directive");
    assert_eq!(error(".version 8.0\n"), "test.ptx: is not PTX: it has no .target directive");
    assert_eq!(error(".version 8.0\n.target texmode_unified"), "test.ptx: its .target does not name an NVIDIA GPU");
}

#[test]
fn arguments_must_have_the_parameters_sizes() {
    let text = ".version 6.3\n.target sm_75\n.address_size 64\n\
                .visible .entry k(.param .u64 a, .param .u32 b) { ret; }";
    let loaded = Loaded::new(&[image(text).unwrap()]).unwrap();
    let check = |kernel, sizes: &[usize]| {
        let mut arguments = Arguments::new();
        for &size in sizes {
            arguments.push_bytes(&vec![0; size], 4);
        }
        loaded.check(kernel, &arguments).map_err(|error| error.to_string())
    };
    assert_eq!(check("k", &[8, 4]), Ok(Checked { name: "k", may_begin_early: false }));
    assert_eq!(check("l", &[8, 4]), Err("kernel l: is not in the loaded PTX".into()));
    assert_eq!(
        check("k", &[8]),
        Err("kernel k: takes 2 parameters in the loaded PTX, but 1 argument was given".into())
    );
    assert_eq!(
        check("k", &[8, 8]),
        Err("kernel k: has 4 bytes in parameter 1, but the argument has 8; the loaded PTX was compiled from different kernels"
            .into())
    );
}

#[test]
fn a_file_without_the_kernel_is_named_with_those_that_it_has() {
    let text = ".version 6.3\n.target sm_75\n.address_size 64\n\
                .visible .entry k(.param .u64 a) { ret; }\n.visible .entry _Z1mi(.param .u32 a) { ret; }";
    let loaded = Loaded::new(&[Image::new("it.ptx".into(), Cow::Owned(text.into())).unwrap()]).unwrap();
    let mut arguments = Arguments::new();
    arguments.push_pointer(0);
    let refused = |kernel, arguments: &Arguments| loaded.check(kernel, arguments).unwrap_err().to_string();
    assert_eq!(refused("l", &arguments), "kernel l: is not in it.ptx, which has k, m(int)");
    assert!(refused("_Z1mi", &arguments).ends_with("; it.ptx was compiled from different kernels"));
    arguments.push_pointer(0);
    assert_eq!(refused("k", &arguments), "kernel k: takes 1 parameter in it.ptx, but 2 arguments were given");
}

#[test]
fn what_the_parser_refuses_is_one_line() {
    let refused = |text| image(text).unwrap().parse().unwrap_err().to_string();
    let error = refused(".version 6.3\n.target sm_75\n.address_size 64\nfoo\n");
    assert!(error.starts_with("test.ptx:4:1: "), "{error}");
    let error = refused(".version 6.3\n.target sm_75\n.address_size 64\n.visible .entry k() {\n frob;\n grob;\n}\n");
    assert!(error.starts_with("test.ptx:5:") && error.ends_with("; and one more error"), "{error}");
}

#[test]
fn a_device_gets_the_newest_that_it_runs() {
    let set = |text| vec![image(text).unwrap()];
    let images = Images { sets: vec![set(".version 6.3\n.target sm_75"), set(".version 8.0\n.target sm_90")] };
    let chosen = |major, minor| {
        images
            .newest_for(ComputeCapability { major, minor })
            .map(|images| images[0].target.clone())
            .map_err(|image| image.target.clone())
    };
    assert_eq!(chosen(7, 0), Err("sm_75".into()));
    assert_eq!(chosen(8, 9), Ok("sm_75".into()));
    assert_eq!(chosen(9, 0), Ok("sm_90".into()));
    assert_eq!(chosen(12, 1), Ok("sm_90".into()));
}

#[test]
fn crates_are_paired_by_target() {
    const fn ptx(arch: &'static str, text: &'static str) -> PtxImage {
        PtxImage { arch, text }
    }
    const PLAIN: &[PtxImage] =
        &[ptx("sm_75", ".version 6.3\n.target sm_75"), ptx("sm_80", ".version 7.4\n.target sm_80")];
    const FAST: &[PtxImage] = &[
        ptx("sm_70", ".version 6.3\n.target sm_70"),
        ptx("sm_75", ".version 6.3\n.target sm_75"),
        ptx("sm_90", ".version 7.8\n.target sm_90"),
    ];
    let targets = |crates: &[&'static [PtxImage]]| {
        let sets = Images::of_crates(crates).unwrap().sets;
        sets.iter().map(|set| set.iter().map(|image| image.target.clone()).collect()).collect::<Vec<Vec<_>>>()
    };
    assert_eq!(targets(&[PLAIN, FAST]), [["sm_75", "sm_75"], ["sm_80", "sm_75"], ["sm_80", "sm_90"]]);
    assert_eq!(targets(&[PLAIN]), [["sm_75"], ["sm_80"]]);
    const OLD: &[PtxImage] = &[ptx("sm_60", ".version 6.3\n.target sm_60")];
    assert_eq!(targets(&[OLD, FAST]), [["sm_60", "sm_70"], ["sm_60", "sm_75"], ["sm_60", "sm_90"]]);
    for none in [&[][..], &[PLAIN, &[]]] {
        let error = Images::of_crates(none).err().unwrap().to_string();
        assert!(error.starts_with("built-in kernels: no target is there"), "{error}");
    }
}

/// The images of the course's kernels.
fn of_the_course() -> Vec<Vec<Image>> {
    Images::of_crates(&[kernels::PTX, best_kernels::PTX]).unwrap().sets
}

#[test]
fn no_image_is_there_twice() {
    for image in [kernels::PTX, best_kernels::PTX].into_iter().flat_map(|images| images.windows(2)) {
        let code = |image: &PtxImage| image.text.lines().skip(5).collect::<Vec<_>>();
        assert!(code(&image[0]) != code(&image[1]), "the PTX for {} is that for {}", image[1].arch, image[0].arch);
    }
}

#[test]
fn each_built_in_kernel_alone_is_as_in_the_whole_module() {
    let mut kernels = 0;
    for images in of_the_course() {
        let loaded = Loaded::new(&images).unwrap();
        assert!(loaded.parts().iter().all(|part| part.module.kernels().count() == 0));
        let whole: Vec<ptx::Module> = images.iter().map(|image| image.parse().unwrap()).collect();
        let of_part = |part: usize| whole[part].kernels().map(move |(_, kernel)| (part, kernel));
        for (part, kernel) in (0..whole.len()).flat_map(of_part) {
            let own = loaded.kernel(&kernel.name).unwrap().unwrap();
            assert_eq!(own.part, part, "{} is in two crates", kernel.name);
            let whole = &whole[part];
            let (_, alone) = own.module.kernels().next().unwrap();
            let body = |module: &ptx::Module, function: &ptx::Function| -> Vec<_> {
                let places = function.body.iter().flatten().map(|instruction| {
                    let chain = instruction.location.into_iter().flat_map(|at| module.inline_chain(at));
                    let chain = chain.map(|at| (module.files[at.file].path.clone(), at.line, at.column));
                    (instruction.span, chain.collect::<Vec<_>>())
                });
                places.collect()
            };
            assert_eq!(body(&own.module, alone), body(whole, kernel), "{}", kernel.name);
            assert_eq!(alone.registers, kernel.registers);
            kernels += 1;
        }
    }
    assert!(kernels > 300, "{kernels}");
}

/// A GPU's driver compiles what a launch needs, and nothing twice that has to be one: a
/// variable.
#[test]
fn a_gpu_compiles_the_kernels_that_are_launched() {
    for images in of_the_course() {
        let loaded = Loaded::new(&images).unwrap();
        let text = |unit: Option<Unit>| loaded.text(&unit.unwrap()).into_owned();
        let entries = |text: &str| text.matches(".entry ").count();
        assert!(loaded.units().all(|unit| entries(&text(Some(unit))) == 0));
        let padded = text(loaded.unit_of("transpose_padded"));
        assert!(entries(&padded) == 1 && padded.contains(".entry transpose_padded("));
        assert!(padded.len() < 40_000, "{} bytes", padded.len());
        ptx::parse("padded", &padded).unwrap();
        let unit = loaded.unit_of("constant_polynomial");
        assert_eq!(unit, loaded.unit_with("CONSTANT_POLYNOMIAL"));
        let constant = text(unit);
        assert!(entries(&constant) > 1);
        ptx::parse("constant", &constant).unwrap();
        assert_eq!((loaded.unit_of("elsewhere"), loaded.unit_with("ELSEWHERE")), (None, None));
    }
}

#[test]
fn kernels_of_several_files_are_found() {
    let file = |name: &str, kernel: &str| {
        let text = format!(".version 6.3\n.target sm_75\n.address_size 64\n.visible .entry {kernel}() {{ ret; }}");
        Image::new(name.to_owned(), Cow::Owned(text)).unwrap()
    };
    let loaded = Loaded::new(&[file("a.ptx", "k"), file("b.ptx", "l")]).unwrap();
    assert_eq!(["k", "l"].map(|kernel| loaded.kernel(kernel).unwrap().unwrap().part), [0, 1]);
    let error = loaded.check("m", &Arguments::new()).unwrap_err().to_string();
    assert_eq!(error, "kernel m: is not in a.ptx and b.ptx, which has k, l");
    let unit = loaded.unit_of("l").unwrap();
    assert_eq!(loaded.text(&unit), loaded.parts()[1].image.text);
}

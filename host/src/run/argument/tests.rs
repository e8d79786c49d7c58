//! Tests of the arguments of `host run`: what is parsed, what is refused, and the data that is
//! made.

use super::*;

fn parsed(text: &str) -> Argument {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn value_of(text: &str) -> Vec<u8> {
    match parsed(text).prepare().unwrap() {
        Prepared::Value(bytes) => bytes,
        _ => panic!("{text} is no value"),
    }
}

fn data_of(text: &str) -> Data {
    match parsed(text).prepare().unwrap() {
        Prepared::Buffer(data) => data,
        _ => panic!("{text} is no buffer"),
    }
}

fn values_of(text: &str) -> Values {
    match data_of(text).fill {
        Fill::Values(values) => values,
        other => panic!("{text} has no values: {other:?}"),
    }
}

#[test]
fn values_are_their_bytes() {
    assert_eq!(value_of("u8:255"), [255]);
    assert_eq!(value_of("u16:258"), [2, 1]);
    assert_eq!(value_of("u32:5"), 5_u32.to_le_bytes());
    assert_eq!(value_of("u64:18446744073709551615"), [255; 8]);
    assert_eq!(value_of("i8:-128"), [128]);
    assert_eq!(value_of("i16:-2"), [254, 255]);
    assert_eq!(value_of("i32:-7"), (-7_i32).to_le_bytes());
    assert_eq!(value_of("i64:-1"), [255; 8]);
    assert_eq!(value_of("f32:0.5"), 0.5_f32.to_le_bytes());
    assert_eq!(value_of("f32:-inf"), f32::NEG_INFINITY.to_le_bytes());
    assert_eq!(value_of("f64:1e-3"), 1e-3_f64.to_le_bytes());
    assert_eq!(value_of("bytes:00fF10"), [0, 255, 16]);
    assert_eq!(parsed("bytes:00ff10").bytes(), 3);
    assert!(!parsed("u32:5").is_buffer());
}

#[test]
fn buffers_hold_what_is_said() {
    let zeros = data_of("f32[1024]");
    assert_eq!((zeros.ty, zeros.length, zeros.offset, zeros.bytes()), (Type::F32, 1024, 0, 4096));
    assert_eq!((zeros.fill, zeros.shape), (Fill::Zeros, vec![1024]));
    assert_eq!(data_of("f32[8]=uninit").fill, Fill::Nothing);
    assert_eq!(values_of("f32[3]=1.5"), Values::F32(vec![1.5; 3]));
    assert_eq!(values_of("i16[2]=-1"), Values::I16(vec![-1; 2]));
    assert_eq!(values_of("u8[4]=1,2,3,4"), Values::U8(vec![1, 2, 3, 4]));
    assert_eq!(values_of("f64[1]=2"), Values::F64(vec![2.0]));
    assert_eq!(values_of("f32[5]=rand:7"), Type::F32.random(7, 5));
    assert_eq!(values_of("f32[3]=ramp"), Values::F32(vec![0.0, 1.0, 2.0]));
    assert_eq!(data_of("u64[0]").bytes(), 0);
    let argument = parsed("f32[1024]");
    assert!(argument.is_buffer() && argument.bytes() == 8);
}

#[test]
fn a_struct_may_hold_addresses_of_earlier_arguments() {
    let argument = parsed("bytes:{arg:1}{u32:7}00000000{arg:0+8}");
    let id = |argument| ArgumentId { launch: 0, argument };
    assert_eq!((argument.bytes(), argument.references()), (24, vec![(id(1), 0), (id(0), 8)]));
    let parts = vec![Part::Address(id(1), 0), Part::Bytes(vec![7, 0, 0, 0, 0, 0, 0, 0]), Part::Address(id(0), 8)];
    assert_eq!(argument.prepare().unwrap(), Prepared::Struct(parts));
    assert!(!argument.is_buffer() && !argument.is_address() && !argument.is_contents());
    // Numbers alone are a value.
    assert_eq!(value_of("bytes:{u16:1}ff"), [1, 0, 255]);
    // A buffer for such an address need not be a parameter.
    let data = parsed("data:f32[4]=ramp");
    assert!(!data.is_parameter && data.is_address() && data.is_buffer() && parsed("f32[4]").is_parameter);
    assert_eq!(data_of("data:f32[4]=ramp"), data_of("f32[4]=ramp"));
}

#[test]
fn an_address_may_lie_within_the_buffer() {
    let data = data_of("f32[1024]+8=ramp");
    assert_eq!((data.offset, data.length), (8, 1024));
    assert_eq!(data.fill, Fill::Values(Type::F32.ramp(1024)));
    assert_eq!(data_of("u8[4]+4").offset, 4);
}

#[test]
fn a_buffer_may_be_freed_before_the_launch() {
    assert!(parsed("freed:f32[8]+4=ramp").is_freed() && parsed("freed:@a.npy").is_freed());
    let (kept, freed) = (data_of("f32[8]+4=ramp"), data_of("freed:f32[8]+4=ramp"));
    assert_eq!(freed, Data { freed: true, ..kept });
}

#[test]
fn files_give_type_and_length_or_must_have_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a=b,[c]:+1.npy");
    Values::U32(vec![3, 1, 2, 0, 5, 4]).write(&path, &[2, 3]).unwrap();
    let name = path.display();
    let data = data_of(&format!("@{name}"));
    assert_eq!((data.ty, data.length, &data.shape), (Type::U32, 6, &vec![2, 3]));
    assert_eq!(data.fill, Fill::Values(Values::U32(vec![3, 1, 2, 0, 5, 4])));
    assert_eq!(data_of(&format!("u32[6]+4=@{name}")).offset, 4);

    let refused = |text: String| parsed(&text).prepare().unwrap_err().to_string();
    let text = format!("u32[5]=@{name}");
    assert_eq!(refused(text.clone()), format!("{name}: holds 6 elements, but argument {text} asks for 5"));
    let error = refused(format!("f32[6]=@{name}"));
    assert!(error.contains("holds elements of type '<u4', but float32 is needed"), "{error}");
    assert!(refused("@no-such.npy".to_owned()).starts_with("no-such.npy: cannot be opened"));
}

#[test]
fn errors_say_what_is_wrong() {
    let types = "give one of u8, u16, u32, u64, i8, i16, i32, i64, f16, f32, f64, or C's name";
    for (text, expected) in [
        ("", "give a number (5 or u32:5), bytes (bytes:00ff), a buffer (f32[1024]=ramp), a file (@v.npy) or a texture (tex2d:f32[64x48]=ramp)".to_owned()),
        ("i128:5", format!("unknown type 'i128'; {types}")),
        (":5", format!("unknown type ''; {types}")),
        ("f128[4]", format!("unknown type 'f128'; {types}")),
        ("u8:256", "'256' is not a number of type u8; give a whole number from 0 to 255".to_owned()),
        ("u32:-1", "'-1' is not a number of type u32; give a whole number from 0 to 4294967295".to_owned()),
        ("i8:", "'' is not a number of type i8; give a whole number from -128 to 127".to_owned()),
        ("f32:half", "'half' is not a number of type f32; give a number".to_owned()),
        ("bytes:", "'' is not a list of bytes; give two hexadecimal digits for each, as in bytes:00ff, and in braces addresses and numbers, as in bytes:{arg:1}{u32:5}".to_owned()),
        ("bytes:0ff", "'0ff' is not a list of bytes; give two hexadecimal digits for each, as in bytes:00ff, and in braces addresses and numbers, as in bytes:{arg:1}{u32:5}".to_owned()),
        (
            "bytes:\u{e9}",
            "'\u{e9}' is not a list of bytes; give two hexadecimal digits for each, as in bytes:00ff, and in braces addresses and numbers, as in bytes:{arg:1}{u32:5}".to_owned(),
        ),
        ("f32[4", "the bracket is not closed; write f32[LENGTH]".to_owned()),
        (
            "f32[-4]",
            "'-4' is not a length for a buffer of f32; give a whole number from 0 to 2305843009213693951".to_owned(),
        ),
        (
            "f64[9999999999999999999]",
            "'9999999999999999999' is not a length for a buffer of f64; give a whole number from 0 to 1152921504606846975"
                .to_owned(),
        ),
        ("f32[4]x", "unexpected 'x' after the bracket; write +BYTES, =CONTENTS, both or nothing".to_owned()),
        ("f32[4]+17", "'+17' is not an offset into the buffer; give a number of bytes from 0 to 16".to_owned()),
        ("f32[4]+=1", "'+' is not an offset into the buffer; give a number of bytes from 0 to 16".to_owned()),
        (
            "f32[4]=",
            "nothing follows the =; give a value, a list, ramp, rand:SEED, uninit or @FILE.npy".to_owned(),
        ),
        ("f32[4]=1,2", "2 values do not fill 4 elements; give one for all, or 4".to_owned()),
        ("u8[2]=1,300", "'300' is not a number of type u8; give a whole number from 0 to 255".to_owned()),
        ("u8[2]=1,", "'' is not a number of type u8; give a whole number from 0 to 255".to_owned()),
        ("f32[4]=rand", "give the seed of the random numbers, as in rand:7".to_owned()),
        ("f32[4]=rand:x", "'x' is not a seed; give a whole number from 0 to 18446744073709551615".to_owned()),
        ("f32[4]=ramps", "'ramps' is not a number of type f32; give a number".to_owned()),
        ("f32[4]=@", "give the name of a .npy file after the @".to_owned()),
        ("@", "give the name of a .npy file after the @".to_owned()),
        ("data:u32:5", "only a buffer, texture, surface or tensor can be data alone, as in data:f32[1024]".to_owned()),
        ("data:arg:0", "only a buffer, texture, surface or tensor can be data alone, as in data:f32[1024]".to_owned()),
        ("data:bytes:{arg:0}", "only a buffer, texture, surface or tensor can be data alone, as in data:f32[1024]".to_owned()),
        ("data:freed:f32[4]", format!("unknown type 'freed'; {types}")),
        ("freed:data:f32[4]", format!("unknown type 'data'; {types}")),
        ("bytes:{arg:0", "the brace of '{arg:0' is not closed; write {arg:1} or {u32:5}".to_owned()),
        ("freed:bytes:{arg:0}", "only a buffer can be freed, as in freed:f32[1024]".to_owned()),
        ("freed:u32:5", "only a buffer can be freed, as in freed:f32[1024]".to_owned()),
        ("freed:", "give a number (5 or u32:5), bytes (bytes:00ff), a buffer (f32[1024]=ramp), a file (@v.npy) or a texture (tex2d:f32[64x48]=ramp)".to_owned()),
    ] {
        assert_eq!(text.parse::<Argument>(), Err(expected), "{text}");
    }
}

#[test]
fn memory_that_no_machine_has_is_refused_before_it_is_taken() {
    if memory::available_on_host().is_some() {
        let error = parsed("u8[900000000000000]=1").prepare().unwrap_err().to_string();
        assert!(error.starts_with("argument u8[900000000000000]=1 needs 819 TiB of memory"), "{error}");
    }
}

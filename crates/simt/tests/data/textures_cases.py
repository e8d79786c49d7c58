# The cases: kernel source width height depth layers levels type channels filter mode0 mode1 norm read pattern threads
import sys
def line(kernel, source, w, h, d, layers, levels, ty, ch, filt, m0, m1, norm, read, pattern, threads):
    print(kernel, source, w, h, d, layers, levels, ty, ch, filt, m0, m1, norm, read, pattern, threads)
if sys.argv[1] == "values":
    for f in ["point", "linear"]:
        for n, m0, m1 in [("norm","wrap","mirror"),("norm","clamp","border"),("norm","mirror","wrap"),("norm","border","clamp"),("unnorm","clamp","border"),("unnorm","border","clamp"),("unnorm","wrap","mirror")]:
            line("fetch_2d_f32_f32","array",13,9,0,0,1,"f32",1,f,m0,m1,n,"element","float",96)
        line("fetch_2d_f32_f32","array",16,8,0,0,1,"f32",4,f,"clamp","clamp","unnorm","element","float",96)
        line("fetch_2d_f32_f32","pitched",13,9,0,0,1,"f32",1,f,"clamp","border","unnorm","element","float",96)
        line("fetch_1d_f32_f32","array",23,0,0,0,1,"f32",2,f,"wrap","clamp","norm","element","float",64)
        line("fetch_3d_f32_f32","array",7,6,5,0,1,"f32",1,f,"clamp","border","unnorm","element","float",96)
        line("fetch_a1d_f32_f32","array",11,0,0,3,1,"f32",1,f,"clamp","clamp","unnorm","element","float",64)
        line("fetch_a2d_f32_f32","array",7,5,0,4,1,"f32",2,f,"wrap","mirror","norm","element","float",64)
        for ty in ["u8","s8","u16","s16"]:
            line("fetch_2d_f32_f32","array",13,9,0,0,1,ty,2 if ty[0]=="s" else 4,f,"clamp","border","unnorm","normalized","float",64)
        line("fetch_2d_f32_f32","array",13,9,0,0,1,"u8",4,f,"clamp","clamp","unnorm","srgb","float",64)
        line("fetch_2d_f32_f32","array",13,9,0,0,1,"f16",2,f,"wrap","clamp","norm","element","float",64)
        line("fetch_2d_f16","array",13,9,0,0,1,"f16",4,f,"clamp","clamp","unnorm","element","float",32)
        line("fetch_2d_f16x2","array",13,9,0,0,1,"f32",4,f,"clamp","clamp","unnorm","element","float",32)
        line("offset_2d","array",13,9,0,0,1,"f32",1,f,"clamp","border","unnorm","element","float",64)
        line("offset_2d","array",13,9,0,0,1,"f32",1,f,"wrap","mirror","norm","element","float",64)
        line("level_2d","array",32,16,0,0,5,"f32",1,f,"clamp","wrap","norm","element","level",96)
        line("gradient_2d","array",32,16,0,0,5,"f32",1,f,"clamp","wrap","norm","element","grad",96)
        line("level_2d","array",32,16,0,0,1,"f32",1,f,"clamp","wrap","norm","element","level",32)
    for ty in ["u8","s8","u16","s16","u32","s32"]:
        line("fetch_2d_u32_f32","array",13,9,0,0,1,ty,[1,2,4][len(ty)%3],"point","clamp","border","unnorm","element","float",32)
    for ty, ch in [("f32",1),("f32",2),("u8",1),("s16",4),("u32",2)]:
        k = "f32" if ty[0]=="f" else "u32"
        line(f"fetch_1d_{k}_s32","linear",37,0,0,0,1,ty,ch,"point","clamp","clamp","unnorm","element","int",48)
    line("fetch_1d_f32_s32","linear",37,0,0,0,1,"u8",4,"point","clamp","clamp","unnorm","normalized","int",48)
    line("fetch_2d_f32_s32","array",13,9,0,0,1,"f32",1,"point","clamp","border","unnorm","element","int",48)
    line("fetch_2d_f32_s32","array",13,9,0,0,1,"f32",1,"linear","clamp","border","unnorm","element","int",48)
    line("fetch_1d_f32_s32","array",13,0,0,0,1,"f32",1,"point","border","border","unnorm","element","int",32)
    line("fetch_3d_f32_s32","array",7,6,5,0,1,"f32",1,"point","clamp","border","unnorm","element","int",48)
    line("fetch_a2d_u32_s32","array",7,5,0,3,1,"u16",1,"point","clamp","border","unnorm","element","int",48)
    for c in "rgba":
        line(f"gather_2d_{c}","array",13,9,0,0,1,"f32",4,"point","clamp","border","unnorm","element","float",32)
    line("gather_2d_r","array",13,9,0,0,1,"f32",1,"linear","wrap","mirror","norm","element","float",64)
    line("fetch_2d_f32_f32","array",256,1,0,0,1,"u8",1,"point","clamp","clamp","unnorm","srgb","table",256)
    line("fetch_2d_f32_f32","array",256,1,0,0,1,"u8",1,"point","clamp","clamp","unnorm","normalized","table",256)
    for ty in ["u8","s8","u16","s16"]:
        line("fetch_2d_u32_f32","array",13,9,0,0,1,ty,1,"point","border","border","unnorm","element","float",64)
    line("resident_2d","array",13,9,0,0,1,"f32",1,"point","clamp","border","unnorm","element","float",32)
    line("query_texture","array",13,9,0,0,3,"f32",1,"point","clamp","border","norm","element","float",1)
    line("query_texture","array",13,0,0,0,1,"f32",1,"point","clamp","border","norm","element","float",1)
    line("query_surface","surface",13,9,0,0,1,"f32",1,"point","clamp","border","norm","element","int",1)
    line("load_1d_zero","surface",24,0,0,0,1,"u32",1,"-","-","-","-","-","bytes16",32)
    line("load_2d_zero","surface",24,5,0,0,1,"u32",1,"-","-","-","-","-","bytes16",64)
    line("load_2d_clamp","surface",24,5,0,0,1,"u32",1,"-","-","-","-","-","bytes16",64)
    line("load_2d_zero","surface",7,5,0,0,1,"f32",4,"-","-","-","-","-","bytes16",64)
    line("load_2d_clamp","surface",7,5,0,0,1,"u32",1,"-","-","-","-","-","bytes16",64)
    line("load_3d_zero","surface",8,5,3,0,1,"u32",1,"-","-","-","-","-","bytes16",64)
    line("load_a2d_zero","surface",8,5,0,3,1,"u32",1,"-","-","-","-","-","bytes16",64)
    line("load_2d_b8","surface",13,5,0,0,1,"u8",1,"-","-","-","-","-","bytes1",64)
    line("load_2d_b64","surface",10,5,0,0,1,"u16",2,"-","-","-","-","-","bytes16",64)
    line("store_2d_clamp","surface",8,4,0,0,1,"u32",1,"-","-","-","-","-","store4",60)
    line("store_2d_zero","surface",8,4,0,0,1,"u32",2,"-","-","-","-","-","store8",60)
    for ty, ch in [("f32",1),("f16",2),("u8",4),("s16",2),("u32",1),("s8",1)]:
        line("store_2d_formatted","surface",8,4,0,0,1,ty,ch,"-","-","-","-","-","store0",60)
    line("reduce_2d_add","surface",8,4,0,0,1,"u32",1,"-","-","-","-","-","store4",60)
    line("reduce_2d_min_elements","surface",8,4,0,0,1,"u32",1,"-","-","-","-","-","store0",60)
else:
    for p in "row column same tile8x4 tile4x8 tile16x2 tile2x16 stride2 stride4 diagonal rows2 rows8 random odd odd8x4 quads".split():
        for ty, ch in [("f32",1),("f32",4),("u8",1),("u8",4)]:
            line("fetch_2d_f32_f32" if ty=="f32" else "fetch_2d_u32_f32","array",128,128,0,0,1,ty,ch,"point","clamp","clamp","unnorm","element",p,32)
        line("fetch_2d_f32_f32","array",128,128,0,0,1,"f32",1,"linear","clamp","clamp","unnorm","element",p,32)
        line("fetch_2d_f32_f32","array",128,128,0,0,1,"u8",4,"linear","clamp","clamp","unnorm","normalized",p,32)
    for p in "row column tile8x4 tile4x8 stride4 random odd".split():
        line("fetch_2d_f32_f32","pitched",128,128,0,0,1,"f32",1,"point","clamp","clamp","unnorm","element",p,32)
        line("fetch_2d_f32_f32","pitched",128,128,0,0,1,"f32",1,"linear","clamp","clamp","unnorm","element",p,32)
    for p in "row same stride2 stride4 stride8 odd random".split():
        for ty, ch in [("f32",1),("f32",4),("u8",1)]:
            line("fetch_1d_f32_s32" if ty=="f32" else "fetch_1d_u32_s32","linear",1024,0,0,0,1,ty,ch,"point","clamp","clamp","unnorm","element",p,32)
        line("fetch_1d_f32_f32","array",1024,0,0,0,1,"f32",1,"point","clamp","clamp","unnorm","element",p,32)
        for ty, ch in [("f32",2),("u8",4),("u16",4),("u32",2)]:
            line("fetch_1d_f32_s32" if ty=="f32" else "fetch_1d_u32_s32","linear",1024,0,0,0,1,ty,ch,"point","clamp","clamp","unnorm","element",p,32)
        line("fetch_1d_f32_f32","array",1024,0,0,0,1,"f32",1,"linear","clamp","clamp","unnorm","element",p,32)
    for p in "row column tile8x4 random".split():
        line("fetch_2d_f32_f32","array",128,128,0,0,1,"f32",2,"linear","clamp","clamp","unnorm","element",p,32)
        line("fetch_a2d_f32_f32","array",128,128,0,3,1,"f32",1,"linear","clamp","clamp","unnorm","element",p,32)
        line("fetch_2d_f32_s32","array",128,128,0,0,1,"f32",1,"point","clamp","clamp","unnorm","element",p,32)
        line("fetch_2d_f32_f32","array",128,128,0,0,1,"f32",1,"point","clamp","clamp","unnorm","element",p,20)
        line("fetch_2d_f32_f32","array",128,128,0,0,1,"f32",1,"linear","clamp","clamp","unnorm","element",p,10)
        line("level_2d","array",128,128,0,0,4,"f32",1,"linear","clamp","clamp","norm","element","level",32)
    for p in "depth tile8x4 row".split():
        for f in ["point","linear"]:
            line("fetch_3d_f32_f32","array",64,64,64,0,1,"f32",1,f,"clamp","clamp","unnorm","element",p,32)
    for p in "row column tile8x4 tile4x8 diagonal random".split():
        line("gather_2d_r","array",128,128,0,0,1,"f32",1,"point","clamp","clamp","unnorm","element",p,32)
        line("load_2d_zero","surface",128,128,0,0,1,"f32",4,"-","-","-","-","-",p,32)
        line("store_2d_zero","surface",128,128,0,0,1,"f32",2,"-","-","-","-","-",p,32)
        line("store_2d_clamp","surface",128,128,0,0,1,"u32",1,"-","-","-","-","-",p,32)
        line("reduce_2d_add","surface",128,128,0,0,1,"u32",1,"-","-","-","-","-",p,32)
        line("load_2d_b8","surface",128,128,0,0,1,"u8",1,"-","-","-","-","-",p,32)

; What LLVM 22 (llc -O3 -mcpu=sm_90) makes of this file is llvm.ptx: declarations and instructions that compilers emit seldom.
target triple = "nvptx64-nvidia-cuda"
@bytes = addrspace(1) global [64 x i8] zeroinitializer, align 4
@packed = addrspace(1) global <{ i8, ptr addrspace(1), i32 }> <{ i8 1, ptr addrspace(1) @bytes, i32 7 }>, align 1
@gen = addrspace(1) global [2 x ptr] [ptr addrspacecast (ptr addrspace(1) @bytes to ptr), ptr addrspacecast (ptr addrspace(1) getelementptr (i8, ptr addrspace(1) @bytes, i64 8) to ptr)], align 8
@vtable = addrspace(1) constant { ptr, i64, i64, ptr } { ptr @dropper, i64 8, i64 8, ptr @method }, align 8
@floats = addrspace(1) global [3 x float] [float 1.0, float 2.5, float -0.0], align 4
@doubles = addrspace(1) global double 3.25, align 8
@halfs = addrspace(1) global [2 x half] [half 1.0, half 2.0]
@str = addrspace(4) constant [6 x i8] c"hello\00", align 1
@i128g = addrspace(1) global i128 5, align 16
@bools = addrspace(1) global [3 x i1] [i1 true, i1 false, i1 true]
@weakg = weak addrspace(1) global i32 4
@internal = internal addrspace(1) global i64 9
@shm = internal addrspace(3) global [128 x float] undef, align 16
@dyn = external addrspace(3) global [0 x i8], align 16
@ext = external addrspace(1) global i32
define void @dropper(ptr %p) { ret void }
define i32 @method(ptr %p, i32 %x) { %a = load i32, ptr %p  %b = add i32 %a, %x ret i32 %b }
define i128 @wide(i128 %a, i128 %b) { %c = mul i128 %a, %b %d = udiv i128 %c, %b ret i128 %d }
define { i32, float } @pair(i32 %a) { %r = insertvalue { i32, float } undef, i32 %a, 0 ret { i32, float } %r }
define <4 x float> @vec(<4 x float> %a, <2 x half> %h) { %e = extractelement <2 x half> %h, i32 0 %f = fpext half %e to float %r = insertelement <4 x float> %a, float %f, i32 1 ret <4 x float> %r }
define i1 @flag(i1 zeroext %a, i8 signext %b) { %c = trunc i8 %b to i1 %d = xor i1 %a, %c ret i1 %d }
declare void @noret() noreturn
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier0()
declare i32 @llvm.nvvm.shfl.sync.down.i32(i32, i32, i32, i32)
declare float @llvm.minnum.f32(float, float)
declare float @llvm.maximum.f32(float, float)
declare float @llvm.copysign.f32(float, float)
declare float @llvm.floor.f32(float)
declare float @llvm.round.f32(float)
declare float @llvm.roundeven.f32(float)
declare float @llvm.trunc.f32(float)
declare float @llvm.sqrt.f32(float)
declare i32 @llvm.fptosi.sat.i32.f32(float)
declare i32 @llvm.fshl.i32(i32, i32, i32)
declare i64 @llvm.fshr.i64(i64, i64, i64)
declare i32 @llvm.bswap.i32(i32)
declare i32 @llvm.bitreverse.i32(i32)
declare i64 @llvm.ctpop.i64(i64)
declare i32 @llvm.ctlz.i32(i32, i1)
declare i64 @llvm.cttz.i64(i64, i1)
declare i32 @llvm.sadd.sat.i32(i32, i32)
declare {i32, i1} @llvm.uadd.with.overflow.i32(i32, i32)
declare i32 @llvm.abs.i32(i32, i1)
declare void @llvm.trap()
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
define ptx_kernel void @k(ptr addrspace(1) %p, ptr byval({i32, [10 x i8]}) align 8 %s, i32 %n, float %f, half %h, i8 %b, i1 %flag, <4 x i32> %v, i128 %wide, double %d) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %st = alloca [16 x i32], align 16
  call void @llvm.memset.p0.i64(ptr %st, i8 0, i64 64, i1 false)
  %fp = load volatile ptr, ptr addrspace(1) getelementptr (i8, ptr addrspace(1) @vtable, i64 24)
  %r1 = call i32 %fp(ptr %st, i32 %t)
  store i32 %r1, ptr addrspace(1) %p
  %w = call i128 @wide(i128 %wide, i128 7)
  store i128 %w, ptr addrspace(1) %p
  %pr = call {i32, float} @pair(i32 %r1)
  %pf = extractvalue {i32, float} %pr, 1
  %m1 = call float @llvm.minnum.f32(float %pf, float %f)
  %m2 = call float @llvm.maximum.f32(float %m1, float %f)
  %m3 = call float @llvm.copysign.f32(float %m2, float %f)
  %m4 = call float @llvm.floor.f32(float %m3)
  %m5 = call float @llvm.round.f32(float %m4)
  %m6 = call float @llvm.roundeven.f32(float %m5)
  %m7 = call float @llvm.sqrt.f32(float %m6)
  %i1 = call i32 @llvm.fptosi.sat.i32.f32(float %m7)
  %i2 = call i32 @llvm.fshl.i32(i32 %i1, i32 %n, i32 %t)
  %i3 = call i32 @llvm.bswap.i32(i32 %i2)
  %i4 = call i32 @llvm.bitreverse.i32(i32 %i3)
  %i5 = call i32 @llvm.ctlz.i32(i32 %i4, i1 false)
  %i6 = call i32 @llvm.sadd.sat.i32(i32 %i5, i32 %i4)
  %o = call {i32, i1} @llvm.uadd.with.overflow.i32(i32 %i6, i32 %n)
  %o0 = extractvalue {i32, i1} %o, 0
  %o1 = extractvalue {i32, i1} %o, 1
  %i7 = call i32 @llvm.abs.i32(i32 %o0, i1 false)
  %z = zext i1 %o1 to i32
  %i8 = add i32 %i7, %z
  %l = sext i32 %i8 to i64
  %l2 = call i64 @llvm.cttz.i64(i64 %l, i1 false)
  %l3 = call i64 @llvm.fshr.i64(i64 %l2, i64 %l, i64 %l)
  store i64 %l3, ptr addrspace(1) %p
  %at1 = atomicrmw add ptr addrspace(1) %p, i32 4 seq_cst
  %at2 = atomicrmw fadd ptr addrspace(1) %p, float 1.0 monotonic
  %at3 = atomicrmw umax ptr addrspace(1) %p, i64 4 syncscope("block") acquire
  %at4 = cmpxchg ptr addrspace(1) %p, i32 1, i32 2 acq_rel monotonic
  %at4b = cmpxchg ptr addrspace(1) %p, i8 1, i8 2 acq_rel monotonic
  %at5 = atomicrmw nand ptr addrspace(1) %p, i32 2 release
  %at6 = atomicrmw xchg ptr addrspace(3) @shm, i32 2 release
  %at7 = load atomic i32, ptr addrspace(1) %p acquire, align 4
  store atomic i32 %at7, ptr addrspace(1) %p seq_cst, align 4
  fence seq_cst
  fence syncscope("block") acq_rel
  %vol = load volatile i32, ptr addrspace(1) %p
  store volatile i32 %vol, ptr addrspace(3) @shm
  %h2 = fmul half %h, %h
  %h3 = fadd half %h2, 0xH3C00
  store half %h3, ptr addrspace(1) %p
  %hb = fpext half %h3 to double
  %dd = fdiv double %hb, %d
  %de = frem double %dd, %d
  store double %de, ptr addrspace(1) %p
  %ui = uitofp i64 %l to float
  %si = sitofp i8 %b to double
  %fd = fptrunc double %si to float
  %fa = fadd float %ui, %fd
  %fu = fptoui float %fa to i16
  store i16 %fu, ptr addrspace(1) %p
  %c1 = fcmp ueq float %fa, %f
  %c2 = fcmp ord float %fa, %f
  %c3 = fcmp one double %d, %si
  %c4 = and i1 %c1, %c2
  %c5 = or i1 %c4, %c3
  %sel = select i1 %c5, float %fa, float 3.0
  store float %sel, ptr addrspace(1) %p
  %vs = add <4 x i32> %v, <i32 1, i32 2, i32 3, i32 4>
  store <4 x i32> %vs, ptr addrspace(1) %p, align 16
  %fl = call i1 @flag(i1 %flag, i8 %b)
  %se = select i1 %fl, i8 1, i8 %b
  store i8 %se, ptr addrspace(1) %p
  %sv = load i8, ptr addrspace(4) @str
  store i8 %sv, ptr addrspace(1) %p
  %dv = load <2 x double>, ptr addrspace(3) @dyn, align 16
  store <2 x double> %dv, ptr addrspace(1) %p, align 16
  %sp = getelementptr {i32, [10 x i8]}, ptr %s, i64 0, i32 1, i32 %t
  %spv = load i8, ptr %sp
  store i8 %spv, ptr addrspace(1) %p
  %sti = getelementptr [16 x i32], ptr %st, i64 0, i32 %t
  %stv = load i32, ptr %sti
  store i32 %stv, ptr addrspace(1) %p
  switch i32 %n, label %end [ i32 0, label %a  i32 1, label %b1  i32 2, label %c  i32 3, label %dlab i32 4, label %e i32 5, label %g ]
a: store i32 11, ptr addrspace(1) %p  br label %end
b1: store i32 12, ptr addrspace(1) %p  br label %end
c: store i32 13, ptr addrspace(1) %p br label %a
dlab: call void @llvm.trap() unreachable
e: call void @noret() unreachable
g: store i32 17, ptr addrspace(1) %p br label %e
end: ret void
}

// What a GPU's textures and surfaces give: for each line of a file of cases, makes the array or memory, the texture or surface,
// launches the kernel of textures.ptx, and prints coordinates and results. Usage: measure textures.ptx cases.txt > results
#include <cuda.h>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>
using namespace std;
static void check(CUresult r, const char* what) {
  if (r != CUDA_SUCCESS) { const char* s = "?"; cuGetErrorName(r, &s); throw runtime_error(string(what) + ": " + s); }
}
#define C(x) check(x, #x)
static uint32_t hash32(uint32_t x) { x ^= x >> 16; x *= 0x7feb352du; x ^= x >> 15; x *= 0x846ca68bu; x ^= x >> 16; return x; }
struct Case {
  string name, kernel, source, type, filter, mode0, mode1, norm, read, pattern;
  unsigned width, height, depth, layers, levels, channels, threads;
};
static unsigned size_of(const string& t) { return t == "u8" || t == "s8" ? 1 : t == "u16" || t == "s16" || t == "f16" ? 2 : 4; }
static CUarray_format format_of(const string& t) {
  static map<string, CUarray_format> m = {{"u8", CU_AD_FORMAT_UNSIGNED_INT8}, {"u16", CU_AD_FORMAT_UNSIGNED_INT16}, {"u32", CU_AD_FORMAT_UNSIGNED_INT32},
    {"s8", CU_AD_FORMAT_SIGNED_INT8}, {"s16", CU_AD_FORMAT_SIGNED_INT16}, {"s32", CU_AD_FORMAT_SIGNED_INT32}, {"f16", CU_AD_FORMAT_HALF}, {"f32", CU_AD_FORMAT_FLOAT}};
  return m.at(t);
}
// An f16 of a multiple of 1/16 below 16 in magnitude.
static uint16_t half_of(int sixteenths) {
  uint16_t sign = sixteenths < 0 ? 0x8000 : 0; unsigned v = abs(sixteenths); if (!v) return sign;
  int e = 31 - __builtin_clz(v); return sign | (uint16_t)((e - 4 + 15) << 10) | (uint16_t)((v << (10 - e)) & 0x3ff);
}
// The bytes of component `index` of the texels.
static void component(const string& t, uint32_t index, uint8_t* to) {
  uint32_t h = hash32(index + 1);
  if (t == "f32") { float v = (float)((int)(h >> 16) - 32768) / 256.0f; memcpy(to, &v, 4); }
  else if (t == "f16") { uint16_t v = half_of((int)(h % 511) - 255); memcpy(to, &v, 2); }
  else memcpy(to, &h, size_of(t));
}
static CUaddress_mode mode_of(const string& m) {
  return m == "wrap" ? CU_TR_ADDRESS_MODE_WRAP : m == "mirror" ? CU_TR_ADDRESS_MODE_MIRROR : m == "border" ? CU_TR_ADDRESS_MODE_BORDER : CU_TR_ADDRESS_MODE_CLAMP;
}
static uint32_t bits(float f) { uint32_t u; memcpy(&u, &f, 4); return u; }
// The four words of a thread.
static void coordinates(const Case& c, unsigned t, uint32_t* w) {
  const unsigned extent[3] = {c.width, max(c.height, 1u), max(c.depth, 1u)};
  const bool norm = c.norm == "norm";
  auto layer = [&](unsigned s) { return c.layers ? hash32(s) % (c.layers + 2) : 0; };
  if (c.pattern == "float" || c.pattern == "level" || c.pattern == "grad") {
    for (int a = 0; a < 3; a++) {
      uint32_t h = hash32(t * 3 + a + 77); float n = extent[a], x;
      switch ((t + a) % 5) {
        case 0: x = -1.5f * n + (float)(h >> 8) / 16777216.0f * 4.0f * n; break;
        case 1: x = (float)(int)(h % (extent[a] + 2)) - 1.0f + 0.5f + (float)((int)(h >> 20 & 63) - 32) / 4096.0f; break;
        case 2: x = (float)(int)(h % (extent[a] * 512)) / 512.0f; break;
        case 3: x = (float)(int)(h % (extent[a] + 1)) + ((h >> 20 & 1) ? 1.0f : -1.0f) * ldexpf(1.0f, -(int)(4 + (h >> 21) % 12)); break;
        default: x = (float)(h >> 8) / 16777216.0f * n;
      }
      w[a] = bits(norm ? x / n : x);
    }
    w[3] = layer(t);
    if (c.pattern == "level") w[2] = bits(-1.0f + (float)(hash32(t + 991) >> 8) / 16777216.0f * (c.levels + 2));
    if (c.pattern == "grad") { w[2] = bits(ldexpf((float)(hash32(t + 991) >> 8) / 16777216.0f, -(int)(hash32(t) % 8))); w[3] = bits(ldexpf((float)(hash32(t + 91) >> 8) / 16777216.0f, -(int)(hash32(t + 5) % 8))); }
  } else if (c.pattern == "int") {
    for (int a = 0; a < 3; a++) w[a] = (int)(hash32(t * 3 + a) % (extent[a] + 8)) - 4;
    w[3] = layer(t);
  } else if (c.pattern.rfind("bytes", 0) == 0) {  // bytesN: x in bytes, a multiple of N
    unsigned n = atoi(c.pattern.c_str() + 5), row = c.width * c.channels * size_of(c.type);
    w[0] = ((int)(hash32(t * 3) % (row / n + 4)) - 2) * (int)n;
    for (int a = 1; a < 3; a++) w[a] = (int)(hash32(t * 3 + a) % (extent[a] + 4)) - 2;
    w[3] = layer(t);
  } else if (c.pattern.rfind("store", 0) == 0) {  // storeN: each place once, a margin of one around; N bytes a step in x, 0: elements
    unsigned n = atoi(c.pattern.c_str() + 5); if (!n) n = 1;
    w[0] = ((int)(t % (c.width + 2)) - 1) * (int)n; w[1] = (int)(t / (c.width + 2)) - 1;
    int x = min(max((int)(t % (c.width + 2)) - 1, 0), (int)c.width - 1), y = min(max((int)w[1], 0), (int)c.height - 1);
    float f = (float)((x * 37 + y * 101) % 4096) / 8.0f - 100.0f;
    w[2] = c.type == "f32" || c.type == "f16" ? bits(f) : (uint32_t)((x * 37 + y * 101) * 3 - 200); w[3] = w[2] + (c.type == "f16" ? 0 : 1);
  } else {  // counts: x, y of a lane by the name of the pattern
    unsigned x = t, y = 0, z = 0; const string& p = c.pattern;
    if (p == "row" || p == "table") {} else if (p == "column") { x = 0; y = t; } else if (p == "same") { x = 5; y = 3; }
    else if (p == "tile8x4") { x = t % 8; y = t / 8; } else if (p == "tile4x8") { x = t % 4; y = t / 4; } else if (p == "tile16x2") { x = t % 16; y = t / 16; }
    else if (p == "tile2x16") { x = t % 2; y = t / 2; } else if (p == "stride2") x = 2 * t; else if (p == "stride4") x = 4 * t; else if (p == "stride8") x = 8 * t;
    else if (p == "diagonal") { x = t; y = t; } else if (p == "rows2") { y = 2 * t; x = 0; } else if (p == "rows8") { y = 8 * t % 64; x = t / 8 * 8; }
    else if (p == "random") { x = hash32(t) % c.width; y = hash32(t + 400) % max(c.height, 1u); } else if (p == "odd") { x = t + 1; y = 1; }
    else if (p == "odd8x4") { x = t % 8 + 3; y = t / 8 + 1; } else if (p == "quads") { x = t / 4 * 16; y = t % 4 * 2; } else if (p == "depth") { x = t % 4; y = t / 4 % 4; z = t / 16; }
    else throw runtime_error("no pattern " + p);
    if (c.kernel.find("_s32") != string::npos) { w[0] = x; w[1] = y; w[2] = z; w[3] = 0; }
    else if (c.kernel.rfind("load", 0) == 0 || c.kernel.rfind("store", 0) == 0 || c.kernel.rfind("reduce", 0) == 0) { w[0] = x * c.channels * size_of(c.type); w[1] = y; w[2] = t; w[3] = t; }
    else { w[0] = bits(x + 0.5f); w[1] = bits(y + 0.5f); w[2] = bits(z + 0.5f); w[3] = 0; if (c.filter == "linear") { w[0] = bits(x + 0.75f); w[1] = bits(y + 0.75f); w[2] = bits(z + 0.75f); } }
  }
}
// The module of one kernel alone, so that what the driver refuses does not take the others with it.
static string ptx_text;
static CUfunction function_of(const string& kernel) {
  static map<string, CUfunction> known;
  if (known.count(kernel)) return known[kernel];
  const string entry = ".visible .entry ";
  size_t first = ptx_text.find(entry), at = ptx_text.find(entry + kernel + "(");
  if (at == string::npos) throw runtime_error("no kernel " + kernel);
  size_t end = ptx_text.find(entry, at + 1);
  string text = ptx_text.substr(0, first) + ptx_text.substr(at, end == string::npos ? end : end - at);
  char log[2048] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, (void*)sizeof log};
  CUmodule module; CUresult r = cuModuleLoadDataEx(&module, text.c_str(), 2, options, values);
  if (r != CUDA_SUCCESS) { const char* s = "?"; cuGetErrorName(r, &s); for (char* p = log; *p; p++) if (*p == '\n') *p = ' '; throw runtime_error("load " + kernel + ": " + s + " " + log); }
  CUfunction f; C(cuModuleGetFunction(&f, module, kernel.c_str()));
  return known[kernel] = f;
}
static void run(const Case& c) {
  CUfunction f = function_of(c.kernel);
  unsigned texel = c.channels * size_of(c.type), levels = max(c.levels, 1u);
  CUdeviceptr linear = 0; size_t pitch = 0; CUarray array = 0; CUmipmappedArray mip = 0; unsigned long long object = 0;
  CUDA_RESOURCE_DESC r; memset(&r, 0, sizeof r);
  bool surface = c.source == "surface";
  auto texels = [&](unsigned level, size_t n) { vector<uint8_t> b(n * texel); if (c.pattern == "table") { for (size_t i = 0; i < b.size(); i++) b[i] = (uint8_t)i; return b; } for (size_t i = 0; i < n * c.channels; i++) component(c.type, (uint32_t)i + level * 7919, &b[i * size_of(c.type)]); return b; };
  auto dim = [&](unsigned n, unsigned level) { return n ? max(n >> level, 1u) : 0; };
  if (c.source == "linear") {
    auto b = texels(0, c.width); C(cuMemAlloc(&linear, b.size())); C(cuMemcpyHtoD(linear, b.data(), b.size()));
    r.resType = CU_RESOURCE_TYPE_LINEAR; r.res.linear.devPtr = linear; r.res.linear.format = format_of(c.type); r.res.linear.numChannels = c.channels; r.res.linear.sizeInBytes = b.size();
  } else if (c.source == "pitched") {
    auto b = texels(0, (size_t)c.width * c.height); C(cuMemAllocPitch(&linear, &pitch, c.width * texel, c.height, 16));
    for (unsigned y = 0; y < c.height; y++) C(cuMemcpyHtoD(linear + y * pitch, &b[(size_t)y * c.width * texel], c.width * texel));
    r.resType = CU_RESOURCE_TYPE_PITCH2D; r.res.pitch2D.devPtr = linear; r.res.pitch2D.format = format_of(c.type); r.res.pitch2D.numChannels = c.channels;
    r.res.pitch2D.width = c.width; r.res.pitch2D.height = c.height; r.res.pitch2D.pitchInBytes = pitch;
  } else {
    CUDA_ARRAY3D_DESCRIPTOR d; memset(&d, 0, sizeof d);
    d.Width = c.width; d.Height = c.height; d.Depth = c.layers ? c.layers : c.depth; d.Format = format_of(c.type); d.NumChannels = c.channels;
    d.Flags = (c.layers ? CUDA_ARRAY3D_LAYERED : 0) | (surface ? CUDA_ARRAY3D_SURFACE_LDST : 0) | (c.kernel.rfind("gather", 0) == 0 ? CUDA_ARRAY3D_TEXTURE_GATHER : 0);
    if (levels > 1) C(cuMipmappedArrayCreate(&mip, &d, levels)); else C(cuArray3DCreate(&array, &d));
    for (unsigned l = 0; l < levels; l++) {
      CUarray a = array; if (mip) C(cuMipmappedArrayGetLevel(&a, mip, l));
      unsigned w = dim(c.width, l), h = max(dim(c.height, l), 1u), z = c.layers ? c.layers : max(dim(c.depth, l), 1u);
      auto b = texels(l, (size_t)w * h * z);
      CUDA_MEMCPY3D m; memset(&m, 0, sizeof m); m.srcMemoryType = CU_MEMORYTYPE_HOST; m.srcHost = b.data(); m.srcPitch = w * texel; m.srcHeight = h;
      m.dstMemoryType = CU_MEMORYTYPE_ARRAY; m.dstArray = a; m.WidthInBytes = w * texel; m.Height = h; m.Depth = z; C(cuMemcpy3D(&m));
    }
    if (mip) { r.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY; r.res.mipmap.hMipmappedArray = mip; } else { r.resType = CU_RESOURCE_TYPE_ARRAY; r.res.array.hArray = array; }
  }
  if (surface) C(cuSurfObjectCreate((CUsurfObject*)&object, &r));
  else {
    CUDA_TEXTURE_DESC t; memset(&t, 0, sizeof t);
    t.addressMode[0] = mode_of(c.mode0); t.addressMode[1] = t.addressMode[2] = mode_of(c.mode1);
    t.filterMode = t.mipmapFilterMode = c.filter == "linear" ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT;
    bool integer = c.type[0] != 'f';
    t.flags = (c.norm == "norm" ? CU_TRSF_NORMALIZED_COORDINATES : 0) | (integer && c.read == "element" ? CU_TRSF_READ_AS_INTEGER : 0) | (c.read == "srgb" ? CU_TRSF_SRGB : 0);
    t.maxMipmapLevelClamp = levels - 1; t.borderColor[0] = 3.0f; t.borderColor[1] = -2.0f; t.borderColor[2] = 0.5f; t.borderColor[3] = 7.0f;
    C(cuTexObjectCreate((CUtexObject*)&object, &r, &t, nullptr));
  }
  vector<uint32_t> in(c.threads * 4), out(c.threads * 4);
  for (unsigned i = 0; i < c.threads; i++) coordinates(c, i, &in[i * 4]);
  CUdeviceptr din, dout; C(cuMemAlloc(&din, in.size() * 4)); C(cuMemAlloc(&dout, out.size() * 4)); C(cuMemcpyHtoD(din, in.data(), in.size() * 4));
  void* args[] = {&object, &din, &dout};
  C(cuLaunchKernel(f, 1, 1, 1, c.threads, 1, 1, 0, 0, args, nullptr)); C(cuCtxSynchronize());
  C(cuMemcpyDtoH(out.data(), dout, out.size() * 4));
  for (unsigned i = 0; i < c.threads; i++) {
    for (int k = 0; k < 4; k++) printf("%x ", in[i * 4 + k]);
    for (int k = 0; k < 4; k++) printf("%x%c", out[i * 4 + k], k == 3 ? '\n' : ' ');
  }
  if (surface && (c.kernel.rfind("store", 0) == 0 || c.kernel.rfind("reduce", 0) == 0)) {
    vector<uint8_t> b((size_t)c.width * texel * max(c.height, 1u));
    CUDA_MEMCPY3D m; memset(&m, 0, sizeof m); m.dstMemoryType = CU_MEMORYTYPE_HOST; m.dstHost = b.data(); m.dstPitch = c.width * texel; m.dstHeight = max(c.height, 1u);
    m.srcMemoryType = CU_MEMORYTYPE_ARRAY; m.srcArray = array; m.WidthInBytes = c.width * texel; m.Height = max(c.height, 1u); m.Depth = 1; C(cuMemcpy3D(&m));
    printf("array "); for (uint8_t x : b) printf("%02x", x); printf("\n");
  }
  if (surface) C(cuSurfObjectDestroy(object)); else C(cuTexObjectDestroy(object));
  C(cuMemFree(din)); C(cuMemFree(dout)); if (linear) C(cuMemFree(linear)); if (array) C(cuArrayDestroy(array)); if (mip) C(cuMipmappedArrayDestroy(mip));
}
int main(int n, char** v) {
  C(cuInit(0)); CUdevice d; C(cuDeviceGet(&d, 0)); CUcontext ctx; C(cuDevicePrimaryCtxRetain(&ctx, d)); C(cuCtxSetCurrent(ctx));
  stringstream ptx; ptx << ifstream(v[1]).rdbuf(); ptx_text = ptx.str();
  ifstream cases(v[2]); string line;
  while (getline(cases, line)) {
    if (line.empty() || line[0] == '#') continue;
    stringstream s(line); Case c;
    s >> c.kernel >> c.source >> c.width >> c.height >> c.depth >> c.layers >> c.levels >> c.type >> c.channels >> c.filter >> c.mode0 >> c.mode1 >> c.norm >> c.read >> c.pattern >> c.threads;
    printf("case %s\n", line.c_str());
    try { run(c); } catch (exception& e) { printf("error %s\n", e.what()); C(cuCtxSetCurrent(ctx)); }
    fflush(stdout);
  }
}

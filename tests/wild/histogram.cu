// A histogram: atomic additions in shared memory, then in global memory. Dynamic shared memory.
extern "C" __global__ void histogram(const unsigned char *data, unsigned n, unsigned *bins) {
    extern __shared__ unsigned local[];
    for (unsigned i = threadIdx.x; i < 16; i += blockDim.x) local[i] = 0;
    __syncthreads();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&local[data[i] & 15], 1u);
    __syncthreads();
    for (unsigned i = threadIdx.x; i < 16; i += blockDim.x)
        if (local[i]) atomicAdd(&bins[i], local[i]);
}
//# x = [(i * i + 5 * i) % 251 for i in range(300)]
// run: histogram grid=3 block=40 shared=64
//= in: u8 x
// in: u8 0 6 14 24 36 50 66 84 104 126 150 176 204 234 15 49 85 123 163 205 249 44 92 142 194 248 53 111 171 233 46 112 180 250 71 145 221 48 128 210 43 129 217 56 148 242 87 185 34 136 240 95 203 62 174 37 153 20 140 11 135 10 138 17 149 32 168 55 195 86 230 125 22 172 73 227 132 39 199 110 23 189 106 25 197 120 45 223 152 83 16 202 139 78 19 213 158 105 54 5 209 164 121 80 41 4 220 187 156 127 100 75 52 31 12 246 231 218 207 198 191 186 183 182 183 186 191 198 207 218 231 246 12 31 52 75 100 127 156 187 220 4 41 80 121 164 209 5 54 105 158 213 19 78 139 202 16 83 152 223 45 120 197 25 106 189 23 110 199 39 132 227 73 172 22 125 230 86 195 55 168 32 149 17 138 10 135 11 140 20 153 37 174 62 203 95 240 136 34 185 87 242 148 56 217 129 43 210 128 48 221 145 71 250 180 112 46 233 171 111 53 248 194 142 92 44 249 205 163 123 85 49 15 234 204 176 150 126 104 84 66 50 36 24 14 6 0 247 245 245 247 0 6 14 24 36 50 66 84 104 126 150 176 204 234 15 49 85 123 163 205 249 44 92 142 194 248 53 111 171 233 46 112 180 250 71 145 221 48 128 210 43 129 217 56 148 242 87 185 34
// arg: u32 300
//= inout: u32 [0] * 16 -> [sum(v & 15 == b for v in x) for b in range(16)]
// inout: u32 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 -> 23 13 18 11 24 18 19 22 20 24 18 19 19 12 22 18

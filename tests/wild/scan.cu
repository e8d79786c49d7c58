// An inclusive scan of a block: shuffles within warps, shared memory between them.
//@ sm_75 sm_90 debug
extern "C" __global__ void scan(const unsigned *in, unsigned *out) {
    __shared__ unsigned sums[32];
    unsigned lane = threadIdx.x & 31, warp = threadIdx.x >> 5, x = in[threadIdx.x];
    for (int d = 1; d < 32; d *= 2) {
        unsigned y = __shfl_up_sync(~0u, x, d);
        if (lane >= d) x += y;
    }
    if (lane == 31) sums[warp] = x;
    __syncthreads();
    if (warp == 0) {
        unsigned s = lane < blockDim.x / 32 ? sums[lane] : 0;
        for (int d = 1; d < 32; d *= 2) {
            unsigned y = __shfl_up_sync(~0u, s, d);
            if (lane >= d) s += y;
        }
        sums[lane] = s;
    }
    __syncthreads();
    out[threadIdx.x] = x + (warp ? sums[warp - 1] : 0);
}
//# x = [(i * 7 + 3) % 11 for i in range(128)]
// run: scan block=128
//= in: u32 x
// in: u32 3 10 6 2 9 5 1 8 4 0 7 3 10 6 2 9 5 1 8 4 0 7 3 10 6 2 9 5 1 8 4 0 7 3 10 6 2 9 5 1 8 4 0 7 3 10 6 2 9 5 1 8 4 0 7 3 10 6 2 9 5 1 8 4 0 7 3 10 6 2 9 5 1 8 4 0 7 3 10 6 2 9 5 1 8 4 0 7 3 10 6 2 9 5 1 8 4 0 7 3 10 6 2 9 5 1 8 4 0 7 3 10 6 2 9 5 1 8 4 0 7 3 10 6 2 9 5 1
//= out: u32 [sum(x[:i + 1]) for i in range(128)]
// out: u32 3 13 19 21 30 35 36 44 48 48 55 58 68 74 76 85 90 91 99 103 103 110 113 123 129 131 140 145 146 154 158 158 165 168 178 184 186 195 200 201 209 213 213 220 223 233 239 241 250 255 256 264 268 268 275 278 288 294 296 305 310 311 319 323 323 330 333 343 349 351 360 365 366 374 378 378 385 388 398 404 406 415 420 421 429 433 433 440 443 453 459 461 470 475 476 484 488 488 495 498 508 514 516 525 530 531 539 543 543 550 553 563 569 571 580 585 586 594 598 598 605 608 618 624 626 635 640 641

// Cooperative groups of more than 32 threads. From sm_80 on they meet in shared memory that CUDA reserves in each block.
//@ sm_75 sm_80 sm_90
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
extern "C" __global__ void big_groups(const int *in, int *out) {
    __shared__ int own[256];
    __shared__ cg::block_tile_memory<256> memory;
    auto block = cg::this_thread_block(memory);
    auto half = cg::tiled_partition<128>(block);
    auto quarter = cg::tiled_partition<64>(block);
    int t = block.thread_rank(), *o = out + 4 * t;
    own[t] = in[t];
    half.sync();
    o[0] = own[t ^ 64];
    o[1] = cg::reduce(half, in[t], cg::plus<int>());
    o[2] = cg::reduce(quarter, in[t], cg::greater<int>());
    o[3] = half.shfl(in[t], 100) + quarter.meta_group_rank() + half.any(in[t] == 40);
}
//# def big_groups(t):
//#     half, quarter = t & ~127, t & ~63
//#     return [(t ^ 64) * 3, sum(3 * i for i in range(half, half + 128)), 3 * (quarter + 63), 3 * (half + 100) + t // 64]
// run: big_groups block=256
//= in: s32 [3 * t for t in range(256)]
// in: s32 0 3 6 9 12 15 18 21 24 27 30 33 36 39 42 45 48 51 54 57 60 63 66 69 72 75 78 81 84 87 90 93 96 99 102 105 108 111 114 117 120 123 126 129 132 135 138 141 144 147 150 153 156 159 162 165 168 171 174 177 180 183 186 189 192 195 198 201 204 207 210 213 216 219 222 225 228 231 234 237 240 243 246 249 252 255 258 261 264 267 270 273 276 279 282 285 288 291 294 297 300 303 306 309 312 315 318 321 324 327 330 333 336 339 342 345 348 351 354 357 360 363 366 369 372 375 378 381 384 387 390 393 396 399 402 405 408 411 414 417 420 423 426 429 432 435 438 441 444 447 450 453 456 459 462 465 468 471 474 477 480 483 486 489 492 495 498 501 504 507 510 513 516 519 522 525 528 531 534 537 540 543 546 549 552 555 558 561 564 567 570 573 576 579 582 585 588 591 594 597 600 603 606 609 612 615 618 621 624 627 630 633 636 639 642 645 648 651 654 657 660 663 666 669 672 675 678 681 684 687 690 693 696 699 702 705 708 711 714 717 720 723 726 729 732 735 738 741 744 747 750 753 756 759 762 765
//= out: s32 sum([big_groups(t) for t in range(256)], [])
// out: s32 @1
// For sm_75 the groups meet in `memory` instead. There NVIDIA's headers let a lane write what the others have read before a shuffle or
// a vote, which orders nothing by the manual.
// blamed: race_in_warp sm_75

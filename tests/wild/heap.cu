// Memory that kernels allocate themselves: malloc and free, new and delete, a linked list, a structure with a virtual function.
#include <cstdlib>
#include <new>

struct Node {
    unsigned value;
    Node *next;
};

// Each thread makes a list of its divisors, walks it, and frees it.
extern "C" __global__ void divisors(unsigned long long *sums) {
    unsigned number = blockIdx.x * blockDim.x + threadIdx.x + 1;
    Node *list = nullptr;
    for (unsigned divisor = 1; divisor <= number; divisor++) {
        if (number % divisor) continue;
        Node *node = static_cast<Node *>(malloc(sizeof(Node)));
        if (!node) return;
        node->value = divisor, node->next = list, list = node;
    }
    unsigned long long sum = 0, place = 1;
    while (list) {
        Node *next = list->next;
        sum += place++ * list->value;
        free(list);
        list = next;
    }
    sums[number - 1] = sum;
}
// run: divisors grid=2 block=48
//# divisors = lambda n: [d for d in range(n, 0, -1) if n % d == 0]
//= out: u64 [sum(i * d for i, d in enumerate(divisors(n), 1)) for n in range(1, 97)]
// out: u64 1 4 5 11 7 22 9 26 18 30 13 64 15 38 38 57 19 82 21 87 48 54 25 156 38 62 58 109 31 179 33 120 68 78 68 244 39 86 78 213 43 224 45 153 143 102 49 348 66 166 98 175 55 268 96 267 108 126 61 542 63 134 181 247 110 312 69 219 128 309 73 606 75 158 211 241 124 356 81 477 179 174 85 675 138 182 158 372 91 697 142 285 168 198 152 740

struct Shape {
    __device__ virtual unsigned area() const = 0;
    __device__ virtual ~Shape() {}
};
struct Square : Shape {
    unsigned side;
    __device__ Square(unsigned side) : side(side) {}
    __device__ unsigned area() const override { return side * side; }
};
struct Box : Shape {
    unsigned width, height, *log;
    __device__ Box(unsigned width, unsigned height, unsigned *log) : width(width), height(height), log(log) {}
    __device__ unsigned area() const override { return width * height; }
    __device__ ~Box() override { atomicAdd(log, 1u); }
};

// Objects of two classes behind one pointer; their destructors run.
extern "C" __global__ void shapes(unsigned *areas, unsigned *destroyed) {
    unsigned t = threadIdx.x;
    Shape *shape;
    if (t % 3) shape = new Square(t);
    else shape = new Box(t, t + 1, destroyed);
    areas[t] = shape->area();
    delete shape;
}
// run: shapes block=40
//= out: u32 [t * t if t % 3 else t * (t + 1) for t in range(40)]
// out: u32 0 1 4 12 16 25 42 49 64 90 100 121 156 169 196 240 256 289 342 361 400 462 484 529 600 625 676 756 784 841 930 961 1024 1122 1156 1225 1332 1369 1444 1560
//= inout: u32 [0] -> [len(range(0, 40, 3))]
// inout: u32 0 -> 14

// A block shares one array, which its first thread makes as large as it needs.
extern "C" __global__ void shared_array(const unsigned *lengths, unsigned *sums) {
    __shared__ unsigned *array;
    unsigned length = lengths[blockIdx.x];
    if (threadIdx.x == 0) array = new unsigned[length];
    __syncthreads();
    for (unsigned i = threadIdx.x; i < length; i += blockDim.x) array[i] = i * i;
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned sum = 0;
        for (unsigned i = 0; i < length; i++) sum += array[i];
        sums[blockIdx.x] = sum;
        delete[] array;
    }
}
// run: shared_array grid=4 block=64
//= in: u32 [1, 63, 100, 200]
// in: u32 1 63 100 200
//= out: u32 [sum(i * i for i in range(n)) for n in (1, 63, 100, 200)]
// out: u32 0 81375 328350 2646700

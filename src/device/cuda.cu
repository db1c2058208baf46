/* device/cuda.cu -- the flat pile on a CUDA device: a kernel is a thread per index. Built with -DST_CUDA=ON. */
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <math.h>
#include <stdlib.h>
#include <string.h>

extern "C" {
#include "base/base.h"
}
#include "device/flat_memory.h"

static const char *const device_name = "cuda";

struct sti_FlatPile {
    STI_FLAT_COMMON;
    void *room; /* of sort and scan */
    size_t room_size;
    cudaError_t fault; /* the first since it was last read */
    char *landing;     /* pinned: large copies from the device arrive here, two pieces in turn */
    cudaEvent_t landed[2];
    cudaStream_t stream;
    cudaGraphExec_t again; /* recorded by device_repeat */
    bool recorded;         /* ... in this step */
};

static void note(sti_FlatPile *pile, cudaError_t status)
{
    if (pile->fault == cudaSuccess) pile->fault = status;
}

/* ---- kernels ----------------------------------------------------------------------------------- */

enum { THREADS = 128, PIECE = 1 << 22 };

template <void (*kernel)(int, const sti_Flat *)>
__global__ void __launch_bounds__(THREADS) run_kernel(int first, int64_t n, const __grid_constant__ sti_Flat f)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < n) kernel(first + (int)i, &f);
}

#define RUN(pile, kernel, from, count)                                                                                 \
    do {                                                                                                               \
        const int64_t n_ = (count);                                                                                    \
        const unsigned blocks_ = (unsigned)((n_ + THREADS - 1) / THREADS);                                             \
        if (n_ > 0) run_kernel<kernel><<<blocks_, THREADS, 0, (pile)->stream>>>(from, n_, (pile)->f);                  \
        note(pile, cudaGetLastError());                                                                                \
    } while (0)

/* ---- memory ------------------------------------------------------------------------------------ */

static void device_clear(sti_FlatPile *pile, void *at, int64_t bytes)
{
    note(pile, cudaMemsetAsync(at, 0, (size_t)bytes, pile->stream));
}

static void *device_alloc(sti_FlatPile *pile, int64_t count, size_t size)
{
    void *at = NULL;
    if (cudaMalloc(&at, (size_t)count * size) != cudaSuccess) {
        cudaGetLastError(); /* reported as NULL */
        return NULL;
    }
    device_clear(pile, at, count * (int64_t)size);
    return at;
}

static void device_free(sti_FlatPile *pile, void *at, int64_t count, size_t size)
{
    (void)count, (void)size;
    note(pile, cudaFree(at));
}

static void device_copy(sti_FlatPile *pile, void *to, const void *from, int64_t bytes)
{
    if (bytes > 0) note(pile, cudaMemcpyAsync(to, from, (size_t)bytes, cudaMemcpyDeviceToDevice, pile->stream));
}

static void device_put(sti_FlatPile *pile, void *to, const void *from, int64_t bytes)
{
    if (bytes > 0) note(pile, cudaMemcpy(to, from, (size_t)bytes, cudaMemcpyHostToDevice));
}

/* Memory that is not pinned takes in a few gigabytes per second: large arrays come by pieces, one of which is copied on
 * while the next is under way.                                                                                    */
static void device_get(sti_FlatPile *pile, void *to, const void *from, int64_t bytes)
{
    if (bytes < PIECE || pile->landing == NULL) {
        if (bytes > 0) note(pile, cudaMemcpy(to, from, (size_t)bytes, cudaMemcpyDeviceToHost));
        return;
    }
    const int64_t n = (bytes + PIECE - 1) / PIECE;
    for (int64_t k = 0; k <= n; k++) {
        if (k < n) {
            const size_t size = (size_t)(bytes - k * PIECE < PIECE ? bytes - k * PIECE : PIECE);
            char *land = pile->landing + k % 2 * PIECE;
            const char *piece = (const char *)from + k * PIECE;
            note(pile, cudaMemcpyAsync(land, piece, size, cudaMemcpyDeviceToHost, pile->stream));
            note(pile, cudaEventRecord(pile->landed[k % 2], pile->stream));
        }
        if (k > 0) {
            const int64_t at = (k - 1) * PIECE;
            note(pile, cudaEventSynchronize(pile->landed[(k - 1) % 2]));
            memcpy((char *)to + at, pile->landing + (k - 1) % 2 * PIECE, (size_t)(bytes - at < PIECE ? bytes - at : PIECE));
        }
    }
}

static st_Status device_fault(sti_FlatPile *pile, st_Error *err)
{
    const cudaError_t fault = pile->fault;
    pile->fault = cudaSuccess;
    if (fault == cudaSuccess) return ST_OK;
    return sti_fail(err, ST_ERR_UNSUPPORTED, "device \"cuda\": %s", cudaGetErrorString(fault));
}

static st_Status device_open(sti_FlatPile *pile, const sti_FlatDef *def, st_Error *err)
{
    int devices = 0;
    (void)def;
    const cudaError_t status = cudaGetDeviceCount(&devices);
    if (status != cudaSuccess)
        return sti_fail(err, ST_ERR_UNSUPPORTED, "device \"cuda\": %s", cudaGetErrorString(status));
    if (devices == 0) return sti_fail(err, ST_ERR_UNSUPPORTED, "device \"cuda\": this machine has none");
    note(pile, cudaSetDevice(0));
    note(pile, cudaStreamCreate(&pile->stream)); /* plain copies wait for it */
    if (cudaMallocHost((void **)&pile->landing, 2 * (size_t)PIECE) != cudaSuccess) {
        pile->landing = NULL; /* slower, not worse */
        cudaGetLastError();
    }
    for (int k = 0; k < 2; k++)
        note(pile, cudaEventCreateWithFlags(&pile->landed[k], cudaEventDisableTiming));
    return device_fault(pile, err);
}

static void device_close(sti_FlatPile *pile)
{
    if (pile->again != NULL) cudaGraphExecDestroy(pile->again);
    if (pile->stream != NULL) cudaStreamDestroy(pile->stream);
    cudaFree(pile->room);
    cudaFreeHost(pile->landing);
    for (int k = 0; k < 2; k++)
        if (pile->landed[k] != NULL) cudaEventDestroy(pile->landed[k]);
}

/* ---- sort and scan ------------------------------------------------------------------------------- */

static bool have_room(sti_FlatPile *pile, size_t bytes)
{
    if (bytes <= pile->room_size) return true;
    cudaFree(pile->room);
    pile->room = NULL;
    pile->room_size = 0;
    const cudaError_t status = cudaMalloc(&pile->room, bytes + bytes / 4);
    note(pile, status);
    if (status != cudaSuccess) return false;
    pile->room_size = bytes + bytes / 4;
    return true;
}

static void device_sort(sti_FlatPile *pile, uint32_t *key, uint32_t *key_sorted, int *item, int *item_sorted, int n,
                        int bits)
{
    size_t bytes = 0;
    note(pile, cub::DeviceRadixSort::SortPairs(NULL, bytes, key, key_sorted, item, item_sorted, n, 0, bits));
    if (have_room(pile, bytes))
        note(pile, cub::DeviceRadixSort::SortPairs(pile->room, bytes, key, key_sorted, item, item_sorted, n, 0, bits,
                                                   pile->stream));
}

static void device_scan(sti_FlatPile *pile, const int *count, int *first, int n)
{
    size_t bytes = 0;
    note(pile, cub::DeviceScan::ExclusiveSum(NULL, bytes, count, first, n + 1));
    if (have_room(pile, bytes))
        note(pile, cub::DeviceScan::ExclusiveSum(pile->room, bytes, count, first, n + 1, pile->stream));
}

/* ---- again and again ------------------------------------------------------------------------------ */

static void device_forget(sti_FlatPile *pile)
{
    pile->recorded = false;
}

/* `work` launches the same kernels each time until device_forget: they are recorded once as a graph, which starts a kernel
 * in a third of the time. Ranks talk to each other in between, which no graph can do.                              */
static void device_repeat(sti_FlatPile *pile, void (*work)(sti_FlatPile *))
{
    if (pile->ranks != NULL) {
        work(pile);
        return;
    }
    if (!pile->recorded) {
        cudaGraph_t graph = NULL;
        note(pile, cudaStreamBeginCapture(pile->stream, cudaStreamCaptureModeThreadLocal));
        work(pile);
        note(pile, cudaStreamEndCapture(pile->stream, &graph));
        if (graph == NULL) return; /* reported by the fault */
        cudaGraphExecUpdateResultInfo change;
        if (pile->again != NULL && cudaGraphExecUpdate(pile->again, graph, &change) != cudaSuccess) {
            cudaGetLastError(); /* there are more kernels than in the last step, or fewer */
            note(pile, cudaGraphExecDestroy(pile->again));
            pile->again = NULL;
        }
        if (pile->again == NULL) note(pile, cudaGraphInstantiate(&pile->again, graph, 0));
        note(pile, cudaGraphDestroy(graph));
        pile->recorded = true;
    }
    if (pile->again != NULL) note(pile, cudaGraphLaunch(pile->again, pile->stream));
}

#include "device/flat_step.h"

extern "C" const sti_FlatDevice sti_flat_cuda = {
    "cuda",     flat_create, flat_destroy,  flat_put,      flat_get,          flat_present, flat_before,
    flat_drive, flat_step,   flat_contacts, flat_impulses, flat_put_impulses, flat_couple,  flat_deepest};

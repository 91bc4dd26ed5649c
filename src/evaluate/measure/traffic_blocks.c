/* Who sends how much to whom, servers added up in blocks: small enough to look at, for any number of GPUs. */
#include "measure.h"

/* Servers of a block: as few as FAB_MAX_BLOCKS allows, and where it can be a divisor of the servers of a pod, so that
 * no block lies in two pods. A divisor that makes less than half as many blocks is not worth that. */
static uint32_t block_size(const fab_fabric *f) {
    uint32_t least = (f->n_servers + FAB_MAX_BLOCKS - 1) / FAB_MAX_BLOCKS;
    uint32_t per_pod = f->n_pods > 1 && f->n_servers % f->n_pods == 0 ? f->n_servers / f->n_pods : 0;
    for (uint32_t size = least; size <= per_pod && size < 2 * least; size++) {
        if (per_pod % size == 0) {
            return size;
        }
    }
    return least > 0 ? least : 1;
}

static uint64_t overlap(uint64_t first, uint64_t n, uint64_t from, uint64_t to) {
    uint64_t low = first > from ? first : from;
    uint64_t high = first + n < to ? first + n : to;
    return high > low ? high - low : 0;
}

/* Each GPU with all blocks that its group lies in. */
static void add_groups(const fab_all_to_all *all, uint64_t gpus_per_block, uint32_t n_blocks, double *out) {
    const uint32_t size = fab_all_group(all);
    for (uint32_t i = 0; i < all->n; i++) {
        const uint64_t first = all->first + i - i % size;
        const uint64_t mine = (all->first + i) / gpus_per_block;
        const double bytes = (double)fab_all_bytes(all, i % size, i % size);
        for (uint64_t b = first / gpus_per_block; b <= (first + size - 1) / gpus_per_block; b++) {
            const double n = (double)overlap(first, size, b * gpus_per_block, (b + 1) * gpus_per_block) - (b == mine);
            out[all->by_receiver ? b * n_blocks + mine : mine * n_blocks + b] += n * bytes;
        }
    }
}

fab_status fab_block_bytes(const fab_fabric *fabric, const fab_phase *phase, fab_phase_result *out, fab_error *err) {
    uint32_t size = block_size(fabric);
    uint32_t n = (fabric->n_servers + size - 1) / size;
    uint64_t gpus_per_block = (uint64_t)size * fabric->gpus_per_server;
    FAB_PASS(FAB_NEW(out->block_bytes, (size_t)n * n, err));
    out->n_blocks = n;
    out->servers_per_block = size;
    add_groups(&phase->all, gpus_per_block, n, out->block_bytes);
    for (uint64_t i = 0; phase->all.n == 0 && i < phase->n_flows; i++) {
        uint64_t a = phase->src[i] / gpus_per_block;
        uint64_t b = phase->dst[i] / gpus_per_block;
        out->block_bytes[a * n + b] += (double)phase->bytes[i];
    }
    return FAB_OK;
}

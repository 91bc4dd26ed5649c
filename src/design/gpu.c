/* GPUs from XML files. */
#include "fab/gpu.h"
#include "book.h"

const char *const fab_precisions[] = {"auto",  "fp32",  "tf32", "bf16", "fp16", "fp8",
                                      "mxfp8", "nvfp4", "int8", "int4", NULL};

typedef struct gpu_file {
    fab_gpu gpu;
    unsigned precision; /* of the element being read, without auto */
    double tflops, ratio;
} gpu_file;

/* clang-format off */
#define TEXT(key, kind, member, summary) BOOK_TEXT(BOOK_REQUIRED, key, kind, gpu_file, member, NULL, summary)
#define NUMBER(need, key, kind, unit, member, min, max, initial, summary) \
    BOOK_NUMBER(need, key, kind, unit, gpu_file, member, min, max, initial, summary)

static const book_field ROOT[] = {
    TEXT("name", FIELD_WORD, gpu.name, "name of the GPU"),
    NUMBER(BOOK_REQUIRED, "memory", FIELD_QUANTITY, FAB_UNIT_BYTES, gpu.memory_bytes, 1, 1e15, NULL, "memory, in the GB of data sheets, which mean 2^30 bytes"),
    NUMBER(BOOK_REQUIRED, "bandwidth", FIELD_QUANTITY, FAB_UNIT_RATE, gpu.memory_bits_per_s, 1, 1e18, NULL, "rate of its memory"),
    NUMBER(BOOK_REQUIRED, "scale-up", FIELD_QUANTITY, FAB_UNIT_RATE, gpu.scale_up_bps, 1, 1e15, NULL, "rate of NVLink or what stands for it, per direction"),
    NUMBER(BOOK_OPTIONAL, "power", FIELD_QUANTITY, FAB_UNIT_POWER, gpu.power_w, 0, 1e6, "0W", "power; left out: not published"),
    NUMBER(BOOK_REQUIRED, "multiprocessors", FIELD_COUNT, FAB_UNIT_COUNT, gpu.multiprocessors, 1, 65535, NULL, "multiprocessors, compute units or matrix units: tiles of a product computed at once"),
    NUMBER(BOOK_OPTIONAL, "gpus-per-server", FIELD_COUNT, FAB_UNIT_COUNT, gpu.server_gpus, 0, 65535, "0", "GPUs of the only kind of server that it is sold in; left out: there are several [its data sheet]"),
    NUMBER(BOOK_OPTIONAL, "domain", FIELD_COUNT, FAB_UNIT_COUNT, gpu.domain, 0, 65535, "0", "GPUs of the largest scale-up domain that it is sold in, 1 where PCIe alone joins those of a server, with gpus-per-server in any case; left out: not known [its data sheet]"),
    NUMBER(BOOK_REQUIRED, "usd-per-hour", FIELD_DECIMAL, FAB_UNIT_COUNT, gpu.hour_usd, 0, 1e6, NULL, "price of one for an hour, its part of the server included"),
    BOOK_END,
};
static const book_field PRECISION[] = {
    BOOK_CHOICE(BOOK_REQUIRED, "name", gpu_file, precision, fab_precisions + 1, "elements of the matrices"),
    NUMBER(BOOK_REQUIRED, "tflops", FIELD_DECIMAL, FAB_UNIT_COUNT, tflops, 1e-3, 1e9, NULL, "dense peak of matrix products"),
    NUMBER(BOOK_OPTIONAL, "ratio", FIELD_DECIMAL, FAB_UNIT_COUNT, ratio, 0, 1, "0", "fitted part of the peak; left out: that of the compute model"),
    BOOK_END,
};
static const book_field SOURCE[] = {TEXT("source", FIELD_TEXT, gpu.source, "where the figures come from"), BOOK_END};
static const book_field PRICE_SOURCE[] = {TEXT("price-source", FIELD_TEXT, gpu.price_source, "where the price comes from, or that it is assumed"), BOOK_END};
static const book_field NCCL[] = {
    NUMBER(BOOK_REQUIRED, "launch", FIELD_QUANTITY, FAB_UNIT_TIME, gpu.nccl.launch_s, 1e-9, 1, NULL, "from the call to the first byte, beyond the latencies that NCCL publishes"),
    NUMBER(BOOK_REQUIRED, "ring", FIELD_DECIMAL, FAB_UNIT_COUNT, gpu.nccl.ring_ratio, 0.01, 1, NULL, "part of the scale-up rate that a ring gets"),
    NUMBER(BOOK_OPTIONAL, "nvls", FIELD_DECIMAL, FAB_UNIT_COUNT, gpu.nccl.nvls_ratio, 0, 2, "0", "bus bandwidth over the scale-up rate where switches of the domain reduce; left out: they do not"),
    NUMBER(BOOK_REQUIRED, "fill", FIELD_DECIMAL, FAB_UNIT_COUNT, gpu.nccl.fill_ratio, 0, 1, NULL, "part of its buffers that a pipeline waits for at its start"),
    NUMBER(BOOK_REQUIRED, "ll", FIELD_QUANTITY, FAB_UNIT_RATE, gpu.nccl.ll_bps, 1, 1e15, NULL, "most bus bandwidth of protocol LL"),
    NUMBER(BOOK_OPTIONAL, "ll-seen", FIELD_QUANTITY, FAB_UNIT_RATE, gpu.nccl.ll_seen_bps, 0, 1e15, "0B/s", "what NCCL takes that to be when it chooses; left out: the same"),
    NUMBER(BOOK_OPTIONAL, "ll128", FIELD_DECIMAL, FAB_UNIT_COUNT, gpu.nccl.ll128_ratio, 0, 1, "0", "part of a ring's rate that protocol LL128 gets; left out: it is not used"),
    NUMBER(BOOK_OPTIONAL, "nvls-ranks", FIELD_COUNT, FAB_UNIT_COUNT, gpu.nccl.nvls_ranks, 2, 65536, "2", "fewest GPUs of a domain whose collectives its switches reduce"),
    NUMBER(BOOK_OPTIONAL, "nvls-from", FIELD_QUANTITY, FAB_UNIT_BYTES, gpu.nccl.nvls_from_bytes, 0, 1e15, "0B", "size from which they do in domains of at most 8 GPUs"),
    TEXT("source", FIELD_TEXT, gpu.nccl.source, "where the figures come from, and which are fitted"),
    BOOK_END,
};
/* clang-format on */

static fab_status finish_precision(void *book, const char *file, const fab_xml_element *at, fab_error *err) {
    gpu_file *g = book;
    unsigned p = g->precision + 1;
    FAB_RETURN_IF(g->gpu.flops[p] > 0,
                  fab_xml_fail_at(file, at, err, "the GPU has this precision already: ", fab_precisions[p]));
    g->gpu.flops[p] = g->tflops * 1e12;
    g->gpu.matrix_ratio[p] = g->ratio;
    return FAB_OK;
}

static fab_status finish_gpu(void *book, const char *file, const fab_xml_element *at, fab_error *err) {
    const gpu_file *g = book;
    FAB_RETURN_IF(g->gpu.domain < g->gpu.server_gpus,
                  fab_xml_fail_at(file, at, err, "gpus-per-server goes with a domain, which is no smaller", ""));
    return g->gpu.flops[FAB_BF16] > 0 || g->gpu.flops[FAB_FP16] > 0
               ? FAB_OK
               : fab_xml_fail_at(file, at, err, "the GPU has neither precision: bf16, fp16", "");
}

static const book_element ELEMENTS[] = {
    {.name = "gpu", .fields = ROOT, .max = 1, .finish = finish_gpu},
    {.name = "source", .inside = "gpu", .fields = SOURCE, .is_text = true, .max = 1},
    {.name = "price-source", .inside = "gpu", .fields = PRICE_SOURCE, .is_text = true, .max = 1},
    {"nccl", "gpu", .summary = "what its collectives reach with NCCL", .fields = NCCL, .may_miss = true, .max = 1},
    {"precision", "gpu", .fields = PRECISION, .may_miss = true, .max = FAB_N_PRECISIONS, .finish = finish_precision},
};
static const book_kind GPU = {"GPU",      "GPU: what its data sheet says, and its price.",
                              "gpu:",     "there is no GPU",
                              FAB_EINPUT, fab_builtin_gpus,
                              ELEMENTS,   FAB_N_OF(ELEMENTS)};

fab_status fab_gpu_read(const char *text, const char *where, fab_gpu *out, fab_error *err) {
    gpu_file g = {.precision = 0};
    FAB_PASS(book_read(&GPU, text, where, &g, err));
    *out = g.gpu;
    out->nccl.copy_bps = g.gpu.memory_bits_per_s / 2;
    return FAB_OK;
}

const char *fab_gpu_precisions(const fab_gpu *gpu, bool names_only, char *out) {
    size_t n = 0;
    out[0] = '\0';
    for (int p = FAB_FP32; p < FAB_N_PRECISIONS && n < 192; p++) {
        if (gpu->flops[p] > 0) {
            n += (size_t)snprintf(out + n, 192 - n, "%s%s", n > 0 ? ", " : "", fab_precisions[p]);
        }
        if (gpu->flops[p] > 0 && !names_only && n < 192) {
            n += (size_t)snprintf(out + n, 192 - n, " %.5g", gpu->flops[p] * 1e-12);
        }
    }
    return out;
}

fab_status fab_gpu_resolve(const fab_gpu *gpu, fab_precision wanted, const char *where, fab_precision *out,
                           fab_error *err) {
    char has[192];
    fab_precision found = wanted != FAB_PRECISION_AUTO ? wanted : fab_gpu_wide(gpu, FAB_FP8);
    FAB_REFUSE_IF(gpu->flops[found] <= 0, err, FAB_EINPUT, where, "precision: %s has no %s; it has %s", gpu->name,
                  fab_precisions[found], fab_gpu_precisions(gpu, true, has));
    *out = found;
    return FAB_OK;
}

fab_precision fab_gpu_wide(const fab_gpu *gpu, fab_precision precision) {
    return precision < FAB_FP8 ? precision : gpu->flops[FAB_BF16] > 0 ? FAB_BF16 : FAB_FP16;
}

double fab_precision_bytes(fab_precision precision) {
    static const double BYTES[FAB_N_PRECISIONS] = {2, 4, 4, 2, 2, 1, 1 + 1.0 / 32, 0.5 + 1.0 / 16, 1, 0.5};
    return BYTES[precision];
}

void fab_gpu_schema(fab_str *out) {
    book_schema(&GPU, out);
}

/**
 * An accelerator as its data sheet has it. XML files under topologies/gpus, or the user's own: fabriscope list gpus.
 */
#pragma once

#include "fab/sizes.h"
#include "fab/str.h"

/** Of the elements that matrices are multiplied in; mxfp8 and nvfp4 scale blocks of 32 and 16 of them. */
typedef enum fab_precision {
    FAB_PRECISION_AUTO, /**< of a job that says nothing: bf16, or fp16 on a GPU without it */
    FAB_FP32,
    FAB_TF32,
    FAB_BF16,
    FAB_FP16,
    FAB_FP8,
    FAB_MXFP8,
    FAB_NVFP4,
    FAB_INT8, /**< this and the next: for serving alone */
    FAB_INT4,
    FAB_N_PRECISIONS,
} fab_precision;
extern const char *const fab_precisions[]; /**< their names, "auto" first, ended by NULL */

/** What collectives of NCCL reach on a GPU beside what NCCL publishes of itself (nccl.h). Rates in bit/s. */
typedef struct fab_gpu_library {
    double launch_s;        /**< fitted: from the call to the first byte; 0: nothing is known of this GPU */
    double ring_ratio;      /**< fitted: part of the scale-up rate that a ring gets */
    double nvls_ratio;      /**< fitted: the same where switches of the domain reduce; 0: they do not */
    double fill_ratio;      /**< fitted: part of its buffers that a pipeline waits for at its start */
    double ll_bps;          /**< most that protocol LL carries */
    double ll_seen_bps;     /**< what NCCL takes it to be when it chooses */
    double ll128_ratio;     /**< part of a ring's rate that LL128 gets; 0: it is not used */
    double copy_bps;        /**< half the rate of the memory: a copy is written and read */
    uint64_t nvls_ranks;    /**< fewest GPUs of a domain that use its switches, as measured */
    double nvls_from_bytes; /**< in domains of at most 8 GPUs: from this size on, as measured */
    char source[FAB_FILE_SIZE];
} fab_gpu_library;

typedef struct fab_gpu {
    char name[FAB_NAME_SIZE];
    double flops[FAB_N_PRECISIONS];        /**< dense peak of matrix products; 0: it has no such precision */
    double matrix_ratio[FAB_N_PRECISIONS]; /**< fitted part of the peak; 0: see fab_gemm_s() */
    double memory_bytes;
    double memory_bits_per_s;
    double scale_up_bps; /**< NVLink or what stands for it, per direction */
    double power_w;      /**< 0: not published */
    double hour_usd;
    uint64_t multiprocessors;
    uint64_t server_gpus; /**< that it is sold in, where that is one kind of server alone; else 0 */
    uint64_t domain; /**< largest scale-up domain that it is sold in; 1: none but the PCIe of a server; 0: not known */
    char source[FAB_FILE_SIZE];
    char price_source[FAB_WHERE_SIZE];
    fab_gpu_library nccl;
} fab_gpu;

#define FAB_SOLD_SIZE   256 /**< of fab_gpu_sold_unlike() */
#define FAB_DEFAULT_GPU "h100-80gb"

/**
 * Reads a built-in GPU by name, or an XML file when `text` names one (contains '/' or ends in .xml).
 * @param[in]  where  Place of `text`, for an unknown name.
 * @retval FAB_EINPUT  err->where is `where`, or file:line:column of the GPU's own file.
 */
FAB_STATUS fab_gpu_read(const char *text, const char *where, fab_gpu *out, fab_error *err);

/** "bf16 989, fp8 1979": the precisions that it has, and their TFLOP/s unless `names_only`. `out`: 192 bytes. */
const char *fab_gpu_precisions(const fab_gpu *gpu, bool names_only, char *out);

/**
 * What the matrices of a job are: `wanted`, or for auto what the GPU has.
 * @retval FAB_EINPUT  the GPU does not have it; the message names those that it has.
 */
FAB_STATUS fab_gpu_resolve(const fab_gpu *gpu, fab_precision wanted, const char *where, fab_precision *out,
                           fab_error *err);

/** That in which attention, logits and sums stay when matrices are multiplied in `precision`: bf16 (fp16 where the GPU
 * has no bf16) beside narrower ones, else the same. */
fab_precision fab_gpu_wide(const fab_gpu *gpu, fab_precision precision);

/** Bytes of an element, its share of a block's scale included. */
double fab_precision_bytes(fab_precision precision);

/** Appends the XML Schema of GPUs. */
void fab_gpu_schema(fab_str *out);

/* What hosts are taken to need: keys of a design, or what was measured of a kind of host. */
#include "book.h"
#include "fields.h"

#define PACKET_NIC_S 585e-9 /* what the times of a packet simulator have in common: src/doc/packets.md */

typedef struct host_kind {
    double call_s, step_s, message_s, nic_part;
    double slot_bytes;
    fab_host_tuner tuner;
    char generation; /* of its GPUs: the letter of their name */
    const char *gpu; /* whose it is; those of its generation may have it */
} host_kind;

/* In the order of fab_host_kind. NCCL over EFA: step and NIC fitted by scripts/fit_hosts.py on nccl-tests of 2 to 16
 * p5.48xlarge (src/doc/hosts.md); call: `launch` of the GPU in topologies/gpus, fitted on single nodes; slots:
 * NCCL_BUFFSIZE of 4 MiB in NCCL_STEPS of 8 parts, which NCCL_P2P_NET_CHUNKSIZE of 128 KiB at each of 4 adapters is
 * too; message: half of what the smallest of those rows leave at most, an assumption. */
static const host_kind KINDS[] = {
    [FAB_HOST_IDEAL] = {.nic_part = 1},
    /* Step and NIC fitted on all-reduces of 4 such servers (ADR 89), the rest that of the generation before. */
    [FAB_HOST_NCCL_EFA_B200] = {.call_s = 36e-6,
                                .step_s = 6.8e-6,
                                .message_s = 2.5e-6,
                                .nic_part = 0.985,
                                .slot_bytes = 524288,
                                .tuner = FAB_TUNER_EFA_P6,
                                .generation = 'b',
                                .gpu = "b200-"},
    [FAB_HOST_NCCL_EFA_H100] = {.call_s = 24e-6,
                                .step_s = 6.5e-6,
                                .message_s = 2.5e-6,
                                .nic_part = 0.87,
                                .slot_bytes = 524288,
                                .tuner = FAB_TUNER_EFA_P5,
                                .generation = 'h',
                                .gpu = "h100-"},
    /* Step and NIC fitted on all-gathers of 2 servers (ADR 107), which do not jump where slots would; the message is
     * that of the others. */
    [FAB_HOST_NCCL_ROCE_H200] =
        {.call_s = 24e-6, .step_s = 3.25e-6, .message_s = 2.5e-6, .nic_part = 0.81, .generation = 'h', .gpu = "h200-"},
    [FAB_HOST_NCCL] = {.nic_part = 1},
};

#define N_KINDS (FAB_N_OF(KINDS))

/* Where the kind follows the GPU: the one that was measured on it, else none. */
static fab_host_kind kind_of(const fab_host_spec *host) {
    fab_host_kind found = host->kind;
    for (size_t i = 0; host->kind == FAB_HOST_NCCL && i < N_KINDS; i++) {
        bool is_its = KINDS[i].gpu != NULL && strncmp(KINDS[i].gpu, host->gpu, strlen(KINDS[i].gpu)) == 0;
        found = is_its ? (fab_host_kind)i : found;
    }
    return found;
}

fab_status fab_design_check_host(const fab_fabric_spec *spec, fab_error *err) {
    static const char MEASURED[] =
        "measured are nccl-efa-h100, nccl-roce-h200 and nccl-efa-b200; else give call-overhead, step-overhead, "
        "message-overhead and nic-efficiency";
    const fab_host_spec *host = &spec->host;
    const char generation = KINDS[host->kind].generation;
    FAB_REFUSE_IF(host->kind == FAB_HOST_NCCL && kind_of(host) == FAB_HOST_NCCL, err, FAB_EINPUT, spec->where,
                  "host=nccl: no hosts of %s were measured: %s",
                  host->gpu[0] != '\0' ? host->gpu : "a fabric without a job, whose GPU would tell,", MEASURED);
    if (generation != '\0' && host->gpu[0] != '\0' && !book_is_file(host->gpu) && /* a file's may have any host */
        generation != host->gpu[host->gpu[0] == 'g']) {
        return fab_fail(err, FAB_EINPUT, spec->where,
                        "host: the software and NICs of this kind were measured with other GPUs than %s: %s", host->gpu,
                        MEASURED);
    }
    return FAB_OK;
}

static double or_else(double given, double otherwise) {
    return given > 0 ? given : otherwise;
}

fab_host fab_design_host(const fab_fabric_spec *spec) {
    const host_kind *kind = &KINDS[kind_of(&spec->host)];
    bool counts_packets = spec->transport.kind != FAB_TRANSPORT_FLUID && spec->host.kind == FAB_HOST_IDEAL;
    fab_host h = {.nic_s = or_else(spec->transport.nic_latency_s, counts_packets ? PACKET_NIC_S : 0),
                  .call_s = or_else(spec->host.call_s, kind->call_s),
                  .step_s = or_else(spec->host.step_s, kind->step_s),
                  .message_s = or_else(spec->host.message_s, kind->message_s),
                  .slot_bytes = or_else(spec->host.slot_bytes, kind->slot_bytes),
                  .copy_bps = spec->host.copy_bps,
                  .tuner = kind->tuner,
                  .nic_part = or_else(spec->host.nic_part, kind->nic_part)};
    double nics_bps = spec->nic_bps * (double)spec->nics_per_server / (double)spec->gpus_per_server;
    h.slot_s = nics_bps > 0 ? h.slot_bytes * 8 / nics_bps : 0;
    return h;
}

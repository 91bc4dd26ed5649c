/* What hosts are taken to need: keys of a design, or what was measured of a kind of host. */
#include "fields.h"

#include "fab/design.h"

#define PACKET_NIC_S 585e-9 /* what the times of a packet simulator have in common: src/doc/packets.md */

typedef struct host_kind {
    double call_s, step_s, message_s, nic_part;
    double slot_bytes;
    fab_host_tuner tuner;
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
                                .tuner = FAB_TUNER_EFA_P6},
    [FAB_HOST_NCCL_EFA_H100] = {.call_s = 24e-6,
                                .step_s = 6.5e-6,
                                .message_s = 2.5e-6,
                                .nic_part = 0.87,
                                .slot_bytes = 524288,
                                .tuner = FAB_TUNER_EFA_P5},
};

static double or_else(double given, double otherwise) {
    return given > 0 ? given : otherwise;
}

fab_host fab_design_host(const fab_fabric_spec *spec) {
    const host_kind *kind = &KINDS[spec->host.kind];
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

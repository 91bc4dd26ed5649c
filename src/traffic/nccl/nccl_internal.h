/* What the two halves of the model of NCCL share. */
#pragma once

#include "fab/nccl.h"

static inline uint32_t nccl_domain_size(const fab_nccl_case *c) {
    return c->ranks / c->domains;
}

/* Dependent steps of a ring. */
uint64_t nccl_ring_steps(const fab_nccl_case *c);

/* What a plugin of the hosts takes. false: the choice is NCCL's own. */
bool nccl_tuner_choose(const fab_nccl_case *c, double bytes, fab_nccl_algorithm *out_algorithm,
                       fab_nccl_protocol *out_protocol);

/* Latency that NCCL publishes of a combination. */
double nccl_latency_us(const fab_nccl_case *c, fab_nccl_algorithm a, fab_nccl_protocol p);

/* D-mod-K: the destination's number decides every choice, so that on a full fat-tree all shift permutations are free of
 * contention (Zahavi, Johnson, Kerbyson, Lang, 2010). At tier t the choice is floor(d / (w_2 ... w_t)) mod n, w_i being
 * the parents of a switch of tier i - 1; the same digit selects the cable of a trunk on the way down. */
#include "engines.h"

static uint32_t dmodk_pick(const fab_router *router, FAB_UNUSED uint64_t seed, const fab_hop *hop,
                           const fab_hop_key *key) {
    return (uint32_t)(key->destination / router->divisor[hop->tier] % hop->count);
}

/* The digits of all tiers at once, so that a walk need not divide. */
static void dmodk_begin(const fab_router *router, FAB_UNUSED uint64_t seed, fab_hop_key *keys, uint32_t n) {
    for (uint32_t t = 1; t <= router->fabric->n_tiers && t <= FAB_FABRIC_TIERS; t++) {
        for (uint32_t i = 0; i < n; i++) {
            keys[i].value[t - 1] = (uint32_t)(keys[i].destination / router->divisor[t]);
        }
    }
}

static fab_status dmodk_prepare(fab_router *router, FAB_UNUSED fab_error *err) {
    router->is_modulo = true;
    router->is_modulo_healthy = true;
    for (uint32_t t = 1; t <= FAB_FABRIC_TIERS; t++) {
        router->modulo_slot[t] = (uint8_t)(t - 1);
    }
    return FAB_OK;
}

uint64_t fab_explain_digit(const fab_router *router, FAB_UNUSED uint64_t seed, const fab_hop *hop,
                           const fab_hop_key *key, char *out, size_t size) {
    uint64_t divisor = router->divisor[hop->tier];
    uint64_t digits = key->destination / divisor;
    char divided[32] = "";
    if (divisor > 1) {
        FAB_FORMAT(divided, " / %llu", (unsigned long long)divisor);
    }
    (void)snprintf(out, size, "destination %u%s mod %u = %u", key->destination, divided, hop->count,
                   (uint32_t)(digits % hop->count));
    return digits;
}

static const fab_engine_option OPTIONS[] = {{.key = NULL}};

const fab_engine fab_engine_dmodk = {
    .name = "dmodk",
    .summary = "a digit of the destination's number selects the uplink",
    .options = OPTIONS,
    .on_loss = FAB_LOSS_TABLES,
    .needs_tree = true,
    .by_destination = true,
    .prepare = dmodk_prepare,
    .begin = dmodk_begin,
    .pick = dmodk_pick,
    .explain = fab_explain_digit,
};

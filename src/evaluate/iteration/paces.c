/* Which phases of an iteration are under way together, and at which pace they go on then. */
#include "fab/iterate.h"
#include "roles.h"

#include "fab/max_min.h"

static const iterate_role ROLES[] = {
    {"tp", offsetof(fab_job_times, tp), FAB_TRAVEL_TP},
    {"cp", offsetof(fab_job_times, cp), FAB_TRAVEL_CP},
    {"pp", offsetof(fab_job_times, pp), FAB_TRAVEL_SEND},
    {"ep", offsetof(fab_job_times, ep), FAB_TRAVEL_EP},
    {"dp-ar", offsetof(fab_job_times, dp_across), FAB_TRAVEL_REDUCE},
    {"edp-ar", offsetof(fab_job_times, dp_across), FAB_TRAVEL_REDUCE},
    {"dp-ag", offsetof(fab_job_times, dp_gather), FAB_TRAVEL_GATHER},
    {"edp-ag", offsetof(fab_job_times, dp_gather), FAB_TRAVEL_GATHER},
    {"dp", offsetof(fab_job_times, dp_reduce), FAB_TRAVEL_REDUCE},
    {"edp", offsetof(fab_job_times, dp_reduce), FAB_TRAVEL_REDUCE},
};

const iterate_role *iterate_role_of(const char *name) {
    for (size_t i = 0; i < FAB_N_OF(ROLES); i++) {
        size_t n = strlen(ROLES[i].prefix);
        if (strncmp(name, ROLES[i].prefix, n) == 0 && (name[n] == '\0' || name[n] == '-')) {
            return &ROLES[i];
        }
    }
    return NULL;
}

fab_travel fab_iterate_travel(const char *name) {
    const iterate_role *role = iterate_role_of(name);
    return role != NULL ? role->travel : FAB_TRAVEL_N;
}

bool fab_iterate_is_shared(const char *name) {
    return iterate_role_of(name) != NULL;
}

bool fab_iterate_shares(const fab_traffic *traffic) {
    unsigned exchanges = 0;
    unsigned others = 0;
    for (size_t p = 0; p < traffic->n_phases; p++) {
        const iterate_role *mine = iterate_role_of(traffic->phases[p].name);
        unsigned bit = mine != NULL ? FAB_TRAVEL_BIT(mine->travel) : 0;
        *(mine != NULL && mine->travel < FAB_N_EXCHANGES ? &exchanges : &others) |= bit;
    }
    bool sends = (others & FAB_TRAVEL_BIT(FAB_TRAVEL_SEND)) != 0;
    return others != 0 && (exchanges != 0 || (sends && others != FAB_TRAVEL_BIT(FAB_TRAVEL_SEND)));
}

/* --- links -------------------------------------------------------------------------------------------------------- */

#define SAME 1e-9 /* just above 1 is rounding */

/* Parts of the time for which a link is busy, of each travel alone. */
typedef struct busy_link {
    double part[FAB_TRAVEL_N];
} busy_link;

/* At most an exchange, sends, and a gather or a reduction are under way together. */
static bool may_bind(const busy_link *link) {
    const double *part = link->part;
    double exchange = fmax(part[FAB_TRAVEL_TP], fmax(part[FAB_TRAVEL_CP], part[FAB_TRAVEL_EP]));
    return exchange + part[FAB_TRAVEL_SEND] + fmax(part[FAB_TRAVEL_GATHER], part[FAB_TRAVEL_REDUCE]) > 1 + SAME;
}

static int busy_order(const void *a, const void *b) {
    return memcmp(a, b, sizeof(busy_link));
}

/* Whether what the other link does not let through this one does not either. */
static bool covers(const busy_link *link, const busy_link *other) {
    FAB_ALL(is_above, k, FAB_TRAVEL_N, link->part[k] >= other->part[k]);
    return is_above;
}

#define LOOKED_AT 64

/* Puts a link in place of one that it covers, if none of the first ones covers it. */
static bool is_covered(const busy_link *link, busy_link *first, size_t n) {
    for (size_t i = 0; i < n && i < LOOKED_AT; i++) {
        if (covers(&first[i], link)) {
            return true;
        }
        if (covers(link, &first[i])) {
            first[i] = *link;
            return true;
        }
    }
    return false;
}

/* The phases of an iteration. */
typedef struct shared_phase {
    fab_travel travel;
    const double *bytes; /* [link] */
} shared_phase;

/* Links that are too small for a set of travels, but for most that another covers. */
static fab_status find_busy(const fab_fabric *fabric, const shared_phase *phase, size_t n_phases, const double *all_s,
                            busy_link **out, uint32_t *out_n, fab_error *err) {
    size_t capacity = 0;
    size_t n = 0;
    for (fab_link_id link = 0; link < fabric->n_links; link++) {
        double capacity_bps = fab_class_of(fabric, link)->usable_bps;
        busy_link busy = {{0}};
        for (size_t p = 0; p < n_phases; p++) {
            double bits = phase[p].bytes[link] * 8;
            double *part = &busy.part[phase[p].travel];
            *part = bits > 0 ? fmin(*part + bits / (capacity_bps * all_s[phase[p].travel]), 1) : *part;
        }
        if (may_bind(&busy) && !is_covered(&busy, *out, n)) {
            FAB_PASS(FAB_APPEND(*out, n, capacity, err, busy));
        }
    }
    if (n == 0) {
        return FAB_OK;
    }
    qsort(*out, n, sizeof **out, busy_order);
    FAB_KEEP(*out, *out_n, i, n, *out_n == 0 || busy_order(&(*out)[*out_n - 1], &(*out)[i]) != 0, (*out)[i]);
    return FAB_OK;
}

/* --- paces -------------------------------------------------------------------------------------------------------- */

/* Room for a sharing of as many travels as a set has. */
typedef struct pace_solver {
    fab_max_min *solver;
    const busy_link *busy;
    uint32_t n_busy;
    double *ones; /* [n_busy] */
    uint32_t *link;
    double *share;
} pace_solver;

/* Every travel is a flow over all its links, which takes the share of them that its phase alone keeps busy. */
static fab_status solve_set(const pace_solver *s, unsigned set, double *slowdown, fab_error *err) {
    static const double LIMIT[FAB_TRAVEL_N] = {1, 1, 1, 1, 1, 1};
    uint64_t first[FAB_TRAVEL_N + 1] = {0};
    fab_travel of[FAB_TRAVEL_N];
    double pace[FAB_TRAVEL_N];
    fab_sharing sharing = {
        .n_links = s->n_busy, .capacity = s->ones, .first = first, .link = s->link, .share = s->share, .limit = LIMIT};
    uint64_t n = 0;
    for (fab_travel k = 0; k < FAB_TRAVEL_N; k++) {
        for (uint32_t i = 0; (set & FAB_TRAVEL_BIT(k)) != 0 && i < s->n_busy; i++) {
            s->link[n] = i;
            s->share[n] = s->busy[i].part[k];
            n += s->busy[i].part[k] > 0 ? 1 : 0;
        }
        if (n > first[sharing.n_flows]) {
            of[sharing.n_flows++] = k;
            first[sharing.n_flows] = n;
        }
    }
    FAB_PASS(fab_max_min_solve(s->solver, &sharing, pace, NULL, err));
    for (uint32_t i = 0; i < sharing.n_flows; i++) {
        slowdown[of[i]] = pace[i] < 1 - SAME ? 1 / pace[i] : 0;
    }
    return FAB_OK;
}

/* Those that keep any of the links busy. */
static unsigned travels_of(const pace_solver *s) {
    unsigned present = 0;
    for (uint32_t i = 0; i < s->n_busy; i++) {
        for (fab_travel k = 0; k < FAB_TRAVEL_N; k++) {
            present |= s->busy[i].part[k] > 0 ? FAB_TRAVEL_BIT(k) : 0;
        }
    }
    return present;
}

fab_status fab_iterate_paces(const fab_fabric *fabric, const fab_traffic *traffic, const double *const *bytes,
                             const double *transfer_s, fab_paces *out, fab_error *err) {
    FAB_OWNED busy_link *busy = NULL;
    size_t n_phases = 0;
    double all_s[FAB_TRAVEL_N] = {0};
    FAB_OWNS(fab_max_min_free_owned) fab_max_min *solver = NULL;
    pace_solver s = {.n_busy = 0};
    FAB_OWNS_MEMBERS(s.ones, s.link, s.share);
    *out = (fab_paces){.slowdown = {{0}}};
    FAB_OWNED_NEW(shared_phase, phase, traffic->n_phases, err);
    for (size_t p = 0; p < traffic->n_phases; p++) {
        const iterate_role *role = iterate_role_of(traffic->phases[p].name);
        if (role != NULL) {
            phase[n_phases++] = (shared_phase){role->travel, bytes[p]};
            all_s[role->travel] += transfer_s[p];
        }
    }
    FAB_PASS(find_busy(fabric, phase, n_phases, all_s, &busy, &s.n_busy, err));
    if (s.n_busy == 0) {
        return FAB_OK;
    }
    s.busy = busy;
    FAB_PASS(FAB_NEW(s.ones, s.n_busy, err));
    FAB_PASS(FAB_NEW_ALL((size_t)s.n_busy * FAB_TRAVEL_N, err, s.link, s.share));
    FAB_PASS(fab_max_min_new(&solver, err));
    s.solver = solver;
    FAB_FILL(s.ones, s.n_busy, 1);
    const unsigned present = travels_of(&s);
    static const unsigned REPLICAS[] = {0, FAB_TRAVEL_BIT(FAB_TRAVEL_GATHER), FAB_TRAVEL_BIT(FAB_TRAVEL_REDUCE)};
    for (fab_travel exchange = 0; exchange <= FAB_N_EXCHANGES; exchange++) {
        unsigned in_line = exchange < FAB_N_EXCHANGES ? FAB_TRAVEL_BIT(exchange) : 0;
        for (size_t i = 0; i < 6; i++) {
            unsigned set = in_line | REPLICAS[i / 2] | (i % 2 == 1 ? FAB_TRAVEL_BIT(FAB_TRAVEL_SEND) : 0);
            if ((set & present) == set && (set & (set - 1)) != 0) { /* one alone is never slowed */
                FAB_PASS(solve_set(&s, set, out->slowdown[set], err));
            }
        }
    }
    for (unsigned set = 0; set < sizeof out->slowdown / sizeof out->slowdown[0]; set++) {
        if ((set & present) != set) { /* the others add nothing */
            memcpy(out->slowdown[set], out->slowdown[set & present], sizeof out->slowdown[set]);
        }
    }
    return FAB_OK;
}

/* --- use of links ------------------------------------------------------------------------------------------------- */

static void name_links(const fab_fabric *fabric, size_t of, char *out, size_t size) {
    bool up = of % 2 == 0;
    uint32_t tier = (uint32_t)(of / 2) - 1;
    if (of < 4) {
        (void)snprintf(out, size, "%s %s GPU", of < 2 ? "scale-up" : "PCIe", up ? "from" : "to");
    } else {
        (void)snprintf(out, size, "%s %s", fab_boundary_name(fabric->wiring, tier),
                       fab_direction_name(fabric->wiring, tier, up));
    }
}

fab_status fab_iterate_link_use(const fab_fabric *fabric, const fab_traffic *traffic, const double *const *bytes,
                                fab_link_use **out, size_t *out_n, fab_error *err) {
    const size_t n = 2 * ((size_t)fabric->n_boundaries + 2); /* scale-up, PCIe, tiers; from GPUs, to them */
    FAB_OWNED_NEW(fab_link_use, use, n, err);
    FAB_OWNED_NEW(uint64_t, n_used, n, err);
    FAB_OWNED_NEW(fab_travel, travel, traffic->n_phases, err);
    FAB_FILL(travel, traffic->n_phases, fab_iterate_travel(traffic->phases[fab_at].name));
    for (fab_link_id link = 0; link < fabric->n_links; link++) {
        const fab_link_class *class = fab_class_of(fabric, link);
        size_t place = class->kind == FAB_LINK_SCALEUP ? 0 : class->kind == FAB_LINK_PCIE ? 1 : class->tier + 1;
        size_t of = 2 * place + (fab_is_up(link) ? 0 : 1);
        bool used = false;
        for (size_t p = 0; p < traffic->n_phases; p++) {
            if (travel[p] < FAB_TRAVEL_N && bytes[p][link] > 0) {
                use[of].busy_s[travel[p]] += bytes[p][link] * 8 / class->usable_bps;
                used = true;
            }
        }
        n_used[of] += used ? 1 : 0;
    }
    *out_n = 0;
    for (size_t i = 0; i < n; i++) {
        for (fab_travel k = 0; k < FAB_TRAVEL_N && n_used[i] > 0; k++) {
            use[*out_n].busy_s[k] = use[i].busy_s[k] / (double)n_used[i];
        }
        name_links(fabric, i, use[*out_n].name, sizeof use->name);
        *out_n += n_used[i] > 0 ? 1 : 0;
    }
    return FAB_GIVE(*out, use);
}

/* Closed forms of a collective; and the collective message by message, and who waits for whom. */
#include "oracle_messages.h"
#include "collectives/collectives.h"

#include "fab/memory.h"

#include <inttypes.h>
#include <stdlib.h>

typedef struct message {
    uint32_t from, to; /* ranks */
    uint32_t part, stage, step, shard;
    bool after;
    double bytes;
} message;

/* First counts, then lists. */
typedef struct message_sink {
    fab_sink base;
    message *messages; /* NULL: count */
    uint64_t n;
    uint32_t n_steps;
} message_sink;

static void take_edge(fab_sink *sink, const fab_edge *edge) {
    message_sink *s = (message_sink *)sink;
    uint32_t last = edge->step + edge->n;
    s->n_steps = last > s->n_steps ? last : s->n_steps;
    for (uint32_t t = 0; t < edge->n && s->messages != NULL; t++) {
        uint64_t shard = (edge->first_shard + (uint64_t)t * edge->turn) % edge->n_shards;
        s->messages[s->n + t] = (message){.from = edge->from,
                                          .to = edge->to,
                                          .part = edge->part,
                                          .stage = edge->stage,
                                          .step = edge->step + t,
                                          .shard = edge->shard + (uint32_t)shard,
                                          .after = edge->after,
                                          .bytes = edge->bytes / edge->n};
    }
    s->n += edge->n;
}

/* Stable: messages of one step stay in the order in which they were made. */
static fab_status sort_by_step(message **messages, uint64_t n, uint32_t n_steps, fab_error *err) {
    fab_status status = FAB_OK;
    uint64_t *at = NULL;
    message *sorted = NULL;
    FAB_TRY(FAB_NEW(at, (size_t)n_steps + 1, err));
    FAB_TRY(FAB_NEW(sorted, n, err));
    for (uint64_t i = 0; i < n; i++) {
        at[(*messages)[i].step + 1]++;
    }
    for (uint32_t s = 0; s < n_steps; s++) {
        at[s + 1] += at[s];
    }
    for (uint64_t i = 0; i < n; i++) {
        sorted[at[(*messages)[i].step]++] = (*messages)[i];
    }
    free(*messages);
    *messages = sorted;
    sorted = NULL;
done:
    FAB_FREE_ALL(at, sorted);
    return status;
}

/* --- who waits ---------------------------------------------------------------------------------------------------- */

/* A message that reaches a rank, by a key of two parts: shard and step, or stage and step. */
typedef struct arrival {
    uint32_t key, step;
    uint64_t message;
} arrival;

typedef struct arrivals {
    uint64_t *first; /* shape [r + 1] */
    arrival *list;   /* of each rank by key, step, message */
} arrivals;

static int schedule_compare(const void *a, const void *b) {
    const arrival *x = a;
    const arrival *y = b;
    if (x->key != y->key) {
        return x->key < y->key ? -1 : 1;
    }
    return x->message < y->message ? -1 : x->message > y->message;
}

static void arrivals_release(arrivals *a) {
    FAB_FREE_ALL(a->first, a->list);
}

static fab_status arrivals_init(arrivals *a, const message *messages, uint64_t n, uint32_t r, bool by_stage,
                                fab_error *err) {
    fab_status status = FAB_OK;
    uint64_t *at = NULL;
    FAB_TRY(FAB_NEW(a->first, (size_t)r + 1, err));
    FAB_TRY(FAB_NEW(a->list, n, err));
    FAB_TRY(FAB_NEW(at, r, err));
    for (uint64_t i = 0; i < n; i++) {
        a->first[messages[i].to + 1]++;
    }
    for (uint32_t rank = 0; rank < r; rank++) {
        a->first[rank + 1] += a->first[rank];
        at[rank] = a->first[rank];
    }
    for (uint64_t i = 0; i < n; i++) {
        const message *m = &messages[i];
        a->list[at[m->to]++] = (arrival){by_stage ? m->stage : m->shard, m->step, i};
    }
    for (uint32_t rank = 0; rank < r; rank++) {
        qsort(a->list + a->first[rank], (size_t)(a->first[rank + 1] - a->first[rank]), sizeof *a->list,
              schedule_compare);
    }
done:
    free(at);
    return status;
}

/* Arrivals at a rank with this key in earlier steps: [*out_first, return). */
static uint64_t schedule_find(const arrivals *a, uint32_t rank, uint32_t key, uint32_t before_step,
                              uint64_t *out_first) {
    uint64_t low[2] = {a->first[rank], a->first[rank]};
    for (int which = 0; which < 2; which++) {
        uint64_t high = a->first[rank + 1];
        uint32_t step = which == 0 ? 0 : before_step;
        while (low[which] < high) {
            uint64_t middle = low[which] + (high - low[which]) / 2;
            const arrival *x = &a->list[middle];
            bool is_less = x->key < key || (x->key == key && x->step < step);
            low[which] = is_less ? middle + 1 : low[which];
            high = is_less ? high : middle;
        }
    }
    *out_first = low[0];
    return low[1];
}

typedef void visit_wait(void *context, uint64_t waiter, uint64_t waits_for);

typedef struct graph {
    const message *messages;
    uint64_t n;
    arrivals by_shard, by_stage;
} graph;

static void each_wait(const graph *g, visit_wait *visit, void *context) {
    for (uint64_t i = 0; i < g->n; i++) {
        const message *m = &g->messages[i];
        uint64_t first = 0;
        uint64_t end = schedule_find(&g->by_shard, m->from, m->shard, m->step, &first);
        for (uint64_t a = first; a < end; a++) {
            visit(context, i, g->by_shard.list[a].message);
        }
        if (!m->after || m->stage == 0) {
            continue;
        }
        end = schedule_find(&g->by_stage, m->from, m->stage - 1, UINT32_MAX, &first);
        for (uint64_t a = end; a > first && g->by_stage.list[a - 1].step == g->by_stage.list[end - 1].step; a--) {
            visit(context, i, g->by_stage.list[a - 1].message);
        }
    }
}

static void count_wait(void *context, uint64_t waiter, uint64_t waits_for) {
    (void)waiter;
    ((uint64_t *)context)[waits_for + 1]++;
}

typedef struct waiting {
    uint64_t *at, *next;
} waiting;

static void fill_wait(void *context, uint64_t waiter, uint64_t waits_for) {
    waiting *w = context;
    w->next[w->at[waits_for]++] = waiter;
}

/* How many waits there are, from the arrivals alone: counting one by one may take minutes. */
static uint64_t count_all(const graph *g) {
    uint64_t n = 0;
    for (uint64_t i = 0; i < g->n && n <= ORACLE_MAX_WAITS; i++) {
        const message *m = &g->messages[i];
        uint64_t first = 0;
        n += schedule_find(&g->by_shard, m->from, m->shard, m->step, &first) - first;
    }
    return n;
}

static fab_status link_messages(const graph *g, oracle_message_list *out, fab_error *err) {
    fab_status status = FAB_OK;
    uint64_t *at = NULL;
    if (count_all(g) > ORACLE_MAX_WAITS) {
        FAB_FAIL(err, FAB_EUNSUPPORTED, NULL, "messages wait for more than %" PRIu64 " others, the limit",
                 ORACLE_MAX_WAITS);
    }
    FAB_TRY(FAB_NEW(out->next_first, g->n + 1, err));
    FAB_TRY(FAB_NEW(at, g->n + 1, err));
    each_wait(g, count_wait, out->next_first);
    for (uint64_t i = 0; i < g->n; i++) {
        out->next_first[i + 1] += out->next_first[i];
        at[i] = out->next_first[i];
    }
    if (out->next_first[g->n] > ORACLE_MAX_WAITS) {
        FAB_FAIL(err, FAB_EUNSUPPORTED, NULL, "messages wait for %" PRIu64 " others, above the limit of %" PRIu64,
                 out->next_first[g->n], ORACLE_MAX_WAITS);
    }
    FAB_TRY(FAB_NEW(out->next, out->next_first[g->n], err));
    each_wait(g, fill_wait, &(waiting){at, out->next});
done:
    free(at);
    return status;
}

static fab_status copy_messages(const fab_collective *c, const message *messages, uint64_t n, oracle_message_list *out,
                                fab_error *err) {
    fab_status status = FAB_OK;
    FAB_TRY(FAB_NEW(out->src, n, err));
    FAB_TRY(FAB_NEW(out->dst, n, err));
    FAB_TRY(FAB_NEW(out->bytes, n, err));
    FAB_TRY(FAB_NEW(out->step, n, err));
    FAB_TRY(FAB_NEW(out->phase, n, err));
    for (uint64_t i = 0; i < n; i++) {
        out->src[i] = c->members[messages[i].from];
        out->dst[i] = c->members[messages[i].to];
        out->bytes[i] = messages[i].bytes;
        out->step[i] = messages[i].step;
        out->phase[i] = messages[i].part;
    }
    out->n_messages = n;
done:
    return status;
}

void oracle_message_list_release(oracle_message_list *list) {
    FAB_FREE_ALL(list->src, list->dst, list->bytes, list->step, list->phase, list->next_first, list->next);
    *list = (oracle_message_list){.n_messages = 0};
}

static fab_status make_messages(const fab_collective *c, message **out, message_sink *counted, fab_error *err) {
    fab_status status = FAB_OK;
    message_sink sink = {.base = {.edge = take_edge}};
    c->algorithm->rules->emit(c, &sink.base);
    if (sink.n > ORACLE_MAX_MESSAGES) {
        FAB_FAIL(err, FAB_EUNSUPPORTED, NULL,
                 "%s by %s over %" PRIu32 " ranks has %" PRIu64 " messages, above the limit of %" PRIu64,
                 fab_operation_name(c->operation), c->algorithm->name, c->r, sink.n, ORACLE_MAX_MESSAGES);
    }
    FAB_TRY(FAB_NEW(*out, sink.n, err));
    sink.messages = *out;
    sink.n = 0;
    c->algorithm->rules->emit(c, &sink.base);
    FAB_TRY(sort_by_step(out, sink.n, sink.n_steps, err));
    *counted = sink;
done:
    return status;
}

/* Makes the layout of one communicator for a call. */
static fab_status open_one(const fab_algorithm *algorithm, const fab_fabric *fabric,
                           const fab_communicator *communicator, fab_layout *layout, fab_collective *out,
                           fab_error *err) {
    static const fab_gpu_library REDUCES = {.nvls_ratio = 1}; /* as the default GPU of patterns */
    fab_status status = fab_layout_init(layout, fabric, communicator->n, err);
    layout->library = &REDUCES;
    if (status == FAB_OK) {
        fab_layout_set(layout, communicator->members, communicator->n);
        status = fab_collective_init(algorithm, layout, communicator, out, err);
    }
    return status;
}

fab_status oracle_algorithm_check(const fab_algorithm *algorithm, const fab_fabric *fabric,
                                  const fab_communicator *communicator, fab_error *err) {
    fab_layout layout = {.slot = NULL};
    fab_collective c = {.algorithm = algorithm, .r = 1};
    fab_status status = open_one(algorithm, fabric, communicator, &layout, &c, err);
    fab_layout_release(&layout);
    return status;
}

fab_status oracle_collective_candidates(fab_operation operation, const fab_fabric *fabric,
                                        const fab_communicator *communicator, const fab_algorithm **out, size_t *out_n,
                                        fab_error *err) {
    size_t n = 0;
    for (const fab_algorithm *a = fab_algorithms; a->name != NULL; a++) {
        if (a->operation != operation) {
            continue;
        }
        fab_error why = {.code = FAB_OK};
        fab_status status = oracle_algorithm_check(a, fabric, communicator, &why);
        if (status == FAB_OK) {
            out[n++] = a;
        } else if (status != FAB_EINPUT && status != FAB_EUNSUPPORTED) {
            return fab_fail(err, status, why.where, "%s", why.text);
        }
    }
    *out_n = n;
    return FAB_OK;
}

fab_status oracle_collective_formula(const fab_algorithm *algorithm, const fab_fabric *fabric,
                                     const fab_communicator *communicator, oracle_collective_cost *out,
                                     fab_error *err) {
    fab_status status = FAB_OK;
    fab_layout layout = {.slot = NULL};
    fab_collective c = {.algorithm = algorithm, .r = 1};
    FAB_TRY(open_one(algorithm, fabric, communicator, &layout, &c, err));
    oracle_collective_cost cost = {.bus_factor = fab_bus_factor(c.operation, c.r),
                                   .n_phases = fab_collective_parts(&c),
                                   .n_channels = c.n_channels};
    double copies = 0;
    for (uint32_t i = 0; i < cost.n_phases; i++) {
        fab_part part;
        algorithm->rules->part(&c, i, &part);
        cost.steps += part.steps;
        copies += part.copies;
    }
    cost.total_bytes = copies * c.bytes;
    cost.sent_bytes = cost.total_bytes / c.r;
    *out = cost;
done:
    fab_layout_release(&layout);
    return status;
}

fab_status oracle_collective_messages(const fab_algorithm *algorithm, const fab_fabric *fabric,
                                      const fab_communicator *communicator, uint32_t chunks, oracle_message_list *out,
                                      fab_error *err) {
    fab_status status = FAB_OK;
    fab_layout layout = {.slot = NULL};
    oracle_message_list made = {.n_messages = 0};
    message *messages = NULL;
    message_sink sink = {.n = 0};
    graph g = {.messages = NULL};
    fab_collective c;
    if (chunks < 1 || chunks > UINT16_MAX) {
        FAB_FAIL(err, FAB_EINPUT, NULL, "%" PRIu32 " chunks are outside 1 to %d", chunks, UINT16_MAX);
    }
    FAB_TRY(open_one(algorithm, fabric, communicator, &layout, &c, err));
    c.chunks = chunks;
    FAB_TRY(make_messages(&c, &messages, &sink, err));
    g = (graph){.messages = messages, .n = sink.n};
    FAB_TRY(arrivals_init(&g.by_shard, messages, sink.n, c.r, false, err));
    FAB_TRY(arrivals_init(&g.by_stage, messages, sink.n, c.r, true, err));
    FAB_TRY(copy_messages(&c, messages, sink.n, &made, err));
    FAB_TRY(link_messages(&g, &made, err));
    *out = made;
    made = (oracle_message_list){.n_messages = 0};
done:
    arrivals_release(&g.by_shard);
    arrivals_release(&g.by_stage);
    free(messages);
    oracle_message_list_release(&made);
    fab_layout_release(&layout);
    return status;
}

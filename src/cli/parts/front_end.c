/* Traffic of the second network: bursts between the servers and the storage servers, both as hosts of the front-end. */
#include "cli.h"

#define FRONT_END "front-end"

bool cli_is_front_end(const char *traffic) {
    size_t n = strlen(FRONT_END);
    return traffic != NULL && strncmp(traffic, FRONT_END, n) == 0 && (traffic[n] == '\0' || traffic[n] == ':');
}

fab_status cli_front_end_open(cli_session *s, fab_error *err) {
    fab_fabric_spec spec;
    FAB_REFUSE_IF(!s->design->has_front_end, err, FAB_EINPUT, NULL, "the design has no front-end");
    fab_design_front_end(s->design, s->graph->n_servers, &spec);
    FAB_PASS(fab_topology_build(&spec, &s->hosts, NULL, err));
    FAB_FORMAT(s->text, "job%.40s", s->traffic + strlen(FRONT_END));
    s->traffic = s->text;
    return FAB_OK;
}

void cli_front_end_show(cli_session *s) {
    fab_fabric_result *all = &s->result.fabrics[0];
    fab_fabric_result *second = all->front_end;
    if (second == NULL) {
        return;
    }
    FAB_FORMAT(second->name, "%.400s front-end", all->name);
    memcpy(second->digest, all->digest, sizeof second->digest);
    FAB_FORMAT(second->source, "%s", s->design->source);
    *all = *second;
    free(second);
    s->result.graph = s->hosts;
}

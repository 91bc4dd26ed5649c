/* The object `import`: what was found in a file. */
#include "result_fields.h"

#include "fab/imported.h"

static const char *const KINDS[FAB_LEFT_N] = {
    [FAB_LEFT_SERVICES] = "aggregation-nodes", [FAB_LEFT_MANAGEMENT] = "management-hosts",
    [FAB_LEFT_NAMELESS] = "nameless-adapters", [FAB_LEFT_UNPLUGGED] = "unplugged",
    [FAB_LEFT_SURPLUS] = "surplus-adapters",   [FAB_LEFT_DARK] = "dark-switches"};

static void walk_tiers(walk *w, const fab_imported *in) {
    const fab_fabric *f = in->fabric;
    array(w, "boundaries", "boundary");
    for (uint32_t t = 1; t <= f->n_boundaries; t++) {
        uint32_t n_cables = 0;
        for (uint32_t c = 0; c < f->n_cables; c++) {
            n_cables += fab_class_of(f, 2 * c)->tier == t;
        }
        row(w);
        string(w, "boundary", fab_boundary_name(f->wiring, t));
        integer(w, "tier", t);
        if (t <= f->n_tiers) {
            integer(w, "switches", f->first_of_tier[t + 1] - f->first_of_tier[t]);
            integer(w, "radix", in->spec->tier[t - 1].radix);
        }
        integer(w, "cables", n_cables);
        number(w, "cable_bps", fab_imported_rate(in, t));
        end(w);
    }
    end(w);
}

static void walk_left(walk *w, const fab_installed *site) {
    array(w, "left_out", "left");
    for (uint32_t kind = 0; kind < FAB_LEFT_N; kind++) {
        if (site->left[kind].n > 0) {
            row(w);
            string(w, "kind", KINDS[kind]);
            string(w, "what", fab_left_out_texts[kind]);
            integer(w, "number", site->left[kind].n);
            string(w, "first", site->left[kind].name[0]);
            end(w);
        }
    }
    end(w);
}

static void walk_texts(walk *w, const fab_imported *in) {
    char assumed[FAB_ASSUMED_MOST][FAB_ASSUMED_SIZE];
    size_t n = fab_imported_assumed(in, assumed);
    const fab_site *site = in->site->site;
    array(w, "assumed", "assumption");
    for (size_t i = 0; i < n; i++) {
        row(w);
        string(w, "what", assumed[i]);
        end(w);
    }
    end(w);
    array(w, "notes", "note");
    for (uint32_t i = 0; i < site->n_notes; i++) {
        row(w);
        integer(w, "line", site->notes[i].line);
        string(w, "what", site->notes[i].text);
        end(w);
    }
    end(w);
}

void fab_walk_import(walk *w, const fab_imported *in) {
    const fab_installed *site = in->site;
    object(w, "import");
    string(w, "format", site->site->format);
    string(w, "digest", in->spec->digest);
    integer(w, "servers", site->n_whole);
    integer(w, "incomplete_servers", site->n_servers - site->n_whole);
    integer(w, "nics_per_server", site->nics_per_server);
    integer(w, "gpus_per_server", in->spec->gpus_per_server);
    number(w, "nic_bps", in->spec->nic_bps);
    integer(w, "planes", site->n_planes);
    integer(w, "pods", site->n_pods);
    integer(w, "networks", site->n_networks);
    string(w, "wiring", fab_wiring_name(in->fabric->wiring));
    boolean(w, "rails", site->shape.has_rails);
    walk_tiers(w, in);
    walk_left(w, site);
    walk_texts(w, in);
    end(w);
}

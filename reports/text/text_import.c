/* Text report: what was found in a file, what was left out, what is assumed. */
#include "text_sections.h"

#define NOTES_SHOWN 5

static void import_put_servers(fab_page *page, const fab_imported *in) {
    const fab_structure *net = in->net;
    uint32_t n_cut = net->n_servers - net->n_complete;
    fab_page_wrapf(page, FAB_INK_PLAIN, 2, 4,
                   "%" PRIu32 " server%s of %" PRIu32 " NIC%s at %s%s, numbered by %s: %.160s%s%.160s", net->n_complete,
                   fab_plural(net->n_complete), net->nics_per_server, fab_plural(net->nics_per_server),
                   fab_show_rate(page, in->spec->nic_bps), net->n_planes > 1 ? ", a port on every plane" : "",
                   in->spec->host_order == FAB_HOSTS_BY_LEAF ? "leaf and port" : "name", net->server_name[0],
                   net->n_complete > 1 ? " to " : "", net->n_complete > 1 ? net->server_name[net->n_complete - 1] : "");
    if (net->shape.n_servers == 0 && net->nics_per_server == 1 && net->n_servers > 1) {
        fab_page_wrapf(page, FAB_INK_BAD, 2, 4,
                       "each adapter is a server of its own, since no name tells which it is in; names by GUID do "
                       "(ibnetdiscover --node-name-map)");
    }
    if (n_cut > 0) {
        fab_page_wrapf(page, FAB_INK_BAD, 2, 4,
                       "%" PRIu32
                       " more lack%s NICs or cables, such as %.160s: jobs take them only where they are named",
                       n_cut, n_cut == 1 ? "s" : "", net->server_name[net->n_complete]);
    }
    if (net->n_split_ports > 0) {
        fab_page_wrapf(page, FAB_INK_PLAIN, 2, 4,
                       "%" PRIu32 " ports of adapters whose ports lead into one network are NICs of their own",
                       net->n_split_ports);
    }
}

static void import_put_structure(fab_page *page, const fab_imported *in) {
    const fab_structure *net = in->net;
    const fab_fabric *f = in->fabric;
    if (!net->is_tree) {
        fab_page_wrap(page, FAB_INK_PLAIN, 2, 4,
                      "No tree: cables join switches of equal distance from the servers, or skip a tier. Engines that "
                      "choose among uplinks (dmodk, pinned) have none here; the others work.");
    }
    if (net->shape.has_rails) {
        fab_page_wrapf(page, FAB_INK_PLAIN, 2, 4, "Rail-optimised: %" PRIu32 " rails%s.", f->n_rails,
                       f->forwards_in_domain
                           ? ", in networks of their own: traffic between them is relayed (PXN) inside scale-up domains"
                           : "");
    }
    if (net->n_planes > 1) {
        fab_page_wrapf(page, FAB_INK_PLAIN, 2, 4,
                       "%" PRIu32 " planes: networks of their own, a port of every NIC on each.", net->n_planes);
    } else if (net->n_networks > 1 && !f->forwards_in_domain) {
        fab_page_wrapf(page, FAB_INK_BAD, 2, 4,
                       "%" PRIu32 " parts that no cable joins: a flow from one to another is an error.",
                       net->n_networks);
    }
    if (net->shape.n_boxes > 0) {
        fab_page_wrapf(page, FAB_INK_PLAIN, 2, 4,
                       "%" PRIu32 " of the switches are chips of %" PRIu32
                       " director%s: links inside are no cables, and "
                       "cost nothing; a chip costs what a switch of its ports does.",
                       net->shape.n_chips, net->shape.n_boxes, fab_plural(net->shape.n_boxes));
    }
    if (net->n_pods > 0) {
        fab_page_wrapf(page, FAB_INK_PLAIN, 2, 4, "%" PRIu32 " pod%s.", net->n_pods, fab_plural(net->n_pods));
    }
}

static void import_put_tiers(fab_page *page, const fab_imported *in) {
    static const fab_column COLUMNS[] = {COLUMN("tier", text),     COLUMN("switches", integer),
                                         COLUMN("ports", integer), COLUMN("cables below", integer),
                                         COLUMN("rate", rate),     COLUMN("first", text)};
    const fab_fabric *f = in->fabric;
    fab_table table = fab_table_of(page, FAB_COLUMNS(COLUMNS));
    for (uint32_t t = 1; t <= f->n_boundaries; t++) {
        FAB_SUM(uint32_t, n_cables, c, f->n_cables, fab_class_of(f, 2 * c)->tier == t);
        double figures[] = {FAB_TABLE_BLANK, FAB_TABLE_BLANK, n_cables, fab_imported_rate(in, t), FAB_TABLE_BLANK};
        if (t > f->n_tiers) {
            fab_table_row(&table, FAB_INK_PLAIN, fab_boundary_name(f->wiring, t), figures);
            continue;
        }
        char name[FAB_NODE_NAME_SIZE];
        uint32_t first = f->first_of_tier[t];
        figures[0] = f->first_of_tier[t + 1] - first;
        figures[1] = (double)in->spec->tier[t - 1].radix;
        fab_table_row(&table, FAB_INK_PLAIN, fab_tier_name(f->wiring, t), figures);
        fab_table_put(&table, 5, FAB_INK_PLAIN, fab_node_name(f, first, name));
    }
    fab_table_end(&table, 2, NULL, NULL);
}

static void import_put_left(fab_page *page, const fab_structure *net) {
    bool any = false;
    for (uint32_t kind = 0; kind < FAB_EXCLUDED_N; kind++) {
        const fab_excluded *excluded = &net->excluded[kind];
        bool tells = kind != FAB_EXCLUDED_SERVICES && kind != FAB_EXCLUDED_NAMELESS; /* these are all called the same */
        if (excluded->n == 0) {
            continue;
        }
        if (!any) {
            fab_text_heading(page, "LEFT OUT", NULL);
            any = true;
        }
        fab_page_say(page, "%" PRIu32 " %s", excluded->n, fab_exclusion_texts[kind]);
        for (uint32_t i = 0; tells && i < excluded->n && i < FAB_INSTALLED_SHOWN; i++) {
            fab_page_say(page, "%s%.100s", i > 0 ? ", " : ": ", excluded->name[i]);
        }
        fab_page_wrapf(page, FAB_INK_PLAIN, 2, 4, "%s", tells && excluded->n > FAB_INSTALLED_SHOWN ? ", ..." : "");
    }
}

static void import_put_notes(fab_page *page, const fab_network *net) {
    if (net->n_notes > 0) {
        fab_text_heading(page, "NOTES", "what the file contradicts itself in, and what it names without describing it");
    }
    for (uint32_t i = 0; i < net->n_notes && i < NOTES_SHOWN; i++) {
        fab_page_wrapf(page, FAB_INK_PLAIN, 2, 4, "line %zu: %s", net->notes[i].line, net->notes[i].text);
    }
    if (net->n_notes > NOTES_SHOWN) {
        fab_page_wrapf(page, FAB_INK_DIM, 2, 4, "... and %" PRIu32 " more", net->n_notes - NOTES_SHOWN);
    }
}

void fab_text_import(fab_page *page, const fab_imported *in) {
    char assumed[FAB_ASSUMED_MOST][FAB_ASSUMED_SIZE];
    size_t n = fab_imported_assumed(in, assumed);
    fab_page_wrapf(page, FAB_INK_BOLD, 0, 2, "%s: %s", in->path, in->net->net->format);
    fab_text_notef(page, "%s; digest %s", in->format, in->spec->digest);
    fab_text_heading(page, "FOUND", NULL);
    import_put_servers(page, in);
    import_put_structure(page, in);
    import_put_tiers(page, in);
    import_put_left(page, in->net);
    fab_text_heading(page, "ASSUMED", "keys in brackets change it: --set KEY=VALUE");
    for (size_t i = 0; i < n; i++) {
        fab_page_wrap(page, FAB_INK_PLAIN, 2, 4, assumed[i]);
    }
    import_put_notes(page, in->net->net);
    fab_text_heading(page, "NEXT", NULL);
    FAB_OWNS(fab_str_release) fab_str path = FAB_STR_INIT;
    fab_str_add_shell(&path, in->path);
    const char *file = path.failed ? in->path : path.data;
    if (in->output != NULL) {
        fab_page_wrapf(page, FAB_INK_PLAIN, 2, 4, "fabriscope run %s", in->output);
    } else {
        fab_page_wrapf(page, FAB_INK_PLAIN, 2, 4, "fabriscope run installed:%s", file);
        fab_page_wrapf(page, FAB_INK_DIM, 2, 4,
                       "fabriscope import %s --output DESIGN.xml writes a design to add jobs to", file);
    }
    fab_page_wrapf(page, FAB_INK_DIM, 2, 4, "fabriscope audit %s says what is wrong with it", file);
}

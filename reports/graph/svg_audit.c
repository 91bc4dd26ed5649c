/* An audit as a drawing: the racks of the plan's floor, where it has one, else the boxes that findings name, tier by
 * tier; cables that are missing as red lines between them; and where to walk to first. */
#include "svg.h"
#include "fab/audit.h"
#include "fab/floor_plan.h"

#define WIDTH       1040.0
#define MARGIN      24.0
#define NAMES       92.0 /* of rows */
#define TOP         104.0
#define FLOOR       640.0                      /* pixels that all rows take, where they can still be read */
#define STOP_LINES  16                         /* of racks or boxes to walk to that are named */
#define IN_A_ROW    24                         /* boxes of a tier, where no racks are known */
#define TIERS       (FAB_AUDIT_BOUNDARIES + 2) /* hosts, tiers, and what is of no known tier */
#define FEW_IN_TIP  6
#define MOST_BEYOND 0.28 /* how far a line leaves the straight one, for its length */

/* A rack or a box. */
typedef struct place {
    double x, y, width, height; /* middle and size */
    const char *name;           /* of a box; NULL: a rack */
    uint32_t row, n, first;     /* findings that lead here, and the worst of them */
    bool has_missing, has_fault;
} place;

typedef struct drawing {
    fab_graph_writer w;
    const fab_audit *audit;
    const fab_floor *floor; /* NULL: boxes */
    place *places;
    uint32_t n_places, n_beyond; /* n_beyond: ends of findings that are not drawn */
    uint32_t *at;                /* shape [2 * n_findings]: place of either end; FAB_NONE */
    uint32_t n_rows;
    bool *is_named; /* shape [n_rows]: its name is drawn */
    struct stop *stops;
    uint32_t n_stops, n_told, n_lines; /* n_told: that are named, in n_lines */
    double bottom;
} drawing;

static bool is_missing(fab_finding_kind kind) {
    return kind == FAB_FINDING_UNREACHABLE || kind == FAB_FINDING_ABSENT_SWITCH || kind == FAB_FINDING_MISSING_CABLE ||
           kind == FAB_FINDING_MISSING_PORT || kind == FAB_FINDING_DEAD_PORT;
}

static const char *class_of(fab_finding_kind kind) {
    return is_missing(kind) ? "f" : fab_finding_is_choice(kind) ? "w" : "u4";
}

/* --- where they stand --------------------------------------------------------------------------------------------- */

static const char *box_name(const fab_finding *f, uint32_t end) {
    return end == 0 ? f->node : f->other;
}

static uint32_t rows_before(const fab_floor *floor, uint32_t hall) {
    FAB_MOST(uint32_t, n, i, floor->n_server_racks + floor->n_network_racks,
             floor->rack[i].hall < hall ? floor->rack[i].row + 1 : 0);
    return n;
}

static fab_status place_racks(drawing *d, fab_error *err) {
    const fab_floor *floor = d->floor;
    d->n_places = floor->n_server_racks + floor->n_network_racks;
    FAB_PASS(FAB_NEW(d->places, (size_t)d->n_places + 1, err));
    FAB_MOST(uint32_t, longest, i, d->n_places, floor->rack[i].place + 1);
    double step = fmin((WIDTH - NAMES - 2 * MARGIN) / (longest > 0 ? longest : 1), 110);
    double height = fmax(fmin(fmin(step * 0.6, 30), FLOOR / (1.7 * floor->n_rows)), 8);
    uint32_t before = 0;
    for (uint32_t i = 0, hall = 0; i < d->n_places; i++) {
        const fab_rack *rack = &floor->rack[i];
        if (rack->hall != hall) {
            hall = rack->hall;
            before = rows_before(floor, hall) * hall;
        }
        uint32_t row = before + rack->row;
        d->places[i] = (place){.x = NAMES + MARGIN + (rack->place + 0.5) * step,
                               .y = TOP + (row + 0.5) * height * 1.7 + hall * 14,
                               .width = fmax(step - 3, step * 0.8),
                               .height = height,
                               .row = row};
        d->bottom = fmax(d->bottom, d->places[i].y + height);
        d->n_rows = row + 1 > d->n_rows ? row + 1 : d->n_rows;
    }
    for (uint32_t i = 0; i < 2 * d->audit->n_findings; i++) {
        d->at[i] = d->audit->findings[i / 2].at[i % 2].rack;
        d->n_beyond += d->at[i] == FAB_NONE && box_name(&d->audit->findings[i / 2], i % 2)[0] != '\0';
    }
    return FAB_OK;
}

/* The box of an end of a finding: a new one while its row has room. */
static uint32_t place_of_box(drawing *d, uint32_t *in_row, const char *name, uint32_t tier) {
    uint32_t row = tier < TIERS - 1 ? tier : TIERS - 1;
    FAB_FIRST(known, d->n_places, d->places[known].row == row && strcmp(d->places[known].name, name) == 0);
    if (known < d->n_places) {
        return known;
    }
    if (name[0] == '\0' || in_row[row] == IN_A_ROW) {
        d->n_beyond += name[0] != '\0';
        return FAB_NONE;
    }
    in_row[row]++;
    d->places[d->n_places] = (place){.name = name, .row = row};
    return d->n_places++;
}

static fab_status place_boxes(drawing *d, fab_error *err) {
    uint32_t in_row[TIERS] = {0};
    uint32_t next[TIERS] = {0};
    double y[TIERS];
    FAB_PASS(FAB_NEW(d->places, (size_t)TIERS * IN_A_ROW, err));
    for (uint32_t i = 0; i < 2 * d->audit->n_findings; i++) {
        const fab_finding *f = &d->audit->findings[i / 2];
        d->at[i] = place_of_box(d, in_row, box_name(f, i % 2), f->at[i % 2].tier);
    }
    d->bottom = TOP;
    d->n_rows = TIERS;
    for (uint32_t row = TIERS; row-- > 0;) { /* the highest tier at the top */
        y[row] = d->bottom + 20;
        d->bottom += in_row[row] > 0 ? 110 : 0;
    }
    d->bottom -= d->n_places > 0 ? 60 : 0;
    FAB_EACH(place, p, d->places, d->n_places) {
        double step = (WIDTH - NAMES - 2 * MARGIN) / in_row[p->row];
        p->x = NAMES + MARGIN + (next[p->row]++ + 0.5) * step;
        p->y = y[p->row];
        p->width = fmin(step - 4, 150);
        p->height = 26;
    }
    return FAB_OK;
}

static void count_findings(drawing *d) {
    for (uint32_t i = 0; i < 2 * d->audit->n_findings; i++) {
        const fab_finding *f = &d->audit->findings[i / 2];
        if (d->at[i] == FAB_NONE || (i % 2 == 1 && d->at[i] == d->at[i - 1])) {
            continue;
        }
        place *p = &d->places[d->at[i]];
        p->first = p->n == 0 ? i / 2 : p->first;
        p->n++;
        p->has_missing |= is_missing(f->kind);
        p->has_fault |= !fab_finding_is_choice(f->kind);
    }
}

/* --- drawing ------------------------------------------------------------------------------------------------------ */

static const char *place_name(const drawing *d, uint32_t i, char *room) {
    return d->places[i].name != NULL ? d->places[i].name : fab_rack_name(&d->floor->rack[i], room);
}

static void put_row_names(drawing *d) {
    for (uint32_t i = 0; i < d->n_places; i++) {
        const place *p = &d->places[i];
        char text[48];
        if (d->is_named[p->row]) {
            continue;
        }
        d->is_named[p->row] = true;
        if (d->floor != NULL && d->floor->n_halls > 1) {
            FAB_FORMAT(text, "hall %" PRIu32 ", row %" PRIu32, d->floor->rack[i].hall, d->floor->rack[i].row);
        } else if (d->floor != NULL) {
            FAB_FORMAT(text, "row %" PRIu32, d->floor->rack[i].row);
        } else {
            FAB_FORMAT(text, "%s",
                       p->row == 0           ? "hosts"
                       : p->row == TIERS - 1 ? "not known"
                                             : fab_tier_name(FAB_WIRING_TREE, p->row));
        }
        fab_svg_text(&d->w, MARGIN, p->y + 4, "r", "start", NAMES, text);
    }
}

static void put_finding(drawing *d, const fab_finding *f) {
    fab_graph_put(&d->w, fab_finding_kinds[f->kind]);
    fab_graph_put(&d->w, ": ");
    fab_xml_write_escaped(&d->w.xml, f->work);
}

static void put_place(drawing *d, uint32_t i) {
    const place *p = &d->places[i];
    char room[48];
    fab_graph_putf(&d->w,
                   "\n    <rect class=\"%s\" rx=\"3\" x=\"%.6g\" y=\"%.6g\" width=\"%.6g\" height=\"%.6g\"><title>",
                   p->has_missing ? "b x"
                   : p->has_fault ? "b u5"
                                  : "b",
                   p->x - p->width / 2, p->y - p->height / 2, p->width, p->height);
    fab_xml_write_escaped(&d->w.xml, place_name(d, i, room));
    uint32_t n_told = 0;
    for (uint32_t k = p->first; n_told < p->n && n_told < FEW_IN_TIP; k++) {
        if (d->at[2 * (size_t)k] == i || d->at[2 * (size_t)k + 1] == i) {
            fab_graph_put(&d->w, "\n");
            put_finding(d, &d->audit->findings[k]);
            n_told++;
        }
    }
    if (p->n > n_told) {
        fab_graph_putf(&d->w, "\nand %" PRIu32 " more", p->n - n_told);
    }
    fab_graph_put(&d->w, "</title></rect>");
}

static void put_box_name(drawing *d, const place *p) {
    size_t common[2] = {strlen(p->name), strlen(p->name)};
    FAB_EACH(const place, o, d->places, d->n_places) {
        if (o->row == p->row && o != p) {
            fab_svg_narrow(p->name, o->name, common);
        }
    }
    fab_svg_box_name(&d->w, p->x, p->y + 4, "", p->width - 4, p->name, common);
}

/* Upon the lines: the name of a box, how many findings a rack has. */
static void put_place_text(drawing *d, const place *p) {
    char text[24];
    if (p->name != NULL) {
        put_box_name(d, p);
        return;
    }
    FAB_FORMAT(text, "%" PRIu32, p->n);
    if (p->n > 0 && fab_svg_text_width("g", text) < p->width) {
        fab_svg_text(&d->w, p->x, p->y + 4, "g", "middle", p->width - 4, text);
    }
}

static void put_line(drawing *d, uint32_t i) {
    const fab_finding *f = &d->audit->findings[i];
    if (d->at[2 * (size_t)i] == FAB_NONE || d->at[2 * (size_t)i + 1] == FAB_NONE ||
        d->at[2 * (size_t)i] == d->at[2 * (size_t)i + 1]) {
        return;
    }
    const place *a = &d->places[d->at[2 * (size_t)i]];
    const place *b = &d->places[d->at[2 * (size_t)i + 1]];
    double beyond = fabs(b->x - a->x) * MOST_BEYOND;
    double up = a->y == b->y ? fmin(14 + beyond, 60) : 0; /* over what stands between two of a row */
    fab_graph_putf(&d->w, "\n    <path class=\"%s\" stroke-width=\"%.3g\" d=\"M%.6g %.6gQ%.6g %.6g %.6g %.6g\"><title>",
                   class_of(f->kind), fmin(2 + 0.5 * (f->cables > 0 ? f->cables - 1 : 0), 6), a->x, a->y,
                   (a->x + b->x) / 2, (a->y + b->y) / 2 - up, b->x, b->y);
    put_finding(d, f);
    fab_graph_put(&d->w, "</title></path>");
}

typedef struct stop {
    uint32_t finding, place; /* the worst there */
} stop;

FAB_ORDER_TWO(compare_stops, stop, finding, place);

static void say_stop(const drawing *d, uint32_t i, char text[600]) {
    char room[48];
    const fab_finding *f = &d->audit->findings[d->stops[i].finding];
    uint32_t n_there = d->places[d->stops[i].place].n;
    (void)snprintf(text, 600, "%s: %" PRIu32 " finding%s; %s: %.400s", place_name(d, d->stops[i].place, room), n_there,
                   n_there == 1 ? "" : "s", fab_finding_kinds[f->kind], f->work);
}

#define STOP_ROOM  (WIDTH - 2 * MARGIN)
#define STOP_ASIDE 16.0 /* of the second line of what is long */

/* Where to walk to, the worst first: as many as have room, what to do in two lines where one does not hold it. */
static fab_status find_stops(drawing *d, fab_error *err) {
    FAB_PASS(FAB_NEW(d->stops, (size_t)d->n_places + 1, err));
    FAB_KEEP(d->stops, d->n_stops, i, d->n_places, d->places[i].has_fault, (stop){d->places[i].first, i});
    qsort(d->stops, d->n_stops, sizeof *d->stops, compare_stops);
    while (d->n_told < d->n_stops) {
        char text[600];
        say_stop(d, d->n_told, text);
        const uint32_t lines = text[fab_svg_fit("", text, STOP_ROOM)] != '\0' ? 2 : 1;
        if (d->n_lines + lines > STOP_LINES) {
            break;
        }
        d->n_lines += lines;
        d->n_told++;
    }
    return FAB_OK;
}

static void put_stops(drawing *d, double y) {
    uint32_t line = 0;
    if (d->n_stops > 0) {
        fab_svg_text(&d->w, MARGIN, y, "r", "start", STOP_ROOM,
                     d->n_stops > d->n_told ? "Walk to, the worst first:" : "Walk to:");
    }
    for (uint32_t i = 0; i < d->n_told; i++) {
        char text[600];
        say_stop(d, i, text);
        const size_t n = fab_svg_fit("", text, STOP_ROOM);
        const bool is_long = text[n] != '\0';
        const char *rest = text + n + (text[n] == ' ');
        if (is_long) {
            fab_svg_text(&d->w, MARGIN + STOP_ASIDE, y + 17 * (line + 2), "", "start", STOP_ROOM - STOP_ASIDE, rest);
        }
        text[n] = '\0';
        fab_svg_text(&d->w, MARGIN, y + 17 * (line + 1), "", "start", STOP_ROOM, text);
        line += is_long ? 2 : 1;
    }
}

static const char *about_floor(const drawing *d, const fab_result *r, char room[160]) {
    if (d->floor == NULL) {
        return "no rack is known: the boxes that findings name, by tier (--against a design with a floor has racks)";
    }
    (void)snprintf(room, 160, "floor plan%s: %" PRIu32 " racks in %" PRIu32 " rows; numbers: findings of a rack",
                   r->audit_floor_is_assumed ? ", assumed for the plan says nothing of racks" : " of the plan",
                   d->n_places, d->floor->n_rows);
    return room;
}

static void put_all(drawing *d, const fab_result *r, uint32_t n_faults, uint32_t n_cables) {
    char title[320];
    char text[200];
    char room[160];
    double stops = d->n_stops > 0 ? 17 * (d->n_lines + 1.0) + 14 : 0;
    FAB_FORMAT(title, "Audit of %.280s", r->audited);
    FAB_FORMAT(text, "%" PRIu32 " finding%s, %" PRIu32 " cable%s missing", n_faults, n_faults == 1 ? "" : "s", n_cables,
               n_cables == 1 ? "" : "s");
    const double size[2] = {WIDTH, d->bottom + 30 + stops + 40};
    const fab_svg_page page = fab_svg_open(&d->w, size, FAB_SVG_ABOVE, FAB_SVG_BELOW, title, text);
    const double wide = fab_svg_room(&page);
    fab_svg_group(&d->w, &page, false);
    fab_svg_text(&d->w, 20, 30, "h", "start", wide, title);
    fab_svg_text(&d->w, 20, 49, "s", "start", wide, text);
    fab_svg_text(&d->w, 20, 65, "s", "start", wide, about_floor(d, r, room));
    fab_graph_put(&d->w, "\n  </g>\n  <g>");
    put_row_names(d);
    for (uint32_t i = 0; i < d->n_places && d->floor != NULL; i++) {
        put_place(d, i);
    }
    for (uint32_t i = d->audit->n_findings; i-- > 0;) { /* the worst on top */
        put_line(d, i);
    }
    for (uint32_t i = 0; i < d->n_places; i++) {
        if (d->floor == NULL) {
            put_place(d, i);
        }
        put_place_text(d, &d->places[i]);
    }
    fab_graph_put(&d->w, "\n  </g>");
    put_stops(d, d->bottom + 30);
    double y = size[1] - 20;
    fab_svg_group(&d->w, &page, true);
    double x = fab_svg_sample(&d->w, 20, y, "f", "missing: to be plugged or put in");
    x = fab_svg_sample(&d->w, x, y, "u4", "wrong: to be moved or looked at");
    x = fab_svg_sample(&d->w, x, y, "w", "a choice of the design");
    if (d->n_beyond > 0) {
        FAB_FORMAT(text, "ends of findings that are not drawn: %" PRIu32, d->n_beyond);
        fab_svg_text(&d->w, x, y, "", "start", wide + 40 - x, text);
    }
    fab_graph_put(&d->w, "\n  </g>\n</svg>");
}

fab_status fab_svg_audit(const fab_result *result, FILE *out, fab_error *err) {
    fab_status status = FAB_OK;
    drawing d = {.w = {.out = out}, .audit = result->audit, .floor = result->audit_floor, .bottom = TOP};
    uint32_t n_faults = 0;
    uint32_t n_missing = 0;
    FAB_TRY(FAB_NEW(d.at, 2 * (size_t)result->audit->n_findings + 1, err));
    FAB_TRY(d.floor != NULL ? place_racks(&d, err) : place_boxes(&d, err));
    FAB_TRY(FAB_NEW(d.is_named, (size_t)d.n_rows + 1, err));
    count_findings(&d);
    FAB_TRY(find_stops(&d, err));
    FAB_EACH(const fab_finding, f, d.audit->findings, d.audit->n_findings) {
        n_faults += !fab_finding_is_choice(f->kind);
        n_missing += is_missing(f->kind) ? f->cables : 0;
    }
    FAB_TRY(fab_xml_writer_init(&d.w.xml, out, err));
    put_all(&d, result, n_faults, n_missing);
    status = status == FAB_OK ? fab_xml_writer_finish(&d.w.xml, err) : status;
done:
    fab_xml_writer_release(&d.w.xml);
    FAB_FREE_ALL(d.places, d.at, d.is_named, d.stops);
    return status;
}

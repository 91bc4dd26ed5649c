/* What keys do. */
#include "top_app.h"

static void complain(top_app *a, const char *text) {
    FAB_FORMAT(a->message, "%s", text);
    a->is_bad = true;
}

/* Errors of a change are told, and the state is as before; without memory nothing goes on. */
static fab_status take_error(top_app *a, fab_status status, const fab_error *inner, fab_error *err) {
    FAB_REFUSE_IF(status == FAB_ENOMEM || status == FAB_EINTERNAL, err, status, inner->where, "%s", inner->text);
    if (status != FAB_OK) {
        complain(a, inner->text);
    }
    return FAB_OK;
}

/* Lists that are open, in the state that is now. Only what is seen is found anew at once. */
static fab_status refresh_list(top_app *a, fab_error *err) {
    return top_view_refresh(&a->model, top_app_shown(a), err);
}

/* The first phase that has traffic in the network: others have no links to open. */
static void select_traffic(top_app *a) {
    top_view *v = top_app_shown(a);
    const fab_failed_state *healthy = top_model_healthy(&a->model);
    for (size_t row = 0; row < v->n; row++) {
        if (healthy->phases[v->item[row]].worst_ratio > 0) {
            v->row = row;
            v->at = v->item[row];
            return;
        }
    }
}

fab_status top_app_open(const cli_options *options, top_app *a, fab_error *err) {
    FAB_PASS(top_model_open(options, &a->model, err));
    a->parts.kind = TOP_PARTS;
    a->broken.kind = TOP_BROKEN;
    a->rows = 1;
    FAB_PASS(refresh_list(a, err));
    select_traffic(a);
    return FAB_OK;
}

void top_app_release(top_app *a) {
    for (size_t i = 0; i < TOP_DEPTH; i++) {
        top_view_release(&a->drill[i]);
    }
    top_view_release(&a->parts);
    top_view_release(&a->broken);
    top_model_release(&a->model);
}

/* --- moving about ------------------------------------------------------------------------------------------------- */

static void select_row(top_app *a, size_t row) {
    top_view *v = top_app_shown(a);
    v->row = v->n == 0 ? 0 : row < v->n ? row : v->n - 1;
    v->at = v->n > 0 ? v->item[v->row] : 0;
}

static fab_status open_row(top_app *a, fab_error *err) {
    const top_view *from = top_app_shown(a);
    if (a->list != TOP_PHASES || a->depth + 1 == TOP_DEPTH || from->n == 0) {
        return FAB_OK;
    }
    top_view *to = &a->drill[a->depth + 1];
    const top_view_kind kind = from->kind == TOP_PHASES ? TOP_LINKS : TOP_FLOWS;
    const size_t order = to->kind == kind ? to->order : 0;
    top_view_release(to);
    to->kind = kind;
    to->order = order;
    memcpy(to->phase_name, kind == TOP_LINKS ? a->model.answer->phases[from->item[from->row]] : from->phase_name,
           sizeof to->phase_name);
    to->link = kind == TOP_FLOWS ? from->item[from->row] : FAB_NONE;
    to->at = FAB_NONE;
    a->depth++;
    return refresh_list(a, err);
}

static fab_status go_back(top_app *a, fab_error *err) {
    if (a->list != TOP_PHASES) {
        a->list = TOP_PHASES;
    } else if (a->depth > 0) {
        a->depth--;
    }
    return refresh_list(a, err);
}

/* The next row whose name has the text, from behind the selected one around. */
static void find_next(top_app *a) {
    char name[2 * FAB_LINK_NAME_SIZE];
    const top_view *v = top_app_shown(a);
    for (size_t i = 1; i <= v->n && a->search[0] != '\0'; i++) {
        const size_t row = (v->row + i) % v->n;
        if (strstr(top_view_name(&a->model, v, row, name), a->search) != NULL) {
            select_row(a, row);
            return;
        }
    }
    FAB_FORMAT(a->message, "no row has '%s' in its name", a->search);
    a->is_bad = true;
}

/* --- changes ------------------------------------------------------------------------------------------------------ */

static fab_status after_change(top_app *a, fab_status status, const fab_error *inner, fab_error *err) {
    FAB_PASS(take_error(a, status, inner, err));
    FAB_PASS(refresh_list(a, err));
    if (status == FAB_OK && a->model.passed[0] != '\0') {
        complain(a, a->model.passed);
    } else if (status == FAB_OK && top_model_note(&a->model)[0] != '\0') {
        complain(a, top_model_note(&a->model));
    } else if (status == FAB_OK && a->message[0] == '\0') {
        FAB_FORMAT(a->message, "answered in %s", FAB_SAY(a->model.asked_s, FAB_UNIT_TIME));
        a->is_bad = false;
    }
    a->model.passed[0] = '\0';
    return FAB_OK;
}

static fab_status break_part(top_app *a, fab_component part, fab_error *err) {
    fab_error inner = {0};
    return after_change(a, top_model_break(&a->model, &part, &inner), &inner, err);
}

/* What the selected row names, at a fraction of its speed; 1: repaired. */
static fab_status change_selected(top_app *a, double fraction, fab_error *err) {
    fab_component part;
    fab_error inner = {0};
    if (!top_view_part(&a->model, top_app_shown(a), top_app_shown(a)->row, &part)) {
        complain(a, "a phase cannot be broken: open it for its links, or Tab for switches and servers");
        return FAB_OK;
    }
    part.fraction = fraction;
    return fraction < 1 ? break_part(a, part, err)
                        : after_change(a, top_model_repair(&a->model, &part, &inner), &inner, err);
}

static fab_status take_input(top_app *a, fab_error *err) {
    const int asked = a->asks;
    fab_component part;
    fab_error inner = {0};
    a->asks = 0;
    if (a->input[0] == '\0') {
        return FAB_OK;
    }
    if (asked == '/') {
        FAB_FORMAT(a->search, "%s", a->input);
        find_next(a);
        return FAB_OK;
    }
    if (asked == 's') {
        char *end = NULL;
        const double fraction = strtod(a->input, &end);
        if (*end != '\0' || !(fraction > 0) || !(fraction < 1)) {
            complain(a, "a fraction above 0 and below 1, such as 0.5; k kills");
            return FAB_OK;
        }
        return change_selected(a, fraction, err);
    }
    fab_status status = top_model_parse(&a->model, a->input, &part, &inner);
    return status == FAB_OK ? break_part(a, part, err) : take_error(a, status, &inner, err);
}

static fab_status type_key(top_app *a, int key, fab_error *err) {
    const size_t n = strlen(a->input);
    if (key == TOP_KEY_ENTER) {
        return take_input(a, err);
    }
    if (key == TOP_KEY_ESCAPE) {
        a->asks = 0;
    } else if (key == TOP_KEY_ERASE && n > 0) {
        a->input[n - 1] = '\0';
    } else if (key >= ' ' && key < 127 && n + 1 < sizeof a->input) {
        a->input[n] = (char)key;
        a->input[n + 1] = '\0';
    }
    return FAB_OK;
}

/* --- keys --------------------------------------------------------------------------------------------------------- */

static void ask_for(top_app *a, int key, const char *first) {
    a->asks = key;
    FAB_FORMAT(a->input, "%s", first);
}

static fab_status change_key(top_app *a, int key, fab_error *err) {
    top_model *m = &a->model;
    fab_error inner = {0};
    fab_status status = FAB_OK;
    switch (key) {
    case 'u':
        if (m->n_before == 0) {
            complain(a, "nothing to undo");
        }
        status = top_model_undo(m, &inner);
        break;
    case 'e': status = top_model_next_engine(m, &inner); break;
    case 'd': status = top_model_next_seed(m, &inner); break;
    case 'p': status = top_model_next_policy(m, &inner); break;
    default: status = top_model_repair_all(m, &inner); break;
    }
    return after_change(a, status, &inner, err);
}

static fab_status switch_list(top_app *a, fab_error *err) {
    a->list = a->list == TOP_PHASES ? TOP_PARTS : a->list == TOP_PARTS ? TOP_BROKEN : TOP_PHASES;
    return refresh_list(a, err);
}

bool top_app_is_slow(const top_app *a, int key) {
    return a->asks != 0 ? key == TOP_KEY_ENTER && a->asks != '/' : strchr("kruedpR\n", key) != NULL && key < 128;
}

fab_status top_app_key(top_app *a, int key, fab_error *err) {
    top_view *v = top_app_shown(a);
    a->message[0] = '\0';
    if (a->help) {
        a->help = false;
        return FAB_OK;
    }
    if (a->asks != 0) {
        return type_key(a, key, err);
    }
    switch (key) {
    case 'q': a->done = true; break;
    case '?': a->help = true; break;
    case TOP_KEY_UP: select_row(a, v->row > 0 ? v->row - 1 : 0); break;
    case TOP_KEY_DOWN: select_row(a, v->row + 1); break;
    case TOP_KEY_PAGE_UP: select_row(a, v->row > a->rows ? v->row - a->rows : 0); break;
    case TOP_KEY_PAGE_DOWN: select_row(a, v->row + a->rows); break;
    case TOP_KEY_HOME: select_row(a, 0); break;
    case TOP_KEY_END: select_row(a, v->n); break;
    case TOP_KEY_ENTER:
    case TOP_KEY_RIGHT: return open_row(a, err);
    case TOP_KEY_LEFT:
    case TOP_KEY_ERASE:
    case TOP_KEY_ESCAPE: return go_back(a, err);
    case '\t': return switch_list(a, err);
    case 'o': top_view_next_order(v); return refresh_list(a, err);
    case 'k': return change_selected(a, 0, err);
    case 'r': return change_selected(a, 1, err);
    case 's': ask_for(a, key, "0.5"); break;
    case 'b':
    case '/': ask_for(a, key, ""); break;
    case 'n': find_next(a); break;
    case 'u':
    case 'e':
    case 'd':
    case 'p':
    case 'R': return change_key(a, key, err);
    default: break;
    }
    return FAB_OK;
}

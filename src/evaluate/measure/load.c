/* Conservation of loads. */
#include "fab/replay.h"

fab_status fab_check_conservation(const fab_fabric *f, const double *load, fab_error *err) {
    double entered = 0;
    double left = 0;
    for (fab_node_id v = f->first[FAB_NODE_NIC]; v < f->n_nodes; v++) {
        double in = 0;
        double out = 0;
        bool is_nic = v < f->first[FAB_NODE_DOMAIN];
        FAB_EACH_LINK(f, v, link) {
            out += load[link];
            in += load[link ^ 1U];
            if (is_nic && fab_class_of(f, link)->kind == FAB_LINK_ACCESS) {
                entered += load[link];
                left += load[link ^ 1U];
            }
        }
        if (fabs(in - out) > 1e-9 * fmax(in, out)) {
            return fab_fail(err, FAB_EINTERNAL, FAB_SAY_NODE(f, v), "receives %.17g but sends %.17g", in, out);
        }
    }
    FAB_REFUSE_IF(fabs(entered - left) > 1e-9 * fmax(entered, left), err, FAB_EINTERNAL, NULL,
                  "%.17g enters the network but %.17g leaves it", entered, left);
    return FAB_OK;
}

#include "fab/network_write.h"

#include <errno.h>

const fab_network_writer *const fab_network_writers[] = {&fab_network_cables,
                                                         &fab_network_ptm,
                                                         &fab_network_slurm_tree,
                                                         &fab_network_slurm_block,
                                                         &fab_network_slurm_tree_yaml,
                                                         &fab_network_containerlab,
                                                         &fab_network_netbox_csv,
                                                         &fab_network_sonic,
                                                         &fab_network_frr,
                                                         &fab_network_topograph_model,
                                                         &fab_network_kueue,
                                                         NULL};

fab_status fab_network_write(const fab_network_writer *writer, fab_network *net, FILE *out, fab_error *err) {
    FAB_OWNS(fab_shape_release) fab_shape shape = {.net = NULL};
    FAB_PASS(fab_shape_find(net, &shape, err));
    errno = 0;
    FAB_PASS(writer->write(&shape, out, err));
    FAB_REFUSE_IF(fflush(out) != 0 || ferror(out), err, FAB_EIO, NULL, "cannot write: %s",
                  errno != 0 ? strerror(errno) : "a write failed");
    return FAB_OK;
}

#include "fab/site_write.h"

#include <errno.h>
#include <string.h>

const fab_site_writer *const fab_site_writers[] = {&fab_site_cables,      &fab_site_ptm,          &fab_site_slurm_tree,
                                                   &fab_site_slurm_block, &fab_site_containerlab, NULL};

fab_status fab_site_write(const fab_site_writer *writer, fab_site *site, FILE *out, fab_error *err) {
    fab_status status = FAB_OK;
    fab_shape shape = {.site = NULL};
    FAB_TRY(fab_shape_find(site, &shape, err));
    errno = 0;
    FAB_TRY(writer->write(&shape, out, err));
    if (fflush(out) != 0 || ferror(out)) {
        FAB_FAIL(err, FAB_EIO, NULL, "cannot write: %s", errno != 0 ? strerror(errno) : "a write failed");
    }
done:
    fab_shape_release(&shape);
    return status;
}

#include "world.h"

#ifdef FAB_WITH_MPI

#include <mpi.h>

fab_status cli_world_enter(cli_world *out, fab_error *err) {
    int rank = 0;
    int size = 1;
    FAB_REFUSE_IF(MPI_Init(NULL, NULL) != MPI_SUCCESS || MPI_Comm_rank(MPI_COMM_WORLD, &rank) != MPI_SUCCESS ||
                      MPI_Comm_size(MPI_COMM_WORLD, &size) != MPI_SUCCESS,
                  err, FAB_EIO, "MPI", "cannot join the other processes");
    *out = (cli_world){(uint64_t)rank, (uint64_t)size};
    return FAB_OK;
}

void cli_world_leave(void) {
    (void)MPI_Finalize();
}

#else

fab_status cli_world_enter(cli_world *out, FAB_UNUSED fab_error *err) {
    *out = (cli_world){0, 1};
    return FAB_OK;
}

void cli_world_leave(void) {}

#endif

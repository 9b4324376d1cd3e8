// What the MPI examples share.
#ifndef EXAMPLES_TIMELINE_WORLD_H
#define EXAMPLES_TIMELINE_WORLD_H

#include "../common.h"
#include <mpi.h>

// MPI's own error handler ends the program; what is left to check are the device's errors.
struct World {
    int rank, size;
    World(int *argc, char ***argv)
    {
        MPI_Init(argc, argv);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        int devices;
        CHECK(cudaGetDeviceCount(&devices));
        CHECK(cudaSetDevice(rank % devices));
    }
    // Right if it is on every rank; rank 0 prints it.
    int verdict_of_all(const char *name, bool right)
    {
        int mine = right, all;
        MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
        MPI_Finalize();
        if (rank == 0) return verdict(name, all != 0);
        return all ? 0 : 1;
    }
};

#endif

/* Loads a library that uses MPI and calls its main(), as Python loads its modules: MPI comes into
 * the process late, and out of sight of others. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    void *const library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    int (*const entry)(int, char **) =
        library ? (int (*)(int, char **))dlsym(library, "main") : NULL;
    if (!entry) {
        fprintf(stderr, "%s\n", dlerror());
        return 2;
    }
    return entry(1, argv);
}

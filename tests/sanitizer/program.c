/* A program that initialises CUDA, says so, and ends with a status of its own. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    (void)argv;
    void *const driver = dlopen("libcuda.so.1", RTLD_NOW);
    int (*init)(unsigned) = NULL;
    if (driver) *(void **)&init = dlsym(driver, "cuInit");
    printf("%s\n", init ? init(0) ? "CUDA fails" : "CUDA works" : "no CUDA");
    return argc > 1 ? 7 : 0;
}

// The user's source files go into the object, headers by name only.
//@ headers
__global__ void k(float *a)
{
    atomicAdd(a, 1.0f); // a mark to be found again
}
//@ ir ^![0-9]+ = !\{!"/.*/cases/sources.cu", !"// The user's source files .*a mark to be found again
//@ ir ^![0-9]+ = !\{!"/.*/__clang_cuda_[a-z_]+.h", !""\}|!\{!"/.*/record/cpu/include/.*", !""\}
//@ no-ir ^![0-9]+ = !\{!"/.*/include/.*", !".*[a-z]

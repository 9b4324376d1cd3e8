// Values in words of eight bytes: of loads, stores, atomics, copies.
//@ env CTS_VALUES=1
typedef float float4v __attribute__((ext_vector_type(4)));
struct odd {
    char c[13];
};
__global__ void k(float4v *v, double *d, odd *o, unsigned char *b, int *i, int n)
{
    v[1] = v[0];
    d[1] = d[0];
    o[1] = o[0];
    b[1] = b[0];
    __nvvm_atom_cas_gen_i(i, 1, 2);
    __nvvm_atom_add_gen_i(i, 2);
    __builtin_memset(b + 100, n, 13);
    __builtin_memcpy(b, i, n);
}
//@ ir extractvalue \{ i32, i1 \} %[0-9]+, 0
//@ ir lshr i128 %[0-9]+, 64
//@ ir call void @__cts_value\(i32 0, i64
//@ ir zext i8 %[0-9]+ to i64
//@ ir mul i64 %[0-9]+, 72340172838076673
//@ has atomic cas 4

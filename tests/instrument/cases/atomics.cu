// Every kind of atomic: the instructions atomicrmw and cmpxchg, and NVVM's intrinsics.
__global__ void k(int *c, unsigned *u, long long *l, float *f, double *d)
{
    __nvvm_atom_add_gen_i(c, 1);
    __nvvm_atom_xchg_gen_i(c, 2);
    __nvvm_atom_max_gen_i(c, 3);
    __nvvm_atom_min_gen_ui(u, 4);
    __nvvm_atom_inc_gen_ui(u, 5);
    __nvvm_atom_dec_gen_ui(u, 6);
    __nvvm_atom_and_gen_i(c, 7);
    __nvvm_atom_or_gen_i(c, 8);
    __nvvm_atom_xor_gen_i(c, 9);
    __nvvm_atom_cas_gen_ll(l, 10, 11);
    __nvvm_atom_add_gen_f(f, 12);
    __nvvm_atom_add_gen_d(d, 13);
    __nvvm_atom_cta_add_gen_i(c, 14);
    __nvvm_atom_sys_max_gen_ll(l, 15);
    __nvvm_atom_cta_cas_gen_i(c, 16, 17);
    __sync_fetch_and_sub(c, 18);
    __sync_fetch_and_nand(c, 19);
    __atomic_store_n(c, 20, __ATOMIC_RELAXED);
    c[1] = __atomic_load_n(c, __ATOMIC_RELAXED);
}
//@ has 4:5 atomic add 4 global .*variable='c'
//@ has 5:5 atomic exch 4
//@ has 6:5 atomic max 4
//@ has 7:5 atomic min 4 .*type='unsigned int' variable='u'
//@ has 8:5 atomic inc 4
//@ has 9:5 atomic dec 4
//@ has 10:5 atomic and 4
//@ has 11:5 atomic or 4
//@ has 12:5 atomic xor 4
//@ has 13:5 atomic cas 8 .*type='long long' variable='l'
//@ has 14:5 atomic add 4 .*type='float' variable='f'
//@ has 15:5 atomic add 8 .*type='double' variable='d'
//@ has 16:5 atomic add 4
//@ has 17:5 atomic max 8
//@ has 18:5 atomic cas 4
//@ has 19:5 atomic sub 4
//@ has 20:5 atomic 4
//@ has 21:5 store 4
//@ has 22:[0-9]+ load 4
//@ count 20 ^site

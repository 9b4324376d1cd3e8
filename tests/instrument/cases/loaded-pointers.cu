// Pointers that are loaded from memory: from a struct in global memory, from an array of pointers.
struct node {
    int key;
    node *next;
    float v[4];
};
__global__ void list(node *head, float *out)
{
    float sum = 0;
    for (node *n = head; n; n = n->next)
        sum += n->v[2];
    out[0] = sum;
}
__global__ void rows(float **row, int n)
{
    row[n][LANE] = 1;
}
__global__ void second(node *head, float *out)
{
    out[LANE] = head->next->v[LANE & 3];
}
//@ has 11:16 load 4 global depth=1 loop=0 function='list\(node\*, float\*\)' type='float' variable='n->v'
//@ has 10:36 load 8 global depth=1 .*type='node\*' variable='n->next'
//@ has 12:12 store 4 global depth=0 loop=-1 .*type='float' variable='out'
//@ has load 8 global .*function='rows.*type='float\*' variable='row'
//@ has store 4 global .*function='rows.*type='float' variable='row'
//@ has load 4 global .*function='second.*type='float' variable='head->next->v'
//@ no generic

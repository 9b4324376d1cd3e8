// CTAs add to records under a lock per record. 1: no fence before the lock is given back. 2: the
// record is read before the lock is taken.
// only: faults
#include "../pairs/pair.h"
enum { RECORDS = 4 };
struct Account {
    int lock;
    long balance, moves;
};

__global__ void move(Account *all)
{
    if (threadIdx.x) return;
    for (int k = 0; k < 12; k++) {
        Account &a = all[(blockIdx.x + k) % RECORDS];
#if DEFECT == 2
        const long before = a.balance;
        while (atomicCAS(&a.lock, 0, 1)) {
        }
        __threadfence();
#else
        while (atomicCAS(&a.lock, 0, 1)) {
        }
        __threadfence();
        const long before = a.balance;
#endif
        a.balance = before + k; // @1 possible race // @2 possible race
        a.moves++;              // @1 possible race
#if DEFECT != 1
        __threadfence();
#endif
        atomicExch(&a.lock, 0);
    }
}

int main()
{
    Account *all = device_zeros<Account>(RECORDS);
    move<<<8, 32>>>(all);
    CHECK(cudaDeviceSynchronize());
}

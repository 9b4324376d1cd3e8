// The host's side of a __managed__ variable is a declaration of the device's object.
//@ host
//@ headers
//@ env CTS_DEVICE=cpu CTS_TU=unit7
__managed__ int total = 3;
__device__ int other;
int main()
{
    total += 2;
    return total;
}
//@ ir ^@cts.managed.unit7.total = external hidden global i32
//@ no-ir ^@total
//@ no-ir cts.managed.unit7.other

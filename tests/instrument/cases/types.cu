// Names of element types.
typedef struct {
    int a, b;
} pair;
namespace shapes {
template <int N> struct vec {
    float v[N];
};
enum class color { red };
} // namespace shapes
typedef double real;
struct bits {
    unsigned low : 4, high : 28;
};
__global__ void k(pair *p, shapes::vec<3> *v, shapes::color *c, const real *r, bits *b, void *raw)
{
    p[LANE] = p[LANE + 1];
    v[LANE].v[1] = 2;
    c[LANE] = shapes::color::red;
    ((real *)raw)[LANE] = r[LANE];
    b[LANE].high = 3;
    v[0] = v[1];
}
//@ has load 8 global .*type='pair' variable='p'
//@ has store 4 global .*type='float' variable='v->v'
//@ has store 4 global .*type='shapes::color' variable='c'
//@ has load 8 global .*type='double' variable='r'
//@ has store 8 global .*type='double' variable='raw'
//@ has store 4 global .*variable='b.*'
//@ has store 12 global .*type='shapes::vec<3>' variable='v'

#define MAX_POS 81
#define SEARCH 4
#define SIDE 9
struct image_i16 { int width, height; unsigned short *data; };
extern "C" void sad_on_gpu(const image_i16 *ref, const image_i16 *cur, unsigned short *sad4, unsigned short *sad8);

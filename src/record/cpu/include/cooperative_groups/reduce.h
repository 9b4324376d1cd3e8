/* All of cooperative groups is in one header. */
#include "../cooperative_groups.h"

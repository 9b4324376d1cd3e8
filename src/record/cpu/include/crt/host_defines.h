#include "../ctascope/host_defines.h"

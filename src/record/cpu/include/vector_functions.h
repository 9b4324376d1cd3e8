#include "ctascope/vector_types.h"

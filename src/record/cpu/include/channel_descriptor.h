#include "ctascope/runtime.h"

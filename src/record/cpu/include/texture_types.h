#include "ctascope_runtime_api.h"

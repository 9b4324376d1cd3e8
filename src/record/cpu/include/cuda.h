#include "ctascope_driver_api.h"

void other_unit(int n);

template <typename T> void reference(int n, const T *pos, T *acc, T softening) {
  for (int i = 0; i < n; i++) { acc[3*i] = acc[3*i+1] = acc[3*i+2] = 0;
    for (int j = 0; j < n; j++) { T d[3], r2 = softening; for (int c = 0; c < 3; c++) { d[c] = pos[4*j+c] - pos[4*i+c]; r2 += d[c]*d[c]; } T s = pos[4*j+3] / (r2 * std::sqrt(r2)); for (int c = 0; c < 3; c++) acc[3*i+c] += d[c]*s; } } }

#include<fstream>
#include<iostream>
#include<vector>
bool readColMajorMatrixFile(const char *fn, int &nr_row, int &nr_col, std::vector<float>&v)
{
  std::fstream f(fn, std::fstream::in);
  if ( !f.good() ) return false;
  f >> nr_row; f >> nr_col;
  float data;
  while (f.good() ) {
    f >> data;
    if (f.fail()) break;
    v.push_back(data);
  }
  std::cerr << "Matrix dimension: "<<nr_row<<"x"<<nr_col<<std::endl;
  return (int) v.size() == nr_row * nr_col;
}

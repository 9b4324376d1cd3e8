#ifndef RESULT_DATABASE_H
#define RESULT_DATABASE_H
#include <string>
#include <vector>
#include <map>
#include <stdexcept>
class ResultDatabase {
  public:
    struct Result { std::string test, unit; std::vector<double> value; double mean() const; };
    void AddResult(const std::string &test, const std::string &unit, double value);
    void Dump() const;
  protected:
    std::map<std::string, Result> results;
};
#endif

#include "ResultDatabase.h"
#include <numeric>
#include <iostream>
#include <iomanip>
double ResultDatabase::Result::mean() const {
    if (value.empty()) throw std::out_of_range("no value");
    return std::accumulate(value.begin(), value.end(), 0.0) / value.size();
}
void ResultDatabase::AddResult(const std::string &test, const std::string &unit, double v) { Result &r = results[test]; r.test = test; r.unit = unit; r.value.push_back(v); }
void ResultDatabase::Dump() const {
    for (std::map<std::string, Result>::const_iterator i = results.begin(); i != results.end(); ++i)
        std::cout << std::setw(20) << i->first << " " << std::scientific << i->second.mean() << " " << i->second.unit << std::endl;
}

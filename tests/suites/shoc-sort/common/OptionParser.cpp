#include "OptionParser.h"
#include <sstream>
#include <iostream>
using namespace std;
void OptionParser::addOption(const string &n, OptionType, const string &d, const string &)
{
    optionMap[n] = d;
}
long long OptionParser::getOptionInt(const string &name) const
{
    long long v = 0;
    OptionMap::const_iterator i = optionMap.find(name);
    if (i != optionMap.end()) {
        stringstream ss(i->second);
        ss >> v;
    }
    return v;
}
bool OptionParser::getOptionBool(const string &name) const
{
    return getOptionInt(name) != 0;
}
bool OptionParser::parse(int argc, const char *const argv[])
{
    for (int i = 1; i + 1 < argc; i += 2) optionMap[string(argv[i]).substr(2)] = argv[i + 1];
    return true;
}

#ifndef OPTION_PARSER_H
#define OPTION_PARSER_H
#include <string>
#include <map>
enum OptionType {
    OPT_FLOAT,
    OPT_INT,
    OPT_STRING,
    OPT_BOOL,
    OPT_VECFLOAT,
    OPT_VECINT,
    OPT_VECSTRING
};
class OptionParser
{
    typedef std::map<std::string, std::string> OptionMap;
    OptionMap optionMap;

  public:
    void addOption(const std::string &longName, OptionType type, const std::string &optionDefault,
                   const std::string &helpText = "No help specified");
    long long getOptionInt(const std::string &name) const;
    bool getOptionBool(const std::string &name) const;
    bool parse(int argc, const char *const argv[]);
};
#endif

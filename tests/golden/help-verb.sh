ctascope dump --help
ctascope help dump | cmp - - && ctascope help nothing

ctascope info --fromat json r
ctascope info --nonsense r
ctascope info -x r

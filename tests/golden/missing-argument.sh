ctascope info
ctascope info --format
ctascope record

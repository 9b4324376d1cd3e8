ctascope info a b

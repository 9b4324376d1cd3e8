ctascope info --format csv r

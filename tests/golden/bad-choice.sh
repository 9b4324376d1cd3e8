ctascope info --format csv r
ctascope report r --threads x

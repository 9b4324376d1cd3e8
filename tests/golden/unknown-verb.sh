ctascope inof r; ctascope frobnicate; ctascope --vresion

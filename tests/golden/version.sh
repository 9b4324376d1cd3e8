ctascope --version

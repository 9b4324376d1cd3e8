# findings in SARIF: paths below the root, fingerprints that stay from version to version
make-run long-names r
ctascope access r --format sarif --source-root / | sed -n '/"results"/,$p'
ctascope access r --fail-on fault >/dev/null
echo "$?"
ctascope access r --fail-on finding >/dev/null
echo "$?"
ctascope access r --source-root /
echo "$?"

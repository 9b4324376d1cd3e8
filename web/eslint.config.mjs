// The linter's rules for the page and for what tests it in a browser; tools/check-web runs it.
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import hooks from "eslint-plugin-react-hooks";
import ts from "typescript-eslint";

const here = dirname(fileURLToPath(import.meta.url));

export default ts.config(
    ts.configs.recommended,
    {
        plugins: { "react-hooks": hooks },
        linterOptions: { reportUnusedDisableDirectives: "error" },
        rules: {
            "max-lines-per-function": ["error", { max: 100 }],
            "max-len": ["error", { code: 120, tabWidth: 4, ignoreRegExpLiterals: true }],
            eqeqeq: ["error", "always", { null: "ignore" }],
            "no-var": "error",
            "prefer-const": "error",
            "react-hooks/rules-of-hooks": "error",
            // Checked by the compiler (tsconfig.json) or said on purpose: `x!` where an index is known to exist.
            "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_", ignoreRestSiblings: true }],
            "@typescript-eslint/no-non-null-assertion": "off",
        },
    },
    {
        // Node runs these, also Debian 12's: 18, which has nothing of ECMAScript 2023 that makes a copy.
        files: ["**/*.mjs"],
        rules: {
            "no-restricted-syntax": [
                "error",
                {
                    selector:
                        "CallExpression > MemberExpression.callee" +
                        "[property.name=/^(toSorted|toReversed|toSpliced|groupBy|withResolvers|fromAsync)$/]",
                    message: "Node 18 (Debian 12) does not have this function.",
                },
            ],
        },
    },
    {
        files: ["web/src/**/*.ts", "web/src/**/*.tsx"],
        languageOptions: { parserOptions: { project: join(here, "tsconfig.json") } },
        rules: {
            "@typescript-eslint/no-floating-promises": "error",
            "@typescript-eslint/await-thenable": "error",
            "@typescript-eslint/no-unnecessary-type-assertion": "error",
            "@typescript-eslint/switch-exhaustiveness-check": ["error", { considerDefaultExhaustiveForUnions: true }],
        },
    },
);

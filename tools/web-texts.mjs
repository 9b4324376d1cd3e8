// The texts of the page that a person may read, for tools/check-prose: string literals, templates, and the text of
// elements. What is put together of several parts is one text, with x for what is computed.
//     node web-texts.mjs FILE...      prints [{ file, line, text }] as JSON
//     node web-texts.mjs -            the same of a source file on standard input
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(new URL("../web/package.json", import.meta.url));
const ts = require("typescript");

// Attributes that nobody reads, and elements that stand in a line of text.
const UNREAD = new Set(["class", "style", "key", "role", "id"]),
    INLINE = new Set(["a", "b", "code", "em", "i", "kbd", "span", "sub", "sup"]);

// What belongs to a text that has been taken whole.
const taken = new WeakSet();

// The words of an expression, or null where it is not made of text.
function wordsOf(node) {
    const words = (() => {
        if (ts.isStringLiteralLike(node)) return node.text;
        if (ts.isParenthesizedExpression(node)) return wordsOf(node.expression);
        if (ts.isTemplateExpression(node))
            return node.head.text + node.templateSpans.map((span) => `x${span.literal.text}`).join("");
        if (!ts.isBinaryExpression(node) || node.operatorToken.kind !== ts.SyntaxKind.PlusToken) return null;
        const parts = [wordsOf(node.left), wordsOf(node.right)];
        return parts.every((part) => part === null) ? null : parts.map((part) => part ?? "x").join("");
    })();
    if (words !== null) taken.add(node);
    return words;
}

// The running text of an element with that of the elements in it, each block on a line of its own; of what is
// computed, x.
function runningText(node) {
    taken.add(node);
    if (ts.isJsxText(node)) return node.text.replace(/\s+/g, " ");
    if (ts.isJsxExpression(node)) return node.expression ? (wordsOf(node.expression) ?? "x") : "";
    const text = (node.children ?? []).map(runningText).join("");
    return ts.isJsxElement(node) && INLINE.has(node.openingElement.tagName.getText()) ? text : `\n${text}\n`;
}

function textsOf(file, source) {
    const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true, ts.ScriptKind.TSX),
        texts = [];
    const visit = (node) => {
        if (ts.isImportDeclaration(node) || (ts.isJsxAttribute(node) && UNREAD.has(node.name.getText()))) return;
        if (!taken.has(node)) {
            const isElement = ts.isJsxElement(node) || ts.isJsxFragment(node),
                line = tree.getLineAndCharacterOfPosition(node.getStart()).line + 1;
            const words = isElement ? runningText(node) : (wordsOf(node)?.replace(/\s+/g, " ") ?? "");
            // One word is a name: of a field, a view, a key.
            for (const text of words.split("\n").map((part) => part.trim()))
                if (text.includes(" ")) texts.push({ file, line, text });
        }
        ts.forEachChild(node, visit);
    };
    visit(tree);
    return texts;
}

const files = process.argv.slice(2);
const sources = files.map((file) => [file, readFileSync(file === "-" ? 0 : file, "utf8")]);
console.log(JSON.stringify(sources.flatMap(([file, source]) => textsOf(file, source))));

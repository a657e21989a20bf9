import {
  findNodes,
  isNode,
  nameOf,
  nodeAt,
  nodesAt,
  placeOf,
  type SourceFile,
  type SyntaxNode,
} from "../support/syntax.ts";

/** Real time, chance and timers, each as the name that a call has in the source. */
const CLOCK_CALLS = new Set([
  "Date.now",
  "Math.random",
  "performance.now",
  "process.hrtime",
  "crypto.randomUUID",
  "crypto.getRandomValues",
  "randomUUID",
  "AbortSignal.timeout",
  "setTimeout",
  "setInterval",
  "setImmediate",
]);
const NODE_GLOBALS = new Set(["process", "Buffer", "require", "__dirname", "__filename", "global"]);
const TEST_FUNCTIONS = new Set(["it", "test", "describe", "suite", "bench"]);
const NOT_RUN = new Set(["skip", "only", "todo", "fails"]);
// Spelt in halves, so that a search for such words does not find this line.
const UNFINISHED = /\b(?:TO(?:DO)|FIX(?:ME)|X(?:XX))\b/;
const SILENCED = /@ts-(?:ignore|expect-error|nocheck)/;

/** Calls that read real time, draw chance or set real timers. */
export function clockCalls(file: SourceFile): string[] {
  const calls = findNodes(file.program, ({ type }) => type === "CallExpression")
    .map((call) => ({ call, name: calleeName(nodeAt(call, "callee")).replace(/^globalThis\./, "") }))
    .filter(({ name }) => CLOCK_CALLS.has(name))
    .map(({ call, name }) => `${placeOf(file, call.start)}: ${name}`);
  const dates = findNodes(file.program, isDateOfNow).map((node) => `${placeOf(file, node.start)}: new Date()`);
  return [...calls, ...dates];
}

/** Timers that a test would wait for. */
export function realTimers(file: SourceFile): string[] {
  return findNodes(file.program, ({ type }) => type === "CallExpression")
    .map((call) => ({ call, name: calleeName(nodeAt(call, "callee")).replace(/^globalThis\./, "") }))
    .filter(({ name }) => /^(?:setTimeout|setInterval|sleep|delay)$/.test(name))
    .map(({ call, name }) => `${placeOf(file, call.start)}: ${name}`);
}

/** Globals that only Node has. */
export function nodeGlobals(file: SourceFile): string[] {
  return findNodes(file.program, isNodeGlobal).map((node) => `${placeOf(file, node.start)}: ${String(nameOf(node))}`);
}

/** Promises that are told by their class, which those of another realm or library are not of. */
export function ownPromises(file: SourceFile): string[] {
  return findNodes(file.program, ({ type, operator }) => type === "BinaryExpression" && operator === "instanceof")
    .filter((node) => calleeName(nodeAt(node, "right")).replace(/^globalThis\./, "") === "Promise")
    .map(({ start }) => `${placeOf(file, start)}: instanceof Promise`);
}

/** Types that check nothing, and comments that silence the checker. */
export function uncheckedTypes(file: SourceFile): string[] {
  const anys = findNodes(file.program, ({ type }) => type === "TSAnyKeyword").map(
    ({ start }) => `${placeOf(file, start)}: any`,
  );
  const silenced = file.comments
    .filter(({ value }) => SILENCED.test(value))
    .map(({ start }) => `${placeOf(file, start)}: the checker is silenced`);
  return [...anys, ...silenced];
}

/** Words for work that is not done, in comments. */
export function unfinishedMarks(file: SourceFile): string[] {
  return file.comments.filter(({ value }) => UNFINISHED.test(value)).map(({ start }) => placeOf(file, start));
}

/** Tests that do not run, or that keep others from running; `skipIf` and `runIf` say why and may stay. */
export function unrunTests(file: SourceFile): string[] {
  return findNodes(file.program, ({ type }) => type === "MemberExpression")
    .map((node) => ({ node, parts: calleeName(node).split(".") }))
    .filter(({ parts }) => TEST_FUNCTIONS.has(parts[0] ?? "") && parts.slice(1).some((part) => NOT_RUN.has(part)))
    .map(({ node, parts }) => `${placeOf(file, node.start)}: ${parts.join(".")}`);
}

// `a.b.c` for a chain of names, "" for what is none.
function calleeName(callee: SyntaxNode): string {
  if (callee.type !== "MemberExpression") {
    return nameOf(callee) ?? "";
  }
  return `${calleeName(nodeAt(callee, "object"))}.${nameOf(nodeAt(callee, "property")) ?? ""}`;
}

function isDateOfNow(node: SyntaxNode): boolean {
  return (
    node.type === "NewExpression" &&
    nameOf(nodeAt(node, "callee")) === "Date" &&
    nodesAt(node, "arguments").length === 0
  );
}

function isNodeGlobal(node: SyntaxNode, [parent]: readonly SyntaxNode[]): boolean {
  if (node.type !== "Identifier" || !NODE_GLOBALS.has(String(nameOf(node))) || parent === undefined) {
    return false;
  }
  const isMember = parent.type === "MemberExpression" && parent.property === node && parent.computed !== true;
  const isKey = isNode(parent.key) && parent.key === node && parent.shorthand !== true;
  return !isMember && !isKey;
}

import { childrenOf, nameOf, nodeAt, nodesAt, type SourceFile, type SyntaxNode } from "../test/support/syntax.ts";

/** A test that runs, with the titles of the groups around it before its own. */
export interface TestTitle {
  readonly path: string;
  readonly title: string;
}

const KINDS: Readonly<Record<string, TestCall["kind"]>> = {
  describe: "group",
  suite: "group",
  it: "test",
  test: "test",
};
const NOT_RUN = new Set(["skip", "todo"]);

/**
 * Every test of a file. A title counts where it stands as text in the call (`it("...")`, `it.each(...)("...")`,
 * `it.skipIf(...)("...")`, parts of a template included); a group without a test in it counts for nothing.
 */
export function testTitles(file: SourceFile): TestTitle[] {
  return titlesBelow(file.program, "").map((title) => ({ path: file.path, title }));
}

interface TestCall {
  readonly kind: "group" | "test";
  readonly title: string;
  readonly isRun: boolean;
}

function titlesBelow(node: SyntaxNode, around: string): string[] {
  const call = readTestCall(node);
  if (call === undefined) {
    return childrenOf(node).flatMap((child) => titlesBelow(child, around));
  }
  if (!call.isRun) {
    return [];
  }
  const title = `${around} ${call.title}`.trim();
  return call.kind === "test" ? [title] : childrenOf(node).flatMap((child) => titlesBelow(child, title));
}

function readTestCall(node: SyntaxNode): TestCall | undefined {
  const [root = "", ...parts] = node.type === "CallExpression" ? namesOf(nodeAt(node, "callee")) : [];
  const kind = Object.hasOwn(KINDS, root) ? KINDS[root] : undefined;
  const title = titleOf(node);
  return kind === undefined || title === undefined
    ? undefined
    : { kind, title, isRun: !parts.some((part) => NOT_RUN.has(part)) };
}

// `it.each([...])` is called on a call, `it.concurrent.each` on a chain: the names along the way.
function namesOf(callee: SyntaxNode): string[] {
  switch (callee.type) {
    case "CallExpression":
      return namesOf(nodeAt(callee, "callee"));
    case "TaggedTemplateExpression":
      return namesOf(nodeAt(callee, "tag"));
    case "MemberExpression":
      return [...namesOf(nodeAt(callee, "object")), nameOf(nodeAt(callee, "property")) ?? ""];
    default:
      return [nameOf(callee) ?? ""];
  }
}

function titleOf(node: SyntaxNode): string | undefined {
  const [first] = node.type === "CallExpression" ? nodesAt(node, "arguments") : [];
  if (first?.type === "TemplateLiteral") {
    return nodesAt(first, "quasis")
      .map(({ value }) => String((value as { readonly cooked?: unknown }).cooked ?? ""))
      .join(" ");
  }
  return first?.type === "Literal" ? nameOf(first) : undefined;
}

import { type AnyTool, defineTool, jsonSchema, type ToolRisk } from "toolkernel";

/** The fixture tools of the case catalogue, and what they have done. Bodies answer at once. */
export interface CaseTools {
  readonly tools: readonly AnyTool[];
  /** Every body that ran, as `name first-argument`, in order. */
  readonly done: readonly string[];
}

interface CaseTool {
  readonly name: string;
  readonly risk: ToolRisk;
  readonly properties: Readonly<Record<string, object>>;
  readonly optional?: readonly string[];
  readonly tracked?: boolean;
  readonly key?: string;
}

const TEXT = { type: "string" };
const EDITS = {
  type: "array",
  items: { type: "object", properties: { oldText: TEXT, newText: TEXT }, required: ["oldText", "newText"] },
};

const CASE_TOOLS: readonly CaseTool[] = [
  { name: "read", risk: "readOnly", properties: { path: TEXT } },
  { name: "edit", risk: "nonIdempotentWrite", properties: { path: TEXT, oldText: TEXT, newText: TEXT }, key: "path" },
  { name: "edits", risk: "nonIdempotentWrite", properties: { path: TEXT, edits: EDITS }, key: "path" },
  {
    name: "shell",
    risk: "nonIdempotentWrite",
    properties: { command: TEXT, description: TEXT },
    optional: ["description"],
  },
  { name: "send", risk: "nonIdempotentWrite", properties: { to: TEXT, body: TEXT } },
  {
    name: "pay",
    risk: "nonIdempotentWrite",
    properties: { account: TEXT, cents: { type: "integer" } },
    key: "account",
  },
  { name: "poll", risk: "readOnly", properties: { job: TEXT }, tracked: false },
  { name: "noargs", risk: "readOnly", properties: {} },
  { name: "page", risk: "readOnly", properties: { path: TEXT, limit: { type: "integer" } }, optional: ["limit"] },
];

/** Makes the fixture tools; `answer` says what a body answers. */
export function caseTools(answer: (name: string, count: number) => unknown = () => "ok"): CaseTools {
  const done: string[] = [];
  const tools = CASE_TOOLS.map(({ name, risk, properties, optional = [], tracked = true, key }) => {
    const required = Object.keys(properties).filter((property) => !optional.includes(property));
    return defineTool({
      name,
      description: `The fixture ${name}.`,
      inputSchema: jsonSchema<Record<string, unknown>>({
        type: "object",
        properties,
        required,
        additionalProperties: false,
      }),
      risk,
      trackExactRepeats: tracked,
      conflictKey: key === undefined ? undefined : (given) => `${key}:${String(given[key])}`,
      execute: (given) => {
        done.push([name, ...Object.values(given).slice(0, 1).map(String)].join(" "));
        return answer(name, done.length);
      },
    }) as AnyTool;
  });
  return { tools, done };
}

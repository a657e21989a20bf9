const WORKSPACE = {
  description: "A fresh temporary folder. Its path takes the place of {workspace} in args, env and arguments.",
  type: "object",
  additionalProperties: false,
  properties: {
    files: {
      description: "Files by their path in the folder, with / between its parts.",
      type: "object",
      propertyNames: {
        description: "a relative path with / between its parts, none of them . or ..",
        pattern: "^(?!/)(?!(.*/)?\\.\\.?(/|$))[^\\\\\\u0000]*[^/\\\\\\u0000]$",
      },
      additionalProperties: { $ref: "#/$defs/file" },
    },
  },
};

const FILE = {
  description: "The content: its text, or its lines, or numbered lines that are made.",
  type: ["string", "array", "object"],
  items: { description: "One line, without its end.", type: "string" },
  required: ["lines"],
  additionalProperties: false,
  properties: {
    lines: { description: "How many lines.", type: "integer", minimum: 0, maximum: 1000000 },
    each: { description: 'One line; {n} is its number, first 1. Default "line {n}".', type: "string" },
  },
};

const SERVER = {
  type: "object",
  additionalProperties: false,
  properties: {
    package: {
      description:
        "An installed npm package whose bin is run; looked for from the file's folder, then from the current one.",
      type: "string",
      pattern: "^(@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~-][a-z0-9._~-]*$",
    },
    bin: { description: "Which bin of the package, if it has several.", type: "string", minLength: 1 },
    command: {
      description: "A program, in place of package; node is this very Node.",
      type: "string",
      minLength: 1,
    },
    args: { type: "array", items: { type: "string" } },
    env: {
      description: "Added to the few variables that a server is given.",
      type: "object",
      additionalProperties: { type: "string" },
    },
    trusted: {
      description: "Whether the server's hints decide the risk of its tools. Default false.",
      type: "boolean",
    },
    prefix: { description: "Put before the names of its tools.", type: "string" },
    only: {
      description: "The tools to offer, by the server's own names. Default all.",
      type: "array",
      items: { type: "string" },
    },
    tools: {
      description: "What is known of its tools, by the server's own names.",
      type: "object",
      additionalProperties: { $ref: "#/$defs/policy" },
    },
  },
  anyOf: [{ required: ["package"] }, { required: ["command"] }],
  dependentSchemas: { package: { properties: { command: false } } },
  dependentRequired: { bin: ["package"] },
};

const POLICY = {
  type: "object",
  additionalProperties: false,
  properties: {
    risk: { enum: ["readOnly", "idempotentWrite", "nonIdempotentWrite"] },
    executionMode: { enum: ["sequential", "parallel"] },
    timeoutMs: { description: "From dispatch.", type: "integer", minimum: 1 },
    trackExactRepeats: { type: "boolean" },
    throwMeans: { enum: ["uncertain", "failed"] },
    conflictKey: {
      description: "One key or several.",
      type: ["object", "array"],
      $ref: "#/$defs/key",
      items: { type: "object", $ref: "#/$defs/key" },
    },
  },
};

const KEY = {
  description: "How a conflict key is made from the arguments of a call. A call that lacks the argument is refused.",
  additionalProperties: false,
  minProperties: 1,
  maxProperties: 1,
  properties: {
    file: {
      description: "The argument that holds a path, or a list of paths; relative ones count from the workspace.",
      type: "string",
      minLength: 1,
    },
    template: {
      description: "A string; {name} stands for the argument of that name, a string, number or boolean.",
      type: "string",
      minLength: 1,
    },
  },
};

const TURN = {
  type: "object",
  required: ["calls"],
  additionalProperties: false,
  properties: {
    user: { description: "What the user said before the response.", type: "string" },
    text: { description: "What the model said beside its calls.", type: "string" },
    calls: { type: "array", items: { $ref: "#/$defs/call" } },
    reconcile: {
      description: "Whether the world is asked, before this response, what became of its uncertain actions.",
      type: "boolean",
    },
    stopReason: { description: "Default toolUse.", enum: ["stop", "toolUse", "length", "error", "aborted"] },
  },
};

const WORLD = {
  description: "A world of durable actions, kept in a journal.",
  type: "object",
  required: ["module", "input"],
  additionalProperties: false,
  properties: {
    module: {
      description:
        "A JavaScript module, relative to this file, whose default function is given { folder, faults, GameActionReceipt } and gives { handler, actions, reads? }.",
      type: "string",
      minLength: 1,
    },
    faults: {
      description: "What is to go wrong, in words of the module's own.",
      type: "object",
      additionalProperties: { type: "string" },
    },
    input: {
      description: "The player's input that every action of the conversation belongs to.",
      type: "object",
      required: ["sessionId", "actorId", "inputId", "moment"],
      additionalProperties: false,
      properties: {
        sessionId: { type: "string", minLength: 1 },
        actorId: { type: "string", minLength: 1 },
        inputId: { type: "string", minLength: 1 },
        generationId: { type: "string", minLength: 1 },
        moment: {
          type: "object",
          required: ["timelineId", "tick"],
          additionalProperties: false,
          properties: { timelineId: { type: "string", minLength: 1 }, tick: { type: "integer" } },
        },
      },
    },
  },
};

const CALL = {
  type: "object",
  required: ["id", "name", "arguments"],
  additionalProperties: false,
  properties: {
    id: { type: "string" },
    name: { description: "With the server's prefix, if it has one.", type: "string" },
    arguments: { description: "An object, or the JSON text as the model sent it.", type: ["object", "string"] },
  },
};

/**
 * The JSON Schema of a conversation file, of which `docs/conversation-file.schema.json` is the published
 * copy: `npx tsx scripts/write-schema.ts` writes that one, and a test holds the two together.
 */
export const conversationSchema: Readonly<Record<string, unknown>> = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "toolkernel conversation file",
  description:
    "Recorded model responses, the MCP servers whose tools they call, and the files they work on. Played by `toolkernel run`.",
  type: "object",
  required: ["version", "turns"],
  additionalProperties: false,
  properties: {
    $schema: { description: "For editors; not read.", type: "string" },
    version: { description: "Of this format.", const: 1 },
    title: { description: "Shown first.", type: "string", minLength: 1 },
    workspace: { $ref: "#/$defs/workspace" },
    servers: {
      description: "MCP servers by a name of your own; each is started over stdio and shut down at the end.",
      type: "object",
      minProperties: 1,
      additionalProperties: { $ref: "#/$defs/server" },
    },
    world: { $ref: "#/$defs/world" },
    limits: {
      description: "Limits of the kernel that differ from their defaults, by name.",
      type: "object",
      additionalProperties: { type: "integer", minimum: 0 },
    },
    turns: {
      description: "Model responses in order.",
      type: "array",
      minItems: 1,
      items: { $ref: "#/$defs/turn" },
    },
  },
  $defs: {
    workspace: WORKSPACE,
    file: FILE,
    server: SERVER,
    policy: POLICY,
    key: KEY,
    turn: TURN,
    world: WORLD,
    call: CALL,
  },
};

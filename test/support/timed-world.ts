import {
  type AnyTool,
  type Clock,
  defineTool,
  type GivenCall,
  type JsonObject,
  type ToolContext,
  type ToolSessionOptions,
  toolResult,
} from "toolkernel";
import { type Bench, openBench, type Running } from "./execution-bench.ts";
import { trackedClock } from "./tracked.ts";

/** A small world behind tools whose work takes time on a clock, so that overlapping calls really race. */
export interface TimedWorld {
  readonly files: Map<string, string>;
  readonly outbox: string[];
  /** What was done, in order: `edit f begins`, `edit f ends`. */
  readonly log: string[];
  /** Waits on the clock. */
  wait(ms: number): Promise<void>;
  /** The tools of the case catalogue that work on it; `overrides` by name replace any of their fields. */
  tools(overrides?: Readonly<Record<string, Partial<AnyTool>>>): AnyTool[];
}

const EDIT_MS = 10;

const pathSchema = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };
const editSchema = {
  type: "object",
  properties: { path: { type: "string" }, oldText: { type: "string" }, newText: { type: "string" } },
  required: ["path", "oldText", "newText"],
};
const commandSchema = { type: "object", properties: { command: { type: "string" } }, required: ["command"] };
const sendSchema = {
  type: "object",
  properties: { to: { type: "string" }, body: { type: "string" } },
  required: ["to", "body"],
};
const slowSchema = { type: "object", properties: { ms: { type: "integer" } }, required: ["ms"] };

/** Makes an empty world on a clock. */
export function timedWorld(clock: Clock): TimedWorld {
  const files = new Map<string, string>();
  const outbox: string[] = [];
  const log: string[] = [];
  const wait = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      clock.setTimer(clock.now() + ms, resolve);
    });
  const world: TimedWorld = {
    files,
    outbox,
    log,
    wait,
    tools: (overrides = {}) => toolsOf(world).map((tool) => ({ ...tool, ...overrides[tool.name] }) as AnyTool),
  };
  return world;
}

/** Options of {@link openWorld}: a session's, and what of the tools is other than usual. */
export type WorldOptions = Partial<ToolSessionOptions> & { readonly overrides?: Parameters<TimedWorld["tools"]>[0] };

/** A session over a {@link TimedWorld}, both on one clock. */
export function openWorld({ overrides, ...options }: WorldOptions = {}): {
  readonly world: TimedWorld;
  readonly bench: Bench;
} {
  const simulated = trackedClock();
  const world = timedWorld(simulated.clock);
  return { world, bench: openBench({ simulated, tools: world.tools(overrides), ...options }) };
}

/** Plays one response to its end, which must come within `ms`. */
export async function playIn(bench: Bench, calls: readonly GivenCall[], ms = 1_000): Promise<Running> {
  const running = await bench.start(calls);
  await bench.advance(ms);
  await running.result;
  return running;
}

function toolsOf(world: TimedWorld): AnyTool[] {
  const of = (name: string, inputSchema: JsonObject, rest: object): AnyTool =>
    defineTool({ name, description: `Does ${name}.`, inputSchema, ...rest } as never) as AnyTool;
  return [
    of("read", pathSchema, { risk: "readOnly", execute: ({ path }: { path: string }) => world.files.get(path) ?? "" }),
    of("edit", editSchema, {
      conflictKey: ({ path }: { path: string }) => `file:${path}`,
      execute: (args: Edit) => timed(world, `edit ${args.path}`, () => edit(world, args)),
    }),
    of("shell", commandSchema, {
      execute: ({ command }: { command: string }) => timed(world, command, () => runCommand(world, command)),
    }),
    of("send", sendSchema, {
      execute: ({ to, body }: { to: string; body: string }) => {
        world.outbox.push(`${to}: ${body}`);
        return { sent: true };
      },
    }),
    of("slow", slowSchema, {
      risk: "readOnly",
      execute: async ({ ms }: { ms: number }, { callId }: ToolContext) => {
        await world.wait(ms);
        return callId;
      },
    }),
  ];
}

interface Edit {
  readonly path: string;
  readonly oldText: string;
  readonly newText: string;
}

/** Reads, takes its time, and writes what it has read with the change in it: two at once lose one. */
async function edit(world: TimedWorld, { path, oldText, newText }: Edit): Promise<unknown> {
  const text = world.files.get(path);
  if (text?.includes(oldText) !== true) return toolResult({ content: "file not read", isError: true });
  await world.wait(EDIT_MS);
  world.files.set(path, text.replace(oldText, newText));
  return { edited: path };
}

async function runCommand(world: TimedWorld, command: string): Promise<unknown> {
  const [, from = "", to = "", path = ""] = /^sed -i s\/(.+)\/(.+)\/ (.+)$/.exec(command) ?? [];
  const text = world.files.get(path);
  await world.wait(EDIT_MS);
  if (text !== undefined) world.files.set(path, text.replace(from, to));
  return { exitCode: 0 };
}

async function timed(world: TimedWorld, name: string, work: () => Promise<unknown>): Promise<unknown> {
  world.log.push(`${name} begins`);
  try {
    return await work();
  } finally {
    world.log.push(`${name} ends`);
  }
}

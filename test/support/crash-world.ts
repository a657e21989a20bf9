/**
 * The world that processes of one run act in, and its judge.
 * Owns: what was begun, done and asked, by which process, under which operation id. Does not own: the store.
 */
import {
  type AgentHooks,
  type AnyTool,
  defineTool,
  type JsonObject,
  OutcomeUnknownError,
  ToolError,
  toolResult,
} from "toolkernel";
import { CRASH_TOOLS, type CrashCall } from "./crash-plans.ts";

/** Something that a process did. */
export interface Deed {
  readonly process: number;
  readonly what:
    | "begun"
    | "done"
    | "recover"
    | "authorize"
    | "rewrite"
    | "conflictKey"
    | "prepareArguments"
    | "validate";
  /** Turn and place of the call, `1:0`; empty where the tool is not told. */
  readonly place: string;
  readonly operationId: string;
}

/** A process as the world sees it. */
export interface Actor {
  readonly number: number;
  readonly isDead: () => boolean;
  /** Resolves to the end of sleep: a dead process that turns out to live. */
  readonly sleep: () => Promise<never>;
  readonly say: (how: "steer" | "followUp") => void;
}

type ToolArguments = Pick<CrashCall, "n" | "deed" | "asks" | "says">;

/** See the file header. */
export class CrashWorld {
  readonly deeds: Deed[] = [];
  readonly #spoken = new Set<string>();

  /** How often something was done with an operation, by a process or by all. */
  count(what: Deed["what"], operationId: string, process?: number): number {
    return this.deeds.filter(
      (deed) =>
        deed.what === what && deed.operationId === operationId && (process === undefined || deed.process === process),
    ).length;
  }

  /** The tools as a process has them. */
  tools(actor: Actor): readonly AnyTool[] {
    return Object.entries(CRASH_TOOLS).map(([name, { risk, ...rest }]) => {
      const note = (what: Deed["what"], place = "", operationId = ""): void => {
        this.deeds.push({ process: actor.number, what, place, operationId });
      };
      const key = "executionMode" in rest && risk !== "idempotentWrite";
      return defineTool({
        name,
        description: `The tool ${name}.`,
        inputSchema: { type: "object", required: ["n"] } as JsonObject,
        risk,
        ...("executionMode" in rest && { executionMode: rest.executionMode }),
        prepareArguments: (draft) => {
          note("prepareArguments");
          return draft;
        },
        validate: () => {
          note("validate");
          return undefined;
        },
        conflictKey: (args) => {
          note("conflictKey");
          return key ? `key ${String((args as { n?: unknown }).n)}` : undefined;
        },
        ...("recovers" in rest && {
          recover: (
            args: unknown,
            { turn, callIndex, operationId }: { turn: number; callIndex: number; operationId: string },
          ) => {
            note("recover", `${turn}:${callIndex}`, operationId);
            const isDone = this.count("done", operationId) > 0;
            return isDone ? answerOf(name, args as ToolArguments) : undefined;
          },
        }),
        execute: async (args, { turn, callIndex, operationId }) => {
          const given = args as unknown as ToolArguments; // written by the plan
          const place = `${turn}:${callIndex}`;
          note("begun", place, operationId);
          this.#speak(actor, given, operationId);
          await nextTask();
          if (actor.isDead()) await actor.sleep();
          note("done", place, operationId);
          await nextTask();
          if (actor.isDead()) await actor.sleep();
          return answerOf(name, given);
        },
      }) as AnyTool;
    });
  }

  /** Hooks that note what they are asked; the authorizer asks a person where the arguments say so. */
  hooks(actor: Actor): AgentHooks {
    const note = (what: Deed["what"], turn: number, callIndex: number, operationId: string): void => {
      this.deeds.push({ process: actor.number, what, place: `${turn}:${callIndex}`, operationId });
    };
    return {
      rewriteToolCall: ({ turn, callIndex, operationId }) => note("rewrite", turn, callIndex, operationId) as undefined,
      authorizeToolCall: ({ turn, callIndex, operationId, arguments: given }) => {
        note("authorize", turn, callIndex, operationId);
        return given.asks === true ? { ask: { n: given.n ?? null } } : undefined;
      },
    };
  }

  #speak(actor: Actor, { says }: ToolArguments, operationId: string): void {
    if (says === "nothing" || this.#spoken.has(operationId)) return;
    this.#spoken.add(operationId);
    actor.say(says);
  }
}

/** What a tool answers, the same whenever it is asked. */
function answerOf(name: string, { n, deed }: ToolArguments) {
  const value = `${name} ${n}`;
  switch (deed) {
    case "answers":
      return toolResult({ value });
    case "fails":
      throw new ToolError(`${value} failed`);
    case "losesTrack":
      throw new OutcomeUnknownError(`${value} is lost`);
    case "terminates":
      return toolResult({ value, terminate: true });
  }
}

function nextTask(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

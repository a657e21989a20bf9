/**
 * What an executor and a tool's `recover` come to, and the time that passes meanwhile, as facts of a path.
 * Owns: nothing; which of several ways a fact comes about in is the path's to say.
 */
import type { SimulatedClock } from "toolkernel/testing";
import type { Kernel } from "./kernel.ts";
import type { CallHost } from "./tool-call.host.ts";
import { TOOL_TIMEOUT_MS } from "./tool-call.model.ts";

/** How long an executor has from its signal on. */
export const GRACE_MS = 1_000;

/** What it works on. */
export interface ExecutionParts {
  readonly core: Kernel["core"];
  readonly host: CallHost;
  readonly clock: SimulatedClock;
  /** The path's; see `ChartPath`. */
  readonly variant: number;
}

/** See the file header. */
export class CallExecution {
  readonly #parts: ExecutionParts;

  constructor(parts: ExecutionParts) {
    this.#parts = parts;
  }

  /** Makes a fact of the execution happen. */
  async stimulate(type: string): Promise<void> {
    const { core, host, clock } = this.#parts;
    const { ToolError, OutcomeUnknownError, toolResult } = core;
    switch (type) {
      case "SUCCEEDED":
        host.waiting.resolve("answer", "done");
        break;
      case "FAILED":
        await this.either(
          () => host.waiting.reject("answer", new ToolError("it did not happen")),
          () => host.waiting.resolve("answer", toolResult({ value: "it did not happen", isError: true })),
        );
        break;
      case "LOST":
        await this.either(
          () => host.waiting.reject("answer", new OutcomeUnknownError("nobody knows")),
          // Of a read it would be a result like any other: a read is never uncertain (UNC-1).
          host.input.isWrite && (() => host.waiting.resolve("answer", toolResult({ outcomeUncertain: true }))),
        );
        break;
      case "THREW":
        host.waiting.reject("answer", new Error("broken"));
        break;
      case "EXECUTOR_ENDED":
        host.waiting.resolve("answer", "late");
        break;
      case "TIMED_OUT":
        await clock.advance(TOOL_TIMEOUT_MS);
        break;
      case "GRACE_OVER":
        await clock.advance(GRACE_MS);
        break;
      case "CONFIRMED":
        host.waiting.resolve("recovery", toolResult({ value: "it happened" }));
        break;
      case "DISPROVED":
        host.waiting.resolve("recovery", toolResult({ value: "it did not happen", isError: true }));
        break;
      case "UNRESOLVED":
        await this.either(
          () => host.waiting.resolve("recovery", undefined),
          () => host.waiting.reject("recovery", new Error("nobody can say")),
          () => host.waiting.resolve("recovery", { value: "no declared result" }),
          host.state === "recovering" && (() => clock.advance(TOOL_TIMEOUT_MS)),
        );
        break;
      default:
        throw new Error(`there is no stimulus for ${type}`);
    }
  }

  /** Lets a fact come about in one of the ways in which it can. */
  either(...ways: readonly ((() => void | Promise<void>) | false)[]): void | Promise<void> {
    const possible = ways.filter((way) => way !== false);
    return possible[this.#parts.variant % possible.length]?.();
  }
}

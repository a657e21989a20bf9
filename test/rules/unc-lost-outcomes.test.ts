import { ToolError, toolResult } from "toolkernel";
import { describe, expect, it } from "vitest";
import { type Ending, settle, throwsError, throwsUnknown, verdict } from "../support/unc-lost-outcomes-scene.ts";

const throwsToolError: Ending = ({ reject }) => reject(new ToolError("no such file"));

const returnsError: Ending = ({ resolve }) => resolve(toolResult({ content: "no such file", isError: true }));

const returnsFlagged: Ending = ({ resolve }) => resolve(toolResult({ value: 1, outcomeUncertain: true }));

const returns: Ending = ({ resolve }) => resolve("done");

function revokedProxy(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

describe("UNC-1: what is uncertain and what is not", () => {
  const SUCCESS = "succeeded";
  const FAILURE = "failed unspecified error";
  const uncertain = (category: string) => `uncertain ${category} error uncertain`;

  it.each([
    ["returns", returns, SUCCESS, SUCCESS, SUCCESS],
    ["returns an error", returnsError, FAILURE, FAILURE, FAILURE],
    ["throws ToolError", throwsToolError, FAILURE, FAILURE, FAILURE],
    ["throws OutcomeUnknownError", throwsUnknown, uncertain("internal"), uncertain("timeout"), uncertain("cancelled")],
    ["throws anything else", throwsError, uncertain("internal"), uncertain("timeout"), uncertain("cancelled")],
    [
      "returns a result flagged uncertain",
      returnsFlagged,
      uncertain("internal"),
      uncertain("timeout"),
      uncertain("cancelled"),
    ],
    ["never ends", undefined, undefined, uncertain("timeout"), uncertain("cancelled")],
  ] as const)("a write that %s", async (_what, ending, before, afterTimeout, afterAbort) => {
    for (const risk of ["idempotentWrite", "nonIdempotentWrite", undefined] as const) {
      if (before !== undefined) expect(verdict(await settle({ risk, ending }))).toBe(before);
      expect(verdict(await settle({ risk, ending, signalledBy: "timeout" }))).toBe(afterTimeout);
      expect(verdict(await settle({ risk, ending, signalledBy: "abort" }))).toBe(afterAbort);
    }
  });

  it.each([
    ["returns", returns, SUCCESS, SUCCESS, SUCCESS],
    ["returns an error", returnsError, FAILURE, FAILURE, FAILURE],
    ["throws ToolError", throwsToolError, FAILURE, FAILURE, FAILURE],
    ["throws OutcomeUnknownError", throwsUnknown, FAILURE, "failed timeout error", "cancelled cancelled error"],
    ["throws anything else", throwsError, FAILURE, "failed timeout error", "cancelled cancelled error"],
    ["returns a result flagged uncertain", returnsFlagged, SUCCESS, SUCCESS, SUCCESS],
    ["never ends", undefined, undefined, "failed timeout error", "cancelled cancelled error"],
  ] as const)("a read that %s is never uncertain", async (_what, ending, before, afterTimeout, afterAbort) => {
    const risk = "readOnly";
    if (before !== undefined) expect(verdict(await settle({ risk, ending }))).toBe(before);
    expect(verdict(await settle({ risk, ending, signalledBy: "timeout" }))).toBe(afterTimeout);
    expect(verdict(await settle({ risk, ending, signalledBy: "abort" }))).toBe(afterAbort);
  });

  it("throwMeans failed makes a throw before the signal certain, and none after it", async () => {
    const scene = { throwMeans: "failed", ending: throwsError } as const;
    expect(verdict(await settle(scene))).toBe(FAILURE);
    expect(verdict(await settle({ ...scene, signalledBy: "timeout" }))).toBe(uncertain("timeout"));
    expect(verdict(await settle({ ...scene, signalledBy: "abort" }))).toBe(uncertain("cancelled"));
  });

  it("throwMeans failed does not speak for OutcomeUnknownError, and throwMeans uncertain not for ToolError", async () => {
    expect(verdict(await settle({ throwMeans: "failed", ending: throwsUnknown }))).toBe(uncertain("internal"));
    expect(verdict(await settle({ throwMeans: "uncertain", ending: throwsToolError }))).toBe(FAILURE);
    expect(verdict(await settle({ throwMeans: "uncertain", ending: throwsError }))).toBe(uncertain("internal"));
  });

  it("what another copy of the package throws counts as the same declaration", async () => {
    const kind = Symbol.for("toolkernel.errorKind");
    const foreign =
      (name: string): Ending =>
      ({ reject }) =>
        reject(Object.assign(new Error(name), { [kind]: name }));
    expect(verdict(await settle({ ending: foreign("ToolError") }))).toBe(FAILURE);
    expect(verdict(await settle({ throwMeans: "failed", ending: foreign("OutcomeUnknownError") }))).toBe(
      uncertain("internal"),
    );
  });

  it.each([
    ["undefined", undefined],
    ["null", null],
    ["a text", "went wrong"],
    ["a number", 7],
    ["a frozen object", Object.freeze({})],
    ["a symbol", Symbol("went wrong")],
    ["a function", () => undefined],
    ["an object without a prototype", Object.create(null)],
    [
      "a proxy that throws",
      new Proxy(
        {},
        {
          get: () => {
            throw new Error("trap");
          },
          getPrototypeOf: () => {
            throw new Error("trap");
          },
        },
      ),
    ],
    ["a revoked proxy", revokedProxy()],
    [
      "an error whose message throws",
      Object.defineProperty(new Error("x"), "message", {
        get: () => {
          throw new Error("trap");
        },
      }),
    ],
    ["an error whose message is not a string", Object.assign(new Error("x"), { message: { deep: true } })],
    ["an error without message and name", Object.assign(new Error(""), { name: undefined })],
  ])("%s that is thrown is a throw like any other", async (_what, error) => {
    expect(verdict(await settle({ ending: ({ reject }) => reject(error) }))).toBe(uncertain("internal"));
    expect(verdict(await settle({ risk: "readOnly", ending: ({ reject }) => reject(error) }))).toBe(FAILURE);
  });

  it("the category a ToolError declares stands, and one that there is not is unspecified", async () => {
    const declared: Ending = ({ reject }) => reject(new ToolError("busy", { failureCategory: "transient" }));
    const invented: Ending = ({ reject }) => reject(new ToolError("busy", { failureCategory: "whatever" as never }));
    const unreadable: Ending = ({ reject }) =>
      reject(
        Object.defineProperty(new ToolError("busy"), "failureCategory", {
          get: () => {
            throw new Error("trap");
          },
        }),
      );
    expect(verdict(await settle({ ending: declared }))).toBe("failed transient error");
    expect(verdict(await settle({ ending: invented }))).toBe(FAILURE);
    expect(verdict(await settle({ ending: unreadable }))).toBe(FAILURE);
    expect(verdict(await settle({ ending: declared, signalledBy: "timeout" }))).toBe("failed transient error");
  });

  it("the message of a throw is shown, bounded and well-formed", async () => {
    const lone: Ending = ({ reject }) => reject(new ToolError(`${"x".repeat(9_999)}\u{1f600} and more`));
    const { result } = await settle({ ending: lone });
    expect(result.content).toEqual([{ type: "text", text: `${"x".repeat(9_999)}\ufffd…` }]);
  });
});

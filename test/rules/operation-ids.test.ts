import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { OperationIds } from "../../src/run/operation-id.ts";

const expected = (...parts: readonly (string | number)[]): string =>
  createHash("sha256")
    .update(parts.map((part) => `${String(part).length}:${part}`).join(""))
    .digest("hex");

const place = fc.record({
  turn: fc.integer({ min: 1, max: 3 }),
  callIndex: fc.nat(),
  toolName: fc.oneof(fc.string(), fc.string({ unit: "grapheme" }), fc.string({ minLength: 100, maxLength: 200 })),
});

describe("the operation id of an ordinary call", () => {
  it("RUN-6: is SHA-256 over run, turn, call index and tool name, whatever was derived before it", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme", maxLength: 200 }),
        fc.array(place, { maxLength: 10 }),
        (runId, places) => {
          const ids = new OperationIds(runId);
          expect(places.map((each) => ids.derive(each))).toEqual(
            places.map(({ turn, callIndex, toolName }) => expected(runId, turn, callIndex, toolName)),
          );
        },
      ),
    );
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findBlocker, type JudgedCall, type UncertainWrite } from "../../src/plan/uncertain-writes.ts";

const uncertain = (callId: string, conflictKeys: readonly string[], isOfThisBatch = true): UncertainWrite => ({
  operationId: `operation-${callId}`,
  callId,
  toolName: "write",
  conflictKeys,
  isOfThisBatch,
});
const write = (...conflictKeys: readonly string[]): JudgedCall => ({ isWrite: true, conflictKeys });
const read = (...conflictKeys: readonly string[]): JudgedCall => ({ isWrite: false, conflictKeys });

describe("findBlocker", () => {
  it.each([
    ["UNC-2: a shared key", write("k"), [uncertain("u", ["k"])], "u"],
    ["UNC-2: one key of several", write("a", "b"), [uncertain("u", ["c", "b"])], "u"],
    ["UNC-2: a write without a key", write(), [uncertain("u", ["k"])], "u"],
    ["UNC-2: keys all different", write("a"), [uncertain("u", ["b"])], undefined],
    ["UNC-3: an uncertain write without a key", write("k"), [uncertain("u", [])], "u"],
    ["UNC-3: and a write without one", write(), [uncertain("u", [])], "u"],
    ["UNC-1: a read of the same key", read("k"), [uncertain("u", ["k"])], undefined],
    ["UNC-1: a read after a keyless one", read(), [uncertain("u", [])], undefined],
    ["UNC-6: a shared key of an earlier batch", write("k"), [uncertain("u", ["k"], false)], "u"],
    ["UNC-6: a keyless write after an earlier batch", write(), [uncertain("u", ["k"], false)], undefined],
    ["UNC-6: a keyless one of an earlier batch", write("k"), [uncertain("u", [], false)], undefined],
    [
      "UNC-5: the first of several",
      write("a"),
      [uncertain("x", ["b"]), uncertain("u", ["a"]), uncertain("v", [])],
      "u",
    ],
    ["nothing uncertain", write("a"), [], undefined],
  ] as const)("%s", (_title, call, writes, expected) => {
    expect(findBlocker(call, writes)?.callId).toBe(expected);
  });

  it("UNC-1 to UNC-3, UNC-6: blocks exactly the writes the rules name, whatever else is uncertain", () => {
    const keys = fc.uniqueArray(fc.constantFrom<string>("a", "b", "c"), { maxLength: 3 });
    const call = fc.record({ isWrite: fc.boolean(), conflictKeys: keys });
    const writes = fc.array(fc.tuple(keys, fc.boolean()), { maxLength: 4 });
    fc.assert(
      fc.property(call, writes, (judged, given) => {
        const all = given.map(([conflictKeys, isOfThisBatch], place) =>
          uncertain(`${place}`, conflictKeys, isOfThisBatch),
        );
        const expected = all.find(({ conflictKeys, isOfThisBatch }) => {
          const sharesKey = conflictKeys.some((key) => judged.conflictKeys.includes(key));
          const isKeyless = conflictKeys.length === 0 || judged.conflictKeys.length === 0;
          return judged.isWrite && (sharesKey || (isOfThisBatch && isKeyless));
        });
        expect(findBlocker(judged, all)).toBe(expected);
      }),
    );
  });
});

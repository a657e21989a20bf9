import { describe, expect, it } from "vitest";
import { callNumbers, countOf, plainLines, plainWords, shortKey, shortTime } from "../../src/cli/wording.ts";

describe("words of the screen", () => {
  it("times are whole milliseconds, then seconds", () => {
    expect([0, 3.6, 9_999, 10_000, 61_234].map(shortTime)).toEqual(["0 ms", "4 ms", "9999 ms", "10.0 s", "61.2 s"]);
  });

  it("keys of files in the workspace are shown without it", () => {
    expect(["file:/w/a", "file:/w/a/w/b", "file:/wide/a", "row:/w/a"].map((key) => shortKey(key, "/w"))).toEqual([
      "file:a",
      "file:a/w/b",
      "file:/wide/a",
      "row:/w/a",
    ]);
  });

  it("runs of call numbers are drawn together", () => {
    expect(callNumbers(["#0", "#1", "#2", "#4", "#6", "#7", "1:#0", "1:#1"])).toBe("#0-#2 #4 #6-#7 1:#0 1:#1");
    expect(callNumbers([])).toBe("");
  });

  it("what others wrote has no control characters, line ends or halves of characters", () => {
    expect(plainWords(" a\n\n\tb\u001b[31mc\u0085d\ud800 ")).toBe("a b [31mc d\ufffd");
  });

  it("what others wrote keeps its line ends in an error, and nothing else that moves a cursor", () => {
    expect(plainLines("a\nb\r\u001b[31mc\ud800")).toBe("a\nb [31mc\ufffd");
  });

  it("counts come with their word", () => {
    expect([0, 1, 2].map((count) => countOf(count, "call"))).toEqual(["0 calls", "1 call", "2 calls"]);
  });
});

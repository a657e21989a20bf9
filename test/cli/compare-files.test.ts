import { describe, expect, it } from "vitest";
import { compareFiles, type LabelledCall } from "../../src/cli/compare-files.ts";

const KERNEL = { workspace: "/kernel", directory: "/files" };
const OTHER = { workspace: "/other", directory: "/files" };

function edit(label: string, path: string, oldText: string, newText: string): LabelledCall {
  return {
    label,
    call: { id: label, name: "edit", arguments: { path: `{workspace}/${path}`, edits: [{ oldText, newText }] } },
  };
}

interface Case {
  readonly before: Readonly<Record<string, string>>;
  readonly kernel: Readonly<Record<string, string>>;
  readonly other: Readonly<Record<string, string>>;
  readonly writes: readonly LabelledCall[];
}

function compare({ before, kernel, other, writes }: Case): unknown {
  return compareFiles({
    before: new Map(Object.entries(before)),
    kernel: { folders: KERNEL, texts: new Map(Object.entries(kernel)) },
    other: { folders: OTHER, texts: new Map(Object.entries(other)) },
    writes,
  });
}

describe("edits are counted from the files that were left", () => {
  it("an edit whose text is missing is not kept, whichever way of playing lost it", () => {
    const files = compare({
      before: { a: "one\ntwo\n" },
      kernel: { a: "ONE\nTWO\n" },
      other: { a: "one\nTWO\n" },
      writes: [edit("#0", "a", "one", "ONE"), edit("#1", "a", "two", "TWO"), edit("#2", "a", "absent", "ABSENT")],
    });
    expect(files).toEqual([
      { path: "a", asked: ["#0", "#1", "#2"], keptByKernel: ["#0", "#1"], keptByOther: ["#1"], same: false },
    ]);
  });

  it("only the file a call names counts for it, by its full or its relative path", () => {
    const files = compare({
      before: { a: "", b: "" },
      kernel: { a: "new", b: "new" },
      other: { a: "new", b: "new" },
      writes: [
        edit("#0", "a", "", "new"),
        { label: "#1", call: { id: "1", name: "write", arguments: '{"path":"b","content":"new"}' } },
      ],
    });
    expect(files).toEqual([
      { path: "a", asked: ["#0"], keptByKernel: ["#0"], keptByOther: ["#0"], same: true },
      { path: "b", asked: ["#1"], keptByKernel: ["#1"], keptByOther: ["#1"], same: true },
    ]);
  });

  it("a text that was there before is no edit", () => {
    const files = compare({
      before: { a: "old" },
      kernel: { a: "old" },
      other: { a: "old" },
      writes: [edit("#0", "a", "old", "old")],
    });
    expect(files).toEqual([]);
  });

  it("a file that only one way has left differs, and a new file counts from nothing", () => {
    const files = compare({
      before: {},
      kernel: { "moved.txt": "x", "new.txt": "fresh" },
      other: { "new.txt": "fresh" },
      writes: [
        { label: "#0", call: { id: "0", name: "write", arguments: { path: "new.txt", content: "fresh" } } },
        { label: "#1", call: { id: "1", name: "move", arguments: "no JSON" } },
      ],
    });
    expect(files).toEqual([
      { path: "moved.txt", asked: [], keptByKernel: [], keptByOther: [], same: false },
      { path: "new.txt", asked: ["#0"], keptByKernel: ["#0"], keptByOther: ["#0"], same: true },
    ]);
  });

  it("texts that hold the folder are looked for with each way's own folder", () => {
    const call = { id: "0", name: "write", arguments: { path: "a", content: "see {workspace}/b" } };
    const files = compare({
      before: { a: "" },
      kernel: { a: "see /kernel/b" },
      other: { a: "see /other/b" },
      writes: [{ label: "#0", call }],
    });
    expect(files).toEqual([{ path: "a", asked: ["#0"], keptByKernel: ["#0"], keptByOther: ["#0"], same: false }]);
  });
});

import { fileKey } from "toolkernel";
import { describe, expect, it } from "vitest";

describe("the conflict key of a file", () => {
  it.each<[path: string, options: Parameters<typeof fileKey>[1], key: string]>([
    ["a/b", undefined, "file:/a/b"],
    ["", {}, "file:/"],
    ["a//b/", { root: "/r" }, "file:/r/a/b"],
    ["/a", { root: "/r" }, "file:/a"],
    ["/a/./b/../c", {}, "file:/a/c"],
    ["/../../a", {}, "file:/a"],
    ["..\\x", { root: "\\r\\s" }, "file:/r/x"],
    ["a", { root: "C:\\r" }, "file:/c:/r/a"],
    ["C:\\A\\b", { root: "/r" }, "file:/c:/A/b"],
    ["/C:/a", { root: "/r" }, "file:/c:/a"],
    ["C:", { root: "/r" }, "file:/c:/"],
    ["C:/..", {}, "file:/c:/"],
    ["c:x", { root: "/r" }, "file:/r/c:x"],
    ["1:/a", { root: "/r" }, "file:/r/1:/a"],
    ["/1:/a", {}, "file:/1:/a"],
    ["dir/C:/x", { root: "/r" }, "file:/r/dir/C:/x"],
    ["/dir/C:/x", {}, "file:/dir/C:/x"],
    ["xC:/a", { root: "/r" }, "file:/r/xC:/a"],
    ["A/b", { root: "/R", caseInsensitive: true }, "file:/r/a/b"],
    ["A/b", { root: "/R", caseInsensitive: false }, "file:/R/A/b"],
    ["A/b", { root: "/R" }, "file:/R/A/b"],
  ])("PREP-5: of %j with %j is %j", (path, options, key) => {
    expect(fileKey(path, options)).toBe(key);
  });
});

import { describe, expect, it } from "vitest";
import { fillCall, fillText } from "../../src/cli/placeholders.ts";

const FOLDERS = { workspace: '/tmp/a"b', directory: "/home/{workspace}" };

describe("placeholders stand for folders", () => {
  it("both are filled wherever they stand, and what was filled in is not filled again", () => {
    expect(fillText("{workspace}/x {directory} {other} {workspace}", FOLDERS)).toBe(
      '/tmp/a"b/x /home/{workspace} {other} /tmp/a"b',
    );
  });

  it("texts in arguments are filled at any depth; names and other values stay", () => {
    const call = {
      id: "1",
      name: "t",
      arguments: { "{workspace}": ["{workspace}", { a: "{workspace}" }, 1, null, true] },
    };
    expect(fillCall(call, FOLDERS)).toEqual({
      ...call,
      arguments: { "{workspace}": ['/tmp/a"b', { a: '/tmp/a"b' }, 1, null, true] },
    });
  });

  it("argument text stays the JSON it was", () => {
    const call = { id: "1", name: "t", arguments: '{"path":"{workspace}/x"}' };
    expect(fillCall(call, FOLDERS).arguments).toBe('{"path":"/tmp/a\\"b/x"}');
  });
});

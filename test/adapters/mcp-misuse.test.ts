import { KernelError } from "toolkernel";
import { type FromMcpOptions, fromMcp } from "toolkernel/mcp";
import { describe, expect, it } from "vitest";
import { connectTo, hintedServer } from "../support/mcp-import-scene.ts";

async function refusal(options: unknown): Promise<unknown> {
  const client = await connectTo(hintedServer({ look: undefined, edit: undefined }));
  try {
    await fromMcp(client, options as FromMcpOptions);
  } catch (error) {
    return error instanceof KernelError ? [error.code, error.subject, error.message] : error;
  }
  return "accepted";
}

describe("misuse of fromMcp is refused by name", () => {
  it.each([
    [{ prefx: "a" }, "prefx", /no option "prefx"/],
    [{ prefix: 1 }, "prefix", /prefix of fromMcp must be a string/],
    [{ trusted: "yes" }, "trusted", /trusted of fromMcp must be a boolean/],
    [{ only: "look" }, "only", /only of fromMcp must be an array/],
    [{ only: [1] }, "only", /only of fromMcp must be an array/],
    [{ only: ["look", "lok"] }, "only.lok", /no tool named "lok".*look, edit/],
    [{ tools: ["look"] }, "tools", /tools of fromMcp must be an object/],
    [{ tools: { lok: {} } }, "tools.lok", /no tool named "lok"/],
    [{ prefix: "a.", tools: { "a.look": {} } }, "tools.a.look", /without the prefix/],
    [{ tools: { look: "readOnly" } }, "tools.look", /policy of the tool "look" must be an object/],
    [{ tools: { look: { risky: true } } }, "tools.look.risky", /"look" has no field "risky"/],
    [{ tools: { look: { execute: () => 1 } } }, "tools.look.execute", /"look" has no field "execute"/],
    [null, "options", /must be an object/],
  ])("%j is INVALID_OPTIONS", async (options, subject, message) => {
    expect(await refusal(options)).toEqual(["INVALID_OPTIONS", subject, expect.stringMatching(message)]);
  });

  it("undefined options count as absent", async () => {
    const options = { prefix: undefined, trusted: undefined, tools: undefined, only: undefined };
    expect(await refusal(options)).toBe("accepted");
  });
});

import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Conversation, LoadedConversation } from "../../src/cli/conversation-file.ts";
import { loadConversation } from "../../src/cli/conversation-file.ts";
import { playPromiseAll } from "../../src/cli/play-promise-all.ts";
import { onStage } from "../../src/cli/stage.ts";

const { signal } = new AbortController();

function playOf(loaded: LoadedConversation) {
  const { turns } = loaded.conversation;
  return onStage(loaded, { keep: false, readsFiles: true, signal }, ({ workspace, servers }) =>
    playPromiseAll({ turns, servers, signal, folders: { workspace, directory: loaded.directory } }),
  );
}

describe("the way most hosts do it", () => {
  it("loses most of the sixteen edits while every call is told of success", async () => {
    const { result, texts } = await playOf(await loadConversation("examples/sixteen-edits.json"));
    expect(result).toEqual({ calls: 23, succeeded: 23 });
    const settings = texts.get("config/gateway.ini") ?? "";
    const kept = ["= 8443", "= 12\n", "= 12000", "= 90000", "= 4096", "= 1500", "alive = on", "gzip = on"].filter(
      (text) => settings.includes(text),
    );
    expect(kept.length).toBeLessThan(8);
  });

  it("a call that fails, is refused or has nobody to answer it counts as not succeeded", async () => {
    const conversation: Conversation = {
      version: 1,
      servers: { small: { command: "node", args: ["{directory}/stdio-server.mjs", "{workspace}"], prefix: "s." } },
      turns: [
        {
          calls: [
            { id: "1", name: "s.echo", arguments: { words: "a" } },
            { id: "2", name: "s.echo", arguments: '{"words":"b"}' },
            { id: "3", name: "s.echo", arguments: "no JSON" },
            { id: "4", name: "echo", arguments: { words: "c" } },
            { id: "5", name: "s.fail", arguments: {} },
          ],
        },
        { calls: [{ id: "1", name: "s.die", arguments: { path: "x" } }] },
      ],
    };
    const loaded = { path: "f.json", directory: join(process.cwd(), "test/support"), conversation };
    const { result, texts } = await playOf(loaded);
    expect(result).toEqual({ calls: 6, succeeded: 2 });
    expect(texts).toEqual(new Map([["x", "last words\n"]]));
  });
});

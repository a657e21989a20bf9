import { readFileSync } from "node:fs";
import { type KernelEvent, readJsonLines } from "toolkernel";
import { readRecording, timelineReport } from "toolkernel/inspect";
import { describe, expect, it } from "vitest";
import { MOST_KEPT_ENTRIES } from "../../src/inspect/server/entry-feed.ts";
import { drawRun } from "../../src/inspect/timeline/draw-run.ts";
import { layOutRun, ROOMY_CALLS } from "../../src/inspect/timeline/lay-out-run.ts";
import { ROOT } from "../support/syntax.ts";
import { MIXED, runOf } from "../support/timeline-scene.ts";
import { type PlannedCall, playBatches } from "./play-batches.ts";

describe("timelineReport", () => {
  it("is one file that asks for nothing outside of itself", async () => {
    const html = timelineReport(readRecording(await playBatches(MIXED)));
    const outside = [...html.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, target]) => target);
    expect(outside).toEqual(["data:,"]);
    expect(html.match(/@import|https?:\/\/(?!www\.w3\.org\/)/g)).toBeNull();
    expect(html).toContain("default-src &#39;none&#39;");
  });

  it("shows every call without any script: as a bar with its words, and in a table", async () => {
    const [html = ""] = timelineReport(readRecording(await playBatches(MIXED))).split("<script");
    expect(html.match(/data-call="/g)).toHaveLength(8);
    expect(html).toContain(
      'aria-label="#2 edit, lane 0, 1, epoch 0, waited 30 ms for its keys, ran 10 ms, failed (unspecified)"',
    );
    expect(html.match(/<tr><td>/g)).toHaveLength(8);
  });

  it("is made of the events of the core alone as well", async () => {
    const text = await playBatches(MIXED);
    expect(timelineReport(readJsonLines(text))).toBe(timelineReport(readRecording(text)));
  });

  it("OBS-3: has arguments, results and keys only where they were recorded", async () => {
    const secret: readonly (readonly PlannedCall[])[] = [[{ tool: "edit", keys: ["Lz9-secret"] }]];
    expect(timelineReport(readRecording(await playBatches(secret)))).not.toContain("Lz9-secret");
    const asked = await playBatches(secret, { conflictKeys: true, arguments: true });
    expect(timelineReport(readRecording(asked))).toContain("Lz9-secret");
  });

  it("lets no name that a model or host wrote become markup", () => {
    const name = '"><img src=x onerror=alert(1)></script><script>alert(2)</script>';
    const base = {
      runId: name,
      turn: 1,
      callId: name,
      callIndex: 0,
      toolName: name,
      operationId: "o",
      audience: "internal",
    } as const;
    const events = [
      { ...base, kind: "toolStarted", seq: 0, timeMs: 1 },
      { ...base, kind: "toolPrepared", seq: 1, timeMs: 2, conflictKeys: [name] },
    ] as const satisfies readonly KernelEvent[];
    const html = timelineReport(events, { title: name });
    expect(html.match(/<img|<script>alert/g)).toBeNull();
    expect(html.match(/<script/g)).toHaveLength(2);
  });

  it("says so when nothing was recorded", () => {
    expect(timelineReport([])).toContain("No call was recorded.");
  });
});

describe("a drawn run", () => {
  it("gives every response and epoch a head, the barrier with its sign", async () => {
    const { head } = drawRun(layOutRun(await runOf(MIXED), { width: 2_000 }));
    const texts = [...head.matchAll(/<text class="tl-(?:turn|column)-text"[^>]*>([^<]*)/g)].map(([, text]) => text);
    expect(texts).toContain("response 1 · 6 calls");
    expect(texts).toContain("▮ barrier 1 · 1 call · 900 ms");
  });
});

describe("the page about inspection", () => {
  it("says the numbers that the code has", () => {
    const page = readFileSync(`${ROOT}docs/inspecting.md`, "utf8");
    expect(page).toContain(`More than ${ROOMY_CALLS} calls`);
    expect(page).toContain(`At most ${MOST_KEPT_ENTRIES.toLocaleString("en")} entries`);
  });
});

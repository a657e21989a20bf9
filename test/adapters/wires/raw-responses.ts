import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { BatchResult } from "../../../src/domain/batch.ts";
import type { DraftResponse, StopReason } from "../../../src/domain/call.ts";
import type { JsonObject } from "../../../src/domain/json.ts";
import { settleDraft } from "./settle-draft.ts";

const FOLDER = new URL("../../../../shared/data/tool-calls/raw/", import.meta.url);

/** One recorded response, with what stands in its file. */
export interface RawCase {
  readonly file: string;
  readonly stopReason: StopReason;
  /** Id, name and arguments of each call, as they stand in the file. */
  readonly calls: readonly (readonly [id: string, name: string, args: string | JsonObject])[];
  /** Picks the response out of a file that holds more than one. Default: the file is the response. */
  readonly pick?: (text: string) => unknown;
  /** The ids of the answers, where they are not the ids of the calls. */
  readonly answerIds?: readonly (string | undefined)[];
}

/** How a wire reads its recorded responses and answers them. */
export interface RawWire {
  readonly name: string;
  readonly callsFrom: (response: never) => DraftResponse;
  readonly messagesOut: (batch: Pick<BatchResult, "messages">) => readonly object[];
  readonly readBackIds: (messages: readonly object[]) => readonly (string | undefined)[];
}

/** Every case goes through the adapter and its results go back in; said plainly when the recordings are absent. */
export function describeRawResponses(wire: RawWire, cases: readonly RawCase[]): void {
  describe.skipIf(!existsSync(FOLDER))(`recorded responses of ${wire.name} (needs ../shared)`, () => {
    it.each(cases)("$file: calls come out as they stand, results go back in", (recorded) => {
      const text = readFileSync(new URL(recorded.file, FOLDER), "utf8");
      // What the provider's SDK would hand over; its types are the adapter's to read.
      const response = (recorded.pick ?? JSON.parse)(text) as never;
      const draft = wire.callsFrom(response);
      expect({
        stopReason: draft.stopReason,
        calls: draft.calls.map((call) => [call.id, call.name, call.arguments]),
      }).toEqual({ stopReason: recorded.stopReason, calls: recorded.calls });

      const results = draft.calls.map((call) => ({ content: [{ type: "text" as const, text: `ran ${call.name}` }] }));
      const messages = wire.messagesOut(settleDraft(draft, results));
      expect(wire.readBackIds(messages)).toEqual(recorded.answerIds ?? recorded.calls.map(([id]) => id));
    });
  });
}

/** One line of a file that has one JSON value a line. */
export function line(number: number): (text: string) => unknown {
  return (text) => JSON.parse(text.split("\n")[number] ?? "null");
}

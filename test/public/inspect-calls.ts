import {
  chartPicture,
  connectStately,
  type Recording,
  RecordingReader,
  readRecording,
  recordRun,
  replayText,
  serveInspector,
  timelineReport,
  writeInspectorPage,
} from "toolkernel/inspect";
import { simulatedClock } from "toolkernel/testing";
import { copyOf, EVENTS, LINES } from "./observe-calls.ts";
import { type PublicCall, publicCall } from "./public-call.ts";

type Calls = Readonly<Record<string, readonly PublicCall[]>>;

const recording = (): Recording => copyOf(readRecording(LINES));

const recordOptions = () => ({ conflictKeys: true, arguments: true, results: true, clock: simulatedClock().clock });

async function withServer(use: (server: Awaited<ReturnType<typeof serveInspector>>) => unknown): Promise<void> {
  const server = await serveInspector();
  try {
    await use(server);
  } finally {
    await server.close();
  }
}

/** Recordings, pages and pictures. */
export const INSPECT_CALLS: Calls = {
  RecordingReader: [
    publicCall("recordingReader.read", (): [string, number] => [LINES, 0], {
      of: (line, index) => new RecordingReader().read(line, index),
    }),
  ],
  chartPicture: [publicCall("chartPicture", (): ["run", "json"] => ["run", "json"], { of: chartPicture })],
  connectStately: [
    publicCall("connectStately", (): [object] => [{ inspect: { next: () => undefined } }], {
      of: (inspector) => connectStately(inspector as never),
      use: (inspect) => inspect({ type: "x", rootId: "r", actorRef: {} }),
    }),
  ],
  readRecording: [publicCall("readRecording", (): [string] => [LINES], { of: readRecording })],
  recordRun: [
    publicCall("recordRun", (): [() => void, object] => [() => undefined, recordOptions()], {
      of: recordRun,
      use: (recorder) => recorder.telemetry.record({ name: "x", timeMs: 1, runId: "r", attributes: {} }),
      closed: ["1"],
    }),
    publicCall(
      "recorder.follow",
      (): [object, object] => [{ subscribe: () => undefined }, { calls: [], stopReason: "toolUse" }],
      {
        of: (source, response) => recordRun(() => undefined).follow(source as never, response as never),
      },
    ),
  ],
  replayText: [
    publicCall("replayText", (): [Recording, object] => [recording(), { charts: true }], {
      of: replayText,
      use: (lines) => [...lines],
      closed: ["1"],
    }),
  ],
  serveInspector: [
    publicCall("serveInspector", (): [object] => [{ port: 0, title: "x" }], {
      of: serveInspector,
      use: (server) => server.close(),
      closed: ["0"],
    }),
    publicCall("server.record", (): [object] => [recordOptions()], {
      of: (options) => withServer((server) => server.record(options)),
      closed: ["0"],
    }),
    publicCall(
      "server.add",
      (): [object] => [{ type: "actor", timeMs: 1, runId: "r", actor: 0, id: "x", chart: "run" }],
      {
        of: (entry) => withServer((server) => server.add(entry as never)),
      },
    ),
  ],
  timelineReport: [
    publicCall("timelineReport", (): [Recording, object] => [recording(), { title: "x" }], {
      of: timelineReport,
      closed: ["1"],
    }),
    publicCall("timelineReport of events", (): [typeof EVENTS] => [copyOf(EVENTS)], {
      of: (events) => timelineReport(events),
    }),
  ],
  writeInspectorPage: [
    publicCall("writeInspectorPage", (): [Recording, object] => [recording(), { title: "x" }], {
      of: writeInspectorPage,
      closed: ["1"],
    }),
  ],
};

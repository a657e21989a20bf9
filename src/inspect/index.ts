/** For people who look inside: a recorder, an offline inspector page, a timeline report, pictures of the charts. */
export { type ChartFormat, type ChartName, chartPicture } from "./charts/chart-picture.ts";
export { connectStately, type StatelyInspector } from "./connect-stately.ts";
export { type InspectorPageOptions, writeInspectorPage } from "./inspector-page.ts";
export type { EventSource } from "./recording/content.ts";
export type {
  ActorEntry,
  ContentEntry,
  EventEntry,
  RecordingEntry,
  TransitionEntry,
} from "./recording/entry.ts";
export { type Recording, RecordingReader, readRecording } from "./recording/read-recording.ts";
export { type RecordRunOptions, type RunRecorder, recordRun } from "./recording/record-run.ts";
export { type ReplayOptions, replayText } from "./replay-text.ts";
export { type InspectorServer, type ServeInspectorOptions, serveInspector } from "./server/serve-inspector.ts";
export { type ReportOptions, timelineReport } from "./timeline-report.ts";

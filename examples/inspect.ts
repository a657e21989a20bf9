import { createToolSession, defineTool } from "toolkernel";
import { readRecording, recordRun, replayText, timelineReport, writeInspectorPage } from "toolkernel/inspect";

const lines: string[] = [];
const recorder = recordRun((line) => lines.push(line));

const shared = { description: "", inputSchema: { type: "object" }, execute: () => "done" } as const;
const look = defineTool({ ...shared, name: "look", risk: "readOnly" });
const take = defineTool({ ...shared, name: "take", conflictKey: () => "shelf" });

const { telemetry, inspect } = recorder;
const session = createToolSession({ tools: [look, take], runId: "demo", telemetry, inspect });
await session.execute([{ name: "look" }, { name: "take" }]).result;
await session.close();

const recording = readRecording(lines.join(""));
for (const line of replayText(recording)) console.log(line.replace(/^ +\+\d+ +|( after| in) .*/g, ""));
console.log(timelineReport(recording).includes("<svg"), writeInspectorPage(recording).includes("<svg"));

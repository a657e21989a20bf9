import * as api from "@opentelemetry/api";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { createToolSession, defineTool } from "toolkernel";
import { openTelemetry } from "toolkernel/open-telemetry";

// What a host has set up anyway; a real one sends its spans to a collector.
const exporter = new InMemorySpanExporter();
api.trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));

const greet = defineTool({
  name: "greet",
  description: "Greets.",
  inputSchema: { type: "object" },
  execute: () => "hello",
});
const session = createToolSession({ tools: [greet], telemetry: openTelemetry({ api }) });
await session.execute([
  { id: "a", name: "greet", arguments: "{}" },
  { id: "b", name: "wave", arguments: "{}" },
]).result;
await session.close();

for (const { name, attributes } of exporter.getFinishedSpans()) {
  const { "kernel.outcome": outcome, "error.type": errorType } = attributes;
  console.log([name, outcome, errorType].filter((word) => word !== undefined).join(" "));
}

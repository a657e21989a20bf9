/** The entry `toolkernel/open-telemetry`: the kernel's work as OpenTelemetry spans. */
export { type OpenTelemetryOptions, openTelemetry } from "./open-telemetry.ts";
export type {
  OpenTelemetryApi,
  OpenTelemetryAttributes,
  OpenTelemetrySpan,
  OpenTelemetrySpanOptions,
  OpenTelemetryTime,
  OpenTelemetryTracer,
} from "./open-telemetry-shapes.ts";

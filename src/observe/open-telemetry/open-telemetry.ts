import { checkOptions, mustHaveMethods, type OptionCheck } from "../../domain/check-options.ts";
import type { Telemetry } from "../../domain/ports.ts";
import type { OpenTelemetryApi, OpenTelemetryTracer } from "./open-telemetry-shapes.ts";
import { RunSpans } from "./run-spans.ts";

/** Options of {@link openTelemetry}. */
export interface OpenTelemetryOptions {
  /** The host's own `@opentelemetry/api`, or its `trace` and `context`. */
  readonly api: OpenTelemetryApi;
  /** Default: the tracer that the API gives for the name `toolkernel`. */
  readonly tracer?: OpenTelemetryTracer | undefined;
}

const mustBeApi: OptionCheck = (value) => {
  const { trace, context } = (value ?? {}) as Partial<OpenTelemetryApi>; // looked at, not trusted
  return mustHaveMethods("getTracer", "setSpan")(trace) ?? mustHaveMethods("active")(context);
};

const OPTION_CHECKS: Readonly<Record<keyof OpenTelemetryOptions, OptionCheck>> = {
  api: mustBeApi,
  tracer: mustHaveMethods("startSpan"),
};

/**
 * Telemetry that turns the kernel's work into OpenTelemetry spans, for any number of sessions and Agents:
 * `invoke_agent` for a run, `kernel.turn`, `kernel.batch`, `kernel.epoch`, and `execute_tool {tool}` for a
 * call, each inside of the other, below whatever span is active where a run or batch begins. Trace records
 * are span events by their own names (OBS-3), without arguments or results. A call that was never
 * dispatched has a span without length. Pieces of streamed messages and of progress are left out.
 * @throws KernelError `INVALID_OPTIONS` naming the option
 */
export function openTelemetry(options: OpenTelemetryOptions): Telemetry {
  checkOptions(options, OPTION_CHECKS, { path: "options", required: ["api"] });
  const { api, tracer = api.trace.getTracer("toolkernel") } = options;
  const runs = new Map<string, RunSpans>();
  return {
    record(traceRecord) {
      const { runId } = traceRecord;
      const known = runs.get(runId);
      const spans = known ?? new RunSpans({ api, tracer, runId, onIdle: () => runs.delete(runId) });
      if (known === undefined) runs.set(runId, spans);
      spans.record(traceRecord);
    },
  };
}

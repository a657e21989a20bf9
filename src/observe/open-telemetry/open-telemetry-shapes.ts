/** What a span or span event may carry. */
export interface OpenTelemetryAttributes {
  [name: string]: string | number | boolean | string[] | number[] | undefined;
}

/** Seconds and nanoseconds since the epoch, so that no clock but the kernel's is involved. */
export type OpenTelemetryTime = [seconds: number, nanoseconds: number];

/** What is used of a span of `@opentelemetry/api`. */
export interface OpenTelemetrySpan {
  addEvent(name: string, attributes: OpenTelemetryAttributes, time: OpenTelemetryTime): unknown;
  setAttributes(attributes: OpenTelemetryAttributes): unknown;
  setStatus(status: { code: number }): unknown;
  end(time: OpenTelemetryTime): void;
}

/** What a span is started with; `kind` is always INTERNAL. */
export interface OpenTelemetrySpanOptions {
  kind: 0;
  startTime: OpenTelemetryTime;
  attributes: OpenTelemetryAttributes;
}

/** What is used of a tracer of `@opentelemetry/api`. */
export interface OpenTelemetryTracer {
  startSpan(name: string, options: OpenTelemetrySpanOptions, context: unknown): OpenTelemetrySpan;
}

/** What is used of `@opentelemetry/api` itself; contexts are opaque. */
export interface OpenTelemetryApi {
  readonly trace: {
    getTracer(name: string): OpenTelemetryTracer;
    setSpan(context: unknown, span: OpenTelemetrySpan): unknown;
  };
  readonly context: { active(): unknown };
}

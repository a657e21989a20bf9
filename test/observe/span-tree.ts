import { context, ROOT_CONTEXT, SpanStatusCode, type Tracer, trace } from "@opentelemetry/api";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import type { Telemetry } from "toolkernel";
import { openTelemetry } from "toolkernel/open-telemetry";

/** A span as tests read it: times in milliseconds, events by name. */
export interface SpanNode {
  readonly name: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly isError: boolean;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly events: readonly string[];
  readonly children: readonly SpanNode[];
}

/** Real tracing into memory. */
export interface Tracing {
  readonly telemetry: Telemetry;
  readonly tracer: Tracer;
  /** Every span that has ended, as the SDK has it. */
  spans(): Promise<readonly ReadableSpan[]>;
  /** Ended spans as trees, in the order of their start; a span whose parent has not ended is a root. */
  trees(): Promise<readonly SpanNode[]>;
}

/** Opens {@link Tracing}; with `inside` as if the host had a span of its own active. */
export function openTracing(options: { readonly inside?: string } = {}): Tracing {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const tracer = provider.getTracer("test");
  const host = options.inside === undefined ? undefined : tracer.startSpan(options.inside);
  const active = host === undefined ? context.active() : trace.setSpan(ROOT_CONTEXT, host);
  const api = { trace, context: { active: () => active } };
  const spans = async (): Promise<readonly ReadableSpan[]> => {
    host?.end();
    await provider.forceFlush();
    return exporter.getFinishedSpans();
  };
  return { tracer, telemetry: openTelemetry({ api, tracer }), spans, trees: async () => treesOf(await spans()) };
}

function treesOf(spans: readonly ReadableSpan[]): readonly SpanNode[] {
  const ids = new Set(spans.map((span) => span.spanContext().spanId));
  const roots = spans.filter(({ parentSpanContext: parent }) => parent === undefined || !ids.has(parent.spanId));
  return inOrder(roots).map((span) => nodeOf(span, spans));
}

function nodeOf(span: ReadableSpan, spans: readonly ReadableSpan[]): SpanNode {
  const children = spans.filter(({ parentSpanContext: parent }) => parent?.spanId === span.spanContext().spanId);
  return {
    name: span.name,
    fromMs: toMs(span.startTime),
    toMs: toMs(span.endTime),
    isError: span.status.code === SpanStatusCode.ERROR,
    attributes: span.attributes,
    events: span.events.map(({ name }) => name),
    children: inOrder(children).map((child) => nodeOf(child, spans)),
  };
}

// The SDK gives spans in the order of their end; those that start together stand as they ended.
function inOrder(spans: readonly ReadableSpan[]): readonly ReadableSpan[] {
  return spans.toSorted((first, second) => toMs(first.startTime) - toMs(second.startTime));
}

function toMs([seconds, nanoseconds]: readonly [number, number]): number {
  return seconds * 1_000 + nanoseconds / 1_000_000;
}

/** A tree as lines: `kernel.batch 0..5`, children indented; an error is marked by `!`. */
export function outlineOf(trees: readonly SpanNode[], startMs = 0, indent = ""): string[] {
  return trees.flatMap(({ name, fromMs, toMs: endMs, isError, children }) => [
    `${indent}${name} ${fromMs - startMs}..${endMs - startMs}${isError ? "!" : ""}`,
    ...outlineOf(children, startMs, `${indent}  `),
  ]);
}

/** The first span of a name, anywhere in trees; a test that asks for one that there is not is wrong. */
export function spanNamed(trees: readonly SpanNode[], name: string): SpanNode {
  const all = trees.flatMap(function flatten(node: SpanNode): SpanNode[] {
    return [node, ...node.children.flatMap(flatten)];
  });
  const found = all.find((node) => node.name === name);
  if (found === undefined) throw new Error(`there is no span ${name}`);
  return found;
}

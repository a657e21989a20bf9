/**
 * What the model sees of a durable action when the host projects its receipts.
 * Owns: nothing; pure but for the host's projector. Upholds: PROJ-2 to PROJ-7.
 */
import type { DurableOutcome, ModelReceiptProjector } from "../domain/action.ts";
import type { ContentPart, ToolResult } from "../domain/content.ts";
import { UNCERTAIN_TEXT } from "./kernel-texts.ts";
import { readProjection } from "./read-projection.ts";
import { toWellFormedJson } from "./record-value.ts";
import { textPart } from "./result-content.ts";

/** A result to project. */
export interface ProjectionRequest {
  readonly projector: ModelReceiptProjector;
  /** As settling made it, canonical throughout. */
  readonly result: ToolResult;
  /** What the durable tool said of the call; undefined for one that never reached it. */
  readonly outcome: DurableOutcome | undefined;
  /** What the model is told where there is no receipt and the tool gave no code, such as `refused`. */
  readonly code: string;
}

/**
 * A projected result, and whether the projection failed: then the batch closes (PROJ-5). Only this says so:
 * any tool can answer what looks like a failed projection.
 */
export interface Projected {
  readonly result: ToolResult;
  readonly isFailed: boolean;
}

/**
 * Gives a result the content that the model may see; details, error flag and outcome stay canonical. A
 * failed projection is fixed, an error and terminating, and says nothing of why (PROJ-4). Without a
 * receipt the content is a fixed status, and what it would have been goes to `details` (PROJ-6).
 */
export function projectReceipt({ projector, result, outcome, code }: ProjectionRequest): Projected {
  if (outcome?.receipt === undefined || outcome.intent === undefined) {
    return { result: withStatus(result, outcome?.code ?? code), isFailed: false };
  }
  const { intent, receipt } = outcome;
  const projection = readProjection(projector, { intent: deepFrozen(intent), receipt: deepFrozen(receipt) });
  if (projection === undefined) {
    const content = withUncertainty(result, { type: "json", value: { status: "projection_failed" } });
    return {
      result: {
        ...result,
        failureCategory: result.failureCategory ?? "internal",
        content,
        isError: true,
        terminate: true,
      },
      isFailed: true,
    };
  }
  const content = withUncertainty(result, { type: "json", value: toWellFormedJson(projection) });
  return { result: { ...result, content }, isFailed: false };
}

function withStatus(result: ToolResult, status: string): ToolResult {
  const content = withUncertainty(result, { type: "json", value: { status } });
  return { ...result, content, details: result.details ?? { status, message: textsOf(result.content) } };
}

/** The kernel's own word on an uncertain outcome is a part by itself, so that no projection hides it. */
function withUncertainty({ outcomeUncertain }: ToolResult, part: ContentPart): readonly ContentPart[] {
  return outcomeUncertain ? [part, textPart(UNCERTAIN_TEXT)] : [part];
}

function textsOf(content: readonly ContentPart[]): string {
  return content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

/** A copy that a projector cannot change: what it is given is what the journal holds. */
function deepFrozen<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value), (_key, inner: unknown) => Object.freeze(inner)) as Value; // JSON already
}

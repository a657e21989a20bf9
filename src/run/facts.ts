import type { ToolCallEvent } from "../../machines/tool-call-facts.ts";

type Facts = { readonly [Type in ToolCallEvent["type"]]: { readonly type: Type } };

/** The facts a tool call is told: each the same object for every call, since none carries more than its name. */
export const FACTS: Facts = Object.freeze({
  FOUND: { type: "FOUND" },
  SHAPED: { type: "SHAPED" },
  VALID: { type: "VALID" },
  KEPT: { type: "KEPT" },
  REWRITTEN: { type: "REWRITTEN" },
  REFINED: { type: "REFINED" },
  KEYED: { type: "KEYED" },
  ALLOWED: { type: "ALLOWED" },
  ASKED: { type: "ASKED" },
  REFUSED: { type: "REFUSED" },
  GRANTED: { type: "GRANTED" },
  DENIED: { type: "DENIED" },
  CHECKED: { type: "CHECKED" },
  REPEATED: { type: "REPEATED" },
  PLANNED: { type: "PLANNED" },
  EPOCH_STARTED: { type: "EPOCH_STARTED" },
  ADMITTED: { type: "ADMITTED" },
  RECORDED: { type: "RECORDED" },
  BLOCKED: { type: "BLOCKED" },
  SUCCEEDED: { type: "SUCCEEDED" },
  FAILED: { type: "FAILED" },
  LOST: { type: "LOST" },
  THREW: { type: "THREW" },
  TIMED_OUT: { type: "TIMED_OUT" },
  CANCEL: { type: "CANCEL" },
  GRACE_OVER: { type: "GRACE_OVER" },
  EXECUTOR_ENDED: { type: "EXECUTOR_ENDED" },
  CONFIRMED: { type: "CONFIRMED" },
  DISPROVED: { type: "DISPROVED" },
  UNRESOLVED: { type: "UNRESOLVED" },
  FINISHED: { type: "FINISHED" },
});

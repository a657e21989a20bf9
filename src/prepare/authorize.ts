import type { PreparedCall, Refusal } from "../domain/call.ts";
import type { Writable } from "../domain/writable.ts";
import { type ReadAuthorization, readAsk, readAuthorization } from "./host-policy.ts";
import { aboutOf, type DraftCall, factsOf, type Preparation, type PreparePort } from "./preparation.ts";
import { refuse } from "./refuse.ts";
import { type Steps, wait } from "./steps.ts";

/** Whether neither the host nor the tool has to be asked about a call. */
export function isUnasked({ registered }: Preparation, { authorizeToolCall }: PreparePort): boolean {
  return authorizeToolCall === undefined && registered.tool.needsApproval === undefined;
}

/** A call that may run with the arguments and keys it has now. */
export function accept(work: Preparation): Writable<PreparedCall> {
  return {
    kind: "prepared",
    tool: work.registered.tool,
    draft: work.draft,
    arguments: work.arguments,
    conflictKeys: work.conflictKeys,
    repairs: work.repairs,
  };
}

/** The last word over the final arguments and keys: allow, refuse or ask, never rewrite (PREP-4). */
export function* authorize(draft: DraftCall, work: Preparation, port: PreparePort): Steps<PreparedCall | Refusal> {
  const decision: ReadAuthorization =
    port.authorizeToolCall === undefined
      ? { kind: "allow" }
      : readAuthorization(
          yield* wait(port.authorizeToolCall({ ...factsOf(draft, work), conflictKeys: work.conflictKeys })),
        );
  const own = decision.kind === "allow" ? yield* askOfTool(work, port) : decision;
  if (own.kind === "refuse") return refuse("authorization", own.reason, { ...aboutOf(work), terminate: own.terminate });
  const prepared = accept(work);
  if (own.kind === "ask") prepared.ask = own.ask;
  return prepared;
}

/** A tool that needs approval in its own framework asks by itself, whatever the host's authorizer allows. */
function* askOfTool(work: Preparation, port: PreparePort): Steps<ReadAuthorization> {
  const { needsApproval } = work.registered.tool;
  if (needsApproval === undefined) return { kind: "allow" };
  const { host, runId } = port;
  const answered = yield* wait(port.bound(() => needsApproval(work.arguments as never, { host, runId })));
  if (answered.kind !== "answered") return readAuthorization(answered);
  return answered.answer === undefined ? { kind: "allow" } : readAsk(answered.answer);
}

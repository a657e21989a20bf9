/**
 * Watches actors of the kernel, whichever interpreter runs them.
 * Owns: what each actor has been told and where it stood then. XState's own actors are seen through the
 * host's `inspect`; those on compiled charts by their class, since no host can see them.
 */
import type { Inspect } from "toolkernel";
import type { Fact } from "./chart-paths.ts";
import type { Kernel } from "./kernel.ts";

/** What an actor was told, and its state and context after it. */
export interface Seen {
  readonly fact: Fact;
  readonly value: unknown;
  readonly context: unknown;
}

/** How the charts are to be run. */
export type InterpreterName = "compiled" | "xstate";

/** See the file header. */
export interface ChartWatch {
  /** Options that make a session or an Agent run its charts on the interpreter, in sight. */
  readonly options: { readonly interpreter: InterpreterName; readonly inspect?: Inspect };
  /** All that an actor has been told, its start first; of several with one id the last to start. */
  seenOf(actorId: string): readonly Seen[];
}

interface SnapshotRecord {
  readonly type: string;
  readonly actorRef: { readonly id: string };
  readonly event: Fact;
  readonly snapshot: { readonly value: unknown; readonly context: unknown };
}

/** Opens a watch. Watches of compiled actors see all actors of that kernel: use one at a time. */
export function watchCharts(kernel: Kernel, interpreter: InterpreterName): ChartWatch {
  const seen = new Map<string, Seen[]>();
  const see = (actorId: string, entry: Seen): void => {
    if (entry.fact.type === "xstate.init") seen.set(actorId, [entry]);
    else seen.get(actorId)?.push(entry);
  };
  const seenOf = (actorId: string): readonly Seen[] => seen.get(actorId) ?? [];
  if (interpreter === "xstate") return { options: { interpreter, inspect: inspectorOf(see) }, seenOf };
  spyOnCompiled(kernel, see);
  return { options: { interpreter }, seenOf };
}

type See = (actorId: string, entry: Seen) => void;

function inspectorOf(see: See): Inspect {
  return (inspectionEvent) => {
    const { type, actorRef, event, snapshot } = inspectionEvent as unknown as SnapshotRecord;
    if (type === "@xstate.snapshot")
      see(actorRef.id, { fact: event, value: snapshot.value, context: snapshot.context });
  };
}

type CompiledClass = Kernel["compiled"]["CompiledActor"];

const ORIGINALS = new WeakMap<CompiledClass, Pick<CompiledClass["prototype"], "send" | "start">>();

function spyOnCompiled({ compiled: { CompiledActor } }: Kernel, see: See): void {
  const { prototype } = CompiledActor;
  // Bound by `call` below, each time to the actor that is told.
  const { send, start } = ORIGINALS.get(CompiledActor) ?? prototype;
  ORIGINALS.set(CompiledActor, { send, start });
  prototype.send = function (this: InstanceType<CompiledClass>, fact) {
    const wasDone = this.isDone;
    send.call(this, fact);
    const { value, context } = this.getSnapshot();
    if (!wasDone) see(this.id, { fact: fact as Fact, value, context });
  };
  prototype.start = function (this: InstanceType<CompiledClass>) {
    const { value, context } = this.getSnapshot();
    see(this.id, { fact: { type: "xstate.init" }, value, context });
    return start.call(this);
  };
}

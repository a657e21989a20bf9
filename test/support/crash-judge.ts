/**
 * Judges runs whose processes died, by the rule and not by the kernel's own reading of facts: what was durable
 * when a process began says what it may do (RUN-6).
 */
import type { RunFact } from "toolkernel";
import type { CrashCall } from "./crash-plans.ts";
import type { CrashPlay, CrashProcess, CrashRun } from "./crash-run.ts";
import type { Deed } from "./crash-world.ts";

/** What facts say of one call. */
interface CallFacts {
  readonly place: string;
  readonly call: CrashCall;
  isPrepared: boolean;
  isDispatched: boolean;
  outcome: string | undefined;
}

/** Every rule that a run broke, as sentences; empty where it kept them all. */
export function findCrashFaults(run: CrashPlay): string[] {
  const { processes } = run;
  const faults = processes.flatMap((process, number) => findProcessFaults(run, process, number));
  const last = processes.at(-1)?.store.facts ?? [];
  return [...faults, ...findRepeatedFacts(last), ...findWorldFaults(run, last)];
}

/** What was said to a run and is not in it once, or not in order; what a dead process took in counts once it is durable. */
export function findSaidFaults({ processes, final }: CrashRun): string[] {
  const told = [...final.newMessages, ...final.undelivered].flatMap(({ role, content }) =>
    role === "user" && typeof content === "string" && content !== "go" ? [content] : [],
  );
  const durable = (processes.at(-1)?.store.facts ?? []).flatMap((fact) =>
    fact.kind === "queued" ? [String(fact.message.content)] : [],
  );
  const living = processes.at(-1)?.accepted ?? [];
  const faults = [...new Set([...durable, ...living])]
    .filter((text) => told.filter((each) => each === text).length !== 1)
    .map((text) => `"${text}" is in the run ${told.filter((each) => each === text).length} times`);
  const strange = told.filter((text) => !durable.includes(text) && !living.includes(text));
  const orders = ["steer", "followUp"].flatMap((queue) => {
    const ofQueue = (texts: readonly string[]): string => texts.filter((text) => text.startsWith(queue)).join();
    return ofQueue(told) === ofQueue(durable) ? [] : [`${queue}: ${ofQueue(told)} in place of ${ofQueue(durable)}`];
  });
  return [...faults, ...strange.map((text) => `nobody said "${text}"`), ...orders];
}

/** Whether nothing of a run was left unknown by a death, so that it has to be as if nobody had died. */
export function isCertain(run: CrashPlay): boolean {
  // Whom an uncertain write still blocks is a matter of who came first.
  if (run.plan.turns.flat().some(({ deed }) => deed === "losesTrack")) return false;
  return run.processes.every(({ found, deedsBefore }) =>
    unfinishedOf(run, found).every(({ call: { tool, deed }, place }) => {
      if (tool === "read" || tool === "put") return true;
      const before = run.world.deeds.slice(0, deedsBefore);
      const isDone = before.some((each) => each.what === "done" && each.place === place);
      // It is asked, and knows what was done; a repetition answers the same.
      if (tool === "putFound") return true;
      return tool === "payFound" && isDone && (deed === "answers" || deed === "terminates");
    }),
  );
}

function findProcessFaults(run: CrashPlay, process: CrashProcess, number: number): string[] {
  const found = readFacts(run, process.found);
  const deeds = run.world.deeds.filter((deed) => deed.process === number);
  const faults: string[] = [];
  const hold = (isTrue: boolean, fault: string): void => {
    if (!isTrue) faults.push(`process ${number}: ${fault}`);
  };
  for (const { place, call, isPrepared, isDispatched, outcome } of found) {
    const count = (...kinds: readonly Deed["what"][]): number =>
      deeds.filter((deed) => deed.place === place && kinds.includes(deed.what)).length;
    const name = `${call.tool} ${place}`;
    if (isPrepared) hold(count("authorize", "rewrite") === 0, `asked its hooks again about the prepared ${name}`);
    hold(count("begun") <= 1, `ran ${name} ${count("begun")} times`);
    if (outcome !== undefined) hold(count("begun", "recover") === 0, `went on with the settled ${name}`);
    else if (isDispatched) {
      const mayRun = call.tool === "read" || call.tool === "put" || call.tool === "putFound";
      hold(mayRun || count("begun") === 0, `ran ${name} again, which may have happened`);
      hold(count("recover") === 0 || call.tool.endsWith("Found"), `asked ${name}, which cannot tell`);
      if (!process.store.isDead && call.tool.endsWith("Found"))
        hold(count("recover") >= 1, `did not ask about ${name}`);
      if (!process.store.isDead && (call.tool === "read" || call.tool === "put"))
        hold(count("begun") === 1, `did not run ${name} again`);
    }
  }
  const unprepared = run.plan.turns.flat().length - found.filter(({ isPrepared }) => isPrepared).length;
  for (const kind of ["prepareArguments", "validate", "conflictKey"] as const) {
    const asked = deeds.filter(({ what }) => what === kind).length;
    // A plain JSON Schema tool is validated before and behind policy (PREP-1).
    hold(asked <= unprepared * (kind === "validate" ? 2 : 1), `called ${kind} for calls that were prepared`);
  }
  return [...faults, ...findAskedFaults(run, process, number)];
}

/** Approvals come back under the ids that were recorded, as long as nobody has decided them (APP-2). */
function findAskedFaults({ plan }: CrashPlay, { store, results }: CrashProcess, number: number): string[] {
  const known = new Map<string, string>();
  for (const fact of store.facts) {
    if (fact.kind !== "prepared") continue;
    for (const call of fact.calls)
      if (call.kind === "prepared" && call.approval !== undefined)
        known.set(call.approval.approvalId, `${fact.turn}:${call.index}`);
  }
  return results.flatMap(({ approvals = [], turns }) =>
    approvals
      .filter(({ approvalId, callIndex }) => known.get(approvalId) !== `${turns}:${callIndex}`)
      .map(
        ({ callId }) =>
          `process ${number}: asks about ${callId} under an id that is not recorded (${plan.interpreter})`,
      ),
  );
}

/** Kinds of facts of which there may be several alike; a session may end the run that another has ended. */
const REPEATABLE = new Set<RunFact["kind"]>(["queued", "delivered", "message", "decided", "evidence", "ended"]);

/** What can happen only once stands in the facts once. */
function findRepeatedFacts(facts: readonly RunFact[]): string[] {
  const seen = new Set<string>();
  return facts.flatMap((fact) => {
    if (REPEATABLE.has(fact.kind)) return [];
    const name = [fact.kind, "turn" in fact ? fact.turn : "", "index" in fact ? fact.index : ""].join(" ");
    if (!seen.has(name)) {
      seen.add(name);
      return [];
    }
    return [`the facts tell twice: ${name}`];
  });
}

/** What the world saw against what is recorded of it. */
function findWorldFaults(run: CrashPlay, last: readonly RunFact[]): string[] {
  const faults: string[] = [];
  const facts = readFacts(run, last);
  const begun = run.world.deeds.filter(({ what }) => what === "begun");
  for (const { place } of begun)
    if (facts.find((each) => each.place === place)?.isDispatched !== true)
      faults.push(`${place} ran and its dispatch is not recorded`);
  for (const { place, call, isDispatched, outcome } of facts) {
    const ofCall = begun.filter((deed) => deed.place === place);
    if (new Set(ofCall.map(({ operationId }) => operationId)).size > 1) faults.push(`${place} ran under several ids`);
    const isOnce = call.tool === "pay" || call.tool === "payFound" || call.tool === "send";
    if (isOnce && ofCall.length > 1) faults.push(`${call.tool} ${place} ran ${ofCall.length} times`);
    const isKnown = outcome === "succeeded" || (outcome === "failed" && isDispatched);
    if (isKnown && ofCall.length === 0) faults.push(`${place} has ${outcome} and never ran`);
  }
  for (const { found } of run.processes) {
    for (const { place, call } of unfinishedOf(run, found)) {
      const outcome = facts.find((each) => each.place === place)?.outcome;
      if ((call.tool === "pay" || call.tool === "send") && outcome !== "uncertain")
        faults.push(`${call.tool} ${place} was left unfinished and is ${outcome}`);
    }
  }
  return faults;
}

/** The calls that were dispatched and of which nobody knows. */
function unfinishedOf(run: CrashPlay, facts: readonly RunFact[]): CallFacts[] {
  return readFacts(run, facts).filter(({ isDispatched, outcome }) => isDispatched && outcome === undefined);
}

/** What facts say of every call of the plan. */
function readFacts({ plan }: CrashPlay, facts: readonly RunFact[]): CallFacts[] {
  return plan.turns.flatMap((calls, turnIndex) =>
    calls.map((call, index): CallFacts => {
      const turn = turnIndex + 1;
      const own = facts.filter((fact) => "turn" in fact && fact.turn === turn);
      const settled = own.find((fact) => fact.kind === "settled" && fact.index === index);
      return {
        place: `${turn}:${index}`,
        call,
        isPrepared: own.some(({ kind }) => kind === "prepared"),
        isDispatched: own.some((fact) => fact.kind === "dispatched" && fact.index === index),
        outcome: settled?.kind === "settled" ? settled.outcome : undefined,
      };
    }),
  );
}

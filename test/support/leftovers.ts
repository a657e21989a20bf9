/**
 * Owns: the registry of what code under test has set going and not yet ended, within one test worker:
 * timers set through the globals, actors of both interpreters, and the signals and clocks that tests had
 * tracked. Does not own: when to look (`leak-check.ts`), and rejections nobody handled (the test runner
 * fails the run for those by itself, and stops doing so where anybody else listens for them).
 *
 * Timers of foreign packages (a client's own kill timer, say) are not counted: only those whose caller
 * is not a package, or is one that the kernel's own timing could go through.
 */
import { getEventListeners } from "node:events";
import { Actor } from "xstate";
import { CompiledActor } from "../../src/interpreter/compiled-actor.ts";

/** One thing that is still going on, told so that its owner can be found. */
export interface Leftover {
  readonly kind: "timer" | "actor" | "listener" | "clockTimer";
  readonly description: string;
}

interface PendingTimer {
  readonly trace: Error;
}

/** A clock that can say how many timers wait on it. */
export interface CountingClock {
  pendingTimers(): number;
}

const OWN_PACKAGES = /node_modules[\\/](?:\.vite[\\/]|xstate|rxjs)/;

const timers = new Map<unknown, PendingTimer>();
const actors = new Set<ObservedActor>();
const signals = new Map<AbortSignal, string>();
const clocks = new Map<CountingClock, string>();
let mayLeaveCharts = false;

interface ObservedActor {
  readonly id: string;
  getSnapshot(): { readonly status: string };
}

/** Starts counting. Called once per worker, before any code under test is loaded. */
export function installRegistry(): void {
  watchTimeouts();
  watchIntervals();
  watchActors();
}

/** Remembers a signal: when the test is over nobody may still listen to it. */
export function trackSignal(signal: AbortSignal, name: string): void {
  signals.set(signal, name);
}

/** Remembers a clock: when the test is over no timer may still wait on it. */
export function trackClock(clock: CountingClock, name: string): void {
  clocks.set(clock, name);
}

/** What goes on at this moment, as identities: pass it to {@link leftoversSince} to leave it out. */
export function markNow(): ReadonlySet<unknown> {
  return new Set<unknown>([...timers.keys(), ...actors, ...signals.keys(), ...clocks.keys()]);
}

/** Everything that began after the mark and has not ended. */
export function leftoversSince(mark: ReadonlySet<unknown>): Leftover[] {
  return [...leftTimers(), ...leftActors(), ...leftListeners(), ...leftClockTimers()]
    .filter(({ identity }) => !mark.has(identity))
    .map(({ leftover }) => leftover);
}

/** Says that this test ends where nothing goes on and charts are not at their end: people are asked, or a port of the host broke. */
export function leaveChartsOpen(): void {
  mayLeaveCharts = true;
}

/** Forgets all that was tracked so far, so that one leak is reported by one test. */
export function forgetTracked(): void {
  timers.clear();
  actors.clear();
  signals.clear();
  clocks.clear();
  mayLeaveCharts = false;
}

interface Found {
  readonly identity: unknown;
  readonly leftover: Leftover;
}

function leftTimers(): Found[] {
  return [...timers]
    .map(([identity, { trace }]) => ({ identity, caller: callerOf(trace) }))
    .filter(({ caller }) => !caller.includes("node_modules") || OWN_PACKAGES.test(caller))
    .map(({ identity, caller }) => ({ identity, leftover: { kind: "timer", description: caller } }));
}

function leftActors(): Found[] {
  if (mayLeaveCharts) return [];
  return [...actors]
    .filter((actor) => actor.getSnapshot().status === "active")
    .map((actor) => ({ identity: actor, leftover: { kind: "actor", description: `${actor.id} is still active` } }));
}

function leftListeners(): Found[] {
  return [...signals].flatMap(([signal, name]) => {
    const count = getEventListeners(signal, "abort").length;
    return count === 0
      ? []
      : [{ identity: signal, leftover: { kind: "listener" as const, description: `${count} on signal ${name}` } }];
  });
}

function leftClockTimers(): Found[] {
  return [...clocks].flatMap(([clock, name]) => {
    const count = clock.pendingTimers();
    return count === 0
      ? []
      : [{ identity: clock, leftover: { kind: "clockTimer" as const, description: `${count} on clock ${name}` } }];
  });
}

// The first frame below this file: whoever asked for the timer.
function callerOf(trace: Error): string {
  const frames = String(trace.stack).split("\n").slice(1);
  return (frames.find((frame) => !frame.includes("support/leftovers.ts")) ?? "unknown caller").trim();
}

function watchTimeouts(): void {
  const { setTimeout: set, clearTimeout: clear } = globalThis;
  const watched = (run: (...values: unknown[]) => void, delayMs?: number, ...values: unknown[]): unknown => {
    const handle = set(() => {
      timers.delete(handle);
      run(...values);
    }, delayMs);
    timers.set(handle, { trace: new Error("set here") });
    return handle;
  };
  const cleared = (handle: unknown): void => {
    timers.delete(handle);
    clear(handle as NodeJS.Timeout);
  };
  Object.assign(globalThis, { setTimeout: keepProperties(watched, set), clearTimeout: cleared });
}

function watchIntervals(): void {
  const { setInterval: set, clearInterval: clear } = globalThis;
  const watched = (run: (...values: unknown[]) => void, delayMs?: number, ...values: unknown[]): unknown => {
    const handle = set(run, delayMs, ...values);
    timers.set(handle, { trace: new Error("set here") });
    return handle;
  };
  const cleared = (handle: unknown): void => {
    timers.delete(handle);
    clear(handle as NodeJS.Timeout);
  };
  Object.assign(globalThis, { setInterval: keepProperties(watched, set), clearInterval: cleared });
}

// `setTimeout` carries its promise form under a symbol; `promisify` reads it.
function keepProperties<Replacement extends object>(replacement: Replacement, original: object): Replacement {
  for (const key of Reflect.ownKeys(original).filter((name) => typeof name === "symbol")) {
    Object.defineProperty(replacement, key, Object.getOwnPropertyDescriptor(original, key) ?? {});
  }
  return replacement;
}

function watchActors(): void {
  const start = Actor.prototype.start;
  Actor.prototype.start = function startWatched(this: Actor<never>) {
    actors.add(this as unknown as ObservedActor);
    return start.call(this);
  } as typeof start;
  const startCompiled = CompiledActor.prototype.start;
  CompiledActor.prototype.start = function startWatched(this: CompiledActor) {
    actors.add(this);
    return startCompiled.call(this);
  };
}

import type { SessionHooks } from "toolkernel";
import { call, finish, recordingTool, testSession } from "./run-calls.ts";
import { trackedClock } from "./tracked.ts";

/** A hook that a test answers; it keeps the signals it was given. */
export function heldHook() {
  const signals: AbortSignal[] = [];
  const answers: ((answer: unknown) => void)[] = [];
  const run = ({ signal }: { readonly signal: AbortSignal }): Promise<never> => {
    signals.push(signal);
    return new Promise((resolve) => {
      answers.push(resolve as (answer: unknown) => void);
    });
  };
  return { run, signals, answer: (value: unknown) => answers.shift()?.(value) };
}

/** Runs one call of a hook that a test answers, and says when the batch is done. */
export function startHeld(name: keyof SessionHooks, timeoutMs?: number | null, limits = {}) {
  const simulated = trackedClock();
  const hook = heldHook();
  const { tool, runs } = recordingTool();
  const hooks = { [name]: timeoutMs === undefined ? hook.run : { run: hook.run, timeoutMs } } as SessionHooks;
  const session = testSession({ tools: [tool], hooks, limits, clock: simulated.clock });
  const state = { isDone: false };
  const played = finish(session.execute([call("read")])).then((done) => {
    state.isDone = true;
    return done;
  });
  return { simulated, hook, runs, state, played };
}

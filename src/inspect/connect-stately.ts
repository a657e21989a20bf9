import type { Inspect, InspectionRecord } from "toolkernel";
import { checkGiven, mustBeRecord, type OptionCheck } from "../domain/check-options.ts";

/** What an inspector of `@statelyai/inspect` offers: an observer of inspection events, or a function. */
export interface StatelyInspector {
  readonly inspect: ((inspectionEvent: never) => void) | { next?(inspectionEvent: never): void };
}

const mustBeInspector: OptionCheck = (value) => {
  const { inspect } = (value ?? {}) as Partial<Record<keyof StatelyInspector, unknown>>; // looked at, not trusted
  if (typeof inspect === "function") return undefined;
  const { next } = (inspect ?? {}) as { readonly next?: unknown }; // looked at, not trusted
  const isOne = mustBeRecord(inspect) === undefined && (next === undefined || typeof next === "function");
  return isOne ? undefined : "must be an inspector of @statelyai/inspect";
};

/**
 * Connects an inspector of `@statelyai/inspect`: `inspect: connectStately(createBrowserInspector())`. The
 * package is the host's own, and so is what it opens: its inspector page is online, and the server that it
 * can start listens beyond this machine. **order**: every event is handed on as XState tells it.
 * @throws KernelError `INVALID_OPTIONS` for what is no inspector.
 */
export function connectStately(inspector: StatelyInspector): Inspect {
  checkGiven(inspector, "inspector", mustBeInspector);
  return (inspectionEvent) => {
    const { inspect } = inspector;
    // Versions of the package name XState's own event types, of which what the kernel hands on is one.
    const tell = (typeof inspect === "function" ? inspect : inspect.next?.bind(inspect)) as
      | ((event: InspectionRecord) => void)
      | undefined;
    tell?.(inspectionEvent);
  };
}

import type { Inspect, InspectionRecord } from "toolkernel";

/** What an inspector of `@statelyai/inspect` offers: an observer of inspection events, or a function. */
export interface StatelyInspector {
  readonly inspect: ((inspectionEvent: never) => void) | { next?(inspectionEvent: never): void };
}

/**
 * Connects an inspector of `@statelyai/inspect`: `inspect: connectStately(createBrowserInspector())`. The
 * package is the host's own, and so is what it opens: its inspector page is online, and the server that it
 * can start listens beyond this machine. **order**: every event is handed on as XState tells it.
 */
export function connectStately(inspector: StatelyInspector): Inspect {
  return (inspectionEvent) => {
    const { inspect } = inspector;
    // Versions of the package name XState's own event types, of which what the kernel hands on is one.
    const tell = (typeof inspect === "function" ? inspect : inspect.next?.bind(inspect)) as
      | ((event: InspectionRecord) => void)
      | undefined;
    tell?.(inspectionEvent);
  };
}

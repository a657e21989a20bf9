import type { RecordingEntry } from "../recording/entry.ts";

/** Where the entries come from, as the page shows it. */
export type FeedState = "recorded" | "connecting" | "live" | "lost" | "ended";

/** Who is told of entries and of the state of the connection. */
export interface FeedListener {
  onEntries(entries: readonly RecordingEntry[]): void;
  onState(state: FeedState): void;
}

/**
 * Gives the entries that came with the page, and then those that the server it came from tells as they
 * happen. A connection that breaks is taken up again where it broke.
 */
export function openFeed(entries: readonly RecordingEntry[], feed: string | undefined, listener: FeedListener): void {
  listener.onEntries(entries);
  if (feed === undefined) {
    listener.onState("recorded");
    return;
  }
  const source = new EventSource(feed);
  source.addEventListener("open", () => listener.onState("live"));
  source.addEventListener("error", () => listener.onState("lost"));
  source.addEventListener("message", ({ data }) => {
    // Written by the same version of this package.
    listener.onEntries(JSON.parse(String(data)) as readonly RecordingEntry[]);
  });
  source.addEventListener("end", () => {
    source.close();
    listener.onState("ended");
  });
}

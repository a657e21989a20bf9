/** A stand-in for the network: answers each request with the next recorded body, and keeps what was sent. */
export interface RecordedFetch {
  readonly fetch: typeof fetch;
  /** The bodies of the requests, parsed. */
  readonly sent: readonly Record<string, unknown>[];
}

/** A body is a JSON value, or the text of an event stream. */
export function recordedFetch(bodies: readonly (object | string)[]): RecordedFetch {
  const sent: Record<string, unknown>[] = [];
  return {
    sent,
    fetch: async (_url, init) => {
      sent.push(typeof init?.body === "string" ? JSON.parse(init.body) : {});
      const body = bodies[sent.length - 1];
      if (body === undefined) {
        throw new Error(`There are ${bodies.length} recorded responses; request ${sent.length} has none.`);
      }
      const isStream = typeof body === "string";
      return new Response(isStream ? body : JSON.stringify(body), {
        headers: { "content-type": isStream ? "text/event-stream" : "application/json" },
      });
    },
  };
}

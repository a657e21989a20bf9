import { connect, createServer, type Server, type Socket } from "node:net";

/** Where a connection is cut: a message of the client that never arrives, or an answer that never comes back. */
export interface Cut {
  readonly lost: "request" | "answer";
  /** Which message of the client, first 1, counted from when the cut was armed. */
  readonly message: number;
}

/** A proxy before a database, that cuts every connection at a chosen message. */
export interface CuttingProxy {
  readonly url: string;
  arm(cut: Cut): void;
  /** Whether the armed cut has happened. */
  hasCut(): boolean;
  close(): Promise<void>;
}

/** Opens a proxy before the database of a connection string. */
export async function openProxy(databaseUrl: string): Promise<CuttingProxy> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let armed: Cut | undefined;
  let counted = 0;
  let isAnswerLost = false;
  const cutAll = (): void => {
    armed = undefined;
    isAnswerLost = false;
    for (const socket of sockets) socket.destroy();
  };
  const server: Server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        sockets.delete(socket);
        (socket === client ? upstream : client).destroy();
      });
    }
    client.on("data", (chunk) => {
      if (armed !== undefined) {
        counted += 1;
        if (counted >= armed.message && armed.lost === "request") return cutAll();
        if (counted >= armed.message) isAnswerLost = true;
      }
      upstream.write(chunk);
    });
    upstream.on("data", (chunk) => {
      // The server has done what it was asked, and nobody gets to know.
      if (isAnswerLost) return cutAll();
      client.write(chunk);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: Object.assign(new URL(databaseUrl), { host: `127.0.0.1:${port}` }).toString(),
    arm: (cut) => {
      counted = 0;
      armed = cut;
    },
    hasCut: () => armed === undefined,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}

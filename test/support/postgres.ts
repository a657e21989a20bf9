import { randomBytes } from "node:crypto";
import { connect } from "node:net";
import pg from "pg";
import { GIVEN_VARIABLE } from "./postgres-programs.ts";
import { SOCKET_VARIABLE } from "./postgres-server.ts";

/** A database of one test file's own. */
export interface TestDatabase {
  /** Connection string. */
  readonly url: string;
  /** Runs a statement on a connection of its own. */
  query(sql: string, values?: readonly unknown[]): Promise<pg.QueryResult>;
  drop(): Promise<void>;
}

/** Makes an empty database on the server of this test run. */
export async function makeDatabase(): Promise<TestDatabase> {
  const server = await serverUrl();
  const name = `toolkernel_${randomBytes(6).toString("hex")}`;
  await run(server, `CREATE DATABASE ${name}`);
  const url = Object.assign(new URL(server), { pathname: `/${name}` }).toString();
  return {
    url,
    query: (sql, values) => run(url, sql, values),
    drop: async () => {
      await run(server, `DROP DATABASE ${name} WITH (FORCE)`);
    },
  };
}

/** The server of this test run; the first to ask has it started. */
export async function serverUrl(): Promise<string> {
  const given = process.env[GIVEN_VARIABLE];
  if (given !== undefined && given !== "") return given;
  const path = process.env[SOCKET_VARIABLE];
  if (path === undefined) throw new Error(`${SOCKET_VARIABLE} is not set: run the tests through vitest`);
  const answer = await new Promise<string>((resolve, reject) => {
    let said = "";
    const socket = connect(path);
    socket.on("data", (chunk) => {
      said += chunk.toString();
    });
    socket.once("error", reject);
    socket.once("end", () => resolve(said));
  });
  if (!answer.startsWith("postgres")) throw new Error(answer);
  return answer;
}

async function run(url: string, sql: string, values: readonly unknown[] = []): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  try {
    return await client.query(sql, [...values]);
  } finally {
    await client.end();
  }
}

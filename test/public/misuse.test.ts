import { KernelError } from "toolkernel";
import { describe, expect, it } from "vitest";
import { packageEntries } from "../support/manifest.ts";
import { ROOT } from "../support/syntax.ts";
import { misspell, SECRET, type Spoiled, spoil } from "./bad-values.ts";
import type { PublicCall } from "./public-call.ts";
import { DATA, SURFACE } from "./surface.ts";

const CALLS = Object.values(SURFACE)
  .flatMap((names) => Object.values(names).flat())
  .map((each) => [each.name, each] as const);

async function thrownBy({ call }: PublicCall, given: readonly unknown[]): Promise<unknown> {
  return call(given).then(
    () => undefined,
    (error: unknown) => error ?? "nothing",
  );
}

/** What is wrong with what was thrown: a caller sees a KernelError that names the fault, and nothing of the value. */
function findFault(thrown: unknown, mayShow: boolean): string | undefined {
  if (!(thrown instanceof KernelError)) return `threw ${String((thrown as Error).stack).slice(0, 500)}`;
  const said = `${thrown.message} ${thrown.subject}`;
  if (!mayShow && said.includes(SECRET)) return `says what it was given: ${said}`;
  return thrown.message.length > 10 ? undefined : `says no more than: ${said}`;
}

function isShown({ shown }: PublicCall, { place }: Spoiled): boolean {
  return shown.some((name) => `${place}.`.startsWith(`${name}.`) || name.startsWith(`${place}.`));
}

describe("bad input to what the package exports is a KernelError that names the fault", () => {
  it.each(CALLS)("%s", async (_name, each) => {
    const refused = await thrownBy(each, each.good());
    expect((refused as KernelError | undefined)?.code).toBe(each.refuses);
    const faults: string[] = [];
    for (const spoiled of spoil(each.good)) {
      const thrown = await thrownBy(each, spoiled.given);
      const fault = thrown === undefined ? undefined : findFault(thrown, isShown(each, spoiled));
      if (fault !== undefined) faults.push(`${spoiled.place}, ${spoiled.what}: ${fault}`);
    }
    expect(faults).toEqual([]);
  });

  it.each(CALLS.filter(([, { closed }]) => closed.length > 0))("%s refuses a misspelled name", async (_name, each) => {
    for (const place of each.closed) {
      const thrown = await thrownBy(each, misspell(each.good(), place));
      expect(thrown).toBeInstanceOf(KernelError);
      const { code, message, subject } = thrown as KernelError;
      expect([code, `${message} ${subject}`.includes("misspelled")]).toEqual(["INVALID_OPTIONS", true]);
    }
  });
});

describe("the list of what is tried", () => {
  it.each(packageEntries().map(({ name, source }) => [name, source]))(
    "has every export of %s",
    async (name, source) => {
      const exported = (await import(`${ROOT}${source}`)) as object;
      const tried = Object.keys(SURFACE[name] ?? {});
      expect([...tried, ...(DATA[name] ?? [])].sort()).toEqual(Object.keys(exported).sort());
    },
  );

  it("holds nothing for data that could be called", async () => {
    const callable: string[] = [];
    for (const { name, source } of packageEntries()) {
      const exported = (await import(`${ROOT}${source}`)) as Readonly<Record<string, unknown>>;
      callable.push(...(DATA[name] ?? []).filter((each) => typeof exported[each] === "function"));
    }
    expect(callable).toEqual([]);
  });
});

import { describe, expect, it } from "vitest";
import { KernelError } from "../../src/domain/errors.ts";
import { KeptRuns } from "../../src/journal/run-store/kept-runs.ts";
import type { AppendRequest, RunBackend } from "../../src/journal/run-store/run-backend.ts";
import { fact, factsUpTo } from "../../src/testing/run-store-suite/run-desk.ts";

interface Asked<Request> {
  readonly request: Request;
  readonly answer: (value: number | undefined) => void;
  readonly fail: () => void;
}

/** A backend that answers when the test says so, and notes what it was asked. */
class SlowBackend implements RunBackend {
  readonly appends: Asked<AppendRequest>[] = [];
  readonly givenBack: string[] = [];
  readonly refused: string[] = [];
  isClosed = false;
  isBroken = false;
  #fence = 0;

  async take() {
    this.#fence += 1;
    return { kind: "taken", fence: this.#fence, texts: [] } as const;
  }

  append(request: AppendRequest): Promise<number | undefined> {
    return new Promise((resolve, reject) => {
      this.appends.push({ request, answer: resolve, fail: () => reject(unavailable()) });
    });
  }

  async giveBack({ runId, fence }: { readonly runId: string; readonly fence: number }): Promise<void> {
    if (this.isBroken) {
      this.refused.push(`${runId} ${fence}`);
      throw unavailable();
    }
    this.givenBack.push(`${runId} ${fence}`);
  }

  async listOpen() {
    return [];
  }

  async prune() {
    return 0;
  }

  async close(): Promise<void> {
    this.isClosed = true;
  }

  /** What was asked with the last append. */
  get last(): Asked<AppendRequest> {
    const last = this.appends.at(-1);
    if (last === undefined) throw new Error("nothing was asked");
    return last;
  }
}

function unavailable(): KernelError {
  return new KernelError("JOURNAL_UNAVAILABLE", "Not now.");
}

function texts(...numbers: readonly number[]): readonly string[] {
  return numbers.map((number) => JSON.stringify(fact(number)));
}

async function held() {
  const backend = new SlowBackend();
  const store = new KeptRuns(backend);
  return { backend, store, claim: await store.claim("run", { create: true }) };
}

describe("a held run", () => {
  it("RUN-6: what is given while an append is under way goes together, with the last word on progress", async () => {
    const { backend, claim } = await held();
    const first = claim.append(factsUpTo(2));
    const second = claim.append([fact(3)], { status: "running", turn: 1 });
    const third = claim.append([], { status: "awaitingApproval", turn: 2 });
    const fourth = claim.append([fact(4)]);
    expect(backend.appends).toHaveLength(1);
    expect(backend.last.request).toEqual({
      runId: "run",
      fence: 1,
      behind: 0,
      texts: texts(1, 2),
      progress: undefined,
    });
    backend.last.answer(2);
    await first;
    expect(backend.appends).toHaveLength(2);
    expect(backend.last.request).toEqual({
      runId: "run",
      fence: 1,
      behind: 2,
      texts: texts(3, 4),
      progress: { status: "awaitingApproval", turn: 2 },
    });
    backend.last.answer(4);
    await Promise.all([second, third, fourth]);
  });

  it("CAN-5: when an append fails those given behind it fail with it, and the next stands where it should", async () => {
    const { backend, claim } = await held();
    const failing = Promise.allSettled([1, 2, 3].map((number) => claim.append([fact(number)])));
    backend.last.fail();
    expect((await failing).map((each) => (each.status === "rejected" ? each.reason.code : each.status))).toEqual(
      Array(3).fill("JOURNAL_UNAVAILABLE"),
    );
    expect(backend.appends).toHaveLength(1);
    const again = claim.append([fact(1)]);
    expect(backend.last.request).toMatchObject({ behind: 0, texts: texts(1) });
    backend.last.answer(1);
    await again;
  });

  it("RUN-6: facts count from what the store says there is, since an answer may have been lost", async () => {
    const { backend, claim } = await held();
    const first = claim.append([fact(1)]);
    backend.last.answer(5);
    await first;
    const second = claim.append([fact(2)]);
    expect(backend.last.request).toMatchObject({ behind: 5 });
    backend.last.answer(6);
    await second;
  });

  it("RUN-6: an append that comes too late is refused, and the run stays whoever's it is", async () => {
    const { backend, claim } = await held();
    const late = claim.append([fact(1)]);
    backend.last.answer(undefined);
    await expect(late).rejects.toMatchObject({ code: "RUN_CLAIMED" });
  });

  it("RUN-6: a fact that is not JSON is refused alone", async () => {
    const { backend, claim } = await held();
    await expect(claim.append([{ kind: "queued", message: 1n } as never])).rejects.toThrow(TypeError);
    const whole = claim.append([fact(1)]);
    expect(backend.last.request).toMatchObject({ behind: 0, texts: texts(1) });
    backend.last.answer(1);
    await whole;
  });
});

describe("a run store", () => {
  it("RUN-6: gives back what it could not give back once something succeeds, until that is done", async () => {
    const { backend, store, claim } = await held();
    backend.isBroken = true;
    await expect(claim.release()).rejects.toMatchObject({ code: "JOURNAL_UNAVAILABLE" });
    const other = await store.claim("other", { create: true });
    expect([backend.refused, backend.givenBack]).toEqual([["run 1", "run 1"], []]);
    backend.isBroken = false;
    const appending = other.append([fact(1)]);
    backend.last.answer(1);
    await appending;
    expect(backend.givenBack).toEqual(["run 1"]);
    await other.release();
    expect(backend.givenBack).toEqual(["run 1", "other 2"]);
  });

  it("RUN-6: takes a run up again that it could not give back", async () => {
    const { backend, store, claim } = await held();
    backend.isBroken = true;
    await expect(claim.release()).rejects.toMatchObject({ code: "JOURNAL_UNAVAILABLE" });
    const again = await store.claim("run", { create: false });
    const appending = again.append([fact(1)]);
    expect(backend.last.request).toMatchObject({ fence: 2 });
    backend.last.answer(1);
    await appending;
  });

  it("RUN-6: closes when what was given is answered, and not before", async () => {
    const { backend, store, claim } = await held();
    const appends = [claim.append([fact(1)]), claim.append([fact(2)])];
    const closing = store.close();
    backend.last.answer(1);
    await appends[0];
    expect(backend.isClosed).toBe(false);
    backend.last.answer(2);
    await closing;
    expect(backend.isClosed).toBe(true);
    await Promise.all(appends);
  });
});

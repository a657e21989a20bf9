import { collectYoungGarbage, cpuMicroseconds } from "../measure/cpu.ts";
import type { Workload } from "../measure/workload.ts";
import { checkAnswers, draftMaker, noOp } from "./no-op-calls.ts";

const CALLS = 10;

/**
 * W5: `size` sessions at once, each new and with one response of 10 calls. CPU time per call,
 * and what opening a session costs beside it; the tools are made once.
 */
export const manySessions: Workload = {
  name: "W5",
  about: "1,000 sessions at once, each new, with 10 calls",
  prepare: async (contender, size) => {
    const sessions = Number(size);
    const open = contender.equip({ tools: [noOp], cap: 8 });
    const makeDrafts = draftMaker();
    return {
      round: async () => {
        const drafts = Array.from({ length: sessions }, () => makeDrafts(CALLS));
        collectYoungGarbage();
        const before = cpuMicroseconds();
        const hosts = drafts.map(() => open());
        const opened = cpuMicroseconds();
        const results = await Promise.all(hosts.map((host, index) => host.respond(drafts[index] ?? [])));
        const ended = cpuMicroseconds();
        for (const [index, host] of hosts.entries()) checkAnswers(host, results[index], drafts[index] ?? []);
        return {
          cpuUsPerCall: (ended - opened) / (sessions * CALLS),
          openUsPerSession: (opened - before) / sessions,
        };
      },
    };
  },
};

/** The gate: measures the kernel and fails where it has become slower in ways that no machine explains. */
import { execFileSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { kernel, kernelFull } from "./contenders/kernel.ts";
import { type GateBounds, type GateFigures, judgeFigures } from "./gate/judge.ts";
import { measureAllocation, measureGate, measureTurns } from "./gate/measure-gate.ts";

const MOST_REPEATS = 3;
const BASELINE = new URL("../gate/baseline.json", import.meta.url);

if (process.argv.includes("--allocation")) console.log(await measureAllocation(kernel));
else await judge();

async function judge(): Promise<void> {
  const bounds = JSON.parse(await readFile(BASELINE, "utf8")) as GateBounds; // a file of ours
  let figures: GateFigures = await measure();
  // Noise shuts the gate now and then, and never in the same place each time; what is slower stays slower.
  for (let more = 0; more < MOST_REPEATS && judgeFigures(figures, bounds).length > 0; more++) {
    figures = bestOf(figures, await measure());
  }
  for (const [name, value] of Object.entries(figures)) console.log(`${name.padEnd(16)} ${value.toFixed(2)}`);
  if (process.argv.includes("--accept")) {
    const bytesPerCall = Math.round(figures.bytesPerCall);
    await writeFile(BASELINE, `${JSON.stringify({ ...bounds, bytesPerCall }, undefined, 2)}\n`);
    return;
  }
  const faults = judgeFigures(figures, bounds);
  for (const fault of faults) console.error(`The gate is shut: ${fault}.`);
  if (faults.length > 0) process.exitCode = 1;
}

async function measure(): Promise<GateFigures> {
  const figures = { bytesPerCall: weighCalls(), ...(await measureGate(kernel)) };
  // Hooks and listeners must not make a turn dearer than those before it, either.
  return { ...figures, lastToFirst: Math.max(figures.lastToFirst, await measureTurns(kernelFull)) };
}

/** Of two measurements the better of each cost; what is unsafe may not happen even once. */
function bestOf(one: GateFigures, other: GateFigures): GateFigures {
  return {
    growth: Math.min(one.growth, other.growth),
    lastToFirst: Math.min(one.lastToFirst, other.lastToFirst),
    makespanToIdeal: Math.min(one.makespanToIdeal, other.makespanToIdeal),
    unsafe: Math.max(one.unsafe, other.unsafe),
    bytesPerCall: Math.min(one.bytesPerCall, other.bytesPerCall),
  };
}

/** In a process of its own, whose engine compiles the same functions at the same time whenever it runs. */
function weighCalls(): number {
  const program = [...process.execArgv, "--predictable", fileURLToPath(import.meta.url), "--allocation"];
  return Number(execFileSync(process.execPath, program, { encoding: "utf8" }));
}

import { spawnSync } from "node:child_process";
import { rmSync, statfsSync, writeFileSync } from "node:fs";
import { afterEach, expect } from "vitest";
import type { Clock } from "../../src/domain/ports.ts";
import { systemClock } from "../../src/run/clock.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

const mounted: string[] = [];

function mount(...settings: readonly string[]): boolean {
  return spawnSync("mount", settings).status === 0;
}

/** Whether this process may mount: the superuser alone. */
export function canMount(): boolean {
  const directory = "/tmp/toolkernel-mount-probe";
  spawnSync("mkdir", ["-p", directory]);
  const isMounted = mount("-t", "tmpfs", "-o", "size=1m", "tmpfs", directory);
  if (isMounted) spawnSync("umount", [directory]);
  rmSync(directory, { recursive: true, force: true });
  return isMounted;
}

/** A small disk of its own, unmounted after the test. */
export function smallDisk(megabytes: number): string {
  const directory = temporaryDirectory();
  expect(mount("-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", directory)).toBe(true);
  mounted.push(directory);
  return directory;
}

/** How often the journal looks at the disk. */
export const LOOKS_EVERY_MS = 100;

/** The platform's clock, which a test can set forward. */
export function shiftedClock(): Clock & { shift(ms: number): void } {
  let shiftMs = 0;
  return {
    now: () => systemClock.now() + shiftMs,
    setTimer: (atMs, run) => systemClock.setTimer(atMs - shiftMs, run),
    shift: (ms) => {
      shiftMs += ms;
    },
  };
}

afterEach(() => {
  for (const directory of mounted.splice(0)) spawnSync("umount", ["-l", directory]);
});

/** Takes what is free, but for so many bytes. */
export function fill(directory: string, leaveBytes: number): string {
  const { bavail, bsize } = statfsSync(directory);
  const path = `${directory}/filler`;
  writeFileSync(path, Buffer.alloc(Math.max(0, bavail * bsize - leaveBytes)));
  return path;
}

/** The same directory once more, where nothing can be written. */
export function readOnlyTwin(directory: string): string {
  const readOnly = temporaryDirectory();
  expect([mount("--bind", directory, readOnly), mount("-o", "remount,bind,ro", readOnly)]).toEqual([true, true]);
  mounted.push(readOnly);
  return readOnly;
}

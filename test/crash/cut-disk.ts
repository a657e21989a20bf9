/**
 * A disk as a power cut finds it.
 * Owns: the files of one directory, each with what is durable and what was asked for since its last sync, and
 * the names of the directory likewise. What a file is, its name and its bytes are made durable apart: a sync of
 * the file for its bytes, of the directory for its names. What was not synced may be there, or not, or, of a
 * write, some of its sectors.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { DiskStep } from "./disk-trace.ts";

/** What a power cut leaves of everything that was not synced. */
export interface Leaves {
  /** Of a new name, a removal, a write or another size: whether it is there. */
  step(): boolean;
  /** Of a write that is not there as a whole: whether a sector is. */
  sector(): boolean;
}

/** Nothing that was not synced is there. */
export const LEAVES_NOTHING: Leaves = { step: () => false, sector: () => false };

/** Everything is there, synced or not. */
export const LEAVES_ALL: Leaves = { step: () => true, sector: () => true };

/** By chance: in each cut more or less of it is there. */
export function leavesSome(random: () => number): Leaves {
  const [steps, sectors] = [random(), random()];
  return { step: () => random() < steps, sector: () => random() < sectors };
}

const SECTOR = 512;

type Pending = Extract<DiskStep, { readonly kind: "write" | "resize" }>;

/** A file or directory, whatever its name. */
interface Node {
  readonly isDirectory: boolean;
  durable: Buffer;
  pending: Pending[];
}

/** A name in a directory: made for a node, or removed. */
interface Naming {
  readonly path: string;
  readonly node: Node | undefined;
  /** The name that it had before: file systems rename at once, or not at all. */
  readonly from?: string;
}

/** See the file header. */
export class CutDisk {
  readonly #ignoresSyncs: boolean;
  readonly #names = new Map<string, Node>();
  readonly #durableNames = new Map<string, Node>();
  #namings: Naming[] = [];

  constructor({ ignoresSyncs = false }: { readonly ignoresSyncs?: boolean } = {}) {
    this.#ignoresSyncs = ignoresSyncs;
  }

  /** Takes what was asked of the disk. */
  take(step: DiskStep): void {
    switch (step.kind) {
      case "make":
        if (!this.#names.has(step.path)) this.#name(step.path, emptyNode(step.isDirectory));
        return;
      case "write":
      case "resize":
        // What is written to a file that has lost its name is gone with it.
        this.#names.get(step.path)?.pending.push(step);
        return;
      case "rename":
        this.#rename(step.path, step.to);
        return;
      case "remove":
        this.#name(step.path, undefined);
        return;
      case "sync":
        if (!this.#ignoresSyncs) this.#sync(step.path);
        return;
      case "said":
        return;
    }
  }

  /** Writes what a power cut leaves just now into a directory. */
  leave(directory: string, leaves: Leaves): void {
    const names = new Map(this.#durableNames);
    for (const naming of this.#namings) if (leaves.step()) apply(naming, names);
    const paths = [...names.keys()].sort();
    for (const path of paths) {
      const isReachable = dirname(path) === "." || names.has(dirname(path));
      const node = names.get(path);
      if (node === undefined || !isReachable) continue;
      if (node.isDirectory) mkdirSync(join(directory, path));
      else writeFileSync(join(directory, path), bytesLeft(node, leaves));
    }
  }

  #name(path: string, node: Node | undefined): void {
    if (node === undefined) this.#names.delete(path);
    else this.#names.set(path, node);
    this.#namings.push({ path, node });
  }

  #rename(from: string, to: string): void {
    const node = this.#names.get(from);
    if (node === undefined) return;
    this.#names.delete(from);
    this.#names.set(to, node);
    this.#namings.push({ path: to, node, from });
  }

  #sync(path: string): void {
    const node = this.#names.get(path);
    if (node !== undefined && !node.isDirectory) {
      node.durable = bytesLeft(node, LEAVES_ALL);
      node.pending = [];
      return;
    }
    const isIn = (naming: Naming): boolean => dirname(naming.path) === (path === "" ? "." : path);
    for (const naming of this.#namings.filter(isIn)) apply(naming, this.#durableNames);
    this.#namings = this.#namings.filter((naming) => !isIn(naming));
  }
}

function apply({ path, node, from }: Naming, names: Map<string, Node>): void {
  if (from !== undefined) names.delete(from);
  if (node === undefined) names.delete(path);
  else names.set(path, node);
}

function emptyNode(isDirectory: boolean): Node {
  return { isDirectory, durable: Buffer.alloc(0), pending: [] };
}

function bytesLeft({ durable, pending }: Node, leaves: Leaves): Buffer {
  const ends = pending.map((step) => (step.kind === "write" ? step.at + step.bytes.length : step.size));
  const bytes = Buffer.alloc(Math.max(durable.length, ...ends));
  durable.copy(bytes);
  let size = durable.length;
  for (const step of pending) {
    if (step.kind === "write") size = Math.max(size, writeSome(bytes, step, leaves));
    else if (leaves.step()) {
      size = step.size;
      bytes.fill(0, size);
    }
  }
  return bytes.subarray(0, size);
}

/** Writes what is left of a write; answers how long the file is by it: it may have grown without the bytes. */
function writeSome(into: Buffer, { at, bytes }: Extract<Pending, { readonly kind: "write" }>, leaves: Leaves): number {
  if (leaves.step()) {
    bytes.copy(into, at);
    return at + bytes.length;
  }
  let size = 0;
  for (let begin = at; begin < at + bytes.length; ) {
    const end = Math.min(begin - (begin % SECTOR) + SECTOR, at + bytes.length);
    if (leaves.sector()) {
      bytes.copy(into, begin, begin - at, end - at);
      size = end;
    }
    begin = end;
  }
  return leaves.sector() ? at + bytes.length : size;
}

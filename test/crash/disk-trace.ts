/** What a process asked of the disk, read from a trace of its system calls. */
import { readFileSync } from "node:fs";
import { relative } from "node:path";

/** One thing that was asked, in order; paths are relative to the directory that is watched. */
export type DiskStep =
  | { readonly kind: "make"; readonly path: string; readonly isDirectory: boolean }
  | { readonly kind: "write"; readonly path: string; readonly at: number; readonly bytes: Buffer }
  | { readonly kind: "resize"; readonly path: string; readonly size: number }
  | { readonly kind: "rename"; readonly path: string; readonly to: string }
  | { readonly kind: "remove"; readonly path: string }
  | { readonly kind: "sync"; readonly path: string }
  /** A line that the process said. */
  | { readonly kind: "said"; readonly text: string };

/** System calls that change a file or a directory, or make that durable; and the writes of what a process says. */
const CALLS =
  "open,openat,creat,write,pwrite64,writev,pwritev,pwritev2,ftruncate,truncate,rename,renameat,renameat2,link,linkat,symlink,symlinkat,unlink,unlinkat,rmdir,mkdir,mkdirat,fsync,fdatasync,sync,syncfs,sync_file_range,fallocate,copy_file_range,sendfile,splice,io_uring_enter";

/** Longest text that a call is traced with; what is longer stands in no file that is watched. */
const LONGEST = 70_000;

/** The tracer to run a process under. */
export function traceInto(file: string): readonly string[] {
  return ["strace", "-f", "-y", "-xx", "-s", String(LONGEST), "-e", `trace=${CALLS}`, "-e", "signal=none", "-o", file];
}

/** A call as the tracer prints it: name, arguments, answer. */
interface Call {
  readonly name: string;
  readonly args: readonly string[];
  readonly answer: string;
}

/**
 * Reads a trace: everything that happened in a directory, but in files whose names are left out.
 * @throws Error for a call that the reader does not know how to take, so that nothing is overlooked.
 */
export function readTrace(file: string, directory: string, leftOut: RegExp): DiskStep[] {
  const unfinished = new Map<string, string>();
  const steps: DiskStep[] = [];
  for (const line of readFileSync(file, "latin1").split("\n")) {
    const whole = joinParts(line, unfinished);
    const call = whole === undefined ? undefined : readCall(whole);
    const step = call && stepOf(call, directory, leftOut);
    if (step !== undefined) steps.push(step);
  }
  return steps;
}

/** A call that another thread's came between is printed in two parts. */
function joinParts(line: string, unfinished: Map<string, string>): string | undefined {
  const [, thread = "", text = ""] = /^(\d+) +(.*)$/.exec(line) ?? [];
  const begun = /^(.*) <unfinished \.\.\.>$/.exec(text);
  if (begun !== null) {
    unfinished.set(thread, begun[1] ?? "");
    return undefined;
  }
  const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(text);
  return resumed === null ? text : `${unfinished.get(thread) ?? ""}${resumed[1] ?? ""}`;
}

function readCall(text: string): Call | undefined {
  const [, name, inside, answer] = /^(\w+)\((.*)\) += (.*)$/.exec(text) ?? [];
  if (name === undefined || inside === undefined || answer === undefined) return undefined; // an exit
  return answer.startsWith("-1") ? undefined : { name, args: inside.split(", "), answer };
}

function stepOf(call: Call, directory: string, leftOut: RegExp): DiskStep | undefined {
  const { name, args } = call;
  const [first = "", second = ""] = args;
  if (name === "write" && /^1</.test(first)) return { kind: "said", text: bytesOf(second).toString("utf8") };
  const path = placeOf(call, directory);
  if (path === undefined || leftOut.test(path)) return undefined;
  switch (name) {
    case "openat":
      if (args[2]?.includes("O_TRUNC")) throw new Error(`a trace has a file that is opened cut off: ${path}`);
      return args[2]?.includes("O_CREAT") ? { kind: "make", path, isDirectory: false } : undefined;
    case "mkdir":
      return { kind: "make", path, isDirectory: true };
    case "pwrite64":
      return { kind: "write", path, at: Number(args[3]), bytes: bytesOf(second) };
    case "ftruncate":
      return { kind: "resize", path, size: Number(second) };
    case "rename":
      return { kind: "rename", path, to: relative(directory, textOf(second)) };
    case "unlink":
    case "rmdir":
      return { kind: "remove", path };
    case "fsync":
    case "fdatasync":
      return { kind: "sync", path };
    default:
      throw new Error(`a trace has a call that is not known: ${name} on ${path}`);
  }
}

/** What a call is about, if it lies in the directory: a path that it names, or the one its file had when it was opened. */
function placeOf({ name, args, answer }: Call, directory: string): string | undefined {
  const [first = ""] = args;
  const named = name === "openat" ? answer : first;
  const opened = /^\d+<([^>]*)>/.exec(named);
  const path = opened === null ? textOf(named) : bytesOf(`"${opened[1] ?? ""}"`).toString("utf8");
  if (path === directory) return "";
  return path.startsWith(`${directory}/`) ? relative(directory, path) : undefined;
}

function textOf(quoted: string): string {
  return bytesOf(quoted).toString("utf8");
}

/** A text in quotes, each byte as \xNN. */
function bytesOf(quoted: string): Buffer {
  if (quoted.endsWith("...")) throw new Error("a trace has a text that is cut off");
  return Buffer.from(quoted.replaceAll(/"|\\x/g, ""), "hex");
}

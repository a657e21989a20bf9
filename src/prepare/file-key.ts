import { checkGiven, checkOptions, mustBeBoolean, mustBeString, type OptionCheck } from "../domain/check-options.ts";

/** Options of {@link fileKey}. */
export interface FileKeyOptions {
  /** What a relative path is relative to; default `/`. */
  readonly root?: string | undefined;
  /** Whether the file system takes `A` and `a` for the same; default false. */
  readonly caseInsensitive?: boolean | undefined;
}

const OPTION_CHECKS: Readonly<Record<keyof FileKeyOptions, OptionCheck>> = {
  root: mustBeString,
  caseInsensitive: mustBeBoolean,
};

/**
 * The conflict key of a file: `file:` and its absolute path in POSIX form, `.` and `..` resolved. Pure:
 * the file system is not asked, so symbolic links are not followed, and a path may lead out of `root`.
 * Backslashes count as separators; a drive letter stays, in lower case.
 * @throws KernelError `INVALID_OPTIONS` for a path that is not a string, and naming the option.
 */
export function fileKey(path: string, options: FileKeyOptions = {}): string {
  checkGiven(path, "path", mustBeString);
  checkOptions(options, OPTION_CHECKS, { path: "options" });
  const { root = "/", caseInsensitive = false } = options;
  const own = toPosix(path);
  const whole = isAbsolute(own) ? own : `${toPosix(root)}/${own}`;
  const drive = /^\/?([A-Za-z]:)(?=\/|$)/.exec(whole);
  const rest = drive === null ? whole : whole.slice(drive[0].length);
  const absolute = `${drive === null ? "" : `/${drive[1]?.toLowerCase()}`}/${resolveDots(rest).join("/")}`;
  return `file:${caseInsensitive ? absolute.toLowerCase() : absolute}`;
}

function toPosix(path: string): string {
  return path.replaceAll("\\", "/");
}

function isAbsolute(path: string): boolean {
  return path.startsWith("/") || /^[A-Za-z]:(\/|$)/.test(path);
}

function resolveDots(path: string): readonly string[] {
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return parts;
}

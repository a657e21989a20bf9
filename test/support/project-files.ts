import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { listFiles, ROOT } from "./syntax.ts";

const FOLDERS = ["src", "machines", "test", "docs", "examples", "scripts", "bench"];

/**
 * The project's files whose paths match, relative to its root: those under version control and new ones that are
 * not ignored; all below its folders where there is no repository.
 */
export function projectFiles(pattern: RegExp): string[] {
  return listProject().filter((path) => pattern.test(path) && existsSync(ROOT + path));
}

function listProject(): string[] {
  try {
    const listed = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
      cwd: ROOT,
      stdio: ["ignore", "pipe", "ignore"],
    });
    return listed.toString("utf8").split("\n");
  } catch {
    return listFiles(FOLDERS, "");
  }
}

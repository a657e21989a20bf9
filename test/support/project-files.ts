import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { listFiles, ROOT } from "./syntax.ts";

const FOLDERS = ["src", "machines", "test", "docs", "examples", "scripts", "bench"];

/**
 * The project's files whose paths match, relative to its root: those under version control and new ones that are
 * not ignored; all at its root and below its folders where there is no repository.
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
    const atRoot = readdirSync(ROOT, { withFileTypes: true }).filter((entry) => entry.isFile());
    return [...atRoot.map(({ name }) => name), ...listFiles(FOLDERS, "")];
  }
}

import { temporaryDirectory } from "../journal/temporary-directory.ts";

export function newPath(): string {
  return `${temporaryDirectory()}/store.db`;
}

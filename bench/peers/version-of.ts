import { readFileSync } from "node:fs";

/** Package and version as installed for the bench. */
export function versionOf(name: string): string {
  const path = new URL(`../node_modules/${name}/package.json`, import.meta.url);
  const { version } = JSON.parse(readFileSync(path, "utf8")) as { readonly version: string }; // every package has one
  return `${name} ${version}`;
}

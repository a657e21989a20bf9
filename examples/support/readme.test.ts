import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

it("the page shows the lines that changed, as they are now", async () => {
  // A script without types, since it runs as it is.
  const script = new URL("../write-readme.mjs", import.meta.url).href;
  const { page } = (await import(/* @vite-ignore */ script)) as { page: () => string };
  expect(readFileSync(new URL("../README.md", import.meta.url), "utf8")).toBe(page());
});

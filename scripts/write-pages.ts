/** `npm run pages`: writes the current text of each example into the pages that show it. */
import { readFileSync, writeFileSync } from "node:fs";
import { readPages } from "../test/support/markdown.ts";
import { ROOT } from "../test/support/syntax.ts";

const SHOWN = /(?<=^<!-- source: (\S+) -->\n```ts\n)[\s\S]*?(?=^```$)/gm;

for (const { page, text } of readPages()) {
  const current = text.replace(SHOWN, (_old, example: string) => readFileSync(ROOT + example, "utf8"));
  if (current !== text) {
    writeFileSync(ROOT + page, current);
    process.stdout.write(`${page} is written anew\n`);
  }
}

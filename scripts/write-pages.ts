/** `npm run pages`: writes the current text of each example into the pages that show it. */
import { writeFileSync } from "node:fs";
import { readPages, shownText } from "../test/support/markdown.ts";
import { ROOT } from "../test/support/syntax.ts";

const SHOWN = /(?<=^<!-- ((?:source|changes): [^>]+?) -->\n```\w+\n)[\s\S]*?(?=^```$)/gm;

for (const { page, text } of readPages()) {
  const current = text.replace(SHOWN, (old, marker: string) => shownText(marker) ?? old);
  if (current !== text) {
    writeFileSync(ROOT + page, current);
    process.stdout.write(`${page} is written anew\n`);
  }
}

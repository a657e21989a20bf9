import { createHash } from "node:crypto";
import { escapeMarkup } from "./markup.ts";

/** What a page is put together from. */
export interface PageParts {
  readonly title: string;
  /** Markup, with everything that came from elsewhere escaped. */
  readonly body: string;
  readonly script: string;
  readonly style: string;
  /** Handed to the script as JSON, in the element `data`. */
  readonly data: unknown;
  /** Whether the page may listen to the server that it came from. */
  readonly isLive: boolean;
}

/**
 * One HTML file that asks for nothing outside of itself. Its content security policy names script and style
 * by their hashes, so that no text of a recording can ever run.
 */
export function htmlPage({ title, body, script, style, data, isLive }: PageParts): string {
  const policy = [
    "default-src 'none'",
    `script-src '${hashOf(script)}'`,
    `style-src '${hashOf(style)}'`,
    "img-src data:",
    `connect-src ${isLive ? "'self'" : "'none'"}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  return [
    "<!doctype html>",
    '<html lang="en">',
    "<head>",
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${escapeMarkup(policy)}">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    '<link rel="icon" href="data:,">',
    `<title>${escapeMarkup(title)}</title>`,
    `<style>${style}</style>`,
    "</head>",
    "<body>",
    body,
    `<script type="application/json" id="data">${jsonText(data)}</script>`,
    `<script>${script}</script>`,
    "</body>",
    "</html>",
    "",
  ].join("\n");
}

/** JSON that cannot end the element it stands in. */
function jsonText(value: unknown): string {
  return JSON.stringify(value).replaceAll("<", "\\u003c");
}

function hashOf(text: string): string {
  return `sha256-${createHash("sha256").update(text, "utf8").digest("base64")}`;
}

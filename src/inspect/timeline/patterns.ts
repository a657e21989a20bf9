import { escapeMarkup } from "../markup.ts";
import type { Mark } from "./marks.ts";

interface Pattern {
  readonly size: number;
  /** A path in a square of that size. */
  readonly path: string;
}

/** A texture for every mark but the plain one, so that nobody has to tell colours apart. */
const TEXTURES: Readonly<Partial<Record<Mark | "key" | "slot" | "barrier", Pattern>>> = {
  failed: { size: 8, path: "M-2 2 L2 -2 M0 8 L8 0 M6 10 L10 6" },
  uncertain: { size: 8, path: "M0 6 L2 2 L4 6 L6 2 L8 6" },
  blocked: { size: 6, path: "M2 0 V6" },
  refused: { size: 7, path: "M0 0 L7 7 M7 0 L0 7" },
  cancelled: { size: 6, path: "M0 2 H6" },
  repeatTerminated: { size: 6, path: "M0 3 H6 M3 0 V6" },
  running: { size: 10, path: "M0 0 L5 5 L0 10" },
  key: { size: 6, path: "M-1 1 L1 -1 M0 6 L6 0 M5 7 L7 5" },
  slot: { size: 5, path: "M2 0 V5" },
  barrier: { size: 9, path: "M0 9 L9 0" },
};

/** The definitions of all textures, for the `defs` of a drawing. */
export const PATTERNS = `<defs>${Object.entries(TEXTURES)
  .map(
    ([name, { size, path }]) =>
      `<pattern id="tl-texture-${escapeMarkup(name)}" width="${size}" height="${size}" patternUnits="userSpaceOnUse">` +
      `<path class="tl-stroke tl-stroke-${escapeMarkup(name)}" d="${path}"/></pattern>`,
  )
  .join("")}</defs>`;

/**
 * Widths of text without a font at hand: those of Helvetica, in thousandths of the size. What is drawn says
 * how wide it is meant to be, so that a viewer with another font squeezes it in instead of overflowing.
 */
const WIDTHS: readonly (readonly [width: number, characters: string])[] = [
  [191, "'"],
  [222, "ijl"],
  [260, "|"],
  [278, " !,./:;I[]\\ft"],
  [333, "()-r`"],
  [334, "{}"],
  [355, '"'],
  [389, "*"],
  [469, "^"],
  [500, "Jckxyzsv"],
  [556, "#$0123456789?L_abdeghnopqu"],
  [584, "+<=>~"],
  [611, "FTZ"],
  [667, "ABEKPSVXY&"],
  [722, "CDHNRUw"],
  [778, "GOQ"],
  [833, "Mm"],
  [889, "%"],
  [944, "W"],
  [1015, "@"],
];
const WIDTH_OF: ReadonlyMap<string, number> = new Map(
  WIDTHS.flatMap(([width, characters]) => [...characters].map((character) => [character, width] as const)),
);
const BOLD_FACTOR = 1.07;
const OTHER_CHARACTER = 600;

/** How a piece of text is set. */
export interface TextStyle {
  readonly size: number;
  readonly bold?: boolean;
}

/** The width of a text in pixels. */
export function textWidth(text: string, { size, bold = false }: TextStyle): number {
  const thousandths = [...text].reduce((sum, character) => sum + (WIDTH_OF.get(character) ?? OTHER_CHARACTER), 0);
  return (thousandths / 1_000) * size * (bold ? BOLD_FACTOR : 1);
}

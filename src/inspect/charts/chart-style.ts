/** The style sheet of chart drawings, for light and dark surroundings. Classes begin with `ck-`. */
export const CHART_STYLE = `
.chart {
  --ck-sheet: #ffffff; --ck-rim: #d8dee9; --ck-box: #f6f8fb; --ck-frame: #64748b; --ck-final: #eef6f1;
  --ck-title: #0f172a; --ck-words: #526077; --ck-event: #1e293b; --ck-guard: #7c3aed; --ck-action: #0f766e;
  --ck-line: #64748b; --ck-chip: #fdf0d0; --ck-chip-text: #7a4b00; --ck-area: #fbfcfe;
  font-family: "Helvetica Neue", Helvetica, Arial, "Liberation Sans", "DejaVu Sans Condensed", sans-serif;
}
@media (prefers-color-scheme: dark) {
  .chart {
    --ck-sheet: #10151f; --ck-rim: #2b3546; --ck-box: #1b2331; --ck-frame: #7f8ea6; --ck-final: #17281f;
    --ck-title: #f1f5f9; --ck-words: #a9b6c9; --ck-event: #e2e8f0; --ck-guard: #c4b5fd; --ck-action: #5eead4;
    --ck-line: #8494ab; --ck-chip: #3c2f12; --ck-chip-text: #fcd68a; --ck-area: #151b27;
  }
}
.ck-sheet { fill: var(--ck-sheet); stroke: var(--ck-rim); }
.ck-heading { font-size: 19px; font-weight: 700; fill: var(--ck-title); }
.ck-subheading { font-size: 12.5px; fill: var(--ck-words); }
.ck-box { fill: var(--ck-box); stroke: var(--ck-frame); stroke-width: 1.2; }
.ck-compound > .ck-box { fill: var(--ck-area); stroke-dasharray: none; stroke-width: 1; }
.ck-final > .ck-box { fill: var(--ck-final); stroke-width: 1.2; }
.ck-inner { fill: none; stroke: var(--ck-frame); stroke-width: 1; }
.ck-title { font-size: 14px; font-weight: 700; fill: var(--ck-title); }
.ck-words, .ck-keyword { font-size: 10.5px; fill: var(--ck-words); }
.ck-event { font-size: 10.5px; font-weight: 700; fill: var(--ck-event); }
.ck-guard { font-size: 10.5px; fill: var(--ck-guard); }
.ck-action { font-size: 10.5px; fill: var(--ck-action); }
.ck-tag { font-size: 9.5px; font-weight: 700; fill: var(--ck-chip-text); }
.ck-chip { fill: var(--ck-chip); }
.ck-line { fill: none; stroke: var(--ck-line); stroke-width: 1.2; }
.ck-arrow { fill: var(--ck-line); fill: context-stroke; }
.ck-label { fill: var(--ck-sheet); fill-opacity: 0.92; }
.ck-above text:not(.ck-tag) { stroke: var(--ck-area); stroke-width: 5px; stroke-linejoin: round; paint-order: stroke; }
.ck-start { fill: var(--ck-frame); }
`;

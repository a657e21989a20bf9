/**
 * The tree of runs, responses, epochs and calls.
 * Owns: its rows, which of them are folded, which has the focus. Keys as in any tree: up and down between
 * rows, left folds or goes up, right unfolds, enter selects.
 */
import type { RunStory } from "../story/run-story.ts";
import { build } from "./elements.ts";
import type { Selection } from "./inspector-model.ts";
import { type TreeRow, treeRows } from "./tree-rows.ts";

/** See the file header. */
export class TreeView {
  readonly #tree: HTMLElement;
  readonly #onSelect: (selection: Selection) => void;
  readonly #folded = new Set<string>();
  #rows: readonly TreeRow[] = [];
  #focused: string | undefined;
  #drawn = "";

  /** `onSelect` is told what a person selects. */
  constructor(tree: HTMLElement, onSelect: (selection: Selection) => void) {
    this.#tree = tree;
    this.#onSelect = onSelect;
    tree.addEventListener("click", (event) => this.#click(event));
    tree.addEventListener("keydown", (event) => this.#press(event));
  }

  /** Shows runs; the selected row is marked, and brought into view when it has changed. */
  draw(runs: readonly RunStory[], selection: Selection | undefined): void {
    this.#rows = treeRows(runs).filter(({ above }) => !above.some((key) => this.#folded.has(key)));
    const selected = selection === undefined ? undefined : keyOf(selection);
    const hadFocus = this.#tree.contains(document.activeElement);
    const rows = this.#rows.map((row) => this.#element(row, row.key === selected));
    this.#tree.replaceChildren(...rows);
    if (!this.#rows.some(({ key }) => key === this.#focused)) this.#focused = selected ?? this.#rows[0]?.key;
    const focused = this.#elementOf(this.#focused);
    focused?.setAttribute("tabindex", "0");
    if (hadFocus) focused?.focus();
    if (selected !== undefined && selected !== this.#drawn) {
      this.#elementOf(selected)?.scrollIntoView({ block: "nearest" });
    }
    this.#drawn = selected ?? "";
  }

  #element(row: TreeRow, isSelected: boolean): HTMLElement {
    const { key, level, label, state, sign, hasChildren } = row;
    const isOpen = !this.#folded.has(key);
    const fold = build("span", { class: "fold", "aria-hidden": "true" }, hasChildren ? (isOpen ? "▾" : "▸") : "");
    const marks =
      sign === undefined ? [] : [build("span", { class: `sign sign-${sign.mark}`, "aria-hidden": "true" }, sign.glyph)];
    return build(
      "div",
      {
        role: "treeitem",
        class: `row level-${level}`,
        tabindex: "-1",
        "data-key": key,
        "aria-level": String(level),
        "aria-selected": String(isSelected),
        ...(hasChildren && { "aria-expanded": String(isOpen) }),
      },
      fold,
      ...marks,
      build("span", { class: "label" }, label),
      build("span", { class: "state" }, state),
    );
  }

  #elementOf(key: string | undefined): HTMLElement | undefined {
    return [...this.#tree.querySelectorAll<HTMLElement>("[data-key]")].find(({ dataset }) => dataset.key === key);
  }

  #click(event: MouseEvent): void {
    const target = event.target instanceof Element ? event.target : undefined;
    const row = this.#rowOf(target?.closest<HTMLElement>("[data-key]")?.dataset.key);
    if (row === undefined) return;
    this.#focused = row.key;
    if (target?.classList.contains("fold") === true && row.hasChildren) this.#fold(row, !this.#folded.has(row.key));
    else this.#onSelect(row.selection);
  }

  #press(event: KeyboardEvent): void {
    const index = this.#rows.findIndex(({ key }) => key === this.#focused);
    const row = this.#rows[index];
    if (row === undefined || !this.#act(event.key, row, index)) return;
    event.preventDefault();
  }

  /** Returns whether the key means something here. */
  #act(pressed: string, row: TreeRow, index: number): boolean {
    const isFolded = this.#folded.has(row.key);
    switch (pressed) {
      case "ArrowDown":
        return this.#focus(this.#rows[index + 1]);
      case "ArrowUp":
        return this.#focus(this.#rows[index - 1]);
      case "Home":
        return this.#focus(this.#rows[0]);
      case "End":
        return this.#focus(this.#rows.at(-1));
      case "ArrowRight":
        return row.hasChildren && isFolded ? this.#fold(row, false) : this.#focus(this.#rows[index + 1]);
      case "ArrowLeft":
        if (row.hasChildren && !isFolded) return this.#fold(row, true);
        return this.#focus(this.#rowOf(row.above.at(-1)));
      case "Enter":
      case " ":
        this.#onSelect(row.selection);
        return true;
      default:
        return false;
    }
  }

  #rowOf(key: string | undefined): TreeRow | undefined {
    return this.#rows.find((row) => row.key === key);
  }

  #focus(row: TreeRow | undefined): boolean {
    if (row === undefined) return false;
    this.#elementOf(this.#focused)?.setAttribute("tabindex", "-1");
    this.#focused = row.key;
    const element = this.#elementOf(row.key);
    element?.setAttribute("tabindex", "0");
    element?.focus();
    return true;
  }

  #fold(row: TreeRow, isFolded: boolean): boolean {
    if (isFolded) this.#folded.add(row.key);
    else this.#folded.delete(row.key);
    this.#onSelect(row.selection);
    return true;
  }
}

function keyOf({ runId, id }: Selection): string {
  return `${runId}/${id}`;
}

import { elementOf } from "./elements.ts";

/** The two views in the middle of the page. */
export type Tab = "chart" | "timeline";

const TABS: readonly Tab[] = ["chart", "timeline"];

/** The tab that is chosen. */
export function chosenTab(): Tab {
  return TABS.find((tab) => tabOf(tab).getAttribute("aria-selected") === "true") ?? "chart";
}

/** Lets a person choose: by click, and by arrow keys as in any list of tabs. */
export function onTab(onChange: () => void): void {
  for (const [index, tab] of TABS.entries()) {
    tabOf(tab).addEventListener("click", () => choose(tab, onChange));
    tabOf(tab).addEventListener("keydown", ({ key }) => {
      const step = key === "ArrowRight" ? 1 : key === "ArrowLeft" ? -1 : 0;
      const next = step === 0 ? undefined : TABS[(index + step + TABS.length) % TABS.length];
      if (next === undefined) return;
      choose(next, onChange);
      tabOf(next).focus();
    });
  }
}

function choose(chosen: Tab, onChange: () => void): void {
  for (const tab of TABS) {
    tabOf(tab).setAttribute("aria-selected", String(tab === chosen));
    tabOf(tab).setAttribute("tabindex", tab === chosen ? "0" : "-1");
    elementOf(`view-${tab}`, HTMLElement).hidden = tab !== chosen;
  }
  onChange();
}

function tabOf(tab: Tab): HTMLButtonElement {
  return elementOf(`tab-${tab}`, HTMLButtonElement);
}

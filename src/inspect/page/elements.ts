/** The element with an id that the page is known to have. */
export function elementOf<Kind extends HTMLElement>(id: string, kind: new () => Kind): Kind {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`the page has no ${id}`);
  return found;
}

/** An element with text or other elements in it. Texts are set as texts, so they need no escaping. */
export function build<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Readonly<Record<string, string>>,
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) element.setAttribute(attribute, value);
  element.append(...children);
  return element;
}

/** Puts markup of our own making in place of what an element held. */
export function fill(element: Element, markup: string): void {
  element.innerHTML = markup;
}

/** The JSON that the page came with. */
export function pageData(): unknown {
  return JSON.parse(document.getElementById("data")?.textContent ?? "null");
}

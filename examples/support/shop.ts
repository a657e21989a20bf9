/** What the customer asks, and what every host's model does about it: it takes two apples at once. */
export const PROMPT = "Two apples, please. How many are left?";
export const ANSWER = "One apple is left.";
export const CALLS = [
  { id: "call_1", name: "take", arguments: { item: "apples" } },
  { id: "call_2", name: "take", arguments: { item: "apples" } },
] as const;

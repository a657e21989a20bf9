import { setup } from "xstate";

/** The facts of a durable action's life; each is told once the journal holds it. */
export type ActionEvent =
  | { readonly type: "QUEUED" }
  | { readonly type: "CLAIMED" }
  | { readonly type: "ABANDONED" }
  | { readonly type: "COMMITTED" }
  | { readonly type: "REJECTED" }
  | { readonly type: "FAILED" }
  | { readonly type: "LOST" };

/**
 * The life of a durable action in the journal: the one list of its states and transitions (ACT-2). Every
 * store enforces the same list in its own statements. The final states are the endings of an operation;
 * an ending is immutable.
 */
export const actionMachine = setup({
  types: {
    events: {} as ActionEvent,
    tags: {} as "open" | "ended",
  },
}).createMachine({
  id: "action",
  description: "One durable action, from its intent to its one receipt.",
  initial: "new",
  states: {
    new: {
      description: "Not in the journal. With free keys intent and claim are one commit; else the intent waits in line.",
      on: { QUEUED: "prepared", CLAIMED: "dispatched" },
    },
    prepared: {
      description: "The intent is written and waits for its conflict scopes. Nothing has touched the world.",
      tags: "open",
      on: { CLAIMED: "dispatched", ABANDONED: "abandoned" },
    },
    abandoned: {
      description:
        "Proof that nothing was dispatched. Only a dispatch of the same intent leads on, as a new attempt under a higher fence.",
      on: { QUEUED: "prepared", CLAIMED: "dispatched" },
    },
    dispatched: {
      description: "The scopes are held and the handler may be at work: from here on only a receipt ends it (ACT-1).",
      tags: "open",
      on: { COMMITTED: "committed", REJECTED: "rejected", FAILED: "failed", LOST: "uncertain" },
    },
    uncertain: {
      description:
        "It may have happened. The scopes stay held until a late receipt, a reconciliation or a person ends it (ACT-4, ACT-5).",
      tags: "open",
      on: { COMMITTED: "committed", REJECTED: "rejected", FAILED: "failed" },
    },
    committed: { description: "It happened.", type: "final", tags: "ended" },
    rejected: { description: "The world's rules refused it; it did not happen.", type: "final", tags: "ended" },
    failed: { description: "It did not happen.", type: "final", tags: "ended" },
  },
});

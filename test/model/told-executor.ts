import type { Kernel } from "./kernel.ts";
import type { CallFact } from "./scheduler-state.ts";

/** An executor that answers the real kernel when it is told what is to become of it. */
export class ToldExecutor {
  /** What the kernel waits for. */
  readonly answer: Promise<unknown>;
  readonly #core: Kernel["core"];
  #resolve: (value: unknown) => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;

  constructor(core: Kernel["core"]) {
    this.#core = core;
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** Answers in the way in which a call comes to a fact; after the first time nothing happens. */
  end(fact: CallFact): void {
    switch (fact) {
      case "FAILED":
        this.#reject(new this.#core.ToolError("it did not happen"));
        break;
      case "LOST":
        this.#reject(new this.#core.OutcomeUnknownError("nobody knows"));
        break;
      case "THREW":
        this.#reject(new Error("broken"));
        break;
      default:
        this.#resolve("done");
    }
  }
}

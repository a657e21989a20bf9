import { checkGiven, mustBeString } from "../domain/check-options.ts";

/** What a test of order found: a rule of docs/rules.md that a batch or run did not keep. */
export class RuleViolation extends Error {
  override readonly name = "RuleViolation";
  /** The rule's id, such as `EPOCH-2`. */
  readonly rule: string;

  constructor(rule: string, what: string) {
    checkGiven(rule, "rule", mustBeString);
    checkGiven(what, "what", mustBeString);
    super(`${rule}: ${what}`);
    this.rule = rule;
  }
}

/** What every runtime in the bench is asked to do, so that all do the same visible work. */

/** A tool of a workload. `key` names what a call touches; runtimes without keys have no use for it. */
export interface BenchTool {
  readonly name: string;
  /** JSON Schema of the arguments, an object at top level. */
  readonly schema: BenchSchema;
  /** `read`: may overlap. `keyed`: may overlap with other keys. `barrier`: may overlap with nothing. */
  readonly kind: "read" | "keyed" | "barrier";
  readonly key?: (args: BenchArguments) => string;
  readonly execute: (args: BenchArguments, signal: () => AbortSignal | undefined) => Promise<string>;
}

/** A JSON Schema of the few forms that all validators here share. */
export interface BenchSchema {
  readonly type: "object" | "string" | "integer" | "array";
  readonly properties?: Readonly<Record<string, BenchSchema>>;
  readonly required?: readonly string[];
  readonly items?: BenchSchema;
  readonly additionalProperties?: false;
}

/** Arguments, parsed and validated. */
export type BenchArguments = Readonly<Record<string, unknown>>;

/** A call as a model's provider sends it: the arguments are text. */
export interface BenchCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** What a model is told of one call. */
export interface BenchAnswer {
  readonly id: string;
  readonly text: string;
  readonly isError: boolean;
}

/** How a runtime is set up for a workload. */
export interface BenchSetup {
  readonly tools: readonly BenchTool[];
  /** How many calls may run at once, where the runtime has such a bound. */
  readonly cap: number;
}

/** A runtime, set up. */
export interface Host {
  /** Runs the calls of one response and answers the runtime's own results, in the order of the calls. */
  respond(calls: readonly BenchCall[], signal?: AbortSignal): Promise<unknown>;
  /** Reads what `respond` answered; not measured. */
  answers(results: unknown): readonly BenchAnswer[];
  /** Runs a whole conversation: `callsOf(turn)`, from 1 on, until it answers nothing. */
  converse?(callsOf: (turn: number) => readonly BenchCall[]): Promise<void>;
}

/** A runtime of the bench. */
export interface Contender {
  readonly name: string;
  /** Package and version, for the page. */
  readonly version: string;
  /** Makes the tools, once, and answers what opens a session, or whatever the runtime has, with them. */
  equip(setup: BenchSetup): () => Host;
}

/** Single calls of real models and benchmarks whose arguments break their own schema, and traps that must not be repaired. */
import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { JsonObject, JsonValue } from "../../src/domain/json.ts";
import type { JsonSchemaCheck } from "../../src/domain/schema.ts";
import { ajvValidator } from "../../src/prepare/ajv-validator.ts";
import { applyCompat, compat } from "../../src/prepare/compat.ts";
import { compileToolSchema } from "../../src/prepare/compile-schema.ts";
import { describeFaults } from "../../src/prepare/describe-faults.ts";
import { freezeArguments } from "../../src/prepare/freeze-arguments.ts";
import { parseArguments } from "../../src/prepare/parse-arguments.ts";

interface ArgumentRecord {
  readonly id: string;
  readonly classes: readonly string[];
  readonly tool: { readonly name: string; readonly parameters: JsonObject };
  readonly raw: JsonValue;
  readonly rawAbsent?: boolean;
}

const FILE = new URL("../../../shared/data/tool-calls/arg-prep.jsonl", import.meta.url);
const isAbsent = !existsSync(FILE);
const records = isAbsent ? [] : readRecords();
const validator = ajvValidator();

/** What the message must say for each class. */
const MESSAGES: Readonly<Record<string, RegExp>> = {
  "null for optional": /at \/\S+: must be (?!null)/,
  "extra key": /property '.+' is not allowed/,
  "enum value unknown": /must be one of /,
  "enum wrong letter case": /must be one of /,
  "enum right value wrong type": /must be one of /,
  "string for integer": /must be integer/,
  "boolean for string": /must be string/,
  "number for string": /must be string/,
  "required missing": /missing required property '.+'/,
};

/** Classes that compatibility steps repair; the others say something that nobody can know. */
const REPAIRABLE = ["null for optional", "extra key"];

function readRecords(): readonly ArgumentRecord[] {
  const lines = readFileSync(FILE, "utf8").trim().split("\n");
  return lines.map((line) => JSON.parse(line) as ArgumentRecord);
}

function ofClass(isWanted: (record: ArgumentRecord) => boolean): readonly ArgumentRecord[] {
  return records.filter(isWanted);
}

function checkOf(record: ArgumentRecord): JsonSchemaCheck {
  const { name, parameters } = record.tool;
  const compiled = compileToolSchema({ toolName: name, schema: parameters, imported: true, validator });
  if ("unavailable" in compiled) throw new Error(`${record.id}: ${compiled.unavailable}`);
  return compiled.check;
}

/** The verdict of parse, freeze and schema: "" is valid. As text, like a model sends it, and as an object. */
function verdictsOn(record: ArgumentRecord, steps: (draft: JsonValue) => JsonValue): readonly string[] {
  const { raw } = record;
  const sent = record.rawAbsent ? [undefined] : typeof raw === "string" ? [raw] : [JSON.stringify(raw), raw];
  return sent.map((draft) => {
    const parsed = parseArguments(draft);
    if (!parsed.ok) return parsed.reason;
    const frozen = freezeArguments(steps(parsed.draft));
    return frozen.ok ? describeFaults(checkOf(record)(frozen.arguments)) : frozen.reason;
  });
}

const isTrap = ({ classes }: ArgumentRecord): boolean => classes.some((name) => name.startsWith("trap"));
const isEmpty = ({ classes }: ArgumentRecord): boolean =>
  classes.some((name) => /^arguments (?:absent|empty)/.test(name));
const unchanged = (draft: JsonValue): JsonValue => draft;

describe.skipIf(isAbsent)("real arguments (skipped where ../shared is absent)", () => {
  it("PREP-11: the file has what its description says", () => {
    expect([records.length, ofClass(isTrap).length, ofClass(isEmpty).length]).toEqual([140, 41, 2]);
  });

  it.each(ofClass((record) => !isTrap(record) && !isEmpty(record)).map((record) => [record.id, record] as const))(
    "PREP-7, PREP-11: %s is refused by default, the message naming the fault and no value",
    (_id, record) => {
      for (const verdict of verdictsOn(record, unchanged)) {
        for (const name of record.classes) expect(verdict).toMatch(MESSAGES[name] ?? /^never$/);
        expect(verdict.length).toBeLessThan(2_000);
        expect(quotedValues(record, verdict)).toEqual([]);
      }
    },
  );

  it("C43, C48: the traps are accepted as they are, and compatibility steps leave them byte for byte", () => {
    for (const record of ofClass(isTrap)) {
      expect([record.id, ...verdictsOn(record, unchanged)]).toEqual([record.id, "", ""]);
      const result = applyCompat(compat.all, record.tool.parameters, record.raw);
      expect([record.id, JSON.stringify(result.draft), result.repairs]).toEqual([
        record.id,
        JSON.stringify(record.raw),
        [],
      ]);
    }
  });

  it("C36: absent and empty arguments are {}", () => {
    expect(ofClass(isEmpty).map((record) => verdictsOn(record, unchanged))).toEqual([[""], [""]]);
  });

  it("C45: with all compatibility steps the repairable ones are accepted, the others still refused, nothing else changed", () => {
    const tally = { repaired: 0, partly: 0, refused: 0 };
    for (const record of ofClass((each) => !isTrap(each) && !isEmpty(each))) {
      const before = JSON.stringify(record.raw);
      const { draft, repairs } = applyCompat(compat.all, record.tool.parameters, record.raw);
      expect(JSON.stringify(record.raw)).toBe(before);
      const [verdict] = verdictsOn(record, () => draft);
      const isRepairable = record.classes.some((name) => REPAIRABLE.includes(name));
      expect([record.id, repairs.length > 0]).toEqual([record.id, isRepairable]);
      if (!isRepairable) expect(draft).toBe(record.raw);
      if (record.classes.every((name) => REPAIRABLE.includes(name)))
        expect([record.id, verdict]).toEqual([record.id, ""]);
      if (verdict === "") tally.repaired += 1;
      else if (repairs.length > 0) tally.partly += 1;
      else tally.refused += 1;
    }
    // Nine calls that also held an unknown enum value held it as the null that was dropped.
    expect(tally).toEqual({ repaired: 57, partly: 4, refused: 36 });
  });
});

/** Texts of the arguments, long enough to be no accident, that a message holds and the schema does not. */
function quotedValues(record: ArgumentRecord, message: string): readonly string[] {
  const schema = JSON.stringify(record.tool.parameters);
  return textsOf(record.raw).filter((text) => text.length > 5 && message.includes(text) && !schema.includes(text));
}

function textsOf(value: JsonValue): readonly string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsOf) : [];
}

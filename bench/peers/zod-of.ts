import { z } from "zod";
import type { BenchSchema } from "../contender.ts";

/** A schema of the bench as zod has it, at top level. */
export function zodOf(schema: BenchSchema): z.ZodObject {
  const fields = Object.entries(schema.properties ?? {}).map(([name, inner]) => [name, typeOf(inner)] as const);
  return z.object(Object.fromEntries(fields));
}

function typeOf(schema: BenchSchema): z.ZodType {
  switch (schema.type) {
    case "string":
      return z.string();
    case "integer":
      return z.int();
    case "array":
      return z.array(typeOf(schema.items ?? { type: "string" }));
    case "object":
      return zodOf(schema);
  }
}

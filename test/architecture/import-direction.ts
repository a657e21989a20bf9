import type { Manifest } from "../support/manifest.ts";
import type { ImportEdge } from "./import-graph.ts";

/** What the files of one zone of the project may import, beside files of their own zone. */
interface ZoneRule {
  readonly zones: readonly string[];
  /** Zones that may be imported by `import type` alone. */
  readonly typeZones?: readonly string[];
  readonly packages: "none" | "xstate" | "dependencies" | "peers" | "declared";
  readonly entries?: true;
}

// Four files are zones of their own: `src/index.ts` is the "entry"; `src/run/clock.ts` the "clock", a leaf that
// every zone may import which gives a host the real clock by default; `src/domain/check-options.ts` is "given",
// which every zone may import that hosts hand something to; and `src/domain/promise-like.ts` is "promises", a leaf
// for every zone that meets promises of others, so that all tell them apart alike.
const BEHIND_THE_DOOR = [
  "domain",
  "given",
  "promises",
  "prepare",
  "repeat",
  "plan",
  "settle",
  "observe",
  "journal",
  "actions",
  "run",
  "clock",
];
const STAGE: ZoneRule = { zones: ["domain", "given", "promises"], packages: "dependencies" };
const OUTSIDE: ZoneRule = { zones: ["given", "promises"], packages: "peers", entries: true };

const ZONES: Readonly<Record<string, ZoneRule>> = {
  domain: { zones: [], packages: "none" },
  given: { zones: ["domain"], packages: "none" },
  promises: { zones: [], packages: "none" },
  machines: { zones: ["plan", "repeat"], typeZones: ["domain"], packages: "xstate" },
  prepare: STAGE,
  repeat: STAGE,
  plan: { zones: ["domain"], packages: "none" },
  settle: STAGE,
  observe: STAGE,
  journal: { zones: ["domain", "given", "clock"], packages: "peers" },
  actions: {
    zones: ["domain", "given", "promises", "machines", "clock"],
    typeZones: ["journal"],
    packages: "dependencies",
  },
  clock: { zones: ["domain", "given"], packages: "none" },
  interpreter: { zones: [], packages: "xstate" },
  run: {
    zones: ["domain", "promises", "machines", "interpreter", "prepare", "repeat", "plan", "settle", "clock"],
    packages: "dependencies",
  },
  // What a host holds in its hand: the one place where the drivers meet the events and the stores.
  host: { zones: BEHIND_THE_DOOR, packages: "dependencies" },
  entry: { zones: [...BEHIND_THE_DOOR, "host"], packages: "none" },
  adapters: { ...OUTSIDE, typeZones: ["domain"] },
  testing: OUTSIDE,
  inspect: OUTSIDE,
  cli: { ...OUTSIDE, packages: "declared" },
};

const SINGLE_FILES: Readonly<Record<string, string>> = {
  "src/index.ts": "entry",
  "src/run/clock.ts": "clock",
  "src/domain/check-options.ts": "given",
  "src/domain/promise-like.ts": "promises",
};

const MAY_USE_BUILTINS = [
  /^src\/journal\/sqlite/,
  /^src\/cli\//,
  /^src\/inspect\//,
  /^src\/testing\//,
  /^src\/adapters\/mcp\//,
];

/** The zone a file of `src` or `machines` lies in; undefined where the layout has no place for it. */
export function zoneOf(path: string): string | undefined {
  const zone = SINGLE_FILES[path] ?? /^(?:src\/)?([^/]+)\//.exec(path)?.[1];
  return zone !== undefined && Object.hasOwn(ZONES, zone) ? zone : undefined;
}

/** Whether a file may import a built-in module of Node. */
export function mayUseBuiltins(path: string): boolean {
  return MAY_USE_BUILTINS.some((pattern) => pattern.test(path));
}

/** Why an import goes against the direction; undefined when it does not. */
export function judgeImport(edge: ImportEdge, manifest: Manifest): string | undefined {
  const zone = zoneOf(edge.from);
  const rule = zone === undefined ? undefined : ZONES[zone];
  if (zone === undefined || rule === undefined) {
    return `${edge.from} lies in no zone of the layout`;
  }
  return isAllowed(edge, zone, rule, manifest)
    ? undefined
    : `${edge.place} (${zone}) may not import "${edge.specifier}"`;
}

function isAllowed(edge: ImportEdge, zone: string, rule: ZoneRule, manifest: Manifest): boolean {
  switch (edge.target.kind) {
    case "builtin":
      return mayUseBuiltins(edge.from);
    case "package":
      return packagesOf(rule, manifest).includes(edge.target.name);
    case "entry":
      return rule.entries === true;
    case "file":
      return isZoneAllowed(zoneOf(edge.target.path), edge, zone, rule);
  }
}

function isZoneAllowed(target: string | undefined, edge: ImportEdge, zone: string, rule: ZoneRule): boolean {
  if (target === undefined) {
    return false;
  }
  return target === zone || rule.zones.includes(target) || (edge.isTypeOnly && (rule.typeZones ?? []).includes(target));
}

function packagesOf(rule: ZoneRule, manifest: Manifest): readonly string[] {
  const own = Object.keys(manifest.dependencies);
  const peers = Object.keys(manifest.peerDependencies ?? {});
  switch (rule.packages) {
    case "none":
      return [];
    case "xstate":
      return ["xstate"];
    case "dependencies":
      return own;
    case "peers":
      return [...own, ...peers];
    case "declared":
      return [...own, ...peers, ...Object.keys(manifest.devDependencies ?? {})];
  }
}

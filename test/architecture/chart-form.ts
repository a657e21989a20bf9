import {
  childrenOf,
  findNodes,
  isNode,
  nameOf,
  nodeAt,
  nodesAt,
  placeOf,
  type SourceFile,
  type SyntaxNode,
} from "../support/syntax.ts";

// Functions that answer data from the snapshot; decisions and effects are named, never written in place.
const DATA_FUNCTIONS = new Set(["context", "input", "output", "params"]);
const SPAWNING = /^(?:spawn|spawnChild|fromPromise|fromCallback|fromObservable)$/;

/** What a chart may hold: charts that touch the world through nothing but emitted facts are `pure`. */
export type ChartKind = "pure" | "idiomatic";

/** Every way in which a chart's source is not one literal that a machine can read; empty when it is. */
export function chartFaults(file: SourceFile, kind: ChartKind): string[] {
  const created = findNodes(file.program, isCreateMachine);
  const [machine] = created;
  if (machine === undefined || created.length > 1) {
    return [`${file.path} holds ${created.length} charts, not one setup(...).createMachine(...)`];
  }
  const [config] = nodesAt(machine, "arguments");
  const faults = [
    ...setupFaults(machine),
    ...(config === undefined ? [at(machine, "no config")] : literalFaults(config)),
  ];
  const states = config === undefined ? [] : [...stateFaults(config), ...transitionFaults(config)];
  const purity = kind === "pure" ? purityFaults(file, config) : invokeFaults(config);
  return [...faults, ...states, ...purity].map(({ node, fault }) => `${placeOf(file, node.start)}: ${fault}`);
}

interface Fault {
  readonly node: SyntaxNode;
  readonly fault: string;
}

function at(node: SyntaxNode, fault: string): Fault {
  return { node, fault };
}

function isCreateMachine(node: SyntaxNode): boolean {
  if (node.type !== "CallExpression") {
    return false;
  }
  const callee = nodeAt(node, "callee");
  return callee.type === "MemberExpression"
    ? nameOf(nodeAt(callee, "property")) === "createMachine"
    : nameOf(callee) === "createMachine";
}

// setup holds the named implementations, which are code; its own form is literal all the same.
function setupFaults(machine: SyntaxNode): Fault[] {
  const callee = nodeAt(machine, "callee");
  const made = callee.type === "MemberExpression" ? nodeAt(callee, "object") : callee;
  const isSetup = made.type === "CallExpression" && nameOf(nodeAt(made, "callee")) === "setup";
  const [parts] = isSetup ? nodesAt(made, "arguments") : [];
  if (parts?.type !== "ObjectExpression") {
    return [at(machine, "createMachine is not called on setup({...})")];
  }
  const groups = nodesAt(parts, "properties");
  return [parts, ...groups.map((group) => group.value).filter(isNode)].flatMap((object) =>
    object.type === "ObjectExpression"
      ? keyFaults(object)
      : object.type === "TSAsExpression"
        ? []
        : [at(object, `a group of setup is ${object.type}, not a literal`)],
  );
}

function keyFaults(object: SyntaxNode): Fault[] {
  return nodesAt(object, "properties").flatMap((property) => {
    if (property.type !== "Property") {
      return [at(property, `${property.type} in a literal`)];
    }
    return property.computed === true ? [at(property, "a computed key")] : [];
  });
}

function literalFaults(node: SyntaxNode): Fault[] {
  switch (node.type) {
    case "Literal":
      return [];
    case "TemplateLiteral":
      return nodesAt(node, "expressions").length === 0 ? [] : [at(node, "a text made at run time")];
    case "ArrayExpression":
      return childrenOf(node).flatMap(literalFaults);
    case "ObjectExpression":
      return [...keyFaults(node), ...nodesAt(node, "properties").flatMap(propertyFaults)];
    case "Identifier":
      return nameOf(node) === "undefined" ? [] : [at(node, `the variable ${String(nameOf(node))} in the config`)];
    case "UnaryExpression":
      return literalFaults(nodeAt(node, "argument"));
    default:
      return [at(node, `${node.type} in the config, not a literal`)];
  }
}

function propertyFaults(property: SyntaxNode): Fault[] {
  const value = property.value;
  if (property.type !== "Property" || !isNode(value)) {
    return [];
  }
  if (!isFunction(value)) {
    return literalFaults(value);
  }
  const key = String(nameOf(nodeAt(property, "key")));
  if (!DATA_FUNCTIONS.has(key)) {
    return [at(value, `a function written in place as ${key}; name it in setup`)];
  }
  return findNodes(value, ({ type }) => type === "CallExpression" || type === "BlockStatement").map((node) =>
    at(node, `${node.type} in the function ${key}; it may only pick data`),
  );
}

function stateFaults(config: SyntaxNode): Fault[] {
  return statesBelow(config).flatMap(({ name, state }) => {
    if (state.type !== "ObjectExpression") {
      return [at(state, `the state ${name} is no literal`)];
    }
    const isFinal = textOf(state, "type") === "final";
    return isFinal || textOf(state, "description") !== undefined
      ? []
      : [at(state, `the state ${name} has no description`)];
  });
}

function statesBelow(config: SyntaxNode): { readonly name: string; readonly state: SyntaxNode }[] {
  const states = fieldOf(config, "states");
  if (states?.type !== "ObjectExpression") {
    return [];
  }
  return nodesAt(states, "properties").flatMap((property) => {
    const state = property.value;
    return isNode(state) ? [{ name: String(nameOf(nodeAt(property, "key"))), state }, ...statesBelow(state)] : [];
  });
}

function transitionFaults(config: SyntaxNode): Fault[] {
  return propertiesNamed(config, "target").flatMap((property) => {
    const target = nodeAt(property, "value");
    return target.type === "Literal" ? [] : [at(target, "a transition with more or less than one target")];
  });
}

function invokeFaults(config: SyntaxNode | undefined): Fault[] {
  return propertiesNamed(config, "invoke").flatMap((property) => {
    const invoked = nodeAt(property, "value");
    const list = invoked.type === "ArrayExpression" ? nodesAt(invoked, "elements") : [invoked];
    return list.filter((each) => textOf(each, "id") === undefined).map((each) => at(each, "an invoke without an id"));
  });
}

function purityFaults(file: SourceFile, config: SyntaxNode | undefined): Fault[] {
  const keyed = ["invoke", "after"].flatMap((key) =>
    propertiesNamed(config, key).map((property) => at(property, `${key} in a chart that may only emit`)),
  );
  const parallel = propertiesNamed(config, "type")
    .filter((property) => nodeAt(property, "value").value === "parallel")
    .map((property) => at(property, "a parallel region"));
  const spawned = findNodes(file.program, isSpawning).map((node) =>
    at(node, `${String(nameOf(node))} in a chart that may only emit`),
  );
  return [...keyed, ...parallel, ...spawned];
}

function isSpawning(node: SyntaxNode, [parent]: readonly SyntaxNode[]): boolean {
  const isKey = parent?.type === "Property" && parent.key === node;
  return node.type === "Identifier" && !isKey && SPAWNING.test(String(nameOf(node)));
}

// Names of events and states are keys too, and data functions may answer any key: neither counts.
function propertiesNamed(config: SyntaxNode | undefined, key: string): SyntaxNode[] {
  if (config === undefined) {
    return [];
  }
  return findNodes(config, (node, ancestors) => {
    const around = ancestors[1];
    const holder = around?.type === "Property" ? nameOf(nodeAt(around, "key")) : undefined;
    const isFreelyNamed = holder === "states" || holder === "on" || ancestors.some(isFunction);
    return node.type === "Property" && !isFreelyNamed && nameOf(nodeAt(node, "key")) === key;
  });
}

function isFunction({ type }: SyntaxNode): boolean {
  return type === "ArrowFunctionExpression" || type === "FunctionExpression";
}

function fieldOf(object: SyntaxNode, key: string): SyntaxNode | undefined {
  const property = nodesAt(object, "properties").find((each) => isNode(each.key) && nameOf(each.key) === key);
  return property === undefined ? undefined : nodeAt(property, "value");
}

function textOf(object: SyntaxNode, key: string): string | undefined {
  const text = fieldOf(object, key)?.value;
  return typeof text === "string" ? text : undefined;
}

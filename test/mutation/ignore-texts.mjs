/** Leaves alone what is written for people to read, in charts and in messages, and what only the compiler reads. */
import { declareValuePlugin, PluginKind } from "@stryker-mutator/api/plugin";

export const strykerPlugins = [
  declareValuePlugin(PluginKind.Ignore, "texts", {
    shouldIgnore: (path) => {
      if (isText(path.node)) return "a text for people";
      return isOfTypes(path) ? "a place for types, without a value" : undefined;
    },
  }),
];

function isText(node) {
  if (node.type === "StringLiteral") return hasWords(node.value);
  return node.type === "TemplateLiteral" && node.quasis.some(({ value }) => hasWords(value.raw));
}

/** In `types: { context: {} as Context }` of a chart's setup. */
function isOfTypes(path) {
  return (
    path.isObjectExpression() &&
    path.findParent(({ node }) => node.type === "ObjectProperty" && node.key.name === "types") !== null
  );
}

function hasWords(text) {
  return /[a-z,:;.] | {1,2}[a-z]/i.test(text);
}

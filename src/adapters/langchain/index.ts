export { fromLangChainTools, type LangChainPolicies, type LangChainToolLike } from "./from-tools.ts";
export { callsFromLangChain, toLangChainMessages } from "./langchain.ts";
export type {
  LangChainMessage,
  LangChainMessageLike,
  LangChainPart,
  LangChainToolMessage,
  LangChainUserMessage,
} from "./langchain-shapes.ts";

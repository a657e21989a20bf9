/** The part of an AI message that {@link callsFromLangChain} reads; any version of LangChain fits. */
export interface LangChainMessageLike {
  readonly content?: unknown;
  readonly tool_calls?: readonly object[] | null | undefined;
  readonly invalid_tool_calls?: readonly object[] | null | undefined;
  readonly additional_kwargs?: object | null | undefined;
  readonly response_metadata?: object | null | undefined;
}

/** A tool message as LangChain's message lists take it: a type and no interface, since those want an index. */
export type LangChainToolMessage = {
  readonly role: "tool";
  readonly tool_call_id: string;
  readonly name: string;
  readonly status: "success" | "error";
  readonly content: string | LangChainPart[];
};

/** A word of the kernel to the model. */
export type LangChainUserMessage = {
  readonly role: "user";
  readonly content: string;
};

/** A message that answers a call, or a word of the kernel. */
export type LangChainMessage = LangChainToolMessage | LangChainUserMessage;

/** A piece of a tool message that is more than text. Arrays of them are mutable, as LangChain's types want. */
export type LangChainPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image_url"; readonly image_url: { readonly url: string } };

import type { JsonObject, JsonValue } from "../../domain/json.ts";

/** The part of a response that {@link callsFromResponses} reads; any version of the SDK, or plain JSON, fits. */
export interface ResponseLike {
  readonly status?: string | null | undefined;
  readonly incomplete_details?: { readonly reason?: string | null | undefined } | null | undefined;
  readonly error?: object | null | undefined;
  readonly output?: readonly object[] | null | undefined;
}

/** A tool as the Responses API declares it. */
export interface ResponsesTool {
  readonly type: "function";
  readonly name: string;
  readonly description: string;
  /** JSON Schema. */
  readonly parameters: JsonObject;
  /** The API makes a tool strict when this is left out, and then refuses most JSON Schemas. */
  readonly strict: false;
}

/** A piece of an output that is more than text. Arrays of them are mutable, as the SDK's types want. */
export type ResponsesPart =
  | { readonly type: "input_text"; readonly text: string }
  | { readonly type: "input_image"; readonly detail: "auto"; readonly image_url: string }
  | { readonly type: "input_file"; readonly filename: string; readonly file_data: string };

/** What a function or custom tool gave back. */
export interface ResponsesToolOutput {
  readonly type: "function_call_output" | "custom_tool_call_output";
  readonly call_id: string;
  readonly output: string | ResponsesPart[];
  /** The call's own `caller`, echoed. */
  readonly caller?: JsonObject;
}

/** What a shell or patch tool, which OpenAI defines and the client runs, gave back. */
export type ResponsesBuiltInOutput =
  | { readonly type: "local_shell_call_output"; readonly call_id: string; readonly output: string }
  | {
      readonly type: "apply_patch_call_output";
      readonly call_id: string;
      readonly status: "completed" | "failed";
      readonly output: string;
      readonly caller?: JsonObject;
    }
  | {
      readonly type: "shell_call_output";
      readonly call_id: string;
      readonly output: ShellOutput[];
      readonly max_output_length?: JsonValue;
      readonly caller?: JsonObject;
    };

/** What one command of a shell call printed, and how it ended. */
export interface ShellOutput {
  readonly stdout: string;
  readonly stderr: string;
  readonly outcome: { readonly type: "exit"; readonly exit_code: number } | { readonly type: "timeout" };
}

/** A word of the kernel to the model. */
export interface ResponsesMessage {
  readonly role: "user";
  readonly content: string;
}

/** An input item that answers a call, or a word of the kernel. */
export type ResponsesItem = ResponsesToolOutput | ResponsesBuiltInOutput | ResponsesMessage;

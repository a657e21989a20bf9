import { callsFromResponses, toResponsesCallId, toResponsesItems } from "toolkernel/openai";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/domain/json.ts";
import { EVERY_PART, resultOf } from "./wires/results.ts";
import { settleDraft } from "./wires/settle-draft.ts";

const FUNCTION_CALL = { type: "function_call", id: "fc_1", call_id: "call_1", name: "read", arguments: "{}" };

function answer(item: JsonObject, fields: Parameters<typeof resultOf>[0] = {}): readonly object[] {
  const [call] = callsFromResponses({ status: "completed", output: [item] }).calls;
  const result = resultOf({ ...fields, ...(call?.providerData && { providerData: call.providerData }) });
  return toResponsesItems({ messages: [result] });
}

describe("OpenAI Responses: calls in", () => {
  it("what the provider runs itself is left alone", () => {
    const output = [
      { type: "web_search_call", id: "ws_1", status: "completed" },
      { type: "code_interpreter_call", id: "ci_1", code: "1" },
      { type: "mcp_call", id: "mcp_1", name: "read", arguments: "{}" },
      { type: "computer_call", call_id: "call_c", action: { type: "screenshot" } },
      {
        type: "shell_call",
        call_id: "call_s",
        action: { commands: ["ls"] },
        environment: { type: "container_reference" },
      },
      { type: "function_call", call_id: "call_done", name: "read", arguments: "{}" },
      { type: "function_call_output", call_id: "call_done", output: "ran" },
      FUNCTION_CALL,
    ];
    expect(callsFromResponses({ status: "completed", output })).toEqual({
      stopReason: "toolUse",
      calls: [{ id: "call_1", name: "read", arguments: "{}", providerData: { id: "fc_1" } }],
    });
  });

  it.each([
    ["max_output_tokens", "length"],
    [undefined, "length"],
    ["content_filter", "error"],
    ["something_new", "error"],
  ])("C39: incomplete for %j is %j", (reason, stopReason) => {
    const response = { status: "incomplete", incomplete_details: reason ? { reason } : null, output: [FUNCTION_CALL] };
    expect(callsFromResponses(response).stopReason).toBe(stopReason);
  });

  it("C39: one call that is incomplete cuts the whole response", () => {
    const output = [
      FUNCTION_CALL,
      { ...FUNCTION_CALL, call_id: "call_2", arguments: '{"p":"ha', status: "incomplete" },
    ];
    expect(callsFromResponses({ status: "completed", output }).stopReason).toBe("length");
  });

  it("PREP-10: a refusal and an error are errors, cancelled is aborted", () => {
    const refusal = { type: "message", content: [{ type: "refusal", refusal: "No." }] };
    expect(callsFromResponses({ status: "completed", output: [refusal] }).stopReason).toBe("error");
    expect(callsFromResponses({ status: "completed", error: { code: "x" }, output: [] }).stopReason).toBe("error");
    expect(callsFromResponses({ status: "cancelled", output: [FUNCTION_CALL] }).stopReason).toBe("aborted");
  });
});

describe("OpenAI Responses: results out", () => {
  it("the caller of a call is echoed in its output", () => {
    const caller = { type: "program", caller_id: "prog_1" };
    expect(answer({ ...FUNCTION_CALL, caller })).toEqual([
      { type: "function_call_output", call_id: "call_1", output: "done", caller },
    ]);
  });

  it("a custom tool's result goes back as its own kind", () => {
    expect(answer({ type: "custom_tool_call", call_id: "call_1", name: "sql", input: "SELECT 1" })).toEqual([
      { type: "custom_tool_call_output", call_id: "call_1", output: "done" },
    ]);
  });

  it("a local shell's result goes back as its own kind", () => {
    const item = { type: "local_shell_call", call_id: "call_1", action: { type: "exec", command: ["ls"] } };
    expect(answer(item)).toEqual([{ type: "local_shell_call_output", call_id: "call_1", output: "done" }]);
  });

  it.each([
    [false, "completed"],
    [true, "failed"],
  ])("a patch whose result has isError %j is %j", (isError, status) => {
    const item = { type: "apply_patch_call", call_id: "call_1", operation: { type: "delete_file", path: "a" } };
    expect(answer(item, { isError })).toEqual([
      { type: "apply_patch_call_output", call_id: "call_1", status, output: "done" },
    ]);
  });

  it("C58: an id of more than 64 characters that this provider gave comes back as it was", () => {
    const call_id = "c".repeat(66);
    const draft = callsFromResponses({ status: "completed", output: [{ ...FUNCTION_CALL, call_id }] });
    expect(draft.calls[0]?.id).toBe(call_id);
    expect(toResponsesItems(settleDraft(draft, []))).toEqual([{ type: "function_call_output", call_id, output: "" }]);
  });

  it("C58: an id of more than 64 characters that another provider gave is shortened, the same way always", () => {
    const long = "d".repeat(66);
    const [item] = toResponsesItems({ messages: [resultOf({ callId: long })] });
    expect(item).toEqual({ type: "function_call_output", call_id: toResponsesCallId(long), output: "done" });
    expect(toResponsesCallId(long)).toMatch(/^call_[0-9a-f]{59}$/);
    expect(toResponsesCallId(`${long}!`)).not.toBe(toResponsesCallId(long));
    expect(toResponsesCallId("c".repeat(64))).toBe("c".repeat(64));
  });

  it("images and files go as parts, audio is named", () => {
    expect(toResponsesItems({ messages: [resultOf({ content: EVERY_PART })] })).toEqual([
      {
        type: "function_call_output",
        call_id: "call_1",
        output: [
          { type: "input_text", text: "seen: \ufffd" },
          { type: "input_text", text: '{"cents":500,"tags":["a"]}' },
          { type: "input_image", detail: "auto", image_url: "data:image/png;base64,aW1n" },
          {
            type: "input_text",
            text: "[left out, since a tool result cannot carry it here: audio audio/wav, 5 bytes]",
          },
          { type: "input_file", filename: "bill.pdf", file_data: "data:application/pdf;base64,cGRm" },
          { type: "input_text", text: '[file text/csv "table.csv"]\na,b\n1,2' },
          { type: "input_text", text: "[resource file:///notes.txt (text/plain)]\nremember" },
        ],
      },
    ]);
  });
});

describe("OpenAI Responses: the shell tool", () => {
  const SHELL = { type: "shell_call", call_id: "call_1", action: { commands: ["ls"], max_output_length: 900 } };

  it("its action is the arguments, and its bound is echoed", () => {
    const draft = callsFromResponses({ status: "completed", output: [SHELL] });
    expect(draft.calls.map(({ name, arguments: args }) => [name, args])).toEqual([["shell", SHELL.action]]);
    expect(answer(SHELL)).toEqual([
      {
        type: "shell_call_output",
        call_id: "call_1",
        output: [{ stdout: "done", stderr: "", outcome: { type: "exit", exit_code: 0 } }],
        max_output_length: 900,
      },
    ]);
  });

  it("a list of command outputs is passed on", () => {
    const outputs = [
      { stdout: "a", stderr: "", outcome: { type: "exit", exit_code: 2 } },
      { stdout: "", stderr: "b", outcome: { type: "timeout" } },
    ];
    expect(answer(SHELL, { content: [{ type: "json", value: outputs }] })).toMatchObject([{ output: outputs }]);
  });

  it("a failure is what it says on stderr, a time-out is one", () => {
    const failed = answer(SHELL, { isError: true });
    expect(failed).toMatchObject([
      { output: [{ stdout: "", stderr: "done", outcome: { type: "exit", exit_code: 1 } }] },
    ]);
    const late = answer(SHELL, { isError: true, failureCategory: "timeout" });
    expect(late).toMatchObject([{ output: [{ stdout: "", stderr: "done", outcome: { type: "timeout" } }] }]);
  });
});

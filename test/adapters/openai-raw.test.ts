import { callsFromChat, callsFromResponses, toChatMessages, toResponsesItems } from "toolkernel/openai";
import { describeRawResponses } from "./wires/raw-responses.ts";

describeRawResponses(
  {
    name: "OpenAI Chat Completions",
    callsFrom: callsFromChat,
    messagesOut: toChatMessages,
    readBackIds: (messages) =>
      messages.map((message) => ("tool_call_id" in message ? String(message.tool_call_id) : "")),
  },
  [
    {
      file: "openai-chat-hitl-pair.json",
      stopReason: "toolUse",
      calls: [
        ["call_jYdIdRZHxZTn5bWCq5jlMrJi", "delete_file", '{"path": ".env"}'],
        ["call_TmlTVWQbzrXCZ4jNsCVNbNqu", "create_file", '{"path": "test.txt"}'],
      ],
    },
    {
      file: "mistral-dice-x3.json",
      stopReason: "toolUse",
      calls: [
        ["vAKGXGFZD", "dice_roll", "{}"],
        ["n9P3tR143", "dice_roll", "{}"],
        ["tXj57CGus", "dice_roll", "{}"],
      ],
    },
    {
      file: "openrouter-arguments-absent.json",
      stopReason: "toolUse",
      calls: [["toolu_vrtx_015QAXScZzRDPttiPoc34AdD", "find_education_content", ""]],
    },
  ],
);

const SHOPPING_LIST =
  "+## Shopping Checklist\n+\n+- [ ] Milk\n+- [ ] Bread\n+- [ ] Eggs\n+- [ ] Apples\n+- [ ] Coffee\n+\n";

const PARALLEL_ARGUMENTS =
  '{"tool_uses":[{"recipient_name":"functions.weather","parameters":{"location":"San Francisco"}},' +
  '{"recipient_name":"functions.cityAttractions","parameters":{"city":"Rome"}}]}';

describeRawResponses(
  {
    name: "OpenAI Responses",
    callsFrom: callsFromResponses,
    messagesOut: toResponsesItems,
    readBackIds: (items) => items.map((item) => ("call_id" in item ? String(item.call_id) : "")),
  },
  [
    {
      file: "openai-responses-pair.json",
      stopReason: "toolUse",
      calls: [
        ["call_NeNP7bv8VH3cJTxFagvafR2L", "weather", '{"latitude":"52.5200","longitude":"13.4050"}'],
        ["call_oAtUHJKdNzt8gEH4M6P3Grd3", "best_language_to_learn", "{}"],
      ],
    },
    {
      file: "xai-responses-dice-x3.json",
      stopReason: "toolUse",
      calls: [0, 1, 2].map(
        (index) => [`call-c1cb687a-5838-4276-a567-d2f58ff41ce1-${index}`, "dice_roll", "{}"] as const,
      ),
    },
    { file: "mantle-reused-id-1.json", stopReason: "toolUse", calls: [["call_0", "first_tool", "{}"]] },
    { file: "mantle-reused-id-2.json", stopReason: "toolUse", calls: [["call_0", "second_tool", "{}"]] },
    {
      file: "openai-parallel-wrapper.json",
      stopReason: "toolUse",
      calls: [["call_parallel", "parallel", PARALLEL_ARGUMENTS]],
    },
    {
      file: "openai-custom-tool.json",
      stopReason: "toolUse",
      calls: [["call_custom_sql_001", "write_sql", { input: "SELECT * FROM users WHERE age > 25" }]],
    },
    {
      file: "openai-local-shell.json",
      stopReason: "toolUse",
      calls: [
        [
          "call_XWgeTylovOiS8xLNz2TONOgO",
          "local_shell",
          { type: "exec", command: ["ls"], env: {}, working_directory: "/root" },
        ],
      ],
    },
    {
      file: "openai-apply-patch.json",
      stopReason: "toolUse",
      calls: [
        [
          "call_CdXiGtcRl49Q6Ek20tG9lYOr",
          "apply_patch",
          { type: "create_file", diff: SHOPPING_LIST, path: "shopping-checklist.md" },
        ],
      ],
    },
  ],
);

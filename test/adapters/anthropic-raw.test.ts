import type { AnthropicUserMessage } from "toolkernel/anthropic";
import { callsFromAnthropic, toAnthropicMessages } from "toolkernel/anthropic";
import { describeRawResponses } from "./wires/raw-responses.ts";

describeRawResponses(
  {
    name: "Anthropic Messages",
    callsFrom: callsFromAnthropic,
    messagesOut: toAnthropicMessages,
    readBackIds: (messages) =>
      (messages as readonly AnthropicUserMessage[])
        .flatMap((message) => message.content)
        .flatMap((block) => (block.type === "tool_result" ? [block.tool_use_id] : [])),
  },
  [
    {
      file: "anthropic-dice-x3.json",
      stopReason: "toolUse",
      calls: [
        ["toolu_01VAsVzPhMLptxfCiiydc4Th", "dice_roll", {}],
        ["toolu_01ECJ6hAdPYb1FpQiLEHkqHo", "dice_roll", {}],
        ["toolu_01LpY4UynmfChuqdD8WVbFnr", "dice_roll", {}],
      ],
    },
    {
      file: "anthropic-no-args.json",
      stopReason: "toolUse",
      calls: [["toolu_01LRmxn9vGM1d2DZSDBowdZ1", "updateIssueList", {}]],
    },
    {
      file: "anthropic-parallel-4.json",
      stopReason: "toolUse",
      calls: [
        ["toolu_0167cfEnoQaPviGdVXA95zcu", "retrieve_entity_info", { name: "Alice" }],
        ["toolu_01EEe2V5HD1Ac4rKiUR4HD2T", "retrieve_entity_info", { name: "Bob" }],
        ["toolu_01XFyAjstT3966qvRynZyVPo", "retrieve_entity_info", { name: "Charlie" }],
        ["toolu_013mnQZbgtK2oe3Mo3XKJsx3", "retrieve_entity_info", { name: "Daisy" }],
      ],
    },
    {
      file: "anthropic-programmatic.json",
      stopReason: "toolUse",
      calls: [
        ["toolu_01PMcE1JBKCeLjn83cgUCvR5", "rollDie", { player: "player2" }],
        ["toolu_01MZf5QJ1EQyd2yGyeLzBxAS", "rollDie", { player: "player1" }],
        ["toolu_01T7Upuuv8C71nq7DZ9ZPNQW", "rollDie", { player: "player1" }],
        ["toolu_016Da1tDet9Bf7dAdYTkF5Ar", "rollDie", { player: "player2" }],
      ],
    },
    { file: "anthropic-refusal.json", stopReason: "error", calls: [] },
    {
      file: "anthropic-weather-and-final.json",
      stopReason: "toolUse",
      calls: [
        ["toolu_01RYjj1KsnCvtj9bmK2sZWRv", "get_timezone", { city: "Sydney" }],
        [
          "toolu_01XyJoBaLsPJKMnuWZTYKatf",
          "final_result",
          { city: "Sydney", country: "Australia", population: 5312000 },
        ],
      ],
    },
    {
      file: "anthropic-wrong-key.json",
      stopReason: "toolUse",
      calls: [["toolu_014b9i18P8JdeixyRCGWwgBa", "stock_lookup", { ticker: "AAPL" }]],
    },
  ],
);

/** What mutants are held to: the tests that are about the parts that are mutated, without stores, servers and pages. */
import { defineConfig, mergeConfig } from "vitest/config";
import base from "../../vitest.config.ts";

const { globalSetup: _servers, include: _all, setupFiles: _leaks, ...shared } = base.test ?? {};

export default mergeConfig(
  { ...base, test: shared },
  defineConfig({
    test: {
      dir: ".",
      // Files share their modules: to load the kernel anew for each would take most of the time.
      isolate: false,
      include: [
        "test/{interpreter,machines,model,plan,prepare,repeat,rules}/**/*.test.ts",
        "test/journeys/**/*.test.ts",
      ],
      exclude: ["test/model/planted-bugs.test.ts", "test/machines/old-graph.test.ts", "**/node_modules/**"],
      env: { MODEL_SCALE: "small" },
    },
  }),
);

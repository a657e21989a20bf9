/** The real kernel as the paths are run against it; loaded anew where a test has altered a part of it. */

/** One copy of the kernel: its doors, and the class whose actors run on compiled charts. */
export interface Kernel {
  readonly core: typeof import("toolkernel");
  readonly actions: typeof import("../../src/actions/dispatcher.ts") &
    typeof import("../../src/actions/receipt.ts") &
    typeof import("../../src/journal/memory.ts");
  readonly compiled: Pick<typeof import("../../src/interpreter/compiled-actor.ts"), "CompiledActor">;
}

/** Loads the kernel; after `vi.resetModules()` a copy of its own, made of what `vi.doMock` has put in. */
export async function loadKernel(): Promise<Kernel> {
  const core = await import("toolkernel");
  const [dispatcher, receipt, memory, compiled] = await Promise.all([
    import("../../src/actions/dispatcher.ts"),
    import("../../src/actions/receipt.ts"),
    import("../../src/journal/memory.ts"),
    import("../../src/interpreter/compiled-actor.ts"),
  ]);
  return { core, actions: { ...dispatcher, ...receipt, ...memory }, compiled };
}

function thrower(): never {
  throw new Error("hunter2-payload");
}

/** Values that break whoever reads them carelessly, by what is wrong with them. Each call makes a new one. */
export const HOSTILE_VALUES: readonly (readonly [string, () => unknown])[] = [
  [
    "an object whose properties throw",
    () => Object.defineProperty({}, "block", { enumerable: true, get: thrower, set: thrower }),
  ],
  // biome-ignore lint/suspicious/noThenProperty: a promise that misbehaves is what is tested
  ["an object whose then throws when it is read", () => Object.defineProperty({}, "then", { get: thrower })],
  // biome-ignore lint/suspicious/noThenProperty: a promise that misbehaves is what is tested
  ["a thenable that throws when it is waited for", () => ({ then: thrower })],
  ["a proxy that throws", () => new Proxy({}, { ownKeys: thrower, get: thrower, getPrototypeOf: thrower })],
  ["a revoked proxy", revokedProxy],
];

/** Values that no hook about a call may answer. */
export const NONSENSE_VALUES: readonly (readonly [string, unknown])[] = [
  ["null", null],
  ["false", false],
  ["0", 0],
  ["a text", "allow"],
  ["an empty object", {}],
  ["an array", [true]],
  ["a function", () => true],
  ["an error", new Error("hunter2-payload")],
  ["a block that is not a string", { block: true }],
  ["a block that is null", { block: null }],
  ["terminate without block", { terminate: true }],
  ["terminate that is no boolean", { block: "no", terminate: "yes" }],
  ["an unknown field", { allow: true }],
  ["a block with an unknown field", { block: "no", why: "x" }],
];

function revokedProxy(): unknown {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

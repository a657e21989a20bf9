/** Set for the long form of the crash tests: `npm run test:crash`. */
const isLong = process.env.TOOLKERNEL_LONG_CRASH_TESTS === "1";

/** A number of rounds: few in every run of the tests, many in the long form. */
export function rounds(few: number, many: number): number {
  return isLong ? many : few;
}

/** Numbers that look random and are the same for the same seed; the seed is in the test's name. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d_2b_79_f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** The seed of this run: given in the environment to repeat one, else a new one. */
export const SEED = Number(process.env.TOOLKERNEL_SEED ?? process.pid * 7_919 + (process.hrtime()[1] % 7_919));

/** A small seeded generator of numbers in [0, 1): a failing run is repeated by its seed. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A seed from the environment, or a fresh one; the test prints it. */
export function chooseSeed(): number {
  return Number(process.env["SALDO_TEST_SEED"] ?? Date.now() % 1_000_000);
}

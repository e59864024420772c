import { describe, expect, test } from "vitest";
import { UpstreamBusy } from "../kernel/errors.ts";
import { createFreshCopy, MAX_AGE_MS, REFRESH_AGE_MS } from "./fresh-copy.ts";

/** A copy whose clock and reads are in the test's hand. */
function copyUnderTest() {
  const clock = { nowMs: 0, now: () => clock.nowMs };
  const reads: PromiseWithResolvers<string>[] = [];
  const get = createFreshCopy({
    clock,
    read: () => {
      const read = Promise.withResolvers<string>();
      reads.push(read);
      return read.promise;
    },
  });
  return { clock, reads, get };
}

/** The same, with a first copy in place whose read began at 0. */
async function copyOnceRead() {
  const given = copyUnderTest();
  const first = given.get();
  given.reads[0]?.resolve("first");
  await first;
  return given;
}

describe("a fresh copy", () => {
  test("is read once for all that wait for it", async () => {
    const { get, reads } = copyUnderTest();
    const answers = Promise.all([get(), get(), get()]);
    reads[0]?.resolve("first");
    expect(await answers).toEqual(["first", "first", "first"]);
    expect(reads).toHaveLength(1);
  });

  test("is served from memory while it is young", async () => {
    const { clock, get, reads } = await copyOnceRead();
    clock.nowMs = REFRESH_AGE_MS - 1;
    expect(await get()).toBe("first");
    expect(reads).toHaveLength(1);
  });

  test("is renewed behind the requests before it is too old", async () => {
    const { clock, get, reads } = await copyOnceRead();
    clock.nowMs = REFRESH_AGE_MS;
    expect([await get(), await get()]).toEqual(["first", "first"]);
    expect(reads).toHaveLength(2);
    reads[1]?.resolve("second");
    await reads[1]?.promise;
    clock.nowMs = MAX_AGE_MS;
    expect(await get()).toBe("second");
    expect(reads).toHaveLength(2);
  });

  test("counts its age from the start of the read, so a slow read gives an old copy", async () => {
    const { clock, get, reads } = copyUnderTest();
    const first = get();
    clock.nowMs = MAX_AGE_MS - 1;
    reads[0]?.resolve("first");
    expect(await first).toBe("first");
    clock.nowMs = MAX_AGE_MS;
    void get();
    expect(reads).toHaveLength(2);
  });

  test("is refused rather than served too old", async () => {
    const { clock, get, reads } = copyUnderTest();
    const slow = get();
    clock.nowMs = MAX_AGE_MS;
    reads[0]?.resolve("first");
    await expect(slow).rejects.toThrow(UpstreamBusy);
  });

  test("serves the last one while reads fail, tries again at its own pace, and fails once that is too old", async () => {
    const { clock, get, reads } = await copyOnceRead();
    clock.nowMs = REFRESH_AGE_MS;
    expect(await get()).toBe("first");
    reads[1]?.reject(new UpstreamBusy());
    await reads[1]?.promise.catch(() => {});
    await new Promise(setImmediate);
    expect(await get()).toBe("first");
    expect(reads).toHaveLength(2);
    clock.nowMs += 1_000;
    expect(await get()).toBe("first");
    reads[2]?.reject(new UpstreamBusy());
    await new Promise(setImmediate);
    clock.nowMs = MAX_AGE_MS;
    const late = get();
    reads[3]?.reject(new UpstreamBusy());
    await expect(late).rejects.toThrow(UpstreamBusy);
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { dataOf, EventCutter, MAX_EVENT_BYTES, splitEvents } from "./sse.ts";

const events = fc.array(
  fc.array(fc.constantFrom("data: a", "data:b", ": ping", "event: x", "data: é😀", "id", "data"), {
    minLength: 1,
    maxLength: 3,
  }),
  { minLength: 1, maxLength: 5 },
);
const lineEnd = fc.constantFrom("\n", "\r\n", "\r");

describe("events", () => {
  it("come out of any packets byte for byte, whole, and with the same data", () => {
    fc.assert(
      fc.property(events, lineEnd, fc.array(fc.nat({ max: 200 }), { maxLength: 8 }), (list, end, cuts) => {
        const bytes = Buffer.from(list.map((lines) => lines.join(end) + end + end).join(""));
        const cutter = new EventCutter();
        const out: Buffer[] = [];
        const borders = [0, ...cuts.map((cut) => cut % bytes.length).toSorted((a, b) => a - b), bytes.length];
        for (const [index, border] of borders.slice(1).entries()) {
          const whole = cutter.push(bytes.subarray(borders[index], border));
          if (whole !== null) out.push(whole);
        }
        const rest = cutter.takeRest();
        expect(Buffer.concat([...out, rest ?? Buffer.alloc(0)])).toEqual(bytes);
        // Cut between CR and LF, the LF comes as an empty line of its own; nothing of an event is left behind.
        expect(rest === null || rest.toString().trim() === "").toBe(true);
        const data = out
          .flatMap(splitEvents)
          .map(dataOf)
          .filter((found) => found !== null);
        expect(data).toEqual(
          splitEvents(bytes)
            .map(dataOf)
            .filter((found) => found !== null),
        );
      }),
      { numRuns: 5_000 },
    );
  });

  it("take no longer for coming in many packets", () => {
    const event = Buffer.from(`data: ${"x".repeat(MAX_EVENT_BYTES)}\r\n\r\n`);
    const cutter = new EventCutter();
    const out: Buffer[] = [];
    // Searched again with each packet these would be more than a hundred gigabytes.
    for (let at = 0; at < event.length; at += 64) {
      const whole = cutter.push(event.subarray(at, at + 64));
      if (whole !== null) out.push(whole);
    }
    expect(out.map((bytes) => bytes.equals(event))).toEqual([true]);
    expect(cutter.restLength).toBe(0);
  });

  it("join their lines of data, with or without the space, and ignore everything else", () => {
    expect(dataOf(Buffer.from("event: x\ndata: a\ndata:b\ndatabase: c\n\n"))).toBe("a\nb");
    expect(dataOf(Buffer.from(": ping\n\n"))).toBeNull();
    expect(dataOf(Buffer.from("data\n\n"))).toBe("");
  });
});

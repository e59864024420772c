// Answers that are small on the wire and large to parse: parsing them would hold up every other request. What would have to be
// parsed ends as an answer that cannot be read does; what passes unread passes.

import { describe, expect, it } from "vitest";
import { MAX_FOREIGN_TOKENS } from "../../src/kernel/foreign-json.ts";
import { STREAMED, usePlayground, WHOLE } from "./playground.ts";
import { chunk, completion, json, stream, usageChunk, wire } from "./scripted-upstream.ts";

const playground = usePlayground();
const wide = `[${"0,".repeat(MAX_FOREIGN_TOKENS)}0]`;
const deep = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;
/** A member that no client knows, put in as text: writing it from objects would cost as much as reading it. */
const withMember = (object: string, member: string): string => `${object.slice(0, -1)},"more":${member}}`;

describe("an answer that is expensive to parse", () => {
  it("ends a stream as a chunk that cannot be read", async () => {
    const events = [chunk({ content: "Halo" }), withMember(chunk({ content: "!" }), wide), usageChunk(), "[DONE]"];
    const { sink, settlement } = await playground.play(stream(wire(events)), STREAMED);
    expect(sink.bytes.toString()).toContain("Halo");
    expect(sink.events.at(-1)).toContain("upstream_busy");
    expect(settlement.basis).toBe("estimated");
  });

  it("is given to a client over REST as it is", async () => {
    const { sink, settlement } = await playground.play(json(withMember(completion(), wide)), WHOLE);
    expect(sink.bytes.length).toBeGreaterThan(wide.length);
    expect(settlement).toMatchObject({ basis: "exact", cost: 83_800n });
  });

  it("is refused where it is nested deeper than a client can be given", async () => {
    const { error, settlement } = await playground.play(json(withMember(completion(), deep)), WHOLE);
    expect(error).toMatchObject({ code: "upstream_busy" });
    expect(settlement).toMatchObject({ basis: "free", cost: 0n });
  });
});

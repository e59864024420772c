import { create } from "@bufbuild/protobuf";
import { UsageSummarySchema } from "#gen/saldo/billing/v1/usage_pb.ts";
import { describe, expect, it } from "vitest";
import { runwayOf, spentSince } from "./runway.ts";

const row = (day: string, charge: string) => create(UsageSummarySchema, { day, model: "a/b", charge });
const today = "2026-11-21";

describe("how long a balance lasts", () => {
  it("is computed from the last seven days, today included", () => {
    const rows = [row("2026-11-21", "60.5"), row("2026-11-15", "9.5"), row("2026-11-14", "100000")];
    expect(runwayOf("100", rows, today)).toBe(10n);
    expect(runwayOf("0", rows, today)).toBe(0n);
  });

  it("is unknown without any spending", () => {
    expect(runwayOf("100", [], today)).toBeNull();
    expect(runwayOf("100", [row("2026-11-14", "5"), row(today, "0")], today)).toBeNull();
  });

  it("sums the cost since a day", () => {
    expect(spentSince([row("2026-11-20", "0.1"), row("2026-11-21", "0.2")], today)).toBe("0.2");
    expect(spentSince([row("2026-11-20", "0.1"), row("2026-11-21", "0.2")], "2026-11-20")).toBe("0.3");
  });
});

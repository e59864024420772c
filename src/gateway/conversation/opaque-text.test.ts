import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { callIdText, opaqueText, readCallIdText, readOpaqueText } from "./opaque-text.ts";

const origin = fc.stringMatching(/^[a-z0-9][a-z0-9._-]{0,20}$/);
const blob = fc.string({ unit: "binary", minLength: 1 });
const id = fc.stringMatching(/^[\w-]{1,64}$/);

describe("what a provider wants back", () => {
  it("is read as it was written, whatever the provider and the blob are", () => {
    fc.assert(
      fc.property(fc.record({ origin, blob }), (opaque) => {
        expect(readOpaqueText(opaqueText(opaque))).toEqual(opaque);
      }),
    );
  });

  it.each(["", "EqQBCgIYAhIM+/8=", "saldo", ".blob", "origin.", "eyJhbGciOiJub25lIn0.e30."])("is not in %o", (text) => {
    expect(readOpaqueText(text)).toBeNull();
  });
});

describe("the id of a call", () => {
  it("brings back what belongs to the call", () => {
    fc.assert(
      fc.property(id, fc.option(fc.record({ origin, blob })), (plain, opaque) => {
        const call = { id: plain, ...(opaque === null ? {} : { opaque }) };
        expect(readCallIdText(callIdText(call))).toEqual(call);
      }),
    );
  });

  it.each(["call_1", "functions.Bash:0", "a.saldo.", ".saldo.a.b", "a.saldo.B.c"])(
    "stays %o, which is not ours",
    (text) => {
      expect(readCallIdText(text)).toEqual({ id: text });
    },
  );
});

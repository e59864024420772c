import { describe, expect, it } from "vitest";
import { TooManyRequests } from "../../kernel/errors.ts";
import { authenticate, type Verifiers } from "./authenticate.ts";
import { type Credentials, withApiKey } from "./call.ts";

const KEY = { keyId: "key-1", accountId: "account-1", rateLimit: 60 };
const WANTED = { environment: null, callers: new Set<never>() };
const BEARER: Credentials = { authorization: "Bearer gw_bearer", cookies: null, account: null, source: null };

function verifiersOf(known: string, refused: readonly string[] = []) {
  const lookedUp: string[] = [];
  const counted: string[] = [];
  const none = async () => null;
  const verifiers: Verifiers = {
    verifyKey: async (secret) => (lookedUp.push(secret), secret === known ? KEY : null),
    verifyMerchant: none,
    verifyServiceToken: none,
    verifySession: none,
    accountExists: async () => false,
    refusedCredentials: {
      count: (_source, _kind, secret) => void counted.push(secret),
      refuseUnknown(_source, _kind, secret) {
        if (refused.includes(secret)) throw new TooManyRequests(1);
      },
    },
  };
  return { verifiers, lookedUp, counted };
}

describe("a caller with a key in each of two headers", () => {
  const both = withApiKey(BEARER, ["X-Api-Key", "gw_header"], "x-api-key");

  it.each([
    ["gw_bearer", ["gw_bearer"], []],
    ["gw_header", ["gw_bearer", "gw_header"], []],
    ["gw_other", ["gw_bearer", "gw_header"], ["gw_header"]],
  ])("is known by %s, and counts once where neither is", async (known, lookedUp, counted) => {
    const at = verifiersOf(known);
    const principal = await authenticate(at.verifiers, both, WANTED);
    expect(principal.kind).toBe(counted.length === 0 ? "api_key" : "public");
    expect(at).toMatchObject({ lookedUp, counted });
  });

  it("is not looked up where its network has sent too many unknown ones", async () => {
    const at = verifiersOf("gw_none", ["gw_header"]);
    await expect(authenticate(at.verifiers, both, WANTED)).rejects.toThrow(TooManyRequests);
    expect(at.lookedUp).toEqual([]);
  });

  it("identifies no caller by a header that is there twice", async () => {
    const at = verifiersOf("gw_header");
    const twice = withApiKey(
      { ...BEARER, authorization: null },
      ["x-api-key", "gw_header", "x-api-key", "gw_header"],
      "x-api-key",
    );
    expect(await authenticate(at.verifiers, twice, WANTED)).toEqual({ kind: "public" });
  });
});

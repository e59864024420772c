import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { expect, it } from "vitest";
import { TokenScope } from "#gen/saldo/options/v1/options_pb.ts";
import { scopeNamesOf } from "./scopes.ts";
import { stateOf, workingFirst } from "./token-state.ts";

const NOW = Date.UTC(2026, 10, 23);
const [before, after] = [timestampFromMs(NOW - 1), timestampFromMs(NOW + 1)];

it("distinguishes working, expired and revoked tokens", () => {
  expect(stateOf({ expiresAt: after }, NOW)).toBe("working");
  expect(stateOf({ expiresAt: timestampFromMs(NOW) }, NOW)).toBe("expired");
  expect(stateOf({ expiresAt: after, revokedAt: before }, NOW)).toBe("revoked");
  expect(stateOf({ expiresAt: before, revokedAt: before }, NOW)).toBe("revoked");
});

it("lists working tokens first and keeps the order within each group", () => {
  const tokens = [
    { id: "a", expiresAt: before },
    { id: "b", expiresAt: after },
    { id: "c", expiresAt: after, revokedAt: before },
    { id: "d", expiresAt: after },
  ];
  expect(workingFirst(tokens, NOW).map(({ id }) => id)).toEqual(["b", "d", "a", "c"]);
});

it("names the scopes of a token in the order of the form", () => {
  expect(scopeNamesOf([TokenScope.TRANSFERS, TokenScope.READ, TokenScope.UNSPECIFIED])).toEqual(["read", "transfers"]);
});

import { expect, test } from "vitest";
import { pageAfter } from "./page-after.ts";

const OURS = "https://saldo.example";

test.each([
  [undefined, "/"],
  ["/usage?model=acme%2Flarge#top", "/usage?model=acme%2Flarge#top"],
  ["/sign-in?next=%2Fusage", "/"],
  ["/sign-up", "/"],
  ["/sign-in/../keys", "/keys"],
  ["/.//evil.example", "//evil.example"],
  ["//evil.example", "/"],
  ["/\\evil.example", "/"],
  ["/\t/evil.example", "/"],
  ["\n//evil.example", "/"],
  ["https://evil.example/", "/"],
  ["https://saldo.example@evil.example/", "/"],
  ["http://saldo.example/", "/"],
  ["javascript:alert(1)", "/"],
  ["data:text/html,x", "/"],
  ["blob:https://saldo.example/0192f0c1", "/"],
  ["filesystem:https://saldo.example/temporary/x", "/"],
  ["http://[", "/"],
])("after signing in with %j comes a page of ours", (next, path) => {
  expect(pageAfter(next, OURS)).toBe(OURS + path);
});

import { expect, test } from "vitest";
import { isForInvite, pageAfter, pathAfter } from "./page-after.ts";

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

test.each([
  [undefined, "/"],
  ["/invite?token=a-token", "/invite?token=a-token"],
  ["/usage?model=acme%2Flarge#top", "/usage?model=acme%2Flarge#top"],
  ["/models/acme%2Flarge", "/"],
  ["/.//evil.example", "/"],
  ["//evil.example", "/"],
  ["https://evil.example/invite", "/"],
  ["/sign-up", "/"],
])("the link of a mail for %j leads to a path of ours", (next, path) => {
  expect(pathAfter(next, OURS)).toBe(path);
});

test.each([
  [undefined, false],
  ["/usage", false],
  ["/invite?token=a-token", true],
  ["https://evil.example/invite?token=a-token", false],
])("%j is an invitation of ours: %j", (next, isInvite) => {
  expect(isForInvite(next, OURS)).toBe(isInvite);
});

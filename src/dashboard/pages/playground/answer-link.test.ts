import { describe, expect, it } from "vitest";
import { linkOf } from "./answer-link.ts";

describe("the address of a link in an answer", () => {
  it.each([
    ["https://saldo.example/a?b=c#d", "https://saldo.example/a?b=c#d"],
    ["http://saldo.example", "http://saldo.example/"],
    ["mailto:budi@saldo.example", "mailto:budi@saldo.example"],
    ["HTTPS://Saldo.example", "https://saldo.example/"],
  ])("is kept: %s", (href, url) => {
    expect(linkOf(href)).toBe(url);
  });

  it.each([
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    " javascript:alert(1)",
    "java\nscript:alert(1)",
    "\u0001javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "vbscript:x",
    "file:///etc/passwd",
    "blob:https://saldo.example/1",
    "/operator/accounts",
    "//evil.example",
    "settings",
    "#top",
    "",
  ])("is none: %j", (href) => {
    expect(linkOf(href)).toBeNull();
  });
});

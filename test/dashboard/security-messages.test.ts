import { expect, it } from "vitest";
import { SECURITY_EVENT_KINDS, type SecurityEventKind } from "../../src/identity/security-log.ts";
import { EVENT_KIND_MESSAGES } from "../../src/dashboard/pages/operator/security/event-kind-messages.ts";

/** An event without a name is one that the compiler refuses here. */
const NAMES: Readonly<Record<"id" | "en", Readonly<Record<SecurityEventKind, string>>>> = EVENT_KIND_MESSAGES;

it.each(["id", "en"] as const)("has a name of its own for every event of the security log, in %s", (language) => {
  const names = Object.values(NAMES[language]);
  expect(new Set(names).size).toBe(names.length);
  expect(Object.keys(NAMES[language]).toSorted()).toEqual([...SECURITY_EVENT_KINDS].toSorted());
});

import { expect, it } from "vitest";
import { ACTION_MESSAGES } from "../../src/dashboard/pages/members/action-messages.ts";
import { operatorActions } from "../operator/command-activity.ts";

it.each(["id", "en"] as const)("has a name for everything that operators change in an account, in %s", (language) => {
  const names: Readonly<Record<string, string>> = ACTION_MESSAGES[language];
  expect(operatorActions.filter((action) => names[action] === undefined)).toEqual([]);
  expect(Object.keys(names)).toEqual(Object.keys(ACTION_MESSAGES.en));
});

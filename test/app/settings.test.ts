import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { PRESET_VARIABLES } from "../../src/gateway/upstreams/presets.ts";

/** Read as everywhere else, and set by the deployment: no setting of ours. */
const NOT_OURS = ["NODE_ENV"];

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const names = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map((match) => match[1] ?? "");

test(".env.example lists each variable that is read, and no other", () => {
  const listed = names(read(".env.example"), /^([A-Z][A-Z0-9_]*)=/gm);
  // The configuration names its variables as quoted first arguments.
  const configured = names(
    ["config", "cells", "payments", "chains", "signers", "traces"]
      .map((name) => read(`src/app/config/${name}.ts`))
      .join(""),
    /\("([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*)"[,)]/g,
  );
  expect(configured).toContain("SALDO_HTTP_PORT");
  const variables = new Set([...configured, ...PRESET_VARIABLES]);
  expect(listed.toSorted()).toEqual([...variables].filter((name) => !NOT_OURS.includes(name)).toSorted());
});

import { describe } from "vitest";
import { lookAtPages } from "./look-at-pages.ts";

describe("every page of transfers, settings and documentation", () => {
  lookAtPages(({ path }) => /^\/(transfers|settings|docs)/.test(path));
});

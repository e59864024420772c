import { describe } from "vitest";
import { lookAtPages } from "./look-at-pages.ts";

describe("every page of operators", () => {
  lookAtPages(({ path }) => path.startsWith("/operator"));
});

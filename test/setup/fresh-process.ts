// Test files share the process of their worker: what services and commands that ran in it have set for the whole process is forgotten
// before the next file.

import { beforeAll } from "vitest";
import { useSecretsKeys } from "../../src/kernel/sealed-text.ts";

beforeAll(() => useSecretsKeys([]));

// Guards of what the doctor prints.

import type { PlantedBug } from "../planted-bug.ts";

const hides = { file: "src/commands/doctor/doctor.ts", find: "finding: hide(finding),", replace: "finding," };

/** Each with the test that must notice it. */
export const DOCTOR_BUGS: readonly PlantedBug[] = [
  {
    name: "the doctor prints secrets that a finding quotes",
    edits: [hides],
    noticedBy: { file: "test/commands/doctor.test.ts", test: "what a finding quotes has no secret" },
  },
];

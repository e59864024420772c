// Guards of what a person must have shown: a second factor, a fresh proof, each code once.

import type { PlantedBug } from "../planted-bug.ts";

const proofs = (test: string) => ({ file: "test/security/proofs.test.ts", test });
const factor = (test: string) => ({ file: "test/identity/second-factor.test.ts", test });

/** Each with the test that must notice it. */
export const PROOF_BUGS: readonly PlantedBug[] = [
  {
    name: "no fresh proof is asked for",
    edits: [
      {
        file: "src/transport/calls/require-proof.ts",
        find: "if (rule.freshFor[kind] && !proof.isRecent)",
        replace: "if (rule.freshFor[kind] && !proof.mustHaveFactor && !proof.isRecent)",
      },
    ],
    noticedBy: proofs("a stale operator reads"),
  },
  {
    name: "no second factor is required of operators",
    edits: [
      {
        file: "src/transport/calls/require-proof.ts",
        find: "if (proof.mustHaveFactor && !proof.hasFactor)",
        replace: "if (proof.mustHaveFactor && !proof.hasFactor && rule.freshFor[kind])",
      },
    ],
    noticedBy: proofs("reaches the own settings alone"),
  },
  {
    name: "a demo's click is a proof in production",
    edits: [
      {
        file: "src/identity/session-proof.ts",
        find: "(s.factor_proved OR (${isDemo} AND s.by_demo))",
        replace: "(s.factor_proved OR s.by_demo)",
      },
      {
        file: "src/identity/session-proof.ts",
        find: ")) AND NOT (${isDemo} AND s.by_demo))",
        replace: ")) AND NOT s.by_demo)",
      },
    ],
    noticedBy: proofs("an operator by a demo's click"),
  },
  {
    name: "a code of an app is taken twice",
    edits: [
      {
        file: "src/identity/factor-plugins.ts",
        find: 'if (isUsed && ctx.path === "/two-factor/verify-totp")',
        replace: 'if (isUsed && ctx.path === "/two-factor/verify-backup-code")',
      },
    ],
    noticedBy: factor("takes the password and then a code, each code once"),
  },
  {
    name: "somebody else's passkey confirms",
    edits: [
      {
        file: "src/identity/second-factor.ts",
        find: "if (!(await isPasskeyOf(pool, id, personId)))",
        replace: 'if (id === "")',
      },
    ],
    noticedBy: factor("of somebody else does not confirm"),
  },
];

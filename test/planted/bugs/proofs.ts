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
        find: "if (rule.freshFor[kind] && !isFresh(proof))",
        replace: "if (rule.freshFor[kind] && !proof.mustHaveFactor && !isFresh(proof))",
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
        file: "src/identity/second-factor/factor-plugins.ts",
        find: "if (isUsed || !isOfNow) throw",
        replace: "if (!isOfNow) throw",
      },
    ],
    noticedBy: factor("takes the password and then a code, each code once"),
  },
  {
    name: "a stolen session ends those of its owner, one by one",
    edits: [
      {
        file: "src/transport/calls/require-proof.ts",
        find: "if (rule.freshFor[kind] && !isFresh(proof))",
        replace: "if (!rule.isOpenBefore && rule.freshFor[kind] && !isFresh(proof))",
      },
    ],
    noticedBy: {
      file: "test/identity/own-sessions.test.ts",
      test: "sessions of elsewhere are ended after a fresh proof",
    },
  },
  {
    name: "a stolen session ends all those of its owner",
    edits: [
      {
        file: "src/identity/sign-in/auth-routes.ts",
        find: '"/revoke-sessions", needs: "fresh",',
        replace: '"/revoke-sessions", needs: "session",',
      },
    ],
    noticedBy: {
      file: "test/identity/own-sessions.test.ts",
      test: "sessions of elsewhere are ended after a fresh proof",
    },
  },
  {
    name: "a code of an app is good for longer than its own step",
    edits: [
      {
        file: "src/identity/second-factor/factor-plugins.ts",
        find: ".verify(code, { window: 0 })",
        replace: ".verify(code)",
      },
    ],
    noticedBy: factor("takes a code only within its own thirty seconds"),
  },
  {
    name: "recovery codes are stored as they are",
    edits: [
      {
        file: "src/identity/second-factor/recovery-codes.ts",
        find: "hashes.push(await hashPassword(code));",
        replace: "hashes.push(code);",
      },
      {
        file: "src/identity/second-factor/recovery-codes.ts",
        find: "if (await verifyPassword({ hash, password: code })) return hash;",
        replace: "if (hash === code) return hash;",
      },
    ],
    noticedBy: factor("takes a recovery code once"),
  },
  {
    name: "secrets of apps stay under the former secret",
    edits: [
      {
        file: "src/identity/second-factor/factor-secrets.ts",
        find: "secret: isCurrent(secret) ? secret : await encrypt(await decrypt(secret)),",
        replace: "secret,",
      },
    ],
    noticedBy: {
      file: "test/identity/factor-secrets.test.ts",
      test: "unused factors are encrypted again at the start, under the first secret, and need the former one no longer",
    },
  },
  {
    name: "whoever was not first to hash recovery codes looks a code up in hashes that were not stored",
    edits: [
      {
        file: "src/identity/second-factor/factor-secrets.ts",
        find: "if (await replaceFactorSecrets(pool, factor, now)) return now;",
        replace: "await replaceFactorSecrets(pool, factor, now);\nif (now !== factor) return now;",
      },
    ],
    noticedBy: {
      file: "test/identity/factor-secrets.test.ts",
      test: "parallel renewals of a factor all continue with the stored one",
    },
  },
  {
    name: "a session guesses the password at a change as often as it likes",
    edits: [
      {
        file: "src/identity/second-factor/second-factor.ts",
        find: 'if (route.path === "/change-password") await takeCodeTry(pool, personId);',
        replace: "",
      },
    ],
    noticedBy: {
      file: "test/identity/own-sessions.test.ts",
      test: "a session guesses the password of its owner no more often at a change than at a proof",
    },
  },
  {
    name: "somebody else's passkey confirms",
    edits: [
      {
        file: "src/identity/second-factor/second-factor.ts",
        find: "if (!(await isPasskeyOf(pool, id, personId)))",
        replace: 'if (id === "")',
      },
    ],
    noticedBy: factor("of another person does not confirm"),
  },
];

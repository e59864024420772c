// Guards between a demo and production, and of what lies open on a network or in a database.

import type { PlantedBug } from "../planted-bug.ts";

const demoAndProduction = (test: string) => ({ file: "test/app/demo-and-production.test.ts", test });
const demoPerson = (test: string) => ({ file: "test/identity/demo-person.test.ts", test });
const safety = (test: string) => ({ file: "src/app/config/safety.test.ts", test });

/** Each with the test that must notice it. */
export const SEPARATION_BUGS: readonly PlantedBug[] = [
  {
    name: "production starts on a demo's database",
    edits: [
      {
        file: "src/database/purpose.ts",
        find: "if (purpose !== wanted) throw new WrongPurpose(REFUSALS[wanted]);",
        replace: 'if (purpose !== wanted && wanted === "demo") throw new WrongPurpose(REFUSALS[wanted]);',
      },
    ],
    noticedBy: demoAndProduction("keeps a production start from a demo's database"),
  },
  {
    name: "a cleared demo leaves bought play money on its accounts",
    edits: [
      {
        file: "src/app/demo/play-money.ts",
        find: "let left = available - (real > 0n ? real : 0n);",
        replace: "let left = available - (real > 0n ? real : 0n) - BigInt(standing.sandboxTopUps);",
      },
    ],
    noticedBy: demoAndProduction("keeps a production start from a demo's database"),
  },
  {
    name: "a cleared demo forgives what a real provider gave back",
    edits: [
      {
        file: "src/billing/top-ups/store.ts",
        find: "WHERE provider = $1 AND given_back > 0",
        replace: "WHERE $1 <> '' AND given_back > 0",
      },
    ],
    noticedBy: { file: "test/operator/play-money.test.ts", test: "a debt to a real provider stays" },
  },
  {
    name: "a cleared demo leaves its keys",
    edits: [
      {
        file: "src/keys/issued-keys-store.ts",
        find: 'em.nativeUpdate(ApiKey, { revokedAt: null, ...ISSUED }, { revokedAt: raw("clock_timestamp()") })',
        replace: "em.nativeUpdate(ApiKey, { revokedAt: null, ...ISSUED }, { revokedAt: null })",
      },
    ],
    noticedBy: demoAndProduction("keeps a production start from a demo's database"),
  },
  {
    name: "the one click is for whoever reaches the port",
    edits: [
      {
        file: "src/transport/web/auth.ts",
        find: 'return !isPassedOn && isLoopbackHost(host) && isLoopbackAddress(socket.remoteAddress ?? "");',
        replace: 'return !isPassedOn && isLoopbackAddress(socket.remoteAddress ?? "");',
      },
    ],
    noticedBy: demoPerson("the one click is only for a browser on the same machine"),
  },
  {
    name: "a password chosen beforehand opens the demo's account",
    edits: [
      {
        file: "src/identity/demo-person.ts",
        find: "  DELETE FROM auth.credential c USING person WHERE c.user_id = person.id\n)\nSELECT",
        replace: "  DELETE FROM auth.credential c USING person WHERE c.user_id IS NULL\n)\nSELECT",
      },
    ],
    noticedBy: demoPerson("no sign-up uses the demo's address"),
  },
  {
    name: "mail goes out in clear because its port is the one for TLS",
    edits: [
      {
        file: "src/app/config/safety.ts",
        find: 'searchParams.get("requireTLS") !== "true"',
        replace: 'new URL(url).port === "25"',
      },
    ],
    noticedBy: safety("refuses production unencrypted"),
  },
  {
    name: "a secret of one row can be opened in another",
    edits: [
      {
        file: "src/kernel/sealed-text.ts",
        find: "authTagLength: TAG_BYTES }).setAAD(Buffer.from(name));\n  decipher",
        replace: "authTagLength: TAG_BYTES });\n  decipher",
      },
      {
        file: "src/kernel/sealed-text.ts",
        find: "authTagLength: TAG_BYTES }).setAAD(Buffer.from(name));\n  const sealed",
        replace: "authTagLength: TAG_BYTES });\n  const sealed",
      },
    ],
    noticedBy: { file: "src/kernel/sealed-text.test.ts", test: "opens nothing that was changed" },
  },
  {
    name: "whoever reaches the socket is the database's superuser",
    edits: [
      {
        file: "src/database/embedded/cluster.ts",
        find: "`local ${what} all peer map=saldo",
        replace: "`local ${what} all trust",
      },
    ],
    noticedBy: {
      file: "test/database/embedded-postgres.test.ts",
      test: "accepts only root and the user that started it at its socket",
    },
  },
];

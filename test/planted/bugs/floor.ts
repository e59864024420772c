// The floor of OWASP ASVS that is held by one line each: headers, TLS, what is taken as a password.

import type { PlantedBug } from "../planted-bug.ts";

const headers = (test: string) => ({ file: "test/transport/http/answer-headers.test.ts", test });

/** Each with the test that must notice it. */
export const FLOOR_BUGS: readonly PlantedBug[] = [
  {
    name: "a browser takes an answer for a page",
    edits: [
      {
        file: "src/transport/http/answer-headers.ts",
        find: "frame-ancestors 'none'; sandbox\"",
        replace: "frame-ancestors 'none'\"",
      },
    ],
    noticedBy: headers("is no page of another site's, whatever a browser takes it for"),
  },
  {
    name: "every stranger's call translates the whole catalog",
    edits: [
      {
        file: "src/gateway/public-catalog-service.ts",
        find: "      if (known === undefined) answers.set(snapshot, answer);\n",
        replace: "",
      },
    ],
    noticedBy: {
      file: "test/gateway/public-catalog.test.ts",
      test: "is built once for each copy of the catalog, however many ask",
    },
  },
  {
    name: "other sites may load answers as pictures and scripts",
    edits: [
      {
        file: "src/transport/http/answer-headers.ts",
        find: '    "cross-origin-resource-policy": "same-origin",\n',
        replace: "",
      },
    ],
    noticedBy: headers("is no page of another site's, whatever a browser takes it for"),
  },
  {
    name: "a picture that is a text does not say how it is written",
    edits: [{ file: "src/transport/web/dashboard.ts", find: "image/svg+xml; charset=utf-8", replace: "image/svg+xml" }],
    noticedBy: headers("has the type of its body, and texts their encoding"),
  },
  {
    name: "gRPC agrees on TLS whose past connections a stolen key opens",
    edits: [
      {
        file: "src/transport/http/tls-files.ts",
        find: '{ minVersion: "TLSv1.2", ciphers: [...TLS13, ...FORWARD_SECRET].join(":") }',
        replace: '{ minVersion: "TLSv1.2" }',
      },
    ],
    noticedBy: {
      file: "test/transport/rpc/grpc-tls.test.ts",
      test: "has TLS 1.3, and of older versions only what keeps past connections secret",
    },
  },
  {
    name: "a password of digits is refused however long it is",
    edits: [
      {
        file: "src/identity/passwords/passwords.ts",
        find: ' && text.replace(/\\D/g, "").length <= MOST_PHONE_DIGITS',
        replace: "",
      },
    ],
    noticedBy: { file: "src/identity/passwords/passwords.test.ts", test: "8305 1764 9220 5318" },
  },
  {
    name: "passwords may be made of what this service is called",
    edits: [
      {
        file: "src/identity/passwords/common-words.ts",
        find: '  "merchant operator transfer topup',
        replace: '  "transfer',
      },
    ],
    noticedBy: { file: "src/identity/passwords/passwords.test.ts", test: "Merchant-Operator-1" },
  },
  {
    name: "nobody is told that the own password was changed",
    edits: [
      {
        file: "src/identity/sign-in/sign-in.ts",
        find: `    if (route.path === "/change-password" && session !== null)
      send(passwordChangedMail({ to: session.email, language }, baseUrl()));
`,
        replace: "",
      },
    ],
    noticedBy: {
      file: "test/identity/passwords.test.ts",
      test: "is not changed without the former one, and its owner gets a mail when it is",
    },
  },
  {
    name: "production starts with a place where it kills itself",
    edits: [{ file: "src/app/config/safety.ts", find: " ...trials(config),", replace: "" }],
    noticedBy: {
      file: "src/app/config/safety.test.ts",
      test: "refuses a place to die at where real money moves: outside a demo, and in production",
    },
  },
  {
    name: "a session keeps its token when it has proved more",
    edits: [
      {
        file: "src/identity/sign-in/sign-in.ts",
        find: "    const answer = await renew(done);\n",
        replace: "    const answer = done;\n",
      },
    ],
    noticedBy: { file: "test/identity/renewed-session.test.ts", test: "gives the session another token" },
  },
  {
    name: "the former token of a session keeps what was proved",
    edits: [
      {
        file: "src/identity/renew-session.ts",
        find: "    await client.query(TAKE_PROOF_BACK, [sessionId]);\n",
        replace: "",
      },
    ],
    noticedBy: { file: "test/identity/renewed-session.test.ts", test: "gives the session another token" },
  },
];

// Guards of what the HTTP port receives: bodies, hosts, and the headers of answers.

import type { Edit, PlantedBug } from "../planted-bug.ts";

const transport = (file: string, find: string, replace: string): Edit => ({
  file: `src/transport/${file}`,
  find,
  replace,
});
const intake = (test: string) => ({ file: "test/transport/http/intake.test.ts", test });
const budget = (test: string) => ({ file: "src/transport/http/body-budget.test.ts", test });
const headers = (test: string) => ({ file: "test/transport/http/answer-headers.test.ts", test });

/** Each with the test that must notice it. */
export const INTAKE_BUGS: readonly PlantedBug[] = [
  {
    name: "the body of a key that has to wait is read before it is refused",
    edits: [
      {
        file: "src/transport/rest/chat/plain-chat.ts",
        find: "if (key === null || hasToWait(ports, key)) {",
        replace: "if (key === null) {",
      },
    ],
    noticedBy: {
      file: "test/transport/rest/waiting-keys.test.ts",
      test: "that has to wait is refused at",
    },
  },
  {
    name: "the body of a key that has to wait is read before it is refused, where the key was looked up",
    edits: [
      {
        file: "src/transport/rest/model-request.ts",
        find: "if (received === null) ports.keys.refuseWhileLimited(key);",
        replace: "",
      },
    ],
    noticedBy: { file: "test/transport/rest/waiting-keys.test.ts", test: "that has to wait is refused at" },
  },
  {
    name: "a balance waits for the connections of people",
    edits: [
      {
        file: "src/app/compose/books.ts",
        find: "createBillingService({ database, requests,",
        replace: "createBillingService({ database,",
      },
    ],
    noticedBy: {
      file: "test/app/request-pool.test.ts",
      test: "a chat request is answered while every other connection",
    },
  },
  {
    name: "a chat body is received before its key is looked up",
    edits: [
      transport(
        "rest/model-request.ts",
        "if (known === null) principal = await route.authenticate(",
        "received ??= await receiveJson(ports.intake, raw, { limit: requestLimitOf(method), caller: null });\n" +
          "    if (known === null) principal = await route.authenticate(",
      ),
    ],
    noticedBy: intake("is answered, and nothing of the body is kept"),
  },
  {
    name: "the budget of bodies in flight has no end",
    edits: [transport("http/body-budget.ts", ": this.statistics.bytesInFlight + more > budgetBytes;", ": false;")],
    noticedBy: intake("what all bodies have together is bounded"),
  },
  {
    name: "strangers use the budget of callers",
    edits: [transport("http/body-budget.ts", "if (caller === null) this.#strangersBytes += bytes;\n    else ", "")],
    noticedBy: budget("strangers have a sixteenth"),
  },
  {
    name: "the room of a body is never given back",
    edits: [transport("http/body-budget.ts", "    this.#count(-bytes, caller);\n", "")],
    noticedBy: budget("a body is ended when less than 10 KiB"),
  },
  {
    name: "a key sends any number of large bodies at once",
    edits: [transport("http/body-budget.ts", "running >= this.#settings.uploadsPerCaller", "running >= 1_000_000")],
    noticedBy: intake("a key may send three large bodies at once"),
  },
  {
    name: "a body may drip for ever",
    edits: [transport("http/body-budget.ts", "arriving.bytes - arriving.bytesBefore >= least", "arriving.bytes >= 0")],
    noticedBy: budget("a body is ended when less than 10 KiB"),
  },
  {
    name: "a body that came fast may be silent from then on",
    edits: [
      transport("http/body-budget.ts", "arriving.bytes - arriving.bytesBefore >= least", "arriving.bytes >= least"),
    ],
    noticedBy: budget("excuses no silence"),
  },
  {
    name: "a process that stalls ends the bodies it has not read",
    edits: [transport("http/body-budget.ts", "arriving.bytesBefore < 0 || wasHeldUp", "arriving.bytesBefore < 0")],
    noticedBy: budget("held up itself ends no body"),
  },
  {
    name: "a request behind an unread body is carried out",
    edits: [transport("server/request-listener.ts", "if (request.socket.writableEnded) return;", "")],
    noticedBy: intake("a request behind a body that was not read"),
  },
  {
    name: "RPC bodies are not counted",
    edits: [
      transport(
        "server/http-server.ts",
        "protocols: WEB_PROTOCOLS, meter }",
        "protocols: WEB_PROTOCOLS, meter: (body) => body }",
      ),
    ],
    noticedBy: intake("bodies of RPC count like any other"),
  },
  {
    name: "the first of two hosts counts",
    edits: [
      transport("http/host-header.ts", "countOfHosts(request.rawHeaders) > 1", "countOfHosts(request.rawHeaders) > 9"),
    ],
    noticedBy: { file: "test/transport/http/hosts.test.ts", test: "is refused in our shape" },
  },
  {
    name: "answers of Fastify have no headers in common",
    edits: [transport("server/request-listener.ts", "setAnswerHeaders(response, headers.of(request));", "")],
    noticedBy: headers("a list without a key"),
  },
  {
    name: "browsers may send cookies with the calls of other sites",
    edits: [
      transport(
        "http/cors.ts",
        '"access-control-allow-origin": "*",',
        '"access-control-allow-origin": "*",\n  "access-control-allow-credentials": "true",',
      ),
    ],
    noticedBy: headers("no cookies count"),
  },
  {
    name: "pages of other sites may read whatever there is",
    edits: [transport("http/cors.ts", 'OPEN_PREFIX = "/v1/"', 'OPEN_PREFIX = "/"')],
    noticedBy: headers("may read nothing at"),
  },
];

// Guards of who may call, and of what somebody may claim to be.

import type { Edit, PlantedBug } from "../planted-bug.ts";

const accounts = (file: string, find: string, replace: string): Edit => ({
  file: `src/accounts/${file}`,
  find,
  replace,
});
const people = (test: string) => ({ file: "test/accounts/people.test.ts", test });
const callers = (test: string) => ({ file: "test/security/callers.test.ts", test });

/** Each with the test that must notice it. */
export const CALLER_BUGS: readonly PlantedBug[] = [
  {
    name: "a service may call whatever there is",
    edits: [
      {
        file: "src/rpc/authorise.ts",
        find: "if (allowed.has(callerOf[principal.kind]) || allowed.has(Caller.PUBLIC)) return;",
        replace: 'if (allowed.has(callerOf[principal.kind]) || principal.kind === "service") return;',
      },
    ],
    noticedBy: callers("each method takes exactly the callers it names"),
  },
  {
    name: "a service's token of one account acts for any",
    edits: [
      {
        file: "src/rpc/authenticate.ts",
        find: "accountId === null ? await verifiers.accountExists(account) : accountId === account;",
        replace: "await verifiers.accountExists(account);",
      },
    ],
    noticedBy: callers("each method takes exactly the callers it names"),
  },
  {
    name: "a cookie counts whoever made the browser send it",
    edits: [
      {
        file: "src/facade/own-site.ts",
        find: "return cookies === null || !isOwnSite(request) ? credentials",
        replace: "return cookies === null ? credentials",
      },
    ],
    noticedBy: callers("a cookie counts for nothing where another site may have sent it"),
  },
  {
    name: "a session lives on after its end",
    edits: [accounts("people-store.ts", "s.expires_at > clock_timestamp() AND s.created_at", "s.created_at")],
    noticedBy: people("takes no session that"),
  },
  {
    name: "whoever claims an address is signed in",
    edits: [accounts("people-store.ts", "AND ${IS_ALIVE} AND p.email_verified`", "AND ${IS_ALIVE}`")],
    noticedBy: people("gives no account to somebody who only says"),
  },
  {
    name: "a person's account is made without a lock",
    edits: [accounts("people-store.ts", "WHERE id = $1::uuid FOR NO KEY UPDATE`", "WHERE id = $1::uuid`")],
    noticedBy: people("makes one account for a person"),
  },
];

// Guards of what the login of the request path may do.

import { money, type PlantedBug, statement } from "../planted-bug.ts";

const CHANGE = "src/database/migrations/0039-request-role.sql";
const rights = (file: string, test: string) => ({ file: `test/database/${file}.test.ts`, test });

/** Each with the test that must notice it. */
export const REQUEST_ROLE_BUGS: readonly PlantedBug[] = [
  {
    name: "requests are charged in another database than everything else reads",
    edits: [
      {
        file: "src/database/database.ts",
        find: "!(await isSameDatabase(served.pool, ownRequests.pool))",
        replace: "!(await isSameDatabase(served.pool, served.pool))",
      },
    ],
    noticedBy: {
      file: "test/database/request-connections.test.ts",
      test: "are refused with a login that leads to another database",
    },
  },
  {
    name: "lists of settlements may begin anywhere",
    edits: [statement("commit_requests", "i NOT BETWEEN 1 AND settlements OR ", "")],
    noticedBy: money("request-login", "free nothing by lists that begin at"),
  },
  {
    name: "a group may settle the hold of another account",
    edits: [statement("commit_requests", "s_account[i] IS DISTINCT FROM freed.account_id OR ", "")],
    noticedBy: money("request-login", "settle no hold of an account that another one of the group names"),
  },
  {
    name: "a group does not look at its costs",
    edits: [statement("commit_requests", " OR (s_cost[i] >= 0) IS NOT TRUE", "")],
    noticedBy: money("request-login", "charge no negative and no unknown cost"),
  },
  {
    name: "a settlement chooses its moment",
    edits: [
      statement(
        "settle_request",
        "settled_at := clock_timestamp();",
        "settled_at := coalesce(settled_at, clock_timestamp());",
      ),
    ],
    noticedBy: money("request-login", "write no record into the past"),
  },
  {
    name: "an admission reads the tables of its session first",
    edits: [
      statement(
        "admit_request",
        "SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp",
        "SECURITY DEFINER SET search_path = pg_catalog, public",
      ),
    ],
    noticedBy: money("request-login", "decide on the tables and operators of the schema"),
  },
  {
    name: "the functions of requests run with the rights of the schema's owner",
    edits: [{ file: CHANGE, find: "EXECUTE format('ALTER FUNCTION %s OWNER TO saldo_ledger', f);", replace: "" }],
    noticedBy: rights("serving-rights", "run these functions with the rights of another one"),
  },
  {
    name: "everybody may run the functions of requests",
    edits: [{ file: CHANGE, find: "EXECUTE format('REVOKE ALL ON FUNCTION %s FROM public', f);", replace: "" }],
    noticedBy: rights("serving-rights", "run these functions with the rights of another one"),
  },
  {
    name: "the request login may change balances",
    edits: [
      {
        file: CHANGE,
        find: "GRANT SELECT, INSERT ON kept_answer TO saldo_request;",
        replace:
          "GRANT SELECT, INSERT ON kept_answer TO saldo_request; GRANT UPDATE (posted) ON account TO saldo_request;",
      },
    ],
    noticedBy: rights("request-rights", "is refused where it"),
  },
  {
    name: "the ledger of requests uses the login of everything else",
    edits: [
      {
        file: "src/app/compose/books.ts",
        find: "database: requests,\n    owner: (requestId)",
        replace: "database,\n    owner: (requestId)",
      },
    ],
    noticedBy: { file: "test/app/request-pool.test.ts", test: "every statement of a chat request ran under the login" },
  },
  {
    name: "a start takes any login for requests",
    edits: [
      { file: "src/database/database.ts", find: "check: checkRequestSession,", replace: "check: async () => {}," },
    ],
    noticedBy: rights("request-connections", "are refused with a login that is another one"),
  },
  {
    name: "a start does not look at what the login of requests may write",
    edits: [{ file: "src/database/server-checks.ts", find: "THEN 'may write money' END,", replace: "THEN NULL END," }],
    noticedBy: rights("request-connections", "are refused with a login that could mint"),
  },
  {
    name: "the doctor keeps quiet about requests that share a login",
    edits: [{ file: "src/commands/doctor/database.ts", find: "      requestFinding(facts),\n", replace: "" }],
    noticedBy: { file: "test/commands/doctor.test.ts", test: "shows whether the login of requests can create money" },
  },
];

// Guards of what a member of an account may do and see.

import type { Edit, PlantedBug } from "../planted-bug.ts";

const edit = (file: string, find: string, replace: string): Edit => ({ file: `src/${file}`, find, replace });
const roles = (test: string) => ({ file: "test/security/roles.test.ts", test });
const isolation = (test: string) => ({ file: "test/identity/members/isolation.test.ts", test });

const members = (test: string) => ({ file: "test/identity/members/members.test.ts", test });
const pairs = (test: string) => ({ file: "test/identity/members/pairs.test.ts", test });
const invites = (test: string) => ({ file: "test/identity/members/invites.test.ts", test });

/** Each with the test that must notice it. */
export const ROLE_BUGS: readonly PlantedBug[] = [
  {
    name: "a signed-in person calls whatever the method's kind of caller may",
    edits: [
      edit(
        "transport/calls/authorise.ts",
        'if (principal.kind === "session") requireRole(method, principal.role);',
        "",
      ),
    ],
    noticedBy: roles("reaches its methods and no other"),
  },
  {
    name: "one who was removed from an account goes on acting for it",
    edits: [
      edit(
        "identity/people-store.ts",
        "CASE WHEN s.acts_for IS NULL OR s.acts_for = p.account_id THEN 'owner' ELSE own.role END AS role",
        "coalesce(own.role, 'owner') AS role",
      ),
    ],
    noticedBy: roles("one who is no member any more reaches nothing of the account"),
  },
  {
    name: "a method that names no role takes everyone",
    edits: [
      edit(
        "transport/calls/authorise.ts",
        '!allowed.has("person") && (role === null',
        '!allowed.has("person") && allowed.size > 4 && (role === null',
      ),
    ],
    noticedBy: roles("reaches its methods and no other"),
  },
  {
    name: "a developer lists the keys of all members",
    edits: [edit("keys/service.ts", 'member?.role === "developer" ? member.personId : null', "null")],
    noticedBy: isolation("lists the own keys alone, that of the own playground included"),
  },
  {
    name: "a developer revokes the keys of others",
    edits: [
      edit(
        "keys/store.ts",
        "AND ($3::uuid IS NULL OR person_id = $3) FOR NO KEY UPDATE",
        "AND ($3::uuid IS NULL OR true) FOR NO KEY UPDATE",
      ),
    ],
    noticedBy: isolation("neither renames nor revokes the key of another member"),
  },
  {
    name: "a developer lifts the budget that an owner has set",
    edits: [
      edit(
        "keys/service.ts",
        "if (personId !== null && (limits !== undefined || rateLimit !== undefined)) throw new LimitsOfOwners();",
        "",
      ),
    ],
    noticedBy: isolation("renames the own key, and leaves its limits to owners"),
  },
  {
    name: "a developer opens the requests of others",
    edits: [edit("billing/usage/usage.ts", "if (ofKeys?.includes(record.keyId) === false)", "if (record === null)")],
    noticedBy: isolation("lists, opens, sums and exports the own requests alone"),
  },
  {
    name: "a filter by another member's key takes the place of the own keys",
    edits: [
      edit("billing/usage/usage-filter.ts", "ofKeys === undefined ? [keyId] : ofKeys.filter(isKey(keyId))", "[keyId]"),
    ],
    noticedBy: isolation("finds nothing by the key of another member, in any case of its letters"),
  },
  {
    name: "a developer's key shows the usage of the account",
    edits: [
      edit(
        "transport/calls/callers.ts",
        'if (principal.kind !== "api_key" || principal.personId === undefined) return null;',
        'if (principal.kind === "api_key" || !("personId" in principal)) return null;',
      ),
    ],
    noticedBy: isolation("sees no more with a key, which shows what its maker may read"),
  },
  {
    name: "all members share one playground, and its usage and stored answers",
    edits: [
      edit(
        "transport/calls/callers.ts",
        "isHolder: accountId === ownAccountId",
        'isHolder: accountId !== "" || ownAccountId !== ""',
      ),
    ],
    noticedBy: isolation("lists the own keys alone, that of the own playground included"),
  },
  {
    name: "a key is made behind the removal of its maker",
    edits: [edit("keys/issue-key.ts", "await maker?.requireRole(client);", "")],
    noticedBy: isolation("a person who was removed meanwhile makes no key"),
  },
  {
    name: "a member who goes keeps keys that work",
    edits: [
      edit(
        "identity/members/members.ts",
        "role !== null && mayHaveKeys(role) ? 0 : await revokeKeysOfPerson(client, { accountId, personId })",
        "0",
      ),
    ],
    noticedBy: members("loses the keys and the open invitations that the member made"),
  },
  {
    name: "an admin who goes keeps merchants' pairs that work",
    edits: [
      edit(
        "identity/members/members.ts",
        "role !== null && mayMakePairs(role) ? 0 : await revokePairsOfPerson(client, { accountId, personId })",
        "0",
      ),
    ],
    noticedBy: pairs("work no more once the member is removed"),
  },
  {
    name: "an admin who becomes a developer keeps merchants' pairs that work",
    edits: [edit("identity/members/members.ts", "mayMakePairs(role) ? 0", "mayHaveKeys(role) ? 0")],
    noticedBy: pairs("work no more once the member has the role"),
  },
  {
    name: "a pair is made behind the removal of its maker",
    edits: [
      edit(
        "merchant/merchants/credentials.ts",
        "await maker?.requireRole(client); await requireMerchantOf(",
        "await requireMerchantOf(",
      ),
    ],
    noticedBy: pairs("a person who was removed meanwhile makes neither a merchant nor a pair"),
  },
  {
    name: "an admin comes back by an own invitation",
    edits: [
      edit("identity/members/members.ts", "await revokeInvites(client, { accountId, invitedBy: personId });", ""),
    ],
    noticedBy: members("loses the keys and the open invitations that the member made"),
  },
  {
    name: "an admin makes owners",
    edits: [
      edit(
        "identity/members/member-roles.ts",
        'if (role !== "owner" && roles.includes("owner")) throw new RoleMissing(true);',
        "",
      ),
    ],
    noticedBy: members("of an owner is neither given, changed nor removed by an admin"),
  },
  {
    name: "an admin revokes the invitation of an owner by another one to the address",
    edits: [
      edit(
        "identity/members/invites.ts",
        "await requireManager(client, actor, await readOpenRoles(client, { accountId, email }));",
        "",
      ),
    ],
    noticedBy: invites("by an admin leaves the invitation of an owner open"),
  },
  {
    name: "the last owner leaves",
    edits: [edit("identity/members/members.ts", 'if (member.role !== "owner") return;', "if (true) return;")],
    noticedBy: members("the last one neither leaves nor takes the own role away"),
  },
  {
    name: "members change without the lock of their account",
    edits: [edit("identity/members/members.ts", "await lockAccount(client, accountId);", "")],
    noticedBy: members("when all leave at once, one stays"),
  },
  {
    name: "the person whose account it is can be removed",
    edits: [
      edit(
        "identity/members/members.ts",
        'if (member.isHolder) throw problem("member.holder"',
        'if (false) throw problem("member.holder"',
      ),
    ],
    noticedBy: members("who opened it neither leaves nor is removed or demoted"),
  },
  {
    name: "a person switches to any account",
    edits: [
      edit(
        "identity/members/my-accounts.ts",
        ".find((each) => each.accountId === accountId);",
        ".map((each) => ({ ...each, accountId, isOwn: false }))[0];",
      ),
    ],
    noticedBy: members("has no access at the next call"),
  },
  {
    name: "whoever has the link of an invitation accepts it",
    edits: [
      edit(
        "identity/members/invite-store.ts",
        "(digest = $1::bytea OR id = $3::uuid) AND email = $2",
        "(digest = $1::bytea OR id = $3::uuid) AND $2::text <> ''",
      ),
    ],
    noticedBy: invites("where another person has the link"),
  },
  {
    name: "a person lists the invitations of others",
    edits: [edit("identity/members/invite-store.ts", "WHERE i.email = $1 AND", "WHERE i.email <> $1 || $1 AND")],
    noticedBy: invites("is listed for its person alone, and accepted from the list"),
  },
  {
    name: "an invitation is accepted for ever",
    edits: [
      edit(
        "identity/members/invite-store.ts",
        "accepted_at IS NULL AND revoked_at IS NULL AND expires_at > clock_timestamp()",
        "accepted_at IS NULL AND revoked_at IS NULL",
      ),
    ],
    noticedBy: invites("where it is too old"),
  },
  {
    name: "an invitation that was revoked is accepted",
    edits: [
      edit(
        "identity/members/invite-store.ts",
        "accepted_at IS NULL AND revoked_at IS NULL AND expires_at",
        "accepted_at IS NULL AND expires_at",
      ),
    ],
    noticedBy: invites("where it was revoked, also while it is accepted"),
  },
  {
    name: "the name of an account is any text, and stands in mails",
    edits: [edit("identity/members/my-accounts.ts", "LIKE_A_HOST.test(given)", "false")],
    noticedBy: members("is not"),
  },
  {
    name: "a stream goes on for a person who was removed",
    edits: [
      edit(
        "transport/calls/recheck-callers.ts",
        "return began.accountId === now.accountId && began.role === now.role;",
        "return true;",
      ),
    ],
    noticedBy: { file: "test/security/recheck-roles.test.ts", test: "it ends when the person" },
  },
  {
    name: "a developer asks for the usage of another member",
    edits: [edit("app/compose/visible-keys.ts", "if (own !== null && asked !== own) return [];", "")],
    noticedBy: isolation("usage is listed, summed and exported by member"),
  },
  {
    name: "a member of a frozen account stays signed in who acts for another one",
    edits: [
      edit(
        "identity/end-sessions.ts",
        "OR user_id IN (SELECT person_id FROM account_member WHERE account_id = $1::uuid)",
        "",
      ),
    ],
    noticedBy: { file: "test/identity/end-sessions.test.ts", test: "freezing an account signs out its members" },
  },
  {
    name: "a caller is not decided on again behind a slow body",
    edits: [
      {
        file: "src/transport/calls/interceptors.ts",
        find: "if (isSlowBody(performance.now() - since)) await recheck(req);",
        replace: "if (isSlowBody(-1)) await recheck(req);",
      },
    ],
    noticedBy: { file: "test/transport/rpc/slow-bodies.test.ts", test: "is refused where the person" },
  },
  {
    name: "a slow database makes the decision on a caller twice",
    edits: [
      {
        file: "src/transport/calls/interceptors.ts",
        find: "if (isSlowBody(performance.now() - since)) await recheck(req);",
        replace: "if (isSlowBody(Date.now() - receivedAtMsOf({ values: req.contextValues }))) await recheck(req);",
      },
    ],
    noticedBy: { file: "test/transport/rpc/slow-bodies.test.ts", test: "is looked up once where the database is slow" },
  },
  {
    name: "a change that has written its line in its transaction gets a second one behind the call",
    edits: [
      { file: "src/transport/calls/record-activity.ts", find: "context.values.set(recordedKey, true);", replace: "" },
    ],
    noticedBy: { file: "test/identity/members/changes.test.ts", test: "has the limits of a key before and after" },
  },
];

// AccountsService: translation between the contract and the use cases of this room.

import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type { Pool } from "pg";
import type { AccountsService } from "#gen/saldo/accounts/v1/accounts_service_pb.ts";
import {
  Language as ProtoLanguage,
  Role,
  SecurityEventKind as ProtoKind,
  SecurityOutcome as ProtoOutcome,
} from "#gen/saldo/accounts/v1/person_pb.ts";
import { TokenScope as ProtoTokenScope } from "#gen/saldo/options/v1/options_pb.ts";
import type { Database } from "../database/database.ts";
import { NotFound, ValidationError } from "../kernel/errors.ts";
import { readPage } from "../kernel/paging.ts";
import { invariant } from "../kernel/invariant.ts";
import { signOutPerson } from "./end-sessions.ts";
import { withAuditLog } from "../operator/audit-log/operator-actions.ts";
import { deleteSession, type PersonRow, readPerson, readSessions, type SessionSummary } from "./people-store.ts";
import { listSecurityEvents, type SecurityEventFilter, type SecurityEventRow } from "./read-security-log.ts";
import { readAccountName } from "./members/member-store.ts";
import { toProtoMembership } from "./members/service.ts";
import { type SessionPrincipal, type SessionProof, TOKEN_SCOPES, type TokenScope } from "./principal.ts";
import {
  type RecordSecurityEvent,
  SECURITY_EVENT_KINDS,
  SECURITY_OUTCOMES,
  type SecurityEventKind,
} from "./security-log.ts";
import type { ServiceToken } from "./service-token-store.ts";
import { issueServiceToken, lineOfNewToken, listServiceTokens, revokeServiceToken } from "./service-tokens.ts";
import { isProved } from "./session-proof.ts";
import { readSettings, updateSettings, type Language, type Settings } from "./settings.ts";

export type AccountsServiceDependencies = {
  readonly database: Pick<Database, "pool">;
  readonly isDemo: boolean;
  /** The person's own account, whatever the session acts for: settings are the person's. */
  readonly ownAccountOf: (context: HandlerContext) => string;
  /** For which account the session acts, in which role. */
  readonly sessionOf: (context: HandlerContext) => SessionPrincipal;
  /** Who is signed in, and by which session. */
  readonly personOf: (context: HandlerContext) => { personId: string; sessionId: string; proof: SessionProof };
  readonly operatorOf: (context: HandlerContext) => { email: string };
  readonly recordSecurityEvent: RecordSecurityEvent;
  /** The secrets under which the security log hashes addresses, or did. */
  readonly secrets: () => Promise<readonly string[]>;
};

const MAX_SESSIONS = 100;

const languages = { id: ProtoLanguage.INDONESIAN, en: ProtoLanguage.ENGLISH } as const satisfies Record<
  Language,
  ProtoLanguage
>;

/** Makes the service. */
export function createAccountsService(dependencies: AccountsServiceDependencies): ServiceImpl<typeof AccountsService> {
  const { database, isDemo, ownAccountOf, sessionOf, personOf, operatorOf, recordSecurityEvent, secrets } =
    dependencies;
  const { pool } = database;
  return {
    async getMe(_request, context) {
      const { personId, proof } = personOf(context);
      const person = await readPerson(pool, personId);
      invariant(person !== null, "who is signed in is there");
      const settings = await readSettings(pool, ownAccountOf(context));
      const secondFactor = toProtoFactor(proof);
      const account = toProtoMembership(await actingFor(pool, sessionOf(context)));
      return { person: toProtoPerson(person), settings: toProtoSettings(settings), isDemo, secondFactor, account };
    },

    async updateSettings({ language, timeZone }, context) {
      const settings = await updateSettings(pool, ownAccountOf(context), {
        ...fromProtoLanguage(language),
        ...(timeZone === "" ? {} : { timeZone }),
      });
      return { settings: toProtoSettings(settings) };
    },

    async listSessions(_request, context) {
      const { personId, sessionId } = personOf(context);
      const sessions = await readSessions(pool, personId, MAX_SESSIONS);
      return { sessions: sessions.map((session) => toProtoSession(session, sessionId)) };
    },

    async revokeSession({ sessionId }, context) {
      const { personId } = personOf(context);
      const isEnded = await deleteSession(pool, { sessionId, personId });
      if (!isEnded) throw new NotFound("There is no such session.");
      const ended = { kind: "session_end", outcome: "succeeded", detail: "one_session" } as const;
      recordSecurityEvent({ ...ended, personId, subject: sessionId });
      return {};
    },

    async createServiceToken({ name, accountId, scopes, expiresInDays }, context) {
      const request = {
        name,
        accountId: accountId === "" ? null : accountId,
        scopes: scopes.map(fromProtoScope),
        ...(expiresInDays === 0 ? {} : { days: expiresInDays }),
      };
      const issued = await withAuditLog(
        { database, operator: operatorOf(context).email },
        (client) => issueServiceToken(client, request),
        lineOfNewToken,
      );
      return { token: toProtoToken(issued.token), secret: issued.secret };
    },

    async listServiceTokens() {
      return { tokens: (await listServiceTokens(database)).map(toProtoToken) };
    },

    async revokeServiceToken({ tokenId }, context) {
      const by = { database, operator: operatorOf(context).email };
      return { token: toProtoToken(await revokeServiceToken(by, tokenId)) };
    },

    async signOutPerson({ email, reason }, context) {
      const by = { database, operator: operatorOf(context).email };
      const { personId, sessions } = await signOutPerson(by, { email, reason: reason === "" ? null : reason });
      recordSecurityEvent({ kind: "session_end", outcome: "succeeded", detail: "by_operator", personId, email });
      return { sessions };
    },

    async listSecurityEvents({ pageSize, pageToken, ...filter }) {
      const { items, nextPageToken } = await readPage(
        { pageSize, pageToken },
        (range) => listSecurityEvents(pool, { filter: givenOf(filter), ...range, secrets }),
        ({ eventId }) => eventId,
      );
      return { events: items.map(toProtoEvent), nextPageToken };
    },
  };
}

/** The account that a session acts for. One that the person is no member of any more has no name here. */
async function actingFor(pool: Pool, { accountId, ownAccountId, role }: SessionPrincipal) {
  const accountName = role === null ? "" : await readAccountName(pool, accountId);
  return { accountId, accountName, role, isOwn: accountId === ownAccountId };
}

function toProtoPerson({ personId, email, name, emailVerified, isOperator, accountId }: PersonRow) {
  const roles = isOperator ? [Role.MEMBER, Role.OPERATOR] : [Role.MEMBER];
  return { id: personId, email, name, emailVerified, roles, accountId: accountId ?? "" };
}

function toProtoFactor(proof: SessionProof) {
  const isMissing = (proof.mustHaveFactor && !proof.hasFactor) || !isProved(proof);
  return { isRequired: proof.mustHaveFactor, isSetUp: proof.hasFactor, isMissing };
}

function toProtoSettings({ language, timeZone }: Settings) {
  return { language: languages[language], timeZone };
}

function fromProtoLanguage(language: ProtoLanguage): { language?: Language } {
  if (language === ProtoLanguage.INDONESIAN) return { language: "id" };
  return language === ProtoLanguage.ENGLISH ? { language: "en" } : {};
}

function toProtoSession({ sessionId, createdAt, lastSeenAt, expiresAt, ...session }: SessionSummary, current: string) {
  return {
    id: sessionId,
    createdAt: timestampFromDate(createdAt),
    lastSeenAt: timestampFromDate(lastSeenAt),
    expiresAt: timestampFromDate(expiresAt),
    address: session.address,
    userAgent: session.userAgent,
    isCurrent: sessionId === current,
  };
}

const protoScopes = {
  read: ProtoTokenScope.READ,
  keys: ProtoTokenScope.KEYS,
  top_ups: ProtoTokenScope.TOP_UPS,
  settings: ProtoTokenScope.SETTINGS,
  merchants: ProtoTokenScope.MERCHANTS,
  transfers: ProtoTokenScope.TRANSFERS,
} as const satisfies Record<TokenScope, ProtoTokenScope>;

function fromProtoScope(scope: ProtoTokenScope): TokenScope {
  const known = TOKEN_SCOPES.find((name) => protoScopes[name] === scope);
  if (known !== undefined) return known;
  throw new ValidationError([{ field: "scopes", rule: "enum.defined_only", message: "must be scopes that there are" }]);
}

const protoOutcome = {
  succeeded: ProtoOutcome.SUCCEEDED,
  refused: ProtoOutcome.REFUSED,
} as const satisfies Record<SecurityEventRow["outcome"], ProtoOutcome>;

/** The contract names each kind as the log does, in capitals. */
function toProtoKind(kind: SecurityEventKind): ProtoKind {
  return ProtoKind[kind.toUpperCase() as Uppercase<SecurityEventKind>];
}

type AskedEvents = Required<Omit<SecurityEventFilter, "outcome" | "kind">> & {
  readonly outcome: ProtoOutcome;
  readonly kind: ProtoKind;
};

function givenOf(filter: AskedEvents): SecurityEventFilter {
  const outcome = SECURITY_OUTCOMES.find((each) => protoOutcome[each] === filter.outcome);
  const kind = SECURITY_EVENT_KINDS.find((each) => toProtoKind(each) === filter.kind);
  const { email, personId, accountId, withoutOperatorReads } = filter;
  return {
    ...(kind === undefined ? {} : { kind }),
    ...(outcome === undefined ? {} : { outcome }),
    ...(email === "" ? {} : { email }),
    ...(personId === "" ? {} : { personId }),
    ...(accountId === "" ? {} : { accountId }),
    withoutOperatorReads,
  };
}

/** A kind that only a newer process records is unspecified. */
function toProtoEvent({ eventId, occurredAt, personId, accountId, emailHash, ...event }: SecurityEventRow) {
  const kind = SECURITY_EVENT_KINDS.find((each) => each === event.kind);
  const who = { personId: personId ?? "", accountId: accountId ?? "", emailHash: emailHash ?? "" };
  return {
    ...event,
    ...who,
    kind: kind === undefined ? ProtoKind.UNSPECIFIED : toProtoKind(kind),
    outcome: protoOutcome[event.outcome],
    id: eventId,
    occurredAt: timestampFromDate(occurredAt),
  };
}

function toProtoToken(token: ServiceToken) {
  const { tokenId, accountId, createdAt, expiresAt, lastUsedAt, revokedAt, scopes, ...shown } = token;
  return {
    ...shown,
    scopes: scopes.map((scope) => protoScopes[scope]),
    expiresAt: timestampFromDate(expiresAt),
    ...(lastUsedAt === null ? {} : { lastUsedAt: timestampFromDate(lastUsedAt) }),
    id: tokenId,
    accountId: accountId ?? "",
    createdAt: timestampFromDate(createdAt),
    ...(revokedAt === null ? {} : { revokedAt: timestampFromDate(revokedAt) }),
  };
}

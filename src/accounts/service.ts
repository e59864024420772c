// AccountsService: translation between the contract and the use cases of this room.

import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type { AccountsService } from "#gen/saldo/accounts/v1/accounts_service_pb.ts";
import { Language as ProtoLanguage, Role } from "#gen/saldo/accounts/v1/person_pb.ts";
import type { Database } from "../database/database.ts";
import { NotFound } from "../kernel/errors.ts";
import { invariant } from "../kernel/invariant.ts";
import { doAndRecord } from "./operator-actions.ts";
import { deleteSession, type PersonRow, readPerson, readSessions, type SessionSummary } from "./people-store.ts";
import type { ServiceToken } from "./service-token-store.ts";
import { issueServiceToken, listServiceTokens, orderTokenRevocation } from "./service-tokens.ts";
import { readSettings, updateSettings, type Language, type Settings } from "./settings.ts";

export type AccountsServiceDependencies = {
  readonly database: Pick<Database, "pool">;
  readonly isDemo: boolean;
  readonly accountOf: (context: HandlerContext) => string;
  /** Who is signed in, and by which session. */
  readonly personOf: (context: HandlerContext) => { personId: string; sessionId: string };
  readonly operatorOf: (context: HandlerContext) => { email: string };
};

const MAX_SESSIONS = 100;

const languages = { id: ProtoLanguage.INDONESIAN, en: ProtoLanguage.ENGLISH } as const satisfies Record<
  Language,
  ProtoLanguage
>;

/** Makes the service. */
export function createAccountsService(dependencies: AccountsServiceDependencies): ServiceImpl<typeof AccountsService> {
  const { database, isDemo, accountOf, personOf, operatorOf } = dependencies;
  const { pool } = database;
  return {
    async getMe(_request, context) {
      const person = await readPerson(pool, personOf(context).personId);
      invariant(person !== null, "who is signed in is there");
      const settings = await readSettings(pool, accountOf(context));
      return { person: toProtoPerson(person), settings: toProtoSettings(settings), isDemo };
    },

    async updateSettings({ language, timeZone }, context) {
      const settings = await updateSettings(pool, accountOf(context), {
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
      const isEnded = await deleteSession(pool, { sessionId, personId: personOf(context).personId });
      if (!isEnded) throw new NotFound("There is no such session.");
      return {};
    },

    async createServiceToken({ name, accountId }, context) {
      const { token, secret } = await doAndRecord(
        { database, operator: operatorOf(context).email },
        (client) => issueServiceToken(client, { name, accountId: accountId === "" ? null : accountId }),
        (issued) => ({ action: "service-token create", subject: issued.token.tokenId, reason: null, facts: { name } }),
      );
      return { token: toProtoToken(token), secret };
    },

    async listServiceTokens() {
      return { tokens: (await listServiceTokens(database)).map(toProtoToken) };
    },

    async revokeServiceToken({ tokenId }, context) {
      const by = { database, operator: operatorOf(context).email };
      return { token: toProtoToken(await orderTokenRevocation(by, tokenId)) };
    },
  };
}

function toProtoPerson({ personId, email, name, emailVerified, isOperator, accountId }: PersonRow) {
  const roles = isOperator ? [Role.MEMBER, Role.OPERATOR] : [Role.MEMBER];
  return { id: personId, email, name, emailVerified, roles, accountId: accountId ?? "" };
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

function toProtoToken({ tokenId, accountId, createdAt, revokedAt, ...token }: ServiceToken) {
  return {
    ...token,
    id: tokenId,
    accountId: accountId ?? "",
    createdAt: timestampFromDate(createdAt),
    ...(revokedAt === null ? {} : { revokedAt: timestampFromDate(revokedAt) }),
  };
}

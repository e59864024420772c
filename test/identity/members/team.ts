// An account with members, served as their browsers reach it: the real services over a database, with mails kept in memory.

import { createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { AccountsService } from "#gen/saldo/accounts/v1/accounts_service_pb.ts";
import { AlertService } from "#gen/saldo/billing/v1/alert_service_pb.ts";
import { BillingService } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import { ReceiptService } from "#gen/saldo/billing/v1/receipt_service_pb.ts";
import { MembersService } from "#gen/saldo/identity/v1/members_service_pb.ts";
import { KeysService } from "../../../src/client/client.ts";
import { membersService } from "../../../src/app/compose/members.ts";
import { recordChangeOf } from "../../../src/app/compose/record-change.ts";
import { createAlertService } from "../../../src/billing/alert-service.ts";
import { createReceiptService } from "../../../src/billing/proto-receipts.ts";
import { createBillingService } from "../../../src/billing/service.ts";
import { clientConfig, withClient } from "../../../src/database/connections.ts";
import { recordActivity } from "../../../src/identity/members/activity.ts";
import { requireKeyRole } from "../../../src/identity/members/member-roles.ts";
import { createPeople } from "../../../src/identity/people.ts";
import type { Mail } from "../../../src/identity/mailer.ts";
import { createAccountsService } from "../../../src/identity/service.ts";
import type { AccountRole } from "../../../src/identity/principal.ts";
import { UpstreamBusy } from "../../../src/kernel/errors.ts";
import { createKeysService } from "../../../src/keys/service.ts";
import { openAccount } from "../../../src/ledger/accounts.ts";
import {
  accountOf,
  memberOf,
  operatorOf,
  ownAccountOf,
  personOf,
  sessionOf,
} from "../../../src/transport/calls/callers.ts";
import { joinAccount, type SignedIn, signInPerson } from "../../setup/session-rows.ts";
import { createTestDatabase } from "../../setup/test-database.ts";
import { startServers } from "../../transport/fakes.ts";

export type Team = Awaited<ReturnType<typeof serveTeams>>;
export type Person = ReturnType<Team["reach"]>;

/** Serves members, keys and accounts. */
export async function serveTeams() {
  const opened = await createTestDatabase();
  const { database } = opened;
  const mails: Mail[] = [];
  const mail = { isDown: false };
  const mailer = {
    isConfigured: true,
    async send(sent: Mail) {
      if (mail.isDown) throw new UpstreamBusy();
      mails.push(sent);
    },
  };
  const people = createPeople({ database, openAccount, cookieName: () => "saldo_session", isDemo: false });
  const running = await startServers({
    people,
    recordActivity: (line) => recordActivity(database.pool, line),
    implementations: {
      members: membersService({ database, mailer, baseUrl: () => "https://saldo.example" }),
      keys: createKeysService({ database, accountOf, memberOf, requireRole: requireKeyRole, recordChangeOf }),
      alerts: createAlertService({
        database,
        accountOf,
        recordChangeOf,
        rules: { environment: "sandbox", allowLoopback: true },
      }),
      billing: createBillingService({ database, accountOf, recordChangeOf, visibleKeysOf: async () => null }),
      receipts: createReceiptService({
        database,
        pdf: { make: async () => new Uint8Array() },
        accountOf,
        recordChangeOf,
        isSellerMissing: async () => false,
      }),
      accounts: createAccountsService({
        database,
        isDemo: false,
        ownAccountOf,
        sessionOf,
        personOf,
        operatorOf,
        recordSecurityEvent: () => {},
        secrets: async () => [],
      }),
    },
  });
  const through = (headers: Record<string, string>): Transport =>
    createConnectTransport({
      baseUrl: running.http,
      httpVersion: "1.1",
      interceptors: [
        (next) => (request) => {
          for (const [name, value] of Object.entries(headers)) request.header.set(name, value);
          return next(request);
        },
      ],
    });
  const reach = (person: SignedIn, headers: Record<string, string> = {}) => {
    const transport = through({ cookie: person.cookie, origin: running.http, ...headers });
    return {
      ...person,
      members: createClient(MembersService, transport),
      keys: createClient(KeysService, transport),
      alerts: createClient(AlertService, transport),
      billing: createClient(BillingService, transport),
      receipts: createClient(ReceiptService, transport),
      accounts: createClient(AccountsService, transport),
    };
  };
  return {
    database,
    pool: database.pool,
    mails,
    mail,
    reach,
    /** A person with an own account and a session. */
    newPerson: async (email?: string) => reach(await signInPerson(database.pool, email)),
    /** A person who is a member of an account, for which the session acts. */
    async newMember(accountId: string, role: AccountRole) {
      const person = await signInPerson(database.pool);
      await joinAccount(database.pool, person, { accountId, role });
      return reach(person);
    },
    /** The token of the last mail to an address. */
    tokenTo(email: string): string {
      const text = mails.findLast(({ to }) => to === email)?.text ?? "";
      return /\/invite\?token=([\w-]+)/.exec(text)?.[1] ?? "";
    },
    /** Makes the invitations of an account too old, as the owner of the tables: the serving role cannot. */
    expireInvites: (accountId: string) =>
      withClient(clientConfig({ connectionString: opened.url }, "test"), (owner) =>
        owner.query("UPDATE account_invite SET expires_at = clock_timestamp() WHERE account_id = $1", [accountId]),
      ),
    async stop() {
      await running.servers.close(1_000);
      await opened.drop();
    },
  };
}

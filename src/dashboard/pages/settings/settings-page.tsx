import { useQuery } from "@connectrpc/connect-query";
import { AccountsService } from "#gen/saldo/accounts/v1/accounts_service_pb.ts";
import { type Person, Role } from "#gen/saldo/accounts/v1/person_pb.ts";
import { UNKNOWN } from "../../i18n/format.ts";
import { useMessages } from "../../i18n/language.tsx";
import { Card } from "../../components/card.tsx";
import { Page } from "../../components/page.tsx";
import { Failed, SkeletonLines } from "../../components/states.tsx";
import { SecondFactorCard } from "../second-factor/second-factor-card.tsx";
import { useMay } from "../../layouts/role.ts";
import { BudgetZoneCard } from "./budget-zone-card.tsx";
import { LowBalanceCard } from "./low-balance-card.tsx";
import { PasswordCard } from "./password-card.tsx";
import { PreferencesCard } from "./preferences-card.tsx";
import { RetriesCard } from "./retries-card.tsx";
import { SessionsCard } from "./sessions-card.tsx";
import { SETTINGS_MESSAGES } from "./settings-messages.ts";

/** The signed-in person's details and settings. */
export function SettingsPage() {
  const messages = useMessages(SETTINGS_MESSAGES);
  const { data, error, refetch } = useQuery(AccountsService.method.getMe, {});
  const [mayPay, mayChange] = [useMay("pay"), useMay("change")];
  return (
    <Page title={messages.title} about={messages.about}>
      {error === null ? null : <Failed error={error} retry={() => void refetch()} />}
      <div className="grid items-start gap-4 lg:grid-cols-2">
        <Card title={messages.profile}>
          {data?.person === undefined ? <SkeletonLines /> : <Profile {...data.person} />}
        </Card>
        <Card title={messages.preferences}>
          {data?.settings === undefined ? <SkeletonLines /> : <PreferencesCard settings={data.settings} />}
        </Card>
        {mayPay ? <LowBalanceCard /> : null}
        {mayChange ? <RetriesCard /> : null}
        {mayChange ? <BudgetZoneCard /> : null}
        <SecondFactorCard />
        <PasswordCard email={data?.person?.email ?? ""} />
      </div>
      <SessionsCard />
    </Page>
  );
}

function Profile({ name, email, accountId, roles }: Person) {
  const messages = useMessages(SETTINGS_MESSAGES);
  const facts = [
    { of: messages.name, is: name === "" ? UNKNOWN : name },
    { of: messages.email, is: email },
    {
      of: messages.roles,
      is: roles.includes(Role.OPERATOR) ? `${messages.member}, ${messages.operator}` : messages.member,
    },
  ];
  return (
    <dl className="flex flex-col gap-3">
      {facts.map((fact) => (
        <div key={fact.of}>
          <dt className="text-[0.8125rem] text-muted">{fact.of}</dt>
          <dd className="break-words">{fact.is}</dd>
        </div>
      ))}
      <div>
        <dt className="text-[0.8125rem] text-muted">{messages.account}</dt>
        <dd className="font-mono text-xs break-all">{accountId}</dd>
      </div>
    </dl>
  );
}

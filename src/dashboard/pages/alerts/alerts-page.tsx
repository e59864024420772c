import { useQuery } from "@connectrpc/connect-query";
import { AlertService } from "#gen/saldo/billing/v1/alert_service_pb.ts";
import { Card } from "../../components/card.tsx";
import { Page } from "../../components/page.tsx";
import { Failed, SkeletonLines } from "../../components/states.tsx";
import { useMessages } from "../../i18n/language.tsx";
import { useMay } from "../../layouts/role.ts";
import { LowBalanceCard } from "../settings/low-balance-card.tsx";
import { AlertDeliveries } from "./alert-deliveries.tsx";
import { AlertSettingsCard } from "./alert-settings-card.tsx";
import { ALERTS_MESSAGES } from "./alerts-messages.ts";
import { WebhookCard } from "./webhook-card.tsx";

/** What the account is notified of, where, and what became of it. */
export function AlertsPage() {
  const messages = useMessages(ALERTS_MESSAGES);
  const mayPay = useMay("pay");
  const { data, error, refetch } = useQuery(AlertService.method.getAlertSettings, {});
  const { settings, webhook } = data ?? {};
  return (
    <Page title={messages.title} about={messages.about}>
      {error !== null && data === undefined ? <Failed error={error} retry={() => void refetch()} /> : null}
      <div className="grid items-start gap-4 lg:grid-cols-2">
        <Card title={messages.choose}>
          {settings === undefined ? <SkeletonLines /> : <AlertSettingsCard settings={settings} />}
        </Card>
        <div className="flex min-w-0 flex-col gap-4">
          {mayPay ? <LowBalanceCard /> : null}
          <Card title={messages.webhook}>
            {webhook === undefined ? <SkeletonLines /> : <WebhookCard webhook={webhook} />}
          </Card>
        </div>
      </div>
      <AlertDeliveries />
    </Page>
  );
}

import { CallbackDeliveries } from "./callback-deliveries.tsx";
import { CallbackSettingsCard } from "./callback-settings.tsx";
import { VerificationCard } from "./verification-card.tsx";

/** The settings of callbacks, their deliveries, and how the merchant verifies them. */
export function CallbacksPage() {
  return (
    <>
      <CallbackSettingsCard />
      <CallbackDeliveries />
      <VerificationCard />
    </>
  );
}

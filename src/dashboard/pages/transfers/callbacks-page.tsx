import { CallbackDeliveries } from "./callback-deliveries.tsx";
import { CallbackSettingsCard } from "./callback-settings.tsx";
import { VerificationCard } from "./verification-card.tsx";

/** Where the merchant is called back, how that went, and how the merchant knows that it is us. */
export function CallbacksPage() {
  return (
    <>
      <CallbackSettingsCard />
      <CallbackDeliveries />
      <VerificationCard />
    </>
  );
}

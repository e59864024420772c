// Chooses a currency and its network among those that the server sends in this environment.

import { useQuery } from "@connectrpc/connect-query";
import { useEffect } from "react";
import type { Currency } from "#gen/saldo/merchant/v1/merchant_pb.ts";
import { MerchantService } from "#gen/saldo/merchant/v1/merchant_service_pb.ts";
import { useMessages } from "../../i18n/language.tsx";
import { SelectField } from "../../components/field.tsx";
import { Failed } from "../../components/states.tsx";
import { networkName } from "./coins.ts";
import { ENVIRONMENT_OF } from "./environments.tsx";
import { useMerchantHere } from "./merchant-here.tsx";
import { MERCHANT_MESSAGES } from "./merchant-messages.ts";

/** A currency on a network. */
export type ChosenCoin = { readonly currencyCode: string; readonly network: string };

/** The form's initial choice. Where it is not sent, the first currency that is sent replaces it. */
export const FIRST_COIN: ChosenCoin = { currencyCode: "TRX", network: "tron" };

/** Two fields; another currency selects its usual network. */
export function CurrencyFields({
  value,
  onChange,
}: {
  readonly value: ChosenCoin;
  readonly onChange: (coin: ChosenCoin) => void;
}) {
  const messages = useMessages(MERCHANT_MESSAGES);
  const { environment } = useMerchantHere();
  const { data, error, refetch } = useQuery(MerchantService.method.listCurrencies, {
    environment: ENVIRONMENT_OF[environment],
  });
  const replacement = data === undefined ? null : replacementOf(value, data.currencies);
  useEffect(() => {
    if (replacement !== null) onChange(replacement);
  });
  // Until the currencies are loaded, the chosen one is the only option.
  const currencies = data?.currencies ?? [];
  const networks = currencies.find(({ code }) => code === value.currencyCode)?.networks.map(({ network }) => network);
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <SelectField
        label={messages.currency}
        value={value.currencyCode}
        onChange={({ target }) => onChange(coinOf(currencies, target.value) ?? value)}
      >
        {(currencies.length === 0 ? [value.currencyCode] : currencies.map(({ code }) => code)).map((code) => (
          <option key={code}>{code}</option>
        ))}
      </SelectField>
      <SelectField
        label={messages.network}
        value={value.network}
        onChange={({ target }) => onChange({ ...value, network: target.value })}
      >
        {(networks ?? [value.network]).map((network) => (
          <option key={network} value={network}>
            {networkName(network)}
          </option>
        ))}
      </SelectField>
      {data === undefined && error !== null ? (
        <div className="sm:col-span-2">
          <Failed error={error} retry={() => void refetch()} />
        </div>
      ) : null}
    </div>
  );
}

/** The replacement for a currency that is not sent. Null: it is sent, or there is no other. */
function replacementOf(value: ChosenCoin, currencies: readonly Currency[]): ChosenCoin | null {
  const chosen = currencies.find(({ code }) => code === value.currencyCode);
  if (chosen?.networks.some(({ network }) => network === value.network) === true) return null;
  return coinOf(currencies, chosen?.code ?? currencies[0]?.code ?? "");
}

/** A currency on its usual network. */
function coinOf(currencies: readonly Currency[], currencyCode: string): ChosenCoin | null {
  const network = currencies.find(({ code }) => code === currencyCode)?.networks[0]?.network;
  return network === undefined ? null : { currencyCode, network };
}

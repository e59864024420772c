// Choosing a currency and its network.

import { useWords } from "../../language/language.tsx";
import { SelectField } from "../../parts/field.tsx";
import { CURRENCIES, networkName, networksOf } from "./coins.ts";
import { MERCHANT_WORDS } from "./merchant-words.ts";

/** A currency on a network. */
export type ChosenCoin = { readonly currencyCode: string; readonly network: string };

/** What a form begins with. */
export const FIRST_COIN: ChosenCoin = { currencyCode: "TRX", network: "tron" };

/** Two fields; another currency chooses its usual network. */
export function CurrencyFields({
  value,
  onChange,
}: {
  readonly value: ChosenCoin;
  readonly onChange: (coin: ChosenCoin) => void;
}) {
  const words = useWords(MERCHANT_WORDS);
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <SelectField
        label={words.currency}
        value={value.currencyCode}
        onChange={({ target }) => onChange({ currencyCode: target.value, network: networksOf(target.value)[0] })}
      >
        {CURRENCIES.map((code) => (
          <option key={code}>{code}</option>
        ))}
      </SelectField>
      <SelectField
        label={words.network}
        value={value.network}
        onChange={({ target }) => onChange({ ...value, network: target.value })}
      >
        {networksOf(value.currencyCode).map((network) => (
          <option key={network} value={network}>
            {networkName(network)}
          </option>
        ))}
      </SelectField>
    </div>
  );
}

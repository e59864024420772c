// The errors that only transfers and their currencies have.

import { DomainError } from "./errors.ts";
import { codeOf, formatMoney, type Money } from "./money.ts";

/** What a merchant has of a currency does not cover the transfer. */
export class InsufficientFunds extends DomainError {
  readonly code = "insufficient_balance";
  readonly available: Money;
  readonly needed: Money;
  constructor({ available, needed }: { available: Money; needed: Money }) {
    const currency = codeOf(needed.asset);
    super(
      `The balance is too low for this transfer. Available is ${formatMoney(available)} ${currency}, needed is ${formatMoney(needed)} ${currency}.`,
    );
    this.available = available;
    this.needed = needed;
  }
}

/** The merchant has used this externalId for another transfer. */
export class ExternalIdConflict extends DomainError {
  readonly code = "external_id_conflict";
  readonly differingFields: readonly string[];
  constructor(differingFields: readonly string[]) {
    super(`This externalId was used with another ${differingFields.join(" and ")}.`);
    this.differingFields = differingFields;
  }
}

/** The amount has more decimals than its currency keeps on that network. */
export class AmountPrecision extends DomainError {
  readonly code = "amount_precision";
  constructor(facts: { currencyCode: string; network: string; decimals: number }) {
    super(`An amount of ${facts.currencyCode} on ${facts.network} has at most ${facts.decimals} decimals.`);
  }
}

/** The currency, or the currency on that network, is not offered. */
export class CurrencyUnsupported extends DomainError {
  readonly code = "currency_unsupported";
  constructor() {
    super("This currency is not offered on this network.");
  }
}

/** The address is not one of the network, or may not be paid. */
export class AddressInvalid extends DomainError {
  readonly code = "address_invalid";
}

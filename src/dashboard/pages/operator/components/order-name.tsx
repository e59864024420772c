// The idempotency keys of orders that move money: an order whose answer was lost is sent again with the same key, and
// the server carries it out once.

import { type RefObject, useRef } from "react";
import { useMessages } from "../../../i18n/language.tsx";
import { Button } from "../../../components/button.tsx";
import { OPERATOR_MESSAGES } from "../operator-messages.ts";
import { isReusedName } from "./refused.tsx";

/** The key of the next order. */
export type OrderName = RefObject<string>;

/** A key that outlives the dialog of its order: only an answer replaces it by a new one. */
export function useOrderName(): OrderName {
  return useRef<string>(crypto.randomUUID());
}

/** Sets a new key for the next order. */
export function renew(name: OrderName): void {
  name.current = crypto.randomUUID();
}

type NewOrderProps = {
  /** Why the order was refused. */
  readonly error: unknown;
  readonly name: OrderName;
  /** Clears the refusal. */
  readonly onNew: () => void;
};

/** The next step where the key was used before for another order. */
export function NewOrder({ error, name, onNew }: NewOrderProps) {
  const messages = useMessages(OPERATOR_MESSAGES);
  if (!isReusedName(error)) return null;
  const begin = () => {
    renew(name);
    onNew();
  };
  return <Button onClick={begin}>{messages.newOrder}</Button>;
}

// The names of orders that move money: an order whose answer was lost is sent again under the same name, and the server carries it
// out once.

import { type RefObject, useRef } from "react";
import { useMessages } from "../../../i18n/language.tsx";
import { Button } from "../../../components/button.tsx";
import { OPERATOR_MESSAGES } from "../operator-messages.ts";
import { isReusedName } from "./refused.tsx";

/** The name of the next order. */
export type OrderName = RefObject<string>;

/** A name that outlives the dialog of its order: only an answer makes room for a new one. */
export function useOrderName(): OrderName {
  return useRef<string>(crypto.randomUUID());
}

/** Gives the next order a name of its own. */
export function renew(name: OrderName): void {
  name.current = crypto.randomUUID();
}

type NewOrderProps = {
  /** Why the order was refused. */
  readonly error: unknown;
  readonly name: OrderName;
  /** Takes the refusal away. */
  readonly onNew: () => void;
};

/** The way on where the name was used before for something else. */
export function NewOrder({ error, name, onNew }: NewOrderProps) {
  const messages = useMessages(OPERATOR_MESSAGES);
  if (!isReusedName(error)) return null;
  const begin = () => {
    renew(name);
    onNew();
  };
  return <Button onClick={begin}>{messages.newOrder}</Button>;
}

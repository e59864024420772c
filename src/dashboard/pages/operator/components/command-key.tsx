// The idempotency keys of commands that move money: a command whose answer was lost is sent again with the same key, and
// the server carries it out once.

import { type RefObject, useRef } from "react";
import { useMessages } from "../../../i18n/language.tsx";
import { Button } from "../../../components/button.tsx";
import { OPERATOR_MESSAGES } from "../operator-messages.ts";
import { isReusedName } from "./refused.tsx";

/** The key of the next command. */
export type CommandKey = RefObject<string>;

/** A key that outlives the dialog of its command: only an answer replaces it by a new one. */
export function useCommandKey(): CommandKey {
  return useRef<string>(crypto.randomUUID());
}

/** Sets a new key for the next command. */
export function renew(name: CommandKey): void {
  name.current = crypto.randomUUID();
}

type NewCommandProps = {
  /** Why the command was refused. */
  readonly error: unknown;
  readonly name: CommandKey;
  /** Clears the refusal. */
  readonly onNew: () => void;
};

/** The next step where the key was used before for another command. */
export function NewCommand({ error, name, onNew }: NewCommandProps) {
  const messages = useMessages(OPERATOR_MESSAGES);
  if (!isReusedName(error)) return null;
  const begin = () => {
    renew(name);
    onNew();
  };
  return <Button onClick={begin}>{messages.newCommand}</Button>;
}

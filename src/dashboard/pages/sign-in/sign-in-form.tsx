// Shared by the pages of signing in: a form that sends once, and the message of an error.

import { type FormEvent, type ReactNode, useState } from "react";
import { SignInError } from "../../api/sign-in.ts";
import { useMessages } from "../../i18n/language.tsx";
import { Button } from "../../components/button.tsx";
import { SIGN_IN_MESSAGES } from "./sign-in-messages.ts";

type SignInFormProps = {
  readonly submit: string;
  /** Sends the typed values, by the names of their fields. */
  readonly onSend: (typed: (field: string) => string) => Promise<unknown>;
  readonly children: ReactNode;
};

/** A form whose button is busy until the answer has arrived. */
export function SignInForm({ submit, onSend, children }: SignInFormProps) {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const send = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const typed = new FormData(event.currentTarget);
    const textOf = (field: string): string => {
      const value = typed.get(field);
      return typeof value === "string" ? value : "";
    };
    setBusy(true);
    setError(null);
    try {
      await onSend(textOf);
    } catch (thrown) {
      setError(thrown);
    } finally {
      setBusy(false);
    }
  };
  return (
    <form onSubmit={(event) => void send(event)} className="flex flex-col gap-4">
      {children}
      <div aria-live="polite">{error === null ? null : <SignInProblem error={error} />}</div>
      <Button type="submit" variant="action" busy={isBusy} className="min-h-10">
        {submit}
      </Button>
    </form>
  );
}

/** A plain sentence, with the request id where it helps support. */
export function SignInProblem({ error }: { readonly error: unknown }) {
  const messages = useMessages(SIGN_IN_MESSAGES);
  const facts = error instanceof SignInError ? error : null;
  return (
    <p className="rounded-lg bg-bad-soft px-3 py-2 text-bad">
      {messages[sentenceOf(facts)]}
      {facts === null || facts.requestId === "" || facts.status < 500 ? null : (
        <span className="mt-1 block font-mono text-xs break-all">
          {messages.requestId}: {facts.requestId}
        </span>
      )}
    </p>
  );
}

/** The problem of a field of these pages. A refusal of any other value that they send is a defect of ours. */
const SENTENCE_OF_FIELD: ReadonlyMap<string, keyof typeof SIGN_IN_MESSAGES.id> = new Map([
  ["email", "noAddress"],
  ["name", "longName"],
  ["password", "weak"],
  ["newPassword", "weak"],
  ["token", "linkSpent"],
]);

function sentenceOf(facts: SignInError | null): keyof typeof SIGN_IN_MESSAGES.id {
  if (facts === null) return "failed";
  if (facts.status === 0) return "unreachable";
  if (facts.status === 429) return "slow";
  if (facts.status === 401) return "wrong";
  if (facts.status === 403) return "denied";
  if (facts.rule === "password.breached") return "breached";
  return SENTENCE_OF_FIELD.get(facts.field) ?? "failed";
}

import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useMessages } from "../../i18n/language.tsx";
import { Button } from "../../components/button.tsx";
import { Outside } from "../../layouts/outside.tsx";
import { isDemo } from "../../layouts/is-demo.ts";
import { SignInProblem } from "./sign-in-form.tsx";
import { SIGN_IN_MESSAGES } from "./sign-in-messages.ts";

/** The same page whether or not the address was known. A demo sends no mail: it prints mails in the terminal. */
export function MailSent({ again }: { readonly again: () => Promise<unknown> }) {
  const messages = useMessages(SIGN_IN_MESSAGES);
  const [state, setState] = useState<"sent" | "busy" | "again">("sent");
  const [error, setError] = useState<unknown>(null);
  const send = async () => {
    setState("busy");
    setError(null);
    try {
      await again();
      setState("again");
    } catch (thrown) {
      setError(thrown);
      setState("sent");
    }
  };
  return (
    <Outside title={messages.checkMail}>
      <p className="text-muted">{messages.checkMailAbout}</p>
      {isDemo() ? <p className="rounded-xl bg-sandbox-soft p-4 text-sandbox">{messages.demoMail}</p> : null}
      <p className="text-muted">{messages.noMail}</p>
      <div className="flex flex-wrap items-center gap-3">
        <Button busy={state === "busy"} onClick={() => void send()}>
          {messages.sendAgain}
        </Button>
        <span role="status" className="text-good">
          {state === "again" ? messages.sentAgain : ""}
        </span>
      </div>
      <div aria-live="polite">{error === null ? null : <SignInProblem error={error} />}</div>
      <Link to="/sign-in" className="underline underline-offset-2">
        {messages.backToSignIn}
      </Link>
    </Outside>
  );
}

import { type FormEvent, useState } from "react";
import { changePassword, isSessionOver, SignInError } from "../../api/sign-in.ts";
import { tellSignedOut } from "../../api/transport.ts";
import { useMessages } from "../../i18n/language.tsx";
import { Button } from "../../components/button.tsx";
import { Card } from "../../components/card.tsx";
import { TextField } from "../../components/field.tsx";
import { useNotify } from "../../components/notices.tsx";
import { SignInProblem } from "../sign-in/sign-in-form.tsx";
import { SETTINGS_MESSAGES } from "./settings-messages.ts";

/** Changes the password, given the current one, and signs out all other sessions. */
export function PasswordCard({ email }: { readonly email: string }) {
  const messages = useMessages(SETTINGS_MESSAGES);
  const notify = useNotify();
  const [current, setCurrent] = useState("");
  const [fresh, setFresh] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const save = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      await changePassword({ currentPassword: current, newPassword: fresh });
      setCurrent("");
      setFresh("");
      notify(messages.passwordSaved);
    } catch (refusal) {
      if (isSessionOver(refusal)) tellSignedOut();
      else setError(refusal);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Card title={messages.password}>
      <form onSubmit={(event) => void save(event)} className="flex flex-col gap-4">
        <p className="text-muted">{messages.passwordAbout}</p>
        {/* Password managers need the account's address. */}
        <input type="email" name="username" autoComplete="username" value={email} readOnly hidden />
        <TextField
          label={messages.current}
          type="password"
          autoComplete="current-password"
          required
          maxLength={128}
          value={current}
          onChange={({ target }) => setCurrent(target.value)}
        />
        <TextField
          label={messages.fresh}
          hint={messages.freshHint}
          type="password"
          autoComplete="new-password"
          required
          minLength={12}
          maxLength={128}
          value={fresh}
          onChange={({ target }) => setFresh(target.value)}
        />
        <div aria-live="polite">{error === null ? null : <Problem error={error} />}</div>
        <Button type="submit" busy={isBusy} className="self-start">
          {messages.password}
        </Button>
      </form>
    </Card>
  );
}

function Problem({ error }: { readonly error: unknown }) {
  const messages = useMessages(SETTINGS_MESSAGES);
  const rule = error instanceof SignInError ? error.rule : "";
  if (rule !== "invalid_password" && rule !== "credential_account_not_found") return <SignInProblem error={error} />;
  return (
    <p className="rounded-lg bg-bad-soft px-3 py-2 text-bad">
      {rule === "invalid_password" ? messages.passwordWrong : messages.noPassword}
    </p>
  );
}

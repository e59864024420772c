// The ways to prove one's identity: a code of the app, a recovery code, a passkey, the password. Signing in and
// confirming share them.

import { KeyRound } from "lucide-react";
import { type FormEvent, type ReactNode, useState } from "react";
import {
  canUsePasskeys,
  confirmCode,
  confirmPassword,
  PasskeyRefused,
  usePasskey as provePasskey,
  useRecoveryCode as proveRecoveryCode,
} from "../../api/second-factor.ts";
import { lackOf } from "../../api/confirm.ts";
import { SignInError } from "../../api/sign-in.ts";
import { useMessages } from "../../i18n/language.tsx";
import { Button } from "../../components/button.tsx";
import { TextField } from "../../components/field.tsx";
import { SignInProblem } from "../sign-in/sign-in-form.tsx";
import { FACTOR_MESSAGES } from "./second-factor-messages.ts";

/** The factors that a person can use. */
export type Ways = { readonly app: boolean; readonly passkey: boolean; readonly password: boolean };

type ProofProps = { readonly ways: Ways; readonly onProved: () => void; readonly aside?: ReactNode };

/** All forms of proof that a person can use, the passkey first. */
export function ProofForms({ ways, onProved, aside }: ProofProps) {
  const messages = useMessages(FACTOR_MESSAGES);
  const [isRecovery, setRecovery] = useState(!ways.app && !ways.passkey && !ways.password);
  const hasFactor = ways.app || ways.passkey || !ways.password;
  return (
    <div className="flex flex-col gap-4">
      {ways.passkey && canUsePasskeys() ? <PasskeyButton onProved={onProved} /> : null}
      {isRecovery ? (
        <CodeForm key="recovery" label={messages.recoveryCode} onSend={proveRecoveryCode} onProved={onProved} />
      ) : null}
      {!isRecovery && ways.app ? (
        <CodeForm key="app" label={messages.code} isDigits onSend={confirmCode} onProved={onProved} />
      ) : null}
      {ways.password && !ways.app && !ways.passkey ? <PasswordForm onProved={onProved} /> : null}
      <div className="flex flex-wrap justify-between gap-2">
        {hasFactor ? (
          <Button variant="quiet" onClick={() => setRecovery(!isRecovery)} disabled={isRecovery && !ways.app}>
            {isRecovery && ways.app ? messages.useApp : messages.useRecovery}
          </Button>
        ) : (
          <span />
        )}
        {aside}
      </div>
    </div>
  );
}

/** Proves with a passkey, and shows where the browser had none. */
export function PasskeyButton({ onProved, label }: { readonly onProved: () => void; readonly label?: string }) {
  const messages = useMessages(FACTOR_MESSAGES);
  const { isBusy, error, run } = useProof(onProved);
  return (
    <div className="flex flex-col gap-3">
      <Button icon={<KeyRound aria-hidden />} busy={isBusy} className="min-h-10" onClick={() => void run(provePasskey)}>
        {label ?? messages.usePasskey}
      </Button>
      <div aria-live="polite">{error === null ? null : <ProofProblem error={error} />}</div>
    </div>
  );
}

type CodeFormProps = {
  readonly label: string;
  /** Six digits of an app; else a recovery code. */
  readonly isDigits?: boolean;
  readonly onSend: (code: string) => Promise<unknown>;
  readonly onProved: () => void;
};

/** One input for a code. */
export function CodeForm({ label, isDigits = false, onSend, onProved }: CodeFormProps) {
  const messages = useMessages(FACTOR_MESSAGES);
  const [code, setCode] = useState("");
  const { isBusy, error, run } = useProof(onProved);
  const send = (event: FormEvent) => {
    event.preventDefault();
    void run(() => onSend(code)).then(() => setCode(""));
  };
  return (
    <form onSubmit={send} className="flex flex-col gap-4">
      <TextField
        label={label}
        value={code}
        onChange={({ target }) => setCode(target.value)}
        inputMode={isDigits ? "numeric" : "text"}
        autoComplete={isDigits ? "one-time-code" : "off"}
        maxLength={isDigits ? 7 : 20}
        autoCapitalize="off"
        spellCheck={false}
        required
      />
      <div aria-live="polite">{error === null ? null : <ProofProblem error={error} />}</div>
      <Button type="submit" variant="action" busy={isBusy} className="min-h-10">
        {messages.confirm}
      </Button>
    </form>
  );
}

function PasswordForm({ onProved }: { readonly onProved: () => void }) {
  const messages = useMessages(FACTOR_MESSAGES);
  const [password, setPassword] = useState("");
  const { isBusy, error, run } = useProof(onProved);
  const send = (event: FormEvent) => {
    event.preventDefault();
    void run(() => confirmPassword(password));
  };
  return (
    <form onSubmit={send} className="flex flex-col gap-4">
      <TextField
        label={messages.password}
        type="password"
        autoComplete="current-password"
        required
        maxLength={128}
        value={password}
        onChange={({ target }) => setPassword(target.value)}
      />
      <div aria-live="polite">{error === null ? null : <ProofProblem error={error} />}</div>
      <Button type="submit" variant="action" busy={isBusy} className="min-h-10">
        {messages.confirm}
      </Button>
    </form>
  );
}

/** Runs one proof at a time and keeps its error. */
export function useProof(onProved: () => void) {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const run = async (prove: () => Promise<unknown>): Promise<void> => {
    setBusy(true);
    setError(null);
    try {
      await prove();
      onProved();
    } catch (refusal) {
      setError(refusal);
    } finally {
      setBusy(false);
    }
  };
  return { isBusy, error, run };
}

/** The error of a proof, in a plain sentence. */
export function ProofProblem({ error }: { readonly error: unknown }) {
  const messages = useMessages(FACTOR_MESSAGES);
  const isWrong = error instanceof SignInError && (error.status === 401 || error.status === 400);
  const sentence = sentenceOf();
  if (sentence === null) return <SignInProblem error={error} />;
  return <p className="rounded-lg bg-bad-soft px-3 py-2 text-bad">{sentence}</p>;

  function sentenceOf(): string | null {
    if (error instanceof PasskeyRefused) return messages.refusedPasskey;
    if (lackOf(error) === "second_factor_required") return messages.last;
    return isWrong ? messages.wrong : null;
  }
}

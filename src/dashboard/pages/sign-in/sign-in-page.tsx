import { createClient } from "@connectrpc/connect";
import { Link, useSearch } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { AccountsService } from "#gen/saldo/accounts/v1/accounts_service_pb.ts";
import { canUsePasskeys } from "../../api/second-factor.ts";
import { type SecondStep, signIn, signInToDemo } from "../../api/sign-in.ts";
import { isSignedOut, transport } from "../../api/transport.ts";
import { useMessages } from "../../i18n/language.tsx";
import { Button } from "../../components/button.tsx";
import { TextField } from "../../components/field.tsx";
import { Outside } from "../../layouts/outside.tsx";
import { rememberSignedIn, wasSignedIn } from "../../layouts/was-signed-in.ts";
import { PasskeyButton, ProofForms } from "../second-factor/proof-forms.tsx";
import { FACTOR_MESSAGES } from "../second-factor/second-factor-messages.ts";
import { isDemo } from "../../layouts/is-demo.ts";
import { InvitedNote } from "./invited-note.tsx";
import { pageAfter } from "./page-after.ts";
import { SignInForm, SignInProblem } from "./sign-in-form.tsx";
import { SIGN_IN_MESSAGES } from "./sign-in-messages.ts";

const accounts = createClient(AccountsService, transport);

/** Signs in; in a demo also with one click. */
export function SignInPage() {
  const messages = useMessages(SIGN_IN_MESSAGES);
  const factorMessages = useMessages(FACTOR_MESSAGES);
  const { next } = useSearch({ from: "/sign-in" });
  const after = pageAfter(next, window.location.origin);
  const enter = () => {
    rememberSignedIn(true);
    window.location.assign(after);
  };
  useEnterIfSignedIn(after);
  const [ways, setWays] = useState<SecondStep>(null);
  if (ways !== null) return <SecondStepPage ways={ways} onProved={enter} onBack={() => setWays(null)} />;
  return (
    <Outside title={messages.signIn}>
      <InvitedNote next={next} />
      {isDemo() ? <DemoSignIn onOpen={enter} /> : null}
      <SignInForm
        submit={messages.signIn}
        onSend={async (typed) => {
          const secondStep = await signIn({ email: typed("email"), password: typed("password") });
          if (secondStep === null) enter();
          else setWays(secondStep);
        }}
      >
        <TextField name="email" type="email" autoComplete="username" required label={messages.email} />
        <TextField name="password" type="password" autoComplete="current-password" required label={messages.password} />
      </SignInForm>
      {canUsePasskeys() ? <PasskeyButton label={factorMessages.signInPasskey} onProved={enter} /> : null}
      <p className="flex flex-wrap justify-between gap-2 text-muted">
        <Link to="/forgot-password" className="underline underline-offset-2 hover:text-ink">
          {messages.forgot}
        </Link>
        <span>
          {messages.noAccount}{" "}
          <Link
            to="/sign-up"
            search={next === undefined ? {} : { next }}
            className="text-ink underline underline-offset-2"
          >
            {messages.signUp}
          </Link>
        </span>
      </p>
    </Outside>
  );
}

/** Redirects a signed-in person. The session is fetched again: the cached state may be what led here. */
function useEnterIfSignedIn(after: string): void {
  useEffect(() => {
    if (!wasSignedIn()) return undefined;
    const leaving = new AbortController();
    void accounts.getMe({}, { signal: leaving.signal }).then(
      () => window.location.replace(after),
      (error: unknown) => {
        // Otherwise the session is unknown; the form is shown.
        if (isSignedOut(error)) rememberSignedIn(false);
      },
    );
    return () => leaving.abort();
  }, [after]);
}

type SecondStepProps = {
  readonly ways: NonNullable<SecondStep>;
  readonly onProved: () => void;
  readonly onBack: () => void;
};

/** Asks for the second factor after the right password. */
function SecondStepPage({ ways, onProved, onBack }: SecondStepProps) {
  const messages = useMessages(FACTOR_MESSAGES);
  return (
    <Outside title={messages.stepTitle}>
      <p className="text-muted">{messages.stepAbout}</p>
      <ProofForms
        ways={{ app: ways.includes("totp"), passkey: ways.includes("passkey"), password: false }}
        onProved={onProved}
        aside={
          <Button variant="quiet" onClick={onBack}>
            {messages.back}
          </Button>
        }
      />
    </Outside>
  );
}

function DemoSignIn({ onOpen }: { readonly onOpen: () => void }) {
  const messages = useMessages(SIGN_IN_MESSAGES);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const open = async () => {
    setBusy(true);
    try {
      await signInToDemo();
      onOpen();
    } catch (thrown) {
      setError(thrown);
      setBusy(false);
    }
  };
  return (
    <div className="flex flex-col gap-3 rounded-xl bg-sandbox-soft p-4 text-sandbox">
      <p>{messages.demoAbout}</p>
      <Button variant="action" busy={isBusy} onClick={() => void open()}>
        {messages.demo}
      </Button>
      {error === null ? null : <SignInProblem error={error} />}
    </div>
  );
}

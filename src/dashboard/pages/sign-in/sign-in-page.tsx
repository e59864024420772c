import { createClient } from "@connectrpc/connect";
import { Link, useSearch } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { AccountsService } from "#gen/saldo/accounts/v1/accounts_service_pb.ts";
import { signIn, signInToDemo } from "../../api/sign-in.ts";
import { isSignedOut, transport } from "../../api/transport.ts";
import { useWords } from "../../language/language.tsx";
import { Button } from "../../parts/button.tsx";
import { TextField } from "../../parts/field.tsx";
import { Outside } from "../../shell/outside.tsx";
import { rememberSignedIn, wasSignedIn } from "../../shell/was-signed-in.ts";
import { isDemo } from "./is-demo.ts";
import { pageAfter } from "./page-after.ts";
import { SignInForm, SignInProblem } from "./sign-in-form.tsx";
import { SIGN_IN_WORDS } from "./sign-in-words.ts";

const accounts = createClient(AccountsService, transport);

/** Signs in; in a demo also with one click. */
export function SignInPage() {
  const words = useWords(SIGN_IN_WORDS);
  const { next } = useSearch({ from: "/sign-in" });
  const after = pageAfter(next, window.location.origin);
  const enter = () => {
    rememberSignedIn(true);
    window.location.assign(after);
  };
  useEnterIfSignedIn(after);
  return (
    <Outside title={words.signIn}>
      {isDemo() ? <DemoDoor onOpen={enter} /> : null}
      <SignInForm
        submit={words.signIn}
        onSend={async (typed) => {
          await signIn({ email: typed("email"), password: typed("password") });
          enter();
        }}
      >
        <TextField name="email" type="email" autoComplete="username" required label={words.email} />
        <TextField name="password" type="password" autoComplete="current-password" required label={words.password} />
      </SignInForm>
      <p className="flex flex-wrap justify-between gap-2 text-muted">
        <Link to="/forgot-password" className="underline underline-offset-2 hover:text-ink">
          {words.forgot}
        </Link>
        <span>
          {words.noAccount}{" "}
          <Link to="/sign-up" className="text-ink underline underline-offset-2">
            {words.signUp}
          </Link>
        </span>
      </p>
    </Outside>
  );
}

/** Sends on who is signed in already. Asked anew: what was known of him before may be what he was just sent here for. */
function useEnterIfSignedIn(after: string): void {
  useEffect(() => {
    if (!wasSignedIn()) return undefined;
    const leaving = new AbortController();
    void accounts.getMe({}, { signal: leaving.signal }).then(
      () => window.location.replace(after),
      (error: unknown) => {
        // Else it cannot be told; the form is there.
        if (isSignedOut(error)) rememberSignedIn(false);
      },
    );
    return () => leaving.abort();
  }, [after]);
}

function DemoDoor({ onOpen }: { readonly onOpen: () => void }) {
  const words = useWords(SIGN_IN_WORDS);
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
      <p>{words.demoAbout}</p>
      <Button look="action" busy={isBusy} onClick={() => void open()}>
        {words.demo}
      </Button>
      {error === null ? null : <SignInProblem error={error} />}
    </div>
  );
}

import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { signUp } from "../../api/sign-in.ts";
import { useWords } from "../../language/language.tsx";
import { TextField } from "../../parts/field.tsx";
import { Outside } from "../../shell/outside.tsx";
import { SignInForm } from "./sign-in-form.tsx";
import { SIGN_IN_WORDS } from "./sign-in-words.ts";

/** Asks for an account. Whether the address has one already is told to its mailbox only. */
export function SignUpPage() {
  const words = useWords(SIGN_IN_WORDS);
  const [isSent, setSent] = useState(false);
  if (isSent) return <MailSent />;
  return (
    <Outside title={words.signUp}>
      <SignInForm
        submit={words.signUp}
        onSend={async (typed) => {
          await signUp({ name: typed("name"), email: typed("email"), password: typed("password") });
          setSent(true);
        }}
      >
        <TextField name="name" autoComplete="name" required maxLength={100} label={words.name} />
        <TextField name="email" type="email" autoComplete="username" required label={words.email} />
        <TextField
          name="password"
          type="password"
          autoComplete="new-password"
          required
          minLength={12}
          maxLength={128}
          label={words.password}
          hint={words.passwordHint}
        />
      </SignInForm>
      <p className="text-muted">
        {words.haveAccount}{" "}
        <Link to="/sign-in" className="text-ink underline underline-offset-2">
          {words.signIn}
        </Link>
      </p>
    </Outside>
  );
}

/** The same page whether or not the address was known. */
export function MailSent() {
  const words = useWords(SIGN_IN_WORDS);
  return (
    <Outside title={words.checkMail}>
      <p className="text-muted">{words.checkMailAbout}</p>
      <Link to="/sign-in" className="underline underline-offset-2">
        {words.backToSignIn}
      </Link>
    </Outside>
  );
}

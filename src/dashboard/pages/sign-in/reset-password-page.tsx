import { Link, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { resetPassword } from "../../api/sign-in.ts";
import { useWords } from "../../i18n/language.tsx";
import { TextField } from "../../components/field.tsx";
import { Outside } from "../../layouts/outside.tsx";
import { SignInForm } from "./sign-in-form.tsx";
import { SIGN_IN_WORDS } from "./sign-in-words.ts";

/** Chooses a new password by the link of a mail. */
export function ResetPasswordPage() {
  const words = useWords(SIGN_IN_WORDS);
  const { token, error } = useSearch({ from: "/reset-password" });
  const [isSaved, setSaved] = useState(false);
  if (isSaved || token === undefined || error !== undefined) {
    return (
      <Outside title={words.forgotTitle}>
        <p role="status" className="text-muted">
          {isSaved ? words.saved : words.linkSpent}
        </p>
        <Link to={isSaved ? "/sign-in" : "/forgot-password"} className="underline underline-offset-2">
          {isSaved ? words.signIn : words.sendLink}
        </Link>
      </Outside>
    );
  }
  return (
    <Outside title={words.forgotTitle}>
      <SignInForm
        submit={words.save}
        onSend={async (typed) => {
          await resetPassword({ token, newPassword: typed("password") });
          setSaved(true);
        }}
      >
        <TextField
          name="password"
          type="password"
          autoComplete="new-password"
          required
          minLength={12}
          maxLength={128}
          label={words.newPassword}
          hint={words.passwordHint}
        />
      </SignInForm>
    </Outside>
  );
}

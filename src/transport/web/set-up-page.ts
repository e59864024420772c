// The page of the link that makes an operator: a form without scripts or styles, so that it works before the dashboard is built.
// Opening it does not use the link up.

/** The page for a link's token. */
export function setUpPage(token: string): string {
  const value = token.replace(/[^0-9A-Za-z_-]/g, "");
  return `<!doctype html>
<html lang="id">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Saldo: operator</title>
<main>
<h1>Operator Saldo</h1>
<p>Tautan ini berlaku satu kali. / This link works once.</p>
<form method="post" action="/auth/operator/set-up">
<input type="hidden" name="token" value="${value}">
<p><label>E-mail<br><input type="email" name="email" required autocomplete="username"></label></p>
<p><label>Kata sandi (12 karakter atau lebih) / Password (12 characters or more)<br>
<input type="password" name="password" required minlength="12" maxlength="128" autocomplete="new-password"></label></p>
<p><button type="submit">Jadi operator / Become operator</button></p>
</form>
</main>
</html>
`;
}

/** Nothing runs on it, nothing frames it, and its form goes only to us. */
export const SET_UP_PAGE_HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy":
    "default-src 'none'; form-action 'self'; object-src 'none'; frame-ancestors 'none'; base-uri 'none'",
  "x-content-type-options": "nosniff",
} as const;

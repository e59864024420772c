/** A person who calls for an account, as keys and their usage are decided on. */
export type CallingMember = {
  readonly personId: string;
  readonly email: string;
  readonly accountId: string;
  readonly role: "owner" | "admin" | "developer" | "billing" | "viewer";
  /** Whether it is the person's own account. */
  readonly isHolder: boolean;
};

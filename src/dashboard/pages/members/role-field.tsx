import { AccountRole } from "#gen/saldo/options/v1/options_pb.ts";
import { SelectField } from "../../components/field.tsx";
import { useMessages } from "../../i18n/language.tsx";
import { useActingFor } from "../../layouts/role.ts";
import { ROLE_MESSAGES, roleName, ROLES } from "../../layouts/role-messages.ts";
import { MEMBERS_MESSAGES } from "./members-messages.ts";

/** The choice of a role, with what it may do. Only owners choose owners. */
export function RoleField({
  value,
  onChange,
}: {
  readonly value: AccountRole;
  readonly onChange: (role: AccountRole) => void;
}) {
  const messages = useMessages(MEMBERS_MESSAGES);
  const names = useMessages(ROLE_MESSAGES);
  const isOwner = useActingFor()?.role === AccountRole.OWNER;
  const chosen = roleName(value);
  return (
    <SelectField
      label={messages.role}
      hint={chosen === "none" ? undefined : names[`${chosen}About`]}
      value={value}
      onChange={({ target }) => onChange(Number(target.value) as AccountRole)}
    >
      {ROLES.filter(({ role }) => isOwner || role !== AccountRole.OWNER).map(({ role, name }) => (
        <option key={name} value={role}>
          {names[name]}
        </option>
      ))}
    </SelectField>
  );
}

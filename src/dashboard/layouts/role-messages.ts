import { AccountRole } from "#gen/saldo/options/v1/options_pb.ts";
import type { Messages } from "../i18n/language.tsx";

/** The roles of members by name, in the order of their rights. */
export const ROLES = [
  { role: AccountRole.OWNER, name: "owner" },
  { role: AccountRole.ADMIN, name: "admin" },
  { role: AccountRole.DEVELOPER, name: "developer" },
  { role: AccountRole.BILLING, name: "billing" },
  { role: AccountRole.VIEWER, name: "viewer" },
] as const;

/** What roles are called, and what they may do. */
export const ROLE_MESSAGES = {
  id: {
    owner: "Pemilik",
    ownerAbout: "Boleh semuanya, termasuk menambah pemilik lain.",
    admin: "Admin",
    adminAbout: "Boleh semuanya, kecuali mengubah pemilik.",
    developer: "Pengembang",
    developerAbout: "Kunci API dan pemakaian miliknya sendiri, dan playground.",
    billing: "Keuangan",
    billingAbout: "Saldo, isi saldo, dan mutasi saldo. Tanpa kunci dan permintaan.",
    viewer: "Pembaca",
    viewerAbout: "Melihat semuanya dan tidak mengubah apa pun.",
    none: "Bukan anggota",
  },
  en: {
    owner: "Owner",
    ownerAbout: "May do everything, also make other owners.",
    admin: "Admin",
    adminAbout: "May do everything but change owners.",
    developer: "Developer",
    developerAbout: "Own API keys, own usage, and the playground.",
    billing: "Billing",
    billingAbout: "Balance, top-ups and the ledger. No keys and no requests.",
    viewer: "Viewer",
    viewerAbout: "Sees everything and changes nothing.",
    none: "Not a member",
  },
} satisfies Messages<Record<string, string>>;

/** The name of a role in the messages. */
export function roleName(role: AccountRole): (typeof ROLES)[number]["name"] | "none" {
  return ROLES.find((each) => each.role === role)?.name ?? "none";
}

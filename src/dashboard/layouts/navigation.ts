// The navigation's links, in groups. The paths are the router's; a path that does not exist there does not compile.

import {
  Activity,
  Bell,
  BookOpen,
  ChartColumn,
  Cpu,
  House,
  KeyRound,
  type LucideIcon,
  MessageSquare,
  Send,
  Settings,
  Shield,
  Users,
  Wallet,
} from "lucide-react";
import type { LinkProps } from "@tanstack/react-router";
import type { Messages } from "../i18n/language.tsx";
import type { Ability } from "./role.ts";

type Place = {
  readonly to: NonNullable<LinkProps["to"]>;
  readonly name: keyof typeof PLACE_MESSAGES.id;
  readonly icon: LucideIcon;
  /** What the person must be allowed in the account. Absent: the page is for everyone. */
  readonly needs?: Ability;
};
type Group = {
  readonly name: keyof typeof PLACE_MESSAGES.id | null;
  readonly places: readonly Place[];
  readonly forOperators?: boolean;
};

/** The names of links and groups. */
export const PLACE_MESSAGES = {
  id: {
    overview: "Ringkasan",
    usage: "Pemakaian",
    models: "Model",
    playground: "Playground",
    keys: "Kunci API",
    billing: "Saldo & tagihan",
    alerts: "Peringatan",
    transfers: "Transfer",
    docs: "Dokumentasi",
    settings: "Pengaturan",
    members: "Anggota",
    operator: "Operator",
    gateway: "Gateway",
    money: "Uang",
    administration: "Pengelolaan",
    help: "Lainnya",
    status: "Status layanan",
  },
  en: {
    overview: "Overview",
    usage: "Usage",
    models: "Models",
    playground: "Playground",
    keys: "API keys",
    billing: "Balance & billing",
    alerts: "Alerts",
    transfers: "Transfers",
    docs: "Documentation",
    settings: "Settings",
    members: "Members",
    operator: "Operator",
    gateway: "Gateway",
    money: "Money",
    administration: "Administration",
    help: "More",
    status: "Service status",
  },
} satisfies Messages<Record<string, string>>;

/** The groups of the navigation from top to bottom. */
export const GROUPS: readonly Group[] = [
  { name: null, places: [{ to: "/", name: "overview", icon: House, needs: "readUsage" }] },
  {
    name: "gateway",
    places: [
      { to: "/usage", name: "usage", icon: ChartColumn, needs: "readUsage" },
      { to: "/models", name: "models", icon: Cpu },
      { to: "/playground", name: "playground", icon: MessageSquare, needs: "askModels" },
      { to: "/keys", name: "keys", icon: KeyRound, needs: "readUsage" },
    ],
  },
  {
    name: "money",
    places: [
      { to: "/billing", name: "billing", icon: Wallet, needs: "readMoney" },
      { to: "/alerts", name: "alerts", icon: Bell, needs: "readMoney" },
      { to: "/transfers", name: "transfers", icon: Send, needs: "read" },
    ],
  },
  {
    name: "help",
    places: [
      { to: "/members", name: "members", icon: Users, needs: "read" },
      { to: "/docs", name: "docs", icon: BookOpen },
      { to: "/status", name: "status", icon: Activity },
      { to: "/settings", name: "settings", icon: Settings },
    ],
  },
  { name: "administration", places: [{ to: "/operator", name: "operator", icon: Shield }], forOperators: true },
];

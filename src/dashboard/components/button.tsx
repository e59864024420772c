import { Link, type LinkProps } from "@tanstack/react-router";
import { LoaderCircle } from "lucide-react";
import type { ButtonHTMLAttributes, ReactNode, Ref } from "react";

type Variant = "action" | "plain" | "quiet" | "danger";

const SHAPE =
  "inline-flex min-h-9 items-center justify-center gap-2 rounded-lg px-3.5 text-sm font-medium whitespace-nowrap transition-colors disabled:cursor-not-allowed disabled:opacity-60 [&_svg]:size-4 [&_svg]:shrink-0";

const VARIANTS: Readonly<Record<Variant, string>> = {
  action: "bg-action text-action-ink hover:bg-action-hover",
  plain: "border border-line bg-card text-ink hover:bg-sunken",
  quiet: "text-ink hover:bg-sunken",
  danger: "border border-bad bg-bad-soft text-bad hover:bg-bad hover:text-card",
};

/** The classes of a button, for links and menu triggers. */
export function buttonClass(variant: Variant = "plain", more = ""): string {
  return `${SHAPE} ${VARIANTS[variant]} ${more}`;
}

type ButtonProps = ButtonHTMLAttributes<HTMLButtonElement> & {
  readonly variant?: Variant;
  /** Its action is running: the button keeps its size and cannot be pressed again. */
  readonly busy?: boolean;
  readonly icon?: ReactNode;
};

/** Runs an action. A page has one button with the variant `action`. */
export function Button({ variant = "plain", busy = false, icon, children, className, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      className={buttonClass(variant, className)}
      disabled={busy || rest.disabled}
      aria-busy={busy}
    >
      {busy ? <LoaderCircle className="animate-spin" aria-hidden /> : icon}
      {children}
    </button>
  );
}

type IconButtonProps = ButtonProps & { readonly label: string; readonly ref?: Ref<HTMLButtonElement> };

/** A button with an icon only; `label` is its accessible name. */
export function IconButton({ label, children, className, ...rest }: IconButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      aria-label={label}
      title={label}
      className={`inline-flex size-9 items-center justify-center rounded-lg border border-line bg-card text-ink hover:bg-sunken [&_svg]:size-4 ${className ?? ""}`}
    >
      {children}
    </button>
  );
}

type LinkButtonProps = LinkProps & {
  readonly variant?: Variant;
  readonly icon?: ReactNode;
  readonly children: ReactNode;
  readonly className?: string;
};

/** A link that looks like a button. */
export function LinkButton({ variant = "plain", icon, children, className, ...rest }: LinkButtonProps) {
  return (
    <Link {...rest} className={buttonClass(variant, className)}>
      {icon}
      {children}
    </Link>
  );
}

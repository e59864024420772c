import { useMemo } from "react";
import { encode } from "uqr";
import { confirmCode } from "../../api/second-factor.ts";
import { useMessages } from "../../i18n/language.tsx";
import { CodeBlock } from "../../components/copy.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { CodeForm } from "./proof-forms.tsx";
import { FACTOR_MESSAGES } from "./second-factor-messages.ts";

type SetUpProps = {
  readonly app: { readonly secret: string; readonly uri: string } | null;
  readonly onClose: () => void;
  readonly onAdded: () => void;
};

/** Shows the secret of an app as a QR code and as text, and checks the first code. */
export function SetUpAppDialog({ app, onClose, onAdded }: SetUpProps) {
  const messages = useMessages(FACTOR_MESSAGES);
  return (
    <Dialog open={app !== null} onClose={onClose} title={messages.setUp} about={messages.scan}>
      {app === null ? null : (
        <>
          <QrCode text={app.uri} label={messages.qr} />
          <div className="flex flex-col gap-2">
            <p className="text-muted">{messages.orType}</p>
            <CodeBlock code={app.secret.replace(/(.{4})(?=.)/g, "$1 ")} what={messages.secret} />
          </div>
          <CodeForm label={messages.code} isDigits onSend={confirmCode} onProved={onAdded} />
        </>
      )}
    </Dialog>
  );
}

/** Black on white in both themes: cameras need that. */
function QrCode({ text, label }: { readonly text: string; readonly label: string }) {
  const { size, path } = useMemo(() => {
    const code = encode(text, { border: 2 });
    const squares = code.data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])));
    return { size: code.size, path: squares.join("") };
  }, [text]);
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${size} ${size}`}
      shapeRendering="crispEdges"
      className="mx-auto w-full max-w-56 rounded-lg"
    >
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
}

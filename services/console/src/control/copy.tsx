import { useApp } from "../app/app.js";
import { IconButton } from "./button.js";

/** Copies a text to the clipboard. */
export function Copy({ text, label }: { readonly text: string; readonly label: string }) {
  const { toasts } = useApp();
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      toasts.show({ kind: "ok", text: `Copied ${label}` });
    } catch {
      toasts.show({ kind: "bad", text: `The browser does not let the page copy ${label}. Select the text and copy it.` });
    }
  };
  return <IconButton icon="copy" label={`Copy ${label}`} onClick={() => void copy()} />;
}

import { useMutation } from "@tanstack/react-query";
import { Button } from "../../control/button.js";
import { Copy } from "../../control/copy.js";
import { useApp } from "../../app/app.js";
import styles from "./value-view.module.css";

interface AddressViewProps {
  readonly address: string;
  readonly format: string;
  readonly columns?: readonly string[];
  /** True for one file, which can be downloaded. */
  readonly isFile?: boolean;
  readonly name: string;
}

/** Data elsewhere: the address, and the download of a file by a signed address. */
export function AddressView({ address, format, columns = [], isFile = false, name }: AddressViewProps) {
  const { api, toasts } = useApp();
  const download = useMutation({
    mutationFn: () => api.data.createDownloadLocation(address),
    onSuccess: ({ signedUrl = "" }) => openFile(signedUrl),
    onError: (error: Error) => toasts.show({ kind: "bad", text: `${name} cannot be downloaded: ${error.message}` }),
  });
  return (
    <div className={styles.value}>
      <div className={styles.content}>
        <pre className={styles.text}>{address}</pre>
        {(format !== "" || columns.length > 0) && (
          <p className={styles.note}>
            {[format, columns.length === 0 ? "" : `columns ${columns.join(", ")}`].filter((part) => part !== "").join(" · ")}
          </p>
        )}
        {isFile && address.includes("://") && (
          <Button small icon="download" disabled={download.isPending} onClick={() => download.mutate()}>
            Download
          </Button>
        )}
      </div>
      <Copy text={address} label={name} />
    </div>
  );
}

/** Opens a file in a tab of its own, which knows nothing of this page. */
function openFile(address: string): void {
  if (/^https?:/.test(address)) window.open(address, "_blank", "noopener,noreferrer");
}

import { useContext, useEffect, useRef, useState } from "react";
import { Button, IconButton } from "../../../control/button.js";
import { Icon } from "../../../control/icon.js";
import { isAddress } from "../../form-value.js";
import type { FieldType } from "../../type/field-type.js";
import { FieldContext, useControlProps, type ValueProps } from "../field-context.js";
import inputStyles from "../input.module.css";
import { formatBytes } from "./format-bytes.js";
import styles from "./blob-field.module.css";

interface Upload {
  readonly name: string;
  readonly bytes: number;
  readonly share: number;
}

/** File or directory: an address, or files that are uploaded to the blob store. */
export function BlobField({ type, value, path, label, placeholder, onChange }: ValueProps<Extract<FieldType, { kind: "blob" }>>) {
  const { upload, onUpload } = useContext(FieldContext);
  const props = useControlProps(path, label);
  const picker = useRef<HTMLInputElement>(null);
  const running = useRef<AbortController>(undefined);
  const [state, setState] = useState<Upload>();
  const [failure, setFailure] = useState("");
  useEffect(() => () => running.current?.abort(), []);
  const { address, format } = isAddress(value) ? value : { address: "", format: type.format };
  // The form changes while an upload runs: its end must not bring back an earlier form.
  const latest = useRef({ onChange, format });
  useEffect(() => {
    latest.current = { onChange, format };
  });
  const send = async (files: readonly File[]): Promise<void> => {
    if (upload === undefined || files.length === 0) return;
    running.current?.abort();
    const controller = new AbortController();
    running.current = controller;
    const bytes = files.reduce((sum, { size }) => sum + size, 0);
    const name = files.length === 1 ? (files[0]?.name ?? "") : `${files.length} files`;
    setFailure("");
    setState({ name, bytes, share: 0 });
    onUpload?.(path, true);
    try {
      const uploaded = await upload(files, (share) => setState({ name, bytes, share }), controller.signal);
      latest.current.onChange({ address: uploaded, format: latest.current.format });
    } catch (error) {
      if (!controller.signal.aborted) setFailure(error instanceof Error ? error.message : String(error));
    } finally {
      if (running.current === controller) {
        setState(undefined);
        onUpload?.(path, false);
      }
    }
  };
  if (state !== undefined)
    return (
      <div className={styles.drop}>
        <Icon name="file" />
        <span className={styles.name}>
          <b>{state.name}</b> {formatBytes(state.bytes * state.share)} of {formatBytes(state.bytes)}
        </span>
        <progress className={styles.progress} max={1} value={state.share} aria-label={`Upload of ${state.name}`} />
        <IconButton
          icon="close"
          label="Stop the upload"
          onClick={() => {
            running.current?.abort();
            setState(undefined);
            onUpload?.(path, false);
          }}
        />
      </div>
    );
  return (
    <div
      className={styles.blob}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        void send([...event.dataTransfer.files]);
      }}
    >
      <input
        {...props}
        className={inputStyles.input}
        autoComplete="off"
        spellCheck={false}
        placeholder={placeholder ?? (type.directory ? "s3://bucket/folder" : "s3://bucket/file")}
        value={address}
        onChange={({ target }) => onChange({ address: target.value, format })}
      />
      {upload !== undefined && (
        <>
          <Button icon="upload" onClick={() => picker.current?.click()}>
            Upload…
          </Button>
          <input
            ref={picker}
            type="file"
            hidden
            multiple={type.directory}
            {...(type.directory && { webkitdirectory: "" })}
            onChange={({ target }) => void send([...(target.files ?? [])])}
          />
        </>
      )}
      {failure !== "" && <p className={styles.failure}>{failure}</p>}
    </div>
  );
}

import type { ReactNode } from "react";
import { useApp } from "../../app/app.js";
import { IconButton } from "../../control/button.js";
import type { LogClient } from "../session/log-client.js";
import type { TimeChoice } from "./line.js";
import styles from "./log-bar.module.css";

/** Look of a log that its reader has chosen. */
export interface LogLook {
  readonly times: TimeChoice;
  readonly isWrapped: boolean;
}

interface LogBarProps {
  readonly client: LogClient;
  readonly look: LogLook;
  readonly isFollowing: boolean;
  readonly fileName: string;
  /** Search and state. */
  readonly children: ReactNode;
  onLook(look: LogLook): void;
  onFollow(isFollowing: boolean): void;
  onFullScreen(): void;
}

const NEXT_TIMES: Readonly<Record<TimeChoice, TimeChoice>> = { off: "local", local: "relative", relative: "off" };

/** Search and acts of a log. */
export function LogBar({ client, look, isFollowing, fileName, children, onLook, onFollow, onFullScreen }: LogBarProps) {
  const { toasts } = useApp();
  const download = async (): Promise<void> => {
    const address = URL.createObjectURL(await client.download());
    Object.assign(document.createElement("a"), { href: address, download: fileName }).click();
    URL.revokeObjectURL(address);
    toasts.show({ kind: "ok", text: `Downloaded ${fileName}` });
  };
  const next = NEXT_TIMES[look.times];
  return (
    <div className={styles.bar}>
      {children}
      <span className={styles.acts} role="group" aria-label="Acts on the log">
        <IconButton icon="end" label="Follow the end (f)" aria-pressed={isFollowing} onClick={() => onFollow(!isFollowing)} />
        <IconButton
          icon="wrap"
          label="Wrap long lines"
          aria-pressed={look.isWrapped}
          onClick={() => onLook({ ...look, isWrapped: !look.isWrapped })}
        />
        <IconButton
          icon="clock"
          label={next === "off" ? "Hide times" : next === "local" ? "Show times" : "Show times since the first line"}
          aria-pressed={look.times !== "off"}
          onClick={() => onLook({ ...look, times: next })}
        />
        <IconButton icon="download" label="Download the log" onClick={() => void download()} />
        <IconButton icon="expand" label="Full screen" onClick={onFullScreen} />
      </span>
    </div>
  );
}

import type { LogClient } from "../session/log-client.js";
import { RestError } from "@flyte-ts/client/browser";
import { ErrorPanel } from "../../control/error-panel.js";
import { useStore } from "../../app/use-store.js";
import styles from "./log-panel.module.css";

interface LogNoticeProps {
  readonly client: LogClient;
  /** Reason why the attempt does not run yet. */
  readonly waiting: string | undefined;
  onRetry(): void;
}

const NOT_FOUND = 5;

/** Says why there is no line, or no more of them; nothing while lines arrive. */
export function LogNotice({ client, waiting, onRetry }: LogNoticeProps) {
  const summary = useStore(client.summary);
  const failure = useStore(client.failure);
  const live = useStore(client.live);
  if (failure !== undefined) {
    if (failure.code === NOT_FOUND) return <p className={styles.notice}>No log: {failure.message}.</p>;
    return <ErrorPanel title="The log cannot be read" error={new RestError(failure.code, failure.message, 0)} onRetry={onRetry} />;
  }
  if ((summary?.lines ?? 0) > 0) return null;
  if (summary?.hasEnded === true) return <p className={styles.notice}>The log is empty: the container ended without a line.</p>;
  if (live?.kind === "reconnecting")
    return <p className={styles.notice}>The server does not answer: {live.error.message}. Trying again.</p>;
  const reason = waiting === undefined || waiting === "" ? "the container has written nothing" : waiting;
  return <p className={styles.notice}>Not there yet: {reason}.</p>;
}

import { useQueryClient } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import { classes } from "../control/classes.js";
import { formatAge } from "../format/duration.js";
import { useApp, useNow } from "../app/app.js";
import { isRefused } from "../session/retry.js";
import styles from "./live-mark.module.css";

/** State of the page's data: live, or since when they are old. */
export function LiveMark() {
  const client = useQueryClient();
  const nowMs = useNow();
  const { stream } = useApp();
  const queriesSince = useSyncExternalStore(
    (changed) => client.getQueryCache().subscribe(changed),
    () => oldestFailure(client),
  );
  const streamSince = useSyncExternalStore(stream.subscribe, stream.brokenSince);
  const since = streamSince ?? queriesSince;
  const text = since === undefined ? "Live" : since === 0 ? "No connection" : `Data are ${formatAge(nowMs - since)} old`;
  return (
    <span className={classes(styles.live, since !== undefined && styles.old)} role="status">
      {text}
    </span>
  );
}

/** Time of the oldest data that could not be read anew, ms; 0 if there are none; else undefined. */
function oldestFailure(client: ReturnType<typeof useQueryClient>): number | undefined {
  const failing = client.getQueryCache().findAll({
    type: "active",
    predicate: ({ state }) => state.fetchFailureCount > 0 && !isRefused(state.fetchFailureReason),
  });
  return failing.length === 0 ? undefined : Math.min(...failing.map(({ state }) => state.dataUpdatedAt));
}

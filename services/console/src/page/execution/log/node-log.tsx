import { useQuery } from "@tanstack/react-query";
import type { ExecutionKey } from "../../../api/scope.js";
import { useApp } from "../../../app/app.js";
import { Segments } from "../../../control/segments.js";
import { nodePhaseLook } from "../../../format/phase.js";
import { LogPanel } from "../../../log/log-panel.js";
import { attemptsQuery } from "../queries.js";
import styles from "./node-log.module.css";
import { useLineLink } from "./use-line-link.js";

interface NodeLogProps {
  readonly executionKey: ExecutionKey;
  readonly node: string;
  /** Number of the attempt, from 0; empty: the last one. */
  readonly attempt: string;
  /** Item of an array node; empty: none. */
  readonly item: string;
  onAttempt(attempt: string): void;
}

/** The state of an attempt that waits is read again this often, ms. */
const REFRESH_MS = 5_000;

/** Log of an attempt of a node, and the choice of the attempt. */
export function NodeLog({ executionKey, node, attempt, item, onAttempt }: NodeLogProps) {
  const app = useApp();
  const [line, onLine] = useLineLink();
  const { data } = useQuery({
    ...attemptsQuery(app, executionKey, node),
    refetchInterval: ({ state }) => (state.data?.some(({ closure }) => nodePhaseLook(closure?.phase).terminal) ? false : REFRESH_MS),
  });
  if (data === undefined) return null;
  const numbers = data.map(({ id }) => id?.retryAttempt ?? 0).toSorted((one, other) => one - other);
  const chosen = countOf(attempt) ?? numbers.at(-1);
  const shown = data.find(({ id }) => (id?.retryAttempt ?? 0) === chosen)?.closure;
  return (
    <div className={styles.log}>
      {numbers.length > 1 && (
        <Segments
          label="Attempt"
          choices={numbers.map((number) => ({
            id: String(number),
            title: number === chosen ? `Attempt ${number + 1}` : String(number + 1),
          }))}
          current={String(chosen)}
          onChoose={onAttempt}
        />
      )}
      <LogPanel
        source={{ ...executionKey, node, attempt: chosen, item: countOf(item) }}
        waiting={shown?.reason ?? (shown === undefined ? "the node has no attempt" : nodePhaseLook(shown.phase).word)}
        line={line}
        onLine={onLine}
      />
    </div>
  );
}

function countOf(text: string): number | undefined {
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

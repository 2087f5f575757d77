import { useEffect } from "react";
import { useStore } from "../../../app/use-store.js";
import { formatCount } from "../../../format/count.js";
import type { NodeTableClient } from "../../../node-table/node-table-client.js";
import type { NodeGroup } from "../../../route/execution-search.js";
import styles from "./node-counts.module.css";
import { countGroups, filterOf } from "./node-groups.js";

interface NodeCountsProps {
  readonly client: NodeTableClient;
  /** Groups that the timeline shows; empty: all. */
  readonly chosen: readonly NodeGroup[];
  onChoose(groups: readonly NodeGroup[]): void;
}

/** Numbers of an execution's nodes by phase, each of which filters the timeline. */
export function NodeCounts({ client, chosen, onChoose }: NodeCountsProps) {
  const { counts, waiting = 0 } = useStore(client.summary) ?? {};
  const key = chosen.join(".");
  useEffect(() => client.setFilter(filterOf(chosen)), [client, key]);
  if (counts === undefined) return <div className={styles.counts} />;
  const groups = countGroups({ ...counts, waiting }, chosen);
  return (
    <div className={styles.counts} role="group" aria-label="Nodes by phase">
      <span className={styles.stack} aria-hidden="true">
        {groups.map(({ group, kind, count }) => (
          <span key={group} data-phase={kind} style={{ flexGrow: count }} />
        ))}
      </span>
      {groups.map(({ group, kind, word, count }) => {
        const isChosen = chosen.includes(group);
        return (
          <button
            key={group}
            type="button"
            className={styles.count}
            aria-pressed={isChosen}
            onClick={() => onChoose(isChosen ? chosen.filter((each) => each !== group) : [...chosen, group])}
          >
            <span className={styles.dot} data-phase={kind} aria-hidden="true" />
            <b>{formatCount(count)}</b> {word}
          </button>
        );
      })}
    </div>
  );
}

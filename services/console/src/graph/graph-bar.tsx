import { formatCount } from "../format/count.js";
import { type KeyboardEvent, useState } from "react";
import { Button } from "../control/button.js";
import { SearchInput } from "../control/field.js";
import type { GraphClient } from "./graph-client.js";
import type { GraphState } from "./hook/use-graph.js";
import { findByName } from "./scene/paths.js";
import styles from "./graph.module.css";

interface GraphBarProps {
  readonly client: GraphClient;
  readonly graph: GraphState;
}

/** Search in a graph, its numbers, and what opens and closes all of it. */
export function GraphBar({ client, graph }: GraphBarProps) {
  const [text, setText] = useState("");
  const { shown, current } = graph;
  const nodes = shown?.scene.length ?? 0;
  const hasOpening = shown !== undefined && shown.scene.count.some((count) => count > 0);
  const isMissing = shown !== undefined && text.trim() !== "" && findByName(shown.scene, text, current) === -1;
  const press = (event: KeyboardEvent): void => {
    if (event.key !== "Enter" || shown === undefined) return;
    event.preventDefault();
    graph.goTo(findByName(shown.scene, text, current));
  };
  return (
    <div className={styles["bar"]} role="toolbar" aria-label="Graph">
      <SearchInput label="Find a node" value={text} onChange={(event) => setText(event.target.value)} onKeyDown={press} />
      {isMissing && <span className={styles["note"]}>no such node</span>}
      <span className={styles["total"]}>{shown !== undefined && `${formatCount(nodes)} ${nodes === 1 ? "node" : "nodes"} shown`}</span>
      {hasOpening && (
        <>
          <Button small onClick={() => client.expandAll(true)}>
            Open all
          </Button>
          <Button small onClick={() => client.expandAll(false)}>
            Close all
          </Button>
        </>
      )}
    </div>
  );
}

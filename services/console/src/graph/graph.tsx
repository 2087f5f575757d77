import { useRef } from "react";
import { GraphBar } from "./graph-bar.js";
import { GraphCanvas } from "./graph-canvas.js";
import type { GraphProps } from "./graph-props.js";
import { useGraph } from "./hook/use-graph.js";
import { useRevealedSelection } from "./hook/use-revealed-selection.js";
import { GraphList } from "./list/graph-list.js";
import { Minimap } from "./minimap.js";
import { ZoomButtons } from "./zoom-buttons.js";
import styles from "./graph.module.css";

/** Graph of a workflow: what follows what, in the colours of the phases. */
export function Graph(props: GraphProps) {
  const { client, colours, nowMs, durationText, selected } = props;
  const area = useRef<HTMLDivElement>(null);
  const graph = useGraph(props, area);
  useRevealedSelection(client, selected, graph);
  return (
    <div className={styles["graph"]}>
      <GraphBar client={client} graph={graph} />
      <div className={styles["body"]}>
        <GraphList graph={graph} onSelect={graph.select} />
        <GraphCanvas area={area} graph={graph} colours={colours} nowMs={nowMs} durationText={durationText} />
        <ZoomButtons camera={graph.camera} />
        <Minimap graph={graph} colours={colours} />
      </div>
    </div>
  );
}

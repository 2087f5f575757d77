import { type KeyboardEvent, useId } from "react";
import type { GraphState } from "../hook/use-graph.js";
import { useSlowWords } from "../hook/use-slow-words.js";
import type { Neighbours } from "../layout/adjacency.js";
import { nodeWords } from "../scene/node-words.js";
import { firstNode, neighbourOf } from "../scene/walk.js";
import { actOfKey, isDirection } from "./graph-keys.js";
import styles from "../graph.module.css";

/** Neighbours in each direction that the list has. */
const MAX_NEIGHBOURS = 20;

interface GraphListProps {
  readonly graph: GraphState;
  onSelect(node: number): void;
}

/** The graph as a list for keys and assistive technology: the node of now, and its neighbours. */
export function GraphList({ graph, onSelect }: GraphListProps) {
  const { shown, adjacency, current, camera } = graph;
  const prefix = useId();
  const at = current === -1 && shown !== undefined && shown.scene.length > 0 ? firstNode(shown.scene) : current;
  const words = (node: number): string => {
    if (shown === undefined || adjacency === undefined) return "";
    return nodeWords(shown, node, { up: countOf(adjacency.up, node), down: countOf(adjacency.down, node) });
  };
  const spoken = useSlowWords(at === -1 || shown === undefined ? "" : words(at));
  const press = (event: KeyboardEvent): void => {
    const act = actOfKey(event.key);
    if (act === undefined || event.altKey || event.ctrlKey || event.metaKey || shown === undefined || adjacency === undefined || at === -1)
      return;
    event.preventDefault();
    if (act === "zoomIn" || act === "zoomOut") camera.step(act === "zoomIn");
    else if (act === "fit") camera.fit();
    else if (act === "first") graph.goTo(firstNode(shown.scene));
    else if (act === "out") graph.goTo(shown.scene.parent[at] as number);
    else if (act === "select") onSelect(at);
    else if (act === "open") graph.expand(at);
    else if (isDirection(act)) graph.goTo(current === -1 ? at : neighbourOf(shown.scene, adjacency, at, act));
  };
  const others = adjacency === undefined || at === -1 ? [] : [...neighbours(adjacency.up, at), ...neighbours(adjacency.down, at)];
  return (
    <>
      <div
        role="listbox"
        aria-label="Nodes of the graph"
        aria-activedescendant={at === -1 ? undefined : `${prefix}${at}`}
        tabIndex={0}
        className={styles["list"]}
        onKeyDown={press}
        onFocus={() => current === -1 && graph.goTo(at, false)}
      >
        {at !== -1 &&
          [at, ...others].map((node) => (
            <div key={node} id={`${prefix}${node}`} role="option" aria-selected={node === graph.selected}>
              {words(node)}
            </div>
          ))}
      </div>
      <div role="status" className={styles["words"]}>
        {current === -1 ? "" : spoken}
      </div>
    </>
  );
}

function countOf({ offset }: Neighbours, node: number): number {
  return (offset[node + 1] as number) - (offset[node] as number);
}

function neighbours({ offset, nodes }: Neighbours, node: number): readonly number[] {
  return [...nodes.subarray(offset[node], Math.min(offset[node + 1] as number, (offset[node] as number) + MAX_NEIGHBOURS))];
}

import { useEffect, useEffectEvent } from "react";
import type { GraphClient } from "../graph-client.js";
import type { GraphState } from "./use-graph.js";

/** Opens the nodes around a node that is selected elsewhere, as by the page's address, once. */
export function useRevealedSelection(
  client: GraphClient,
  selected: string | undefined,
  { shown, selected: node, camera }: GraphState,
): void {
  const hasStates = shown !== undefined && shown.states.ids.some((id) => id !== "");
  const show = useEffectEvent(() => {
    if (selected === undefined) return;
    if (node === -1) client.reveal(selected);
    else if (!camera.isFit) camera.reveal(node, false);
  });
  useEffect(() => {
    if (hasStates) show();
  }, [hasStates, selected]);
}

import { useEffect, useEffectEvent, useRef } from "react";
import type { NodeTableClient } from "../../node-table/node-table-client.js";

export interface RevealedNode {
  readonly client: NodeTableClient;
  /** Id of the selected node; undefined for none. */
  readonly selected: string | undefined;
  /** The table is complete, so that a node that is not there does not exist. */
  readonly isComplete: boolean;
  /** The node is among the rows that are shown. */
  readonly isShown: boolean;
  onPlace(place: number): void;
}

/**
 * Opens the tree around a node that is selected elsewhere. The node that the page's address names
 * is scrolled to, too: its row may be loaded and out of sight.
 */
export function useRevealedNode({ client, selected, isComplete, isShown, onPlace }: RevealedNode): void {
  const isFirst = useRef(true);
  const wants = useEffectEvent(() => isFirst.current || !isShown);
  const place = useEffectEvent(onPlace);
  useEffect(() => {
    if (!isComplete) return;
    const isWanted = wants();
    isFirst.current = false;
    if (selected === undefined || !isWanted) return;
    let isCurrent = true;
    void client.reveal(selected).then((found) => {
      if (isCurrent && found >= 0) place(found);
    });
    return () => {
      isCurrent = false;
    };
  }, [client, selected, isComplete]);
}

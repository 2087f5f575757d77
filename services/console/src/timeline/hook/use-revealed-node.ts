import { useEffect, useEffectEvent } from "react";
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

/** Opens the tree around a node that is selected elsewhere, as by the page's address. */
export function useRevealedNode({ client, selected, isComplete, isShown, onPlace }: RevealedNode): void {
  const wants = useEffectEvent(() => selected !== undefined && !isShown);
  const place = useEffectEvent(onPlace);
  useEffect(() => {
    if (!isComplete || selected === undefined || !wants()) return;
    let isCurrent = true;
    void client.reveal(selected).then((found) => {
      if (isCurrent && found >= 0) place(found);
    });
    return () => {
      isCurrent = false;
    };
  }, [client, selected, isComplete]);
}

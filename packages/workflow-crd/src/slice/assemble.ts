import type { NodeStatus } from "../status.js";
import type { LoadedSlice } from "./codec.js";

type Statuses = Record<string, NodeStatus>;

/** Assembles the statuses of all slices into `nodeStatus`, each below its parent node. */
export function assembleSlices(slices: readonly LoadedSlice[]): Statuses {
  const root: Place = { inner: new Map() };
  for (const { entries } of slices) {
    for (const { path, status } of entries) {
      let at = root;
      for (const id of path) at = below(at, id);
      at.status = status;
    }
  }
  return statusesOf(root);
}

interface Place {
  status?: NodeStatus;
  inner?: Map<string, Place>;
}

function below(place: Place, id: string): Place {
  place.inner ??= new Map();
  let found = place.inner.get(id);
  if (found === undefined) {
    found = {};
    place.inner.set(id, found);
  }
  return found;
}

/** A node without a status of its own is skipped with its descendants: this program never writes such. */
function statusesOf({ inner }: Place): Statuses {
  const statuses: [string, NodeStatus][] = [];
  for (const [id, place] of inner ?? []) {
    if (place.status === undefined) continue;
    statuses.push([id, place.inner === undefined ? place.status : { ...place.status, subNodeStatus: statusesOf(place) }]);
  }
  // Creates own properties, whatever the ids are.
  return Object.fromEntries(statuses);
}

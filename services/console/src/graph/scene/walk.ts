import type { Adjacency } from "../layout/adjacency.js";
import type { Scene } from "./scene.js";

/** Ways to go from a node to another by keys. */
export type Direction = "left" | "right" | "up" | "down";

/**
 * Returns the node that a person goes to: along an edge to the right or left, where the nearest is
 * taken, else the next above or below. −1: there is none.
 */
export function neighbourOf(scene: Scene, { down, up }: Adjacency, node: number, direction: Direction): number {
  if (direction === "right") return nearest(scene, node, down.nodes.subarray(down.offset[node], down.offset[node + 1]));
  if (direction === "left") return nearest(scene, node, up.nodes.subarray(up.offset[node], up.offset[node + 1]));
  return nextInColumn(scene, node, direction);
}

function middleOf({ y, height }: Scene, node: number): number {
  return (y[node] as number) + (height[node] as number) / 2;
}

function nearest(scene: Scene, node: number, candidates: Int32Array): number {
  let [found, least] = [-1, Number.POSITIVE_INFINITY];
  for (const other of candidates) {
    const distance = Math.abs(middleOf(scene, other) - middleOf(scene, node));
    if (distance < least) [found, least] = [other, distance];
  }
  return found;
}

/** Finds the next node above or below, the closest by columns first, in the same frame. */
function nextInColumn(scene: Scene, node: number, direction: "up" | "down"): number {
  const sign = direction === "down" ? 1 : -1;
  const centre = (each: number): number => (scene.x[each] as number) + (scene.width[each] as number) / 2;
  let [found, least] = [-1, Number.POSITIVE_INFINITY];
  for (let other = 0; other < scene.length; other++) {
    if (other === node || scene.parent[other] !== scene.parent[node]) continue;
    const away = (middleOf(scene, other) - middleOf(scene, node)) * sign;
    if (away <= 0) continue;
    const distance = away + Math.abs(centre(other) - centre(node)) * SIDEWAYS;
    if (distance < least) [found, least] = [other, distance];
  }
  return found;
}

/** Weight of the distance in the other direction. */
const SIDEWAYS = 4;

/** Returns the first node of the top level, or of those inside of a node. */
export function firstNode({ length, parent, x }: Scene, within = -1): number {
  let found = -1;
  for (let node = 0; node < length; node++)
    if (parent[node] === within && (found === -1 || (x[node] as number) < (x[found] as number))) found = node;
  return found;
}

import { CARD } from "../layout/metrics.js";
import { eachNodeIn } from "../scene/build-grid.js";
import { type Scene, SceneFlag } from "../scene/scene.js";
import type { Camera } from "./camera.js";

/** Least height at which a node can be clicked. */
const MIN_PX = 4;
/** Size of the sign that opens and closes a node, from its upper right corner. */
const TWIST = { width: 30, height: 30 } as const;

/** Part of a drawing under a point. */
export type Hit = { readonly node: number; readonly isTwist: boolean };

/** Returns the innermost node at a point of the canvas; undefined for none, or a tiny one. */
export function hitAt(scene: Scene, { left, top, scale }: Camera, point: { readonly x: number; readonly y: number }): Hit | undefined {
  if (CARD.height * scale < MIN_PX) return undefined;
  const [x, y] = [left + point.x / scale, top + point.y / scale];
  let found = -1;
  eachNodeIn(scene, { left: x, top: y, right: x, bottom: y }, (node) => {
    found = Math.max(found, node);
  });
  if (found === -1) return undefined;
  const [right, nodeTop] = [(scene.x[found] as number) + (scene.width[found] as number), scene.y[found] as number];
  const opens = ((scene.flags[found] as number) & SceneFlag.opens) !== 0;
  return { node: found, isTwist: opens && right - x <= TWIST.width && y - nodeTop <= TWIST.height };
}

import type { CanvasSize } from "../../timeline/canvas/draw-context.js";
import { GRAPH_STATES, type GraphStateName, NOT_BEGUN } from "../scene/node-phase.js";
import { SceneFlag } from "../scene/scene.js";
import { type Camera, seenRect } from "./camera.js";
import { levelAt } from "./draw-density.js";
import type { GraphContext, GraphFrame } from "./graph-frame.js";

const PADDING_PX = 6;
/** Small scenes show their nodes, larger ones their cells. */
const MAX_NODES = 400;

export interface Minimap extends Pick<GraphFrame, "scene" | "states" | "camera" | "colours"> {
  /** Size of the canvas of the whole graph. */
  readonly view: CanvasSize;
  readonly size: CanvasSize;
}

/** Place of the whole scene on the minimap. */
export function minimapCamera({ totalWidth, totalHeight }: Minimap["scene"], { widthPx, heightPx }: CanvasSize): Camera {
  const scale = Math.min((widthPx - 2 * PADDING_PX) / totalWidth, (heightPx - 2 * PADDING_PX) / totalHeight);
  return { scale, left: (totalWidth - widthPx / scale) / 2, top: (totalHeight - heightPx / scale) / 2 };
}

/** A rectangle in pixels at 100 % zoom. */
interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

function boxOf({ x, y, width, height }: Minimap["scene"], node: number): Box {
  return { x: x[node] as number, y: y[node] as number, width: width[node] as number, height: height[node] as number };
}

/** Draws the whole scene small, and what is in sight of it as a frame. */
export function drawMinimap(context: GraphContext, { scene, states, camera, colours, view, size }: Minimap): void {
  context.setTransform(size.ratio, 0, 0, size.ratio, 0, 0);
  context.globalAlpha = 1;
  context.clearRect(0, 0, size.widthPx, size.heightPx);
  const map = minimapCamera(scene, size);
  const box = (state: number, { x, y, width, height }: Box): void => {
    context.fillStyle = colours.states[GRAPH_STATES[state] as GraphStateName];
    context.globalAlpha = state === NOT_BEGUN ? 0.45 : 0.8;
    context.fillRect(
      (x - map.left) * map.scale,
      (y - map.top) * map.scale,
      Math.max(width * map.scale, 1),
      Math.max(height * map.scale, 1),
    );
  };
  if (scene.length <= MAX_NODES) {
    for (let node = 0; node < scene.length; node++)
      if (((scene.flags[node] as number) & SceneFlag.open) === 0) box(states.state[node] as number, boxOf(scene, node));
  } else {
    const level = levelAt(states.density, map.scale * 2, 1);
    for (let cell = 0; cell < (level?.count.length ?? 0); cell++) {
      const { cellWidth, cellHeight, column, row, state } = level as NonNullable<typeof level>;
      box(state[cell] as number, {
        x: (column[cell] as number) * cellWidth,
        y: (row[cell] as number) * cellHeight,
        width: cellWidth,
        height: cellHeight,
      });
    }
  }
  context.globalAlpha = 1;
  const seen = seenRect(camera, view);
  const clamp = (value: number, most: number): number => Math.min(Math.max(value, 2), most - 2);
  const [left, top] = [clamp((seen.left - map.left) * map.scale, size.widthPx), clamp((seen.top - map.top) * map.scale, size.heightPx)];
  const [right, bottom] = [
    clamp((seen.right - map.left) * map.scale, size.widthPx),
    clamp((seen.bottom - map.top) * map.scale, size.heightPx),
  ];
  context.strokeStyle = colours.accent;
  context.lineWidth = 1.5;
  context.strokeRect(left, top, Math.max(right - left, 2), Math.max(bottom - top, 2));
}

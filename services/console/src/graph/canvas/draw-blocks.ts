import { GRAPH_STATES, NOT_BEGUN } from "../scene/node-phase.js";
import { SceneFlag } from "../scene/scene.js";
import type { GraphContext, GraphFrame } from "./graph-frame.js";

const FAINT = 0.5;

/** Draws nodes as blocks of the colour of their state, and open ones as frames. */
export function drawBlocks(context: GraphContext, frame: GraphFrame, nodes: readonly number[]): void {
  const { scene, states, colours, camera } = frame;
  drawFrames(context, frame, nodes);
  for (const [state, name] of GRAPH_STATES.entries()) {
    context.fillStyle = colours.states[name];
    context.globalAlpha = state === NOT_BEGUN ? FAINT : 1;
    for (const node of nodes) {
      if (states.state[node] !== state || ((scene.flags[node] as number) & SceneFlag.open) !== 0) continue;
      context.fillRect(
        (scene.x[node] as number) - camera.left,
        (scene.y[node] as number) - camera.top,
        scene.width[node] as number,
        scene.height[node] as number,
      );
    }
  }
  context.globalAlpha = 1;
}

/** Draws the grounds of open nodes. */
function drawFrames(context: GraphContext, { scene, colours, camera }: GraphFrame, nodes: readonly number[]): void {
  context.fillStyle = colours.sunken;
  context.strokeStyle = colours.lineStrong;
  context.lineWidth = 1 / camera.scale;
  for (const node of nodes) {
    if (((scene.flags[node] as number) & SceneFlag.open) === 0) continue;
    const [x, y] = [(scene.x[node] as number) - camera.left, (scene.y[node] as number) - camera.top];
    context.fillRect(x, y, scene.width[node] as number, scene.height[node] as number);
    context.strokeRect(x, y, scene.width[node] as number, scene.height[node] as number);
  }
}

/** Outlines a node in the colour of what is chosen. */
export function drawOutline(context: GraphContext, { scene, colours, camera }: GraphFrame, node: number, gapPx: number): void {
  if (node < 0) return;
  const gap = gapPx / camera.scale;
  context.strokeStyle = colours.accent;
  context.lineWidth = 2 / camera.scale;
  context.beginPath();
  context.roundRect(
    (scene.x[node] as number) - camera.left - gap,
    (scene.y[node] as number) - camera.top - gap,
    (scene.width[node] as number) + 2 * gap,
    (scene.height[node] as number) + 2 * gap,
    8,
  );
  context.stroke();
}

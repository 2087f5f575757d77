import { NOT_BEGUN } from "../scene/node-phase.js";
import { eachNodeIn } from "../scene/build-grid.js";
import { CARD } from "../layout/metrics.js";
import { nodeName } from "../scene/node-words.js";
import { SceneFlag } from "../scene/scene.js";
import { seenRect } from "./camera.js";
import { drawBlocks, drawOutline } from "./draw-blocks.js";
import { drawCards } from "./draw-cards.js";
import { drawDensity } from "./draw-density.js";
import { drawEdges, drawRibbons } from "./draw-edges.js";
import { type Drawn, type GraphContext, type GraphFrame, sizedFont } from "./graph-frame.js";

/** Zoom from which nodes are cards. */
export const CARD_SCALE = 0.55;
/** Zoom from which blocks have names. */
const NAME_SCALE = 0.3;
/** Names on blocks, at most: texts take longest. */
const MAX_NAMES = 400;
/** Least height of a block; lower ones become squares of many nodes. */
const MIN_BLOCK_PX = 3;
/** Nodes that are drawn one by one, at most. */
const MAX_BLOCKS = 8_000;
/** Distance of the dots of the ground, and the zoom from which there are dots. */
const DOT_STEP = 22;
const LETTER_PX = 6.4;
const OUTLINE_PX = 3;

/** Draws a graph: counts by cell from far, blocks nearer, then cards. */
export function drawGraph(context: GraphContext, frame: GraphFrame): Drawn {
  const { widthPx, heightPx, ratio, camera, colours } = frame;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.globalAlpha = 1;
  context.fillStyle = colours.ground;
  context.fillRect(0, 0, widthPx, heightPx);
  const nodes = nodesInSight(frame);
  if (nodes === undefined) return drawFar(context, frame);
  if (camera.scale >= CARD_SCALE) drawDots(context, frame);
  // Places are relative to the camera: a canvas computes with single precision.
  context.setTransform(ratio * camera.scale, 0, 0, ratio * camera.scale, 0, 0);
  const isNear = camera.scale >= CARD_SCALE;
  // Frames of open nodes lie below their edges.
  const open = nodes.filter((node) => ((frame.scene.flags[node] as number) & SceneFlag.open) !== 0);
  if (isNear) drawCards(context, frame, open);
  else drawBlocks(context, frame, open);
  const edges = drawEdges(context, frame, nodes);
  const ribbons = edges === -1 ? drawRibbons(context, frame) : edges;
  const closed = open.length === 0 ? nodes : nodes.filter((node) => ((frame.scene.flags[node] as number) & SceneFlag.open) === 0);
  if (isNear) drawCards(context, frame, closed);
  else {
    drawBlocks(context, frame, closed);
    drawOutline(context, frame, frame.selected, 1);
    if (camera.scale >= NAME_SCALE && closed.length <= MAX_NAMES * frame.detail) drawNames(context, frame, closed);
  }
  drawOutline(context, frame, frame.current, OUTLINE_PX);
  return { level: isNear ? "near" : "middle", nodes: nodes.length, edges: ribbons };
}

/** Lists the nodes in sight in their order; undefined when they are too small or too many. */
function nodesInSight(frame: GraphFrame): readonly number[] | undefined {
  const { scene, camera, detail } = frame;
  const most = MAX_BLOCKS * detail;
  if (CARD.height * camera.scale < MIN_BLOCK_PX && scene.length > most / 4) return undefined;
  const nodes: number[] = [];
  eachNodeIn(scene, seenRect(camera, frame), (node) => nodes.push(node), most + 1);
  return nodes.length > most ? undefined : nodes.sort((a, b) => a - b);
}

function drawFar(context: GraphContext, frame: GraphFrame): Drawn {
  const { ratio, camera } = frame;
  context.setTransform(ratio * camera.scale, 0, 0, ratio * camera.scale, 0, 0);
  const edges = drawRibbons(context, frame);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  const nodes = drawDensity(context, frame);
  context.setTransform(ratio * camera.scale, 0, 0, ratio * camera.scale, 0, 0);
  drawOutline(context, frame, frame.selected, 1);
  drawOutline(context, frame, frame.current, OUTLINE_PX);
  return { level: "far", nodes, edges };
}

function drawDots(context: GraphContext, { widthPx, heightPx, camera, colours }: GraphFrame): void {
  const step = DOT_STEP * camera.scale;
  context.fillStyle = colours.line;
  const first = (at: number): number => -(((at * camera.scale) % step) + step) % step;
  for (let x = first(camera.left); x < widthPx; x += step)
    for (let y = first(camera.top); y < heightPx; y += step) context.fillRect(x, y, 1, 1);
}

/** Writes names on blocks, in a size that can be read. */
function drawNames(context: GraphContext, { scene, states, camera, colours }: GraphFrame, nodes: readonly number[]): void {
  context.font = sizedFont(colours.nameFont, 10 / camera.scale);
  context.textAlign = "left";
  context.textBaseline = "middle";
  for (const node of nodes) {
    const letters = Math.floor(((scene.width[node] as number) * camera.scale - 8) / LETTER_PX);
    context.fillStyle = states.state[node] === NOT_BEGUN ? colours.ink : colours.surface;
    const name = nodeName(scene, node);
    const text = name.length <= letters ? name : `${name.slice(0, Math.max(letters - 1, 1))}…`;
    context.fillText(
      text,
      (scene.x[node] as number) - camera.left + 4 / camera.scale,
      (scene.y[node] as number) - camera.top + (scene.height[node] as number) / 2,
    );
  }
}

import { formatCount } from "../../format/count.js";
import { NOT_BEGUN } from "../scene/node-phase.js";
import { seenRect } from "./camera.js";
import { type GraphContext, type GraphFrame, sizedFont } from "./graph-frame.js";

/** With more nodes in sight, edges are straight. */
const MAX_CURVED = 300;
/** With more nodes in sight, edges are bundled. */
export const MAX_SINGLE_EDGES_NODES = 1_200;
/** Edges that are drawn one by one, at most. */
const MAX_EDGES = 4_000;
const ARROW_PX = 6;

/** Lists the edges that begin or end at nodes in sight; undefined when they are too many. */
function edgesOf({ adjacency: { down, up } }: GraphFrame, nodes: readonly number[]): (readonly [from: number, to: number])[] | undefined {
  const seen = new Set(nodes);
  const edges: [number, number][] = [];
  for (const node of nodes) {
    for (let at = down.offset[node] as number; at < (down.offset[node + 1] as number); at++) edges.push([node, down.nodes[at] as number]);
    for (let at = up.offset[node] as number; at < (up.offset[node + 1] as number); at++)
      if (!seen.has(up.nodes[at] as number)) edges.push([up.nodes[at] as number, node]);
    if (edges.length > MAX_EDGES) return undefined;
  }
  return edges;
}

/** Draws the edges of the nodes in sight; returns their number, −1 if they are to be bundled. */
export function drawEdges(context: GraphContext, frame: GraphFrame, nodes: readonly number[]): number {
  if (nodes.length > MAX_SINGLE_EDGES_NODES * frame.detail) return -1;
  const edges = edgesOf(frame, nodes);
  if (edges === undefined) return -1;
  const isCurved = nodes.length <= MAX_CURVED * frame.detail;
  const { states, colours, current, selected } = frame;
  const isNear = (node: number): boolean => node === current || node === selected;
  const kinds = [
    {
      colour: colours.lineStrong,
      dash: [],
      width: 1.4,
      edges: edges.filter(([from, to]) => !isNear(from) && !isNear(to) && states.state[to] !== NOT_BEGUN),
    },
    {
      colour: colours.lineStrong,
      dash: [4, 4],
      width: 1.4,
      edges: edges.filter(([from, to]) => !isNear(from) && !isNear(to) && states.state[to] === NOT_BEGUN),
    },
    { colour: colours.accent, dash: [], width: 2, edges: edges.filter(([from, to]) => isNear(from) || isNear(to)) },
  ];
  for (const kind of kinds) {
    if (kind.edges.length === 0) continue;
    context.strokeStyle = kind.colour;
    context.lineWidth = kind.width / Math.max(Math.min(frame.camera.scale, 1), 0.4);
    context.setLineDash(kind.dash);
    context.beginPath();
    for (const edge of kind.edges) lineOf(context, frame, edge, isCurved);
    context.stroke();
    context.setLineDash([]);
    if (isCurved) drawArrows(context, frame, kind.edges, kind.colour);
  }
  return edges.length;
}

/** Ends of an edge, seen from the camera. */
function endsOf({ scene: { x, y, width, height }, camera: { left, top } }: GraphFrame, [from, to]: readonly [number, number]) {
  return {
    x0: (x[from] as number) + (width[from] as number) - left,
    y0: (y[from] as number) + (height[from] as number) / 2 - top,
    x1: (x[to] as number) - left,
    y1: (y[to] as number) + (height[to] as number) / 2 - top,
  };
}

function lineOf(context: GraphContext, frame: GraphFrame, edge: readonly [number, number], isCurved: boolean): void {
  const { x0, y0, x1, y1 } = endsOf(frame, edge);
  context.moveTo(x0, y0);
  if (!isCurved) return context.lineTo(x1, y1);
  const bend = Math.max(Math.min((x1 - x0) * 0.55, 160), 24);
  context.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1 - ARROW_PX + 1, y1);
}

function drawArrows(context: GraphContext, frame: GraphFrame, edges: readonly (readonly [number, number])[], colour: string): void {
  context.fillStyle = colour;
  context.beginPath();
  for (const edge of edges) {
    const { x1, y1 } = endsOf(frame, edge);
    context.moveTo(x1, y1);
    context.lineTo(x1 - ARROW_PX, y1 - 4);
    context.lineTo(x1 - ARROW_PX, y1 + 4);
  }
  context.fill();
}

/** Bundles that are drawn, at most. */
const MAX_RIBBONS = 600;
const MIN_COUNT_PX = 60;
/** Least length of a ribbon. */
const MIN_RIBBON_PX = 4;

/** Draws edges as ribbons between parts of layers; returns their number. */
export function drawRibbons(context: GraphContext, frame: GraphFrame): number {
  const { scene, camera, colours } = frame;
  const { shape, count } = scene.ribbons;
  const seen = seenRect(camera, frame);
  // Without transparency, which takes a canvas several times as long.
  context.fillStyle = colours.line;
  let drawn = 0;
  const most = MAX_RIBBONS * frame.detail;
  const texts: { readonly text: string; readonly x: number; readonly y: number }[] = [];
  for (let ribbon = 0; ribbon < count.length && drawn < most; ribbon++) {
    const [x0, top0, bottom0, x1, top1, bottom1] = shape.subarray(ribbon * 6, ribbon * 6 + 6) as unknown as [
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    if (x1 < seen.left || x0 > seen.right || Math.max(bottom0, bottom1) < seen.top || Math.min(top0, top1) > seen.bottom) continue;
    // Between layers that touch on the screen nothing could be seen of it.
    if ((x1 - x0) * camera.scale < MIN_RIBBON_PX) continue;
    drawn++;
    const [half0, half1] = [halfOf(top0, bottom0, count[ribbon] as number), halfOf(top1, bottom1, count[ribbon] as number)];
    const [left, right] = [x0 - seen.left, x1 - seen.left];
    const [y0, y1] = [(top0 + bottom0) / 2 - seen.top, (top1 + bottom1) / 2 - seen.top];
    const bend = (right - left) / 2;
    context.beginPath();
    context.moveTo(left, y0 - half0);
    context.bezierCurveTo(left + bend, y0 - half0, right - bend, y1 - half1, right, y1 - half1);
    context.lineTo(right, y1 + half1);
    context.bezierCurveTo(right - bend, y1 + half1, left + bend, y0 + half0, left, y0 + half0);
    context.fill();
    if ((right - left) * camera.scale >= MIN_COUNT_PX && count[ribbon] !== 1)
      texts.push({ text: formatCount(count[ribbon] as number), x: (left + right) / 2, y: (y0 + y1) / 2 });
  }
  context.fillStyle = colours.inkSoft;
  context.font = sizedFont(colours.smallFont, 11 / camera.scale);
  context.textAlign = "center";
  context.textBaseline = "middle";
  for (const { text, x, y } of texts) context.fillText(text, x, y);
  return drawn;
}

/** Height of one edge in a ribbon. */
const EDGE_HEIGHT = 6;

function halfOf(top: number, bottom: number, count: number): number {
  return Math.min((bottom - top) / 2, Math.max(count * EDGE_HEIGHT, EDGE_HEIGHT) / 2);
}

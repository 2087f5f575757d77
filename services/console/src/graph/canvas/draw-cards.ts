import { nodeKind, nodeName, nodeRunMs, squareWords, stateName } from "../scene/node-words.js";
import { GRAPH_STATES, type GraphStateName } from "../scene/node-phase.js";
import { NodeState } from "../../node-table/table/node-state.js";
import { SceneFlag } from "../scene/scene.js";
import { drawMark } from "./draw-mark.js";
import type { GraphContext, GraphFrame } from "./graph-frame.js";

const RADIUS = 8;
const STRIPE = 3;
/** Width of a letter, about: measuring takes longer than drawing. */
const NAME_LETTER = 7.1;
const SMALL_LETTER = 6;
const TEXT_LEFT = 31;
const TEXT_RIGHT = 9;
/** Place of the squares in a closed node. */
const SQUARES = { left: 11, top: 46, right: 11, bottom: 20 } as const;
const MAX_SQUARE = 9;
/** Room of the time at the bottom of a closed node. */
const TIME_ROOM = 48;

/** Draws nodes as cards with their names, those that are open around what they contain. */
export function drawCards(context: GraphContext, frame: GraphFrame, nodes: readonly number[]): void {
  for (const node of nodes) drawCard(context, frame, node);
}

interface Card {
  readonly node: number;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly flags: number;
  readonly state: GraphStateName;
}

function drawCard(context: GraphContext, frame: GraphFrame, node: number): void {
  const { scene, states, camera, colours } = frame;
  const card: Card = {
    node,
    x: (scene.x[node] as number) - camera.left,
    y: (scene.y[node] as number) - camera.top,
    width: scene.width[node] as number,
    height: scene.height[node] as number,
    flags: scene.flags[node] as number,
    state: stateName(states, node),
  };
  const isOpen = (card.flags & SceneFlag.open) !== 0;
  const isDashed = card.state === "notBegun" || card.state === "skipped";
  const isChosen = node === frame.selected;
  context.beginPath();
  context.roundRect(card.x, card.y, card.width, card.height, RADIUS);
  context.fillStyle = isOpen ? colours.sunken : colours.surface;
  context.fill();
  context.strokeStyle = isChosen || node === frame.hovered ? colours.accent : colours.lineStrong;
  context.lineWidth = isChosen ? 2 : 1;
  context.setLineDash(isDashed && !isChosen ? [4, 3] : []);
  context.stroke();
  context.setLineDash([]);
  if (!isDashed && !isOpen) drawStripe(context, card, colours.states[card.state]);
  drawMark(context, card.state, { x: card.x + 18, y: card.y + 16 }, colours);
  drawTexts(context, frame, card);
  if ((card.flags & SceneFlag.opens) !== 0) drawTwist(context, frame, card);
  if (!isOpen) drawSquares(context, frame, card);
}

/** Colours the left side, within the round corners. */
function drawStripe(context: GraphContext, { x, y, height }: Card, colour: string): void {
  context.fillStyle = colour;
  context.beginPath();
  context.moveTo(x + STRIPE, y);
  context.lineTo(x + STRIPE, y + height);
  context.bezierCurveTo(x + 1, y + height - 1, x, y + height - STRIPE, x, y + height - RADIUS);
  context.lineTo(x, y + RADIUS);
  context.bezierCurveTo(x, y + STRIPE, x + 1, y + 1, x + STRIPE, y);
  context.fill();
}

function drawTexts(context: GraphContext, { scene, states, colours, nowMs, durationText }: GraphFrame, card: Card): void {
  const { node, x, y, width, height, flags } = card;
  const opens = (flags & SceneFlag.opens) !== 0;
  const runMs = nodeRunMs(states, node, nowMs);
  const time = runMs === undefined ? "" : durationText(runMs);
  const attempts = (states.attempts[node] as number) > 1 ? ` · attempt ${states.attempts[node]}` : "";
  const room = width - TEXT_LEFT - TEXT_RIGHT - (opens ? 14 : 0);
  const timeRoom = time === "" ? 0 : time.length * SMALL_LETTER + 6;
  const name = nodeName(scene, node);
  // The time stands where it cuts no name: beside it, below it, or at the bottom of a large card.
  const isTimeBeside = !opens && name.length * NAME_LETTER + timeRoom <= room;
  const timeY = isTimeBeside ? 20.5 : opens && (flags & SceneFlag.open) === 0 ? height - 7 : 36;
  context.textAlign = "left";
  context.textBaseline = "alphabetic";
  context.fillStyle = colours.ink;
  context.font = colours.nameFont;
  context.fillText(cut(name, room / NAME_LETTER), x + TEXT_LEFT, y + 20.5);
  context.fillStyle = colours.inkSoft;
  context.font = colours.smallFont;
  const kind = `${nodeKind(scene, node)}${(flags & SceneFlag.launches) !== 0 ? " ↗" : ""}${attempts}`;
  context.fillText(cut(kind, (room - (timeY === 36 ? timeRoom : 0)) / SMALL_LETTER), x + TEXT_LEFT, y + 36);
  if (time === "") return;
  context.textAlign = "right";
  context.fillText(time, x + width - TEXT_RIGHT, y + timeY);
}

/** Shortens a text to a number of letters. */
function cut(text: string, letters: number): string {
  const most = Math.max(Math.floor(letters), 1);
  return text.length <= most ? text : `${text.slice(0, Math.max(most - 1, 1))}…`;
}

/** Draws the sign of a node that opens: an angle that points down when it is open. */
function drawTwist(context: GraphContext, { colours }: GraphFrame, { x, y, width, flags }: Card): void {
  const [cx, cy] = [x + width - 14, y + 16];
  context.strokeStyle = colours.inkSoft;
  context.lineWidth = 1.5;
  context.beginPath();
  const points =
    (flags & SceneFlag.open) === 0
      ? [
          [-2, -4],
          [2, 0],
          [-2, 4],
        ]
      : [
          [-4, -2],
          [0, 2],
          [4, -2],
        ];
  for (const [dx = 0, dy = 0] of points) context.lineTo(cx + dx, cy + dy);
  context.stroke();
}

/** Draws the nodes inside of a closed one as squares, and what stands out of them in words. */
function drawSquares(context: GraphContext, { states, colours }: GraphFrame, { node, x, y, width, height }: Card): void {
  const squares = states.squares.subarray(states.squareStart[node], states.squareStart[node + 1]);
  if (squares.length === 0) return;
  const room = { width: width - SQUARES.left - SQUARES.right, height: height - SQUARES.top - SQUARES.bottom };
  const side = squareSide(squares.length, room);
  const columns = Math.floor(room.width / side);
  for (const [at, state] of squares.entries()) {
    context.fillStyle = colours.states[GRAPH_STATES[state] as GraphStateName];
    context.globalAlpha = state === NodeState.succeeded || state > NodeState.cached ? 0.8 : 1;
    context.fillRect(x + SQUARES.left + (at % columns) * side, y + SQUARES.top + Math.floor(at / columns) * side, side * 0.8, side * 0.8);
  }
  context.globalAlpha = 1;
  context.fillStyle = colours.inkSoft;
  context.font = colours.smallFont;
  context.textAlign = "left";
  context.fillText(cut(squareWords(states, node), (room.width - TIME_ROOM) / SMALL_LETTER), x + SQUARES.left, y + height - 7);
}

/** Returns the side of squares of which `count` fit into a room. */
function squareSide(count: number, { width, height }: { readonly width: number; readonly height: number }): number {
  let side = MAX_SQUARE;
  while (side > 1 && Math.floor(width / side) * Math.floor(height / side) < count) side -= 0.25;
  return side;
}

import type { GraphStateName } from "../scene/node-phase.js";
import type { GraphColours, GraphContext } from "./graph-frame.js";

const TURN = 2 * Math.PI;
const DIAMOND = [
  [0, -6.3],
  [6.3, 0],
  [0, 6.3],
  [-6.3, 0],
] as const;

/** Draws the mark of a state: each has a shape as well as a colour. */
export function drawMark(
  context: GraphContext,
  state: GraphStateName,
  { x, y }: { readonly x: number; readonly y: number },
  colours: GraphColours,
): void {
  const colour = colours.states[state];
  context.fillStyle = colour;
  context.strokeStyle = colour;
  context.lineWidth = 1.6;
  const circle = (radius: number, from = 0, to = TURN): void => {
    context.beginPath();
    context.arc(x, y, radius, from, to);
  };
  const line = (...points: readonly (readonly [number, number])[]): void => {
    context.beginPath();
    for (const [dx, dy] of points) context.lineTo(x + dx, y + dy);
    context.stroke();
  };
  const tick = [
    [-2.8, 0.2],
    [-0.8, 2.2],
    [3, -2],
  ] as const;
  switch (state) {
    case "running":
      context.globalAlpha = 0.3;
      circle(5.2);
      context.stroke();
      context.globalAlpha = 1;
      circle(5.2, -TURN / 4, 0);
      context.lineWidth = 2.2;
      context.stroke();
      return;
    case "queued":
    case "skipped":
    case "notBegun":
      context.setLineDash([2.6, 2]);
      circle(5.4);
      context.stroke();
      context.setLineDash([]);
      return;
    case "cached":
      circle(5.6);
      context.stroke();
      line(...tick);
      return;
    case "waiting":
      context.beginPath();
      for (const [dx, dy] of DIAMOND) context.lineTo(x + dx, y + dy);
      context.fill();
      return;
    default:
      circle(6.2);
      context.fill();
      context.strokeStyle = colours.surface;
      context.fillStyle = colours.surface;
      if (state === "succeeded") line(...tick);
      else if (state === "aborted") context.fillRect(x - 2.3, y - 2.3, 4.6, 4.6);
      else {
        line([-2.2, -2.2], [2.2, 2.2]);
        line([2.2, -2.2], [-2.2, 2.2]);
      }
  }
}

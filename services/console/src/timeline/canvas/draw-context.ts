import type { NodeStateName } from "../../node-table/table/node-state.js";

/** Parts of CanvasRenderingContext2D that drawings use; tests record the calls. */
export type DrawContext = Pick<
  CanvasRenderingContext2D,
  | "fillStyle"
  | "strokeStyle"
  | "globalAlpha"
  | "lineWidth"
  | "font"
  | "textAlign"
  | "textBaseline"
  | "setTransform"
  | "clearRect"
  | "fillRect"
  | "beginPath"
  | "rect"
  | "roundRect"
  | "moveTo"
  | "lineTo"
  | "fill"
  | "stroke"
  | "fillText"
>;

/** Colours of a timeline, as CSS values of the tokens. */
export interface TimelineColours {
  readonly states: Readonly<Record<NodeStateName, string>>;
  /** Lines of the grid. */
  readonly line: string;
  /** Text beside bars and at ticks. */
  readonly ink: string;
  /** Row of the selected node. */
  readonly selected: string;
  /** Row under the pointer. */
  readonly hover: string;
  /** Time of now, the brush, and the critical path. */
  readonly accent: string;
  /** Font of texts, as CSS has it. */
  readonly font: string;
}

/** Clears a canvas and lets pixels of CSS be drawn on pixels of the device. */
export function beginDrawing(context: DrawContext, { widthPx, heightPx, ratio }: CanvasSize): void {
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, widthPx, heightPx);
  context.globalAlpha = 1;
}

/** Size of a canvas in pixels of CSS. */
export interface CanvasSize {
  readonly widthPx: number;
  readonly heightPx: number;
  /** Pixels of the device for each pixel of CSS. */
  readonly ratio: number;
}

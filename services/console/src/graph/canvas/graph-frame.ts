import type { CanvasSize } from "../../timeline/canvas/draw-context.js";
import type { Adjacency } from "../layout/adjacency.js";
import type { GraphStateName } from "../scene/node-phase.js";
import type { Scene, SceneStates } from "../scene/scene.js";
import type { Camera } from "./camera.js";

/** Parts of CanvasRenderingContext2D that drawings of graphs use; tests record the calls. */
export type GraphContext = Pick<
  CanvasRenderingContext2D,
  | "fillStyle"
  | "strokeStyle"
  | "globalAlpha"
  | "lineWidth"
  | "font"
  | "textAlign"
  | "textBaseline"
  | "setTransform"
  | "setLineDash"
  | "clearRect"
  | "fillRect"
  | "strokeRect"
  | "beginPath"
  | "closePath"
  | "rect"
  | "roundRect"
  | "arc"
  | "moveTo"
  | "lineTo"
  | "bezierCurveTo"
  | "fill"
  | "stroke"
  | "fillText"
>;

/** Colours of a graph, as CSS values of the tokens. */
export interface GraphColours {
  readonly states: Readonly<Record<GraphStateName, string>>;
  readonly ground: string;
  readonly surface: string;
  readonly sunken: string;
  readonly line: string;
  readonly lineStrong: string;
  readonly ink: string;
  readonly inkSoft: string;
  readonly accent: string;
  /** Fonts of names and of smaller texts, as CSS has them. */
  readonly nameFont: string;
  readonly smallFont: string;
}

/** All that a drawing of a graph shows. */
export interface GraphFrame extends CanvasSize {
  readonly scene: Scene;
  readonly states: SceneStates;
  readonly adjacency: Adjacency;
  readonly camera: Camera;
  readonly colours: GraphColours;
  /** Node that keys start from, −1 for none. */
  readonly current: number;
  /** Node whose details are shown, −1 for none. */
  readonly selected: number;
  /** Node under the pointer, −1 for none. */
  readonly hovered: number;
  /** Milliseconds since the creation of the execution. */
  readonly nowMs: number;
  readonly durationText: (durationMs: number) => string;
  /** Share of the usual detail, less than 1 after slow frames. */
  readonly detail: number;
}

/** How a graph is drawn: counts by cell, blocks, or cards. */
export type DrawLevel = "far" | "middle" | "near";

/** Result of a drawing. */
export interface Drawn {
  readonly level: DrawLevel;
  readonly nodes: number;
  readonly edges: number;
}

/** Returns a font in another size. */
export function sizedFont(font: string, sizePx: number): string {
  return font.replace(/[\d.]+px/, `${sizePx}px`);
}

import type { Direction } from "../scene/walk.js";

/** Effect of a key on a graph. */
export type GraphAct = "open" | "select" | "first" | "out" | "zoomIn" | "zoomOut" | "fit" | Direction;

const ACTS: Readonly<Record<string, GraphAct>> = {
  ArrowRight: "right",
  ArrowLeft: "left",
  ArrowUp: "up",
  ArrowDown: "down",
  Enter: "open",
  " ": "select",
  Home: "first",
  Backspace: "out",
  "+": "zoomIn",
  "=": "zoomIn",
  "-": "zoomOut",
  "0": "fit",
};

/** Returns what a key does; undefined for keys of others. */
export function actOfKey(key: string): GraphAct | undefined {
  return Object.hasOwn(ACTS, key) ? ACTS[key] : undefined;
}

export function isDirection(act: GraphAct): act is Direction {
  return act === "left" || act === "right" || act === "up" || act === "down";
}

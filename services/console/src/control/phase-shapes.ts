import type { PhaseKind } from "../format/phase.js";

/** Part of a shape: an element of SVG, its attributes, and its class in the style sheet. */
interface ShapePart {
  readonly tag: "circle" | "path" | "rect";
  readonly attributes: Readonly<Record<string, string>>;
  readonly part: "fill" | "cut" | "hole" | "track" | "arc" | "dashes" | "ring";
}

const circle = (part: ShapePart["part"], radius: string): ShapePart => ({
  tag: "circle",
  attributes: { cx: "7", cy: "7", r: radius },
  part,
});
const path = (part: ShapePart["part"], outline: string): ShapePart => ({ tag: "path", attributes: { d: outline }, part });

/** Shapes in a square of 14: a phase is known by its shape without its colour. */
export const PHASE_SHAPES: Readonly<Record<PhaseKind, readonly ShapePart[]>> = {
  ok: [circle("fill", "6.200"), path("cut", "m4.200 7.200 2 2 3.700-4.100")],
  bad: [circle("fill", "6.200"), path("cut", "m4.800 4.800 4.400 4.400M9.200 4.800 4.800 9.200")],
  run: [circle("track", "5.200"), path("arc", "M7 1.800A5.200 5.200 0 0 1 12.200 7")],
  wait: [circle("dashes", "5.400")],
  stop: [
    circle("fill", "6.200"),
    { tag: "rect", attributes: { x: "4.700", y: "4.700", width: "4.600", height: "4.600", rx: "0.500" }, part: "hole" },
  ],
  ask: [path("fill", "M7 .7 13.300 7 7 13.300.7 7z"), path("cut", "M5.700 4.900v4.200M8.300 4.900v4.200")],
  hit: [circle("ring", "5.600"), path("ring", "m4.300 7.200 1.900 1.900 3.500-3.900")],
};

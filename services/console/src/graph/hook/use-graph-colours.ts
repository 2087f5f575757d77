import { STATE_TOKENS, stateColours } from "../../node-table/table/state-colours.js";
import { useTokenColours } from "../../theme/token-colours.js";
import type { GraphColours } from "../canvas/graph-frame.js";

const TOKENS = [...STATE_TOKENS, "bg", "surface", "sunken", "line", "line-strong", "ink", "ink-3", "accent"] as const;

/** Returns the colours of a graph in the theme of now. */
export function useGraphColours(): GraphColours {
  const colours = useTokenColours(TOKENS);
  return {
    states: { ...stateColours(colours), notBegun: colours.wait },
    ground: colours.bg,
    surface: colours.surface,
    sunken: colours.sunken,
    line: colours.line,
    lineStrong: colours["line-strong"],
    ink: colours.ink,
    inkSoft: colours["ink-3"],
    accent: colours.accent,
    nameFont: fontOf("--canvas-name-font"),
    smallFont: fontOf("--canvas-font"),
  };
}

function fontOf(token: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(token);
}

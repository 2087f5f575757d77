import { useTokenColours } from "../../theme/token-colours.js";
import type { GraphColours } from "../canvas/graph-frame.js";

const TOKENS = [
  "ok",
  "run",
  "wait",
  "bad",
  "stop",
  "ask",
  "hit",
  "bg",
  "surface",
  "sunken",
  "line",
  "line-strong",
  "ink",
  "ink-3",
  "accent",
] as const;

/** Returns the colours of a graph in the theme of now. */
export function useGraphColours(): GraphColours {
  const colours = useTokenColours(TOKENS);
  return {
    states: {
      failed: colours.bad,
      waiting: colours.ask,
      running: colours.run,
      queued: colours.wait,
      aborted: colours.stop,
      succeeded: colours.ok,
      cached: colours.hit,
      skipped: colours.wait,
      notBegun: colours.wait,
    },
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

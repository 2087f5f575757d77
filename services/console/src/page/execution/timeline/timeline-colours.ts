import { STATE_TOKENS, stateColours } from "../../../node-table/table/state-colours.js";
import type { TokenColours } from "../../../theme/read-token-colours.js";
import type { TimelineColours } from "../../../timeline/canvas/draw-context.js";

/** Names of the tokens that {@link timelineColours} needs. */
export const TIMELINE_TOKENS = [...STATE_TOKENS, "line", "ink-2", "selected", "hover", "accent"] as const;

/** Returns the colours and the font of a timeline from the values of the tokens. */
export function timelineColours(values: TokenColours<(typeof TIMELINE_TOKENS)[number]>): TimelineColours {
  return {
    states: stateColours(values),
    line: values.line,
    ink: values["ink-2"],
    selected: values.selected,
    hover: values.hover,
    accent: values.accent,
    font: getComputedStyle(document.documentElement).getPropertyValue("--canvas-font"),
  };
}

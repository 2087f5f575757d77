import { beginDrawing, type CanvasSize, type DrawContext, type TimelineColours } from "./draw-context.js";
import { type RowViewport, yOf } from "./row-viewport.js";

/** Contents of the canvas of the cursor. */
export interface CursorFrame extends CanvasSize {
  readonly viewport: RowViewport;
  readonly colours: TimelineColours;
  /** Position of the pointer; undefined outside. */
  readonly pointer: { readonly x: number; readonly place: number } | undefined;
  /** Rows of the tree in sight, marked where rows are smaller than the tree's. */
  readonly treeRows: { readonly from: number; readonly to: number } | undefined;
}

/** Draws the row and the time under the pointer. The bars, on another canvas, stay as they are. */
export function drawCursor(context: DrawContext, frame: CursorFrame): void {
  beginDrawing(context, frame);
  const { viewport, colours, pointer, treeRows, widthPx, heightPx } = frame;
  if (treeRows !== undefined) {
    context.fillStyle = colours.accent;
    const y = yOf(viewport, treeRows.from);
    context.fillRect(0, y, 3, Math.max(yOf(viewport, treeRows.to) - y, 2));
  }
  if (pointer === undefined) return;
  if (pointer.place >= 0) {
    context.globalAlpha = 0.5;
    context.fillStyle = colours.hover;
    context.fillRect(0, yOf(viewport, pointer.place), widthPx, Math.max(viewport.rowPx, 1));
    context.globalAlpha = 1;
  }
  context.fillStyle = colours.line;
  context.fillRect(Math.round(pointer.x), 0, 1, heightPx);
}

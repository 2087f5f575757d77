/** Rows of an order that a canvas shows. */
export interface RowViewport {
  /** Place at the upper edge, with its fraction. */
  readonly top: number;
  /** Height of a row; that of the tree's rows, or less to see more. */
  readonly rowPx: number;
  readonly heightPx: number;
}

/** Height of a row of the tree. */
export const ROW_PX = 27;
/** Least height of a bar. */
const MIN_BAR_PX = 2;
/** Bars that a frame draws at most. */
export const MAX_FRAME_BARS = 800;

/** Returns the level of the pyramid at which a cell is high enough, and cells are few enough. */
export function levelOf({ rowPx, heightPx }: RowViewport): number {
  const leastRows = Math.max(MIN_BAR_PX / rowPx, heightPx / rowPx / (MAX_FRAME_BARS - 2));
  return Math.max(Math.ceil(Math.log2(leastRows)), 0);
}

/** Returns the places in sight and as many again on both sides, so that scrolling has them. */
export function placesAround({ top, rowPx, heightPx }: RowViewport): { readonly from: number; readonly to: number } {
  const shown = heightPx / rowPx;
  return { from: Math.max(Math.floor(top - shown / 2), 0), to: Math.ceil(top + shown * 1.5) };
}

export function yOf({ top, rowPx }: RowViewport, place: number): number {
  return (place - top) * rowPx;
}

/** Returns the place of the row at a height of a canvas, −1 where there is none. */
export function placeAt({ top, rowPx }: RowViewport, y: number, rows: number): number {
  const place = Math.floor(top + y / rowPx);
  return place >= 0 && place < rows ? place : -1;
}

/** Returns the viewport that shows all rows, none higher than in the tree. */
export function fitRows(rows: number, heightPx: number): RowViewport {
  return { top: 0, rowPx: Math.min(heightPx / Math.max(rows, 1), ROW_PX), heightPx };
}

/** Zooms rows by a factor around a height; no row becomes higher than in the tree. */
export function zoomRows(viewport: RowViewport, factor: number, y: number, rows: number): RowViewport {
  const { heightPx } = viewport;
  const rowPx = Math.min(Math.max(viewport.rowPx * factor, fitRows(rows, heightPx).rowPx), ROW_PX);
  return scrollRows({ top: viewport.top + y / viewport.rowPx - y / rowPx, rowPx, heightPx }, 0, rows);
}

/** Scrolls by a number of rows, to the first and the last row at most. */
export function scrollRows({ top, rowPx, heightPx }: RowViewport, by: number, rows: number): RowViewport {
  return { top: Math.max(Math.min(top + by, rows - heightPx / rowPx), 0), rowPx, heightPx };
}

/** First line in sight, and the pixels of it that are above the view. */
export interface LinePlace {
  readonly line: number;
  readonly offsetPx: number;
}

/** Lines of a log and the view on them. */
export interface LineExtent {
  readonly lines: number;
  /** Height of a line that is not wrapped. */
  readonly rowPx: number;
  readonly viewPx: number;
}

/** Browsers lay out at most about 17,000,000 pixels; longer logs share them. */
const MAX_SPACER_PX = 8_000_000;

/** Height of the content that is scrolled. */
export function spacerPx({ lines, rowPx }: LineExtent): number {
  return Math.min(lines * rowPx, MAX_SPACER_PX);
}

/** Place in the log of a position of the scroll bar. */
export function placeAt(scrollTop: number, extent: LineExtent): LinePlace {
  const px = scrollTop * stretch(extent);
  const line = Math.min(Math.floor(px / extent.rowPx), Math.max(0, extent.lines - 1));
  return { line, offsetPx: Math.max(0, px - line * extent.rowPx) };
}

/** Position of the scroll bar at a place. */
export function scrollTopOf({ line, offsetPx }: LinePlace, extent: LineExtent): number {
  return (line * extent.rowPx + Math.min(offsetPx, extent.rowPx)) / stretch(extent);
}

/** Moves a place by pixels over lines whose heights are known. */
export function movePlace(
  { line, offsetPx }: LinePlace,
  deltaPx: number,
  { heightOf, lines }: { readonly heightOf: (line: number) => number; readonly lines: number },
): LinePlace {
  let [at, offset] = [line, offsetPx + deltaPx];
  while (offset < 0 && at > 0) offset += heightOf(--at);
  while (at < lines - 1 && offset >= heightOf(at)) offset -= heightOf(at++);
  return { line: at, offsetPx: Math.max(0, Math.min(offset, heightOf(at))) };
}

/** Place that shows a line in the middle of the view. */
export function placeAround(line: number, { rowPx, viewPx, lines }: LineExtent): LinePlace {
  const first = line - Math.floor(viewPx / rowPx / 2);
  return { line: Math.max(0, Math.min(first, lines - Math.floor(viewPx / rowPx))), offsetPx: 0 };
}

function stretch(extent: LineExtent): number {
  const [whole, scrolled] = [extent.lines * extent.rowPx - extent.viewPx, spacerPx(extent) - extent.viewPx];
  return scrolled <= 0 || whole <= 0 ? 1 : whole / scrolled;
}

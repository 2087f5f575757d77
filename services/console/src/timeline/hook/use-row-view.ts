import { useState } from "react";
import { fitRows, ROW_PX, type RowViewport, scrollRows, zoomRows } from "../canvas/row-viewport.js";

/** Rows that the canvas shows: those of the tree beside it, or more of them at a smaller height. */
export interface RowScroll {
  readonly viewport: RowViewport;
  /** Rows are smaller than in the tree, and scroll apart from it. */
  readonly isApart: boolean;
  readonly scroll: (byPx: number) => void;
  readonly zoom: (factor: number, y: number) => void;
  /** Shows all rows, or those of the tree. */
  readonly setWhole: (isWhole: boolean) => void;
}

export interface RowScrollOptions {
  readonly rows: number;
  readonly heightPx: number;
  /** Scroll position of the tree. */
  readonly scrollPx: number;
  readonly scrollTree: (toPx: number) => void;
}

export function useRowView({ rows, heightPx, scrollPx, scrollTree }: RowScrollOptions): RowScroll {
  const [apart, setApart] = useState<{ readonly top: number; readonly rowPx: number } | undefined>();
  const besideTree = { top: scrollPx / ROW_PX, rowPx: ROW_PX, heightPx };
  const viewport = apart === undefined ? besideTree : zoomRows({ ...apart, heightPx }, 1, 0, rows);
  return {
    viewport,
    isApart: apart !== undefined,
    scroll: (byPx) => {
      if (apart === undefined) scrollTree(scrollPx + byPx);
      else setApart(scrollRows(viewport, byPx / viewport.rowPx, rows));
    },
    zoom: (factor, y) => {
      const next = zoomRows(viewport, factor, y, rows);
      if (next.rowPx >= ROW_PX) scrollTree(next.top * ROW_PX);
      setApart(next.rowPx < ROW_PX ? next : undefined);
    },
    setWhole: (isWhole) => setApart(isWhole ? fitRows(rows, heightPx) : undefined),
  };
}

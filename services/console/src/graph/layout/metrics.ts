/** Distances of a layout, in pixels at 100 % zoom. */
export const GAP_X = 62;
export const GAP_Y = 22;
/** Distance of the columns of one layer. */
export const COLUMN_GAP = 22;
export const CARD = { width: 168, height: 46 } as const;
/** A closed node that contains others, which it shows as squares. */
export const BLOCK = { width: 196, height: 112 } as const;
/** Room of an open node around its nodes. */
export const FRAME = { head: 48, side: 16, bottom: 16 } as const;

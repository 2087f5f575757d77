/** Doubles a number. */
export const double = (x: number): number => x * 2;

/** Halves a number. */
export const halve = (x: number): number => x / 2;

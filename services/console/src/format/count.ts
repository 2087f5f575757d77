/** Formats a number of things with a comma between thousands: `12,345`. */
export function formatCount(count: number): string {
  // Intl takes 10 ms to load for its first number.
  return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** Says how many there are: `1 node`, `12,345 nodes`. */
export function countOf(count: number, one: string, many: string): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

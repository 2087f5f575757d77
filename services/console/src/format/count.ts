/** Formats a number of things with a comma between thousands: `12,345`. */
export function formatCount(count: number): string {
  // Intl takes 10 ms to load for its first number.
  return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}

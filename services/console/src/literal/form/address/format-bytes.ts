const UNITS = ["B", "KB", "MB", "GB", "TB"] as const;
const STEP = 1_000;

/** Formats a size: `14.2 MB`. */
export function formatBytes(bytes: number): string {
  let [value, unit] = [bytes, 0];
  while (value >= STEP && unit < UNITS.length - 1) [value, unit] = [value / STEP, unit + 1];
  return `${unit === 0 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit] ?? ""}`;
}

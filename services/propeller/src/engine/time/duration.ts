/** A duration as Go prints it (`1h0m0s`, `8s`, `1.5s`, `500ms`): error texts show deadlines so. */
export function goDuration(ms: number): string {
  if (ms === 0) return "0s";
  if (ms < 1000) return `${ms}ms`;
  const hours = Math.floor(ms / 3_600_000);
  const minutes = Math.floor((ms % 3_600_000) / 60_000);
  const seconds = (ms % 60_000) / 1000;
  const h = hours > 0 ? `${hours}h` : "";
  const m = hours > 0 || minutes > 0 ? `${minutes}m` : "";
  return `${h}${m}${seconds}s`;
}

/** Processor time of the reference work on a quiet machine of two cores, ms. */
const REFERENCE_MS = 20;
/** A larger factor would hide real costs. */
const MAX_SLOWDOWN = 3;

const ROWS = Array.from({ length: 4_000 }, (_, id) => ({ id, name: `row ${id}`, values: [id, 2 * id, `${id}`], even: id % 2 === 0 }));
const workOnce = () => (JSON.parse(JSON.stringify(ROWS)) as unknown[]).length;

/**
 * Measures how many times more processor time work takes now than on a quiet machine; at least 1.
 * Other processes slow it down through shared caches, although their own time is not counted.
 */
export function measureSlowdown(): number {
  for (let count = 0; count < 4; count++) workOnce();
  const before = process.cpuUsage();
  for (let count = 0; count < 4; count++) workOnce();
  const { user, system } = process.cpuUsage(before);
  return Math.min(MAX_SLOWDOWN, Math.max(1, (user + system) / 1_000 / REFERENCE_MS));
}

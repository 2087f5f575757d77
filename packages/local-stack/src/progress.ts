/**
 * Reports progress to the user: one line when a step starts, completed by its duration when it
 * ends.
 */
export interface Progress {
  step<T>(what: string, work: () => Promise<T>): Promise<T>;
  line(text: string): void;
}

export function terminalProgress(write: (text: string) => void, now: () => number): Progress {
  return {
    line: (text) => write(`${text}\n`),
    step: async (what, work) => {
      const start = now();
      write(`  ${what} …\n`);
      const result = await work();
      write(`  ${what}: ready in ${seconds(now() - start)}\n`);
      return result;
    },
  };
}

/** `0.4 s`, `12 s`, `2 min 5 s`. */
export function seconds(ms: number): string {
  const s = ms / 1_000;
  if (s < 10) return `${s.toFixed(1)} s`;
  if (s < 120) return `${Math.round(s)} s`;
  return `${Math.floor(s / 60)} min ${Math.round(s % 60)} s`;
}

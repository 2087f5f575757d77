export interface SemaphoreOptions {
  /** Maximum of concurrent jobs. */
  readonly concurrency: number;
  /** Maximum of queued jobs, of all sources and of one. */
  readonly maxQueued: number;
  readonly maxQueuedPerSource: number;
}

export interface FairSemaphore {
  /** Runs the job when its source is next. Undefined: the queue is full, and it was not run. */
  run<T>(source: string, work: () => Promise<T>): Promise<T | undefined>;
}

/**
 * A semaphore with fair queueing by source: each source runs one job at a time, and the source that
 * has waited longest is next.
 */
export function createFairSemaphore({ concurrency, maxQueued, maxQueuedPerSource }: SemaphoreOptions): FairSemaphore {
  const queues = new Map<string, (() => void)[]>();
  const busy = new Set<string>();
  let queued = 0;

  const next = (): void => {
    for (const [source, queue] of queues) {
      if (busy.size >= concurrency) return;
      if (busy.has(source)) continue;
      const begin = queue.shift();
      // A source with further jobs moves behind the others.
      queues.delete(source);
      if (queue.length > 0) queues.set(source, queue);
      if (begin === undefined) continue;
      queued -= 1;
      busy.add(source);
      begin();
    }
  };

  return {
    async run(source, work) {
      const queue = queues.get(source) ?? [];
      if (queued >= maxQueued || queue.length >= maxQueuedPerSource) return undefined;
      await new Promise<void>((begin) => {
        queue.push(begin);
        queues.set(source, queue);
        queued += 1;
        next();
      });
      try {
        return await work();
      } finally {
        busy.delete(source);
        next();
      }
    },
  };
}

export interface LoopOptions {
  /** Concurrent calls: each response starts the next call. */
  readonly callers: number;
  readonly seconds: number;
  /** Duration of the warm-up, s. Calls in it do not count. */
  readonly warmUpSeconds: number;
  /** Makes one call; both arguments count from 0. */
  readonly call: (caller: number, turn: number) => Promise<unknown>;
  /** Clock, ms. */
  readonly now: () => number;
}

export interface LoopResult {
  readonly calls: number;
  readonly failed: number;
  /** Message of the first failure. */
  readonly failure?: string;
  /** Completed calls per second. */
  readonly rate: number;
  /** Median latency, ms. */
  readonly p50: number;
  readonly p99: number;
  readonly slowest: number;
}

/** Makes calls without pause until the time is over. */
export async function closedLoop({ callers, seconds, warmUpSeconds, call, now }: LoopOptions): Promise<LoopResult> {
  const from = now() + warmUpSeconds * 1_000;
  const until = from + seconds * 1_000;
  const times: number[] = [];
  let failed = 0;
  let failure: string | undefined;
  const caller = async (index: number): Promise<void> => {
    for (let turn = 0, begun = now(); begun < until; turn++) {
      let answered = true;
      try {
        await call(index, turn);
      } catch (error) {
        answered = false;
        failure ??= String(error);
      }
      const ended = now();
      if (ended >= from && ended < until) {
        if (answered) times.push(ended - begun);
        else failed++;
      }
      begun = ended;
    }
  };
  await Promise.all(Array.from({ length: callers }, (_, index) => caller(index)));
  times.sort((a, b) => a - b);
  const at = (part: number) => hundredths(times[Math.min(times.length - 1, Math.floor(times.length * part))] ?? 0);
  return {
    calls: times.length,
    failed,
    ...(failure !== undefined && { failure }),
    rate: hundredths(times.length / seconds),
    p50: at(0.5),
    p99: at(0.99),
    slowest: at(1),
  };
}

function hundredths(value: number): number {
  return Math.round(value * 100) / 100;
}

import type { Clock } from "@flyte-ts/task-plugin";

interface Alarm {
  readonly key: string;
  /** ms since the epoch. */
  readonly at: number;
}

/**
 * Any number of alarms on one timer: a binary heap by time. An alarm that is called off
 * stays in the heap until its time comes and is then passed over.
 */
export class AlarmHeap {
  readonly #heap: Alarm[] = [];
  readonly #set = new Map<string, Alarm>();
  #callOff: (() => void) | undefined;
  #armedFor = Number.POSITIVE_INFINITY;

  constructor(
    private readonly clock: Clock,
    private readonly ring: (key: string) => void,
  ) {}

  get size(): number {
    return this.#set.size;
  }

  /** Sets the key's alarm to this time, instead of any earlier one. */
  set(key: string, at: number): void {
    const alarm = { key, at };
    this.#set.set(key, alarm);
    this.#push(alarm);
    this.#arm();
  }

  /** Whether there was one. */
  callOff(key: string): boolean {
    return this.#set.delete(key);
  }

  stop(): void {
    this.#callOff?.();
    this.#callOff = undefined;
    this.#armedFor = Number.POSITIVE_INFINITY;
    this.#set.clear();
    this.#heap.length = 0;
  }

  #arm(): void {
    const first = this.#heap[0];
    if (first === undefined || first.at >= this.#armedFor) return;
    this.#callOff?.();
    this.#armedFor = first.at;
    this.#callOff = this.clock.after(Math.max(0, first.at - this.clock.now().getTime()), () => this.#due());
  }

  #due(): void {
    this.#armedFor = Number.POSITIVE_INFINITY;
    this.#callOff = undefined;
    const now = this.clock.now().getTime();
    for (let first = this.#heap[0]; first !== undefined && first.at <= now; first = this.#heap[0]) {
      this.#pop();
      if (this.#set.get(first.key) !== first) continue;
      this.#set.delete(first.key);
      this.ring(first.key);
    }
    this.#arm();
  }

  #push(alarm: Alarm): void {
    const heap = this.#heap;
    let child = heap.push(alarm) - 1;
    while (child > 0) {
      const parent = (child - 1) >> 1;
      if ((heap[parent] as Alarm).at <= alarm.at) break;
      heap[child] = heap[parent] as Alarm;
      child = parent;
    }
    heap[child] = alarm;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let parent = 0;
    for (;;) {
      let child = parent * 2 + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && (heap[child + 1] as Alarm).at < (heap[child] as Alarm).at) child++;
      if ((heap[child] as Alarm).at >= last.at) break;
      heap[parent] = heap[child] as Alarm;
      parent = child;
    }
    heap[parent] = last;
  }
}

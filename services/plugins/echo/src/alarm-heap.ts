import { Heap } from "@flyte-ts/heap";
import type { Clock } from "@flyte-ts/task-plugin";

interface Alarm {
  readonly key: string;
  /** ms since the epoch. */
  readonly at: number;
}

/** Any number of alarms on one timer. One that is called off stays in the heap until its time comes and is then passed over. */
export class AlarmHeap {
  #heap = emptyHeap();
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
    this.#heap.push(alarm);
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
    this.#heap = emptyHeap();
  }

  #arm(): void {
    const first = this.#heap.peek();
    if (first === undefined || first.at >= this.#armedFor) return;
    this.#callOff?.();
    this.#armedFor = first.at;
    this.#callOff = this.clock.after(Math.max(0, first.at - this.clock.now().getTime()), () => this.#due());
  }

  #due(): void {
    this.#armedFor = Number.POSITIVE_INFINITY;
    this.#callOff = undefined;
    const now = this.clock.now().getTime();
    for (let first = this.#heap.peek(); first !== undefined && first.at <= now; first = this.#heap.peek()) {
      this.#heap.pop();
      if (this.#set.get(first.key) !== first) continue;
      this.#set.delete(first.key);
      this.ring(first.key);
    }
    this.#arm();
  }
}

function emptyHeap(): Heap<Alarm> {
  return new Heap<Alarm>((a, b) => a.at < b.at);
}

import { Worker } from "node:worker_threads";
import type { CompileOutcome, CompileSource } from "./compile-to-bytes.js";
import { type EncodedSource, encodeSource } from "./encoded-source.js";

/** What the thread answers to a source: the outcome, or the stack of what the compiler threw. */
export type Reply = { readonly outcome: CompileOutcome } | { readonly fault: string };

export interface CompileThreadOptions {
  /** Main module of the thread. */
  readonly module: URL;
  /** The thread ends when it has had nothing to do for so long: what it took is then free at once. */
  readonly idleMs: number;
}

interface Waiting {
  readonly source: EncodedSource;
  resolve(outcome: CompileOutcome): void;
  reject(error: Error): void;
}

/**
 * Compiles workflows in a thread of its own, so that a graph that takes seconds holds up no other call. One at a
 * time: two large ones at once would take twice the memory and be no sooner done.
 */
export class CompileThread {
  readonly #options: CompileThreadOptions;
  readonly #queue: Waiting[] = [];
  #thread: Worker | undefined;
  #running: Waiting | undefined;
  #idle: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: CompileThreadOptions) {
    this.#options = options;
  }

  /** Rejects when the thread dies or the compiler throws. */
  compile(source: CompileSource): Promise<CompileOutcome> {
    return new Promise((resolve, reject) => {
      if (this.#closed) throw new Error("the compiler is closed");
      this.#queue.push({ source: encodeSource(source), resolve, reject });
      this.#next();
    });
  }

  /** What waits or runs is given up. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#idle);
    const thread = this.#thread;
    this.#lost(thread, new Error("the compiler is closed"));
    for (const waiting of this.#queue.splice(0)) waiting.reject(new Error("the compiler is closed"));
    await thread?.terminate();
  }

  #next(): void {
    if (this.#running !== undefined) return;
    const next = this.#queue.shift();
    clearTimeout(this.#idle);
    if (next === undefined) {
      this.#idle = setTimeout(() => this.#rest(), this.#options.idleMs);
      this.#idle.unref();
      return;
    }
    this.#running = next;
    this.#thread ??= this.#begin();
    this.#thread.postMessage(next.source);
  }

  #begin(): Worker {
    const thread = new Worker(this.#options.module, { name: "compiler" });
    // A process that wants to end does not wait for it.
    thread.unref();
    thread.on("message", (reply: Reply) => {
      if (this.#thread !== thread) return;
      const running = this.#running;
      this.#running = undefined;
      if ("outcome" in reply) running?.resolve(reply.outcome);
      else running?.reject(new Error(`the compiler failed: ${reply.fault}`));
      this.#next();
    });
    thread.on("error", (error) => this.#lost(thread, new Error("the compiler's thread died", { cause: error })));
    thread.on("exit", (code) => this.#lost(thread, new Error(`the compiler's thread ended with ${code}`)));
    return thread;
  }

  /** Whatever ran on the thread is lost with it; what waits gets another. */
  #lost(thread: Worker | undefined, reason: Error): void {
    if (thread === undefined || this.#thread !== thread) return;
    this.#thread = undefined;
    this.#running?.reject(reason);
    this.#running = undefined;
    if (!this.#closed) this.#next();
  }

  #rest(): void {
    const thread = this.#thread;
    this.#thread = undefined;
    void thread?.terminate();
  }
}
